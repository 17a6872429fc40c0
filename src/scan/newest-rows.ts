// Collects the newest row per series from the parts of a table, latest part first. A part is skipped once every wanted series of it has a
// row later than the part's end: with thousands of rows per series in memory, or a block for each of many days, that skips almost
// everything.

import type { Kernel } from "../kernel/memory/kernel.ts";
import type { HiddenRows } from "../kernel/scan/hidden-rows.ts";
import { RowSelection, type SelectedRun } from "../kernel/scan/row-selection.ts";
import { timeRange } from "../kernel/scan/rows.ts";
import type { OwnedRun } from "../kernel/scan/run-merge.ts";
import type { SeriesFilter } from "../kernel/series/series-filter.ts";
import type { TimeRange } from "../model/query/scan.ts";
import { I64_MAX } from "../model/rows/int64.ts";
import { type DictionaryView, type Run, wholeRun } from "../model/rows/run.ts";
import type { SeriesNumbers } from "./series-numbers.ts";
import type { BlockSnapshot } from "./snapshot.ts";
import { takeRows } from "./taken-rows.ts";

const NS_PER_MS = 1_000_000n;

/** What was found for the series of an in-memory dictionary. */
interface Met {
  readonly series: Uint8Array;
  leftCount: number;
  /** The earliest of their newest times so far. */
  earliestNs: bigint;
}

/** The row selection. */
export interface NewestChoice {
  readonly filter: SeriesFilter;
  readonly hidden: HiddenRows;
}

/** The state of one scan for newest rows. */
export class NewestRows {
  private readonly met = new Map<DictionaryView, Met>();
  /** By series number: a time of a row found, in milliseconds rounded down. */
  private metMs = new Float64Array(0);
  /** How many of them have one, and the earliest. */
  private metCount = 0;
  private earliestMetMs = Number.POSITIVE_INFINITY;

  constructor(
    private readonly kernel: Kernel,
    /** The selection for segments. */
    private readonly choice: NewestChoice,
    private readonly numbers: SeriesNumbers,
  ) {}

  /** False if no series has its newest row in this segment, considering times up to `maxNs`. */
  canHold({ dictionary, maxTimeNs }: Pick<Run, "dictionary" | "maxTimeNs">, maxNs = maxTimeNs): boolean {
    const met = this.met.get(dictionary);
    return met === undefined || met.leftCount > 0 || met.earliestNs <= maxNs;
  }

  /** The same for a block; `dictionary` reads its series if they are unknown, and is absent if that would not pay off. */
  canHoldBlock(block: BlockSnapshot, maxNs: bigint, dictionary?: () => DictionaryView): boolean {
    const numbers = this.numbers.ofBlock(block, dictionary);
    if (numbers === null) return true;
    const { none, wantedPtr, count } = this.choice.filter.wanted(this.numbers.view);
    if (none) return false;
    const maxMs = Number(maxNs / NS_PER_MS) + 1;
    // usually later blocks have all series: a look at each of thousands of series, for each of a hundred blocks, would cost more than the
    // rows
    if (this.metCount === count && this.earliestMetMs > maxMs) return false;
    const { metMs } = this;
    const { u8 } = this.kernel;
    // by index: an iterator costs several times as much until it is compiled
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i]!;
      // beyond the end of metMs: undefined, hence not found yet
      if (!(metMs[number]! > maxMs) && (wantedPtr === 0 || u8[wantedPtr + number] === 1)) return true;
    }
    return false;
  }

  /** The newest wanted row of each series of a segment within the range, outside of `except`; null if there is none. Owned by the
   *  caller. @throws TsdbError overloaded */
  take(run: Run, range: TimeRange, except: readonly TimeRange[]): OwnedRun | null {
    const taken = this.choose({ run, selection: { range, except, ...this.choice } });
    if (taken !== null) this.note(taken);
    return taken;
  }

  /** The same for a page of a block. */
  takeOfBlock(block: BlockSnapshot, selected: SelectedRun): OwnedRun | null {
    const taken = this.choose(selected);
    if (taken !== null) this.noteBlock(block, taken);
    return taken;
  }

  /** The same for a run that no other part depends on. */
  takeMerged(selected: SelectedRun): OwnedRun | null {
    return this.choose(selected);
  }

  /** Registers newest rows of a block's series that were determined elsewhere. */
  noteBlock(block: BlockSnapshot, { seriesPtr, timePtr, rowCount }: Run): void {
    const numbers = this.numbers.ofBlock(block);
    if (numbers !== null) this.noteNumbers(numbers, { seriesPtr, rowCount }, timeRange(this.kernel, timePtr, rowCount).minNs);
  }

  private choose(selected: SelectedRun): OwnedRun | null {
    const selection = RowSelection.openBySeries(this.kernel, selected);
    if (selection === "none") return null;
    try {
      const list = selection.newest();
      return list.count === 0 ? null : takeRows(this.kernel, wholeRun(selected.run), list);
    } finally {
      selection.release();
    }
  }

  private note(taken: Run): void {
    const { dictionary, rowCount, seriesPtr, minTimeNs } = taken;
    const met = this.met.get(dictionary) ?? this.begin(dictionary);
    const ids = this.kernel.u32.subarray(seriesPtr / 4, seriesPtr / 4 + rowCount);
    for (const id of ids) {
      if (met.series[id] === 1) continue;
      met.series[id] = 1;
      met.leftCount--;
    }
    // later segments come first: the first row found of a series is its newest, or as good for this bound
    if (minTimeNs < met.earliestNs) met.earliestNs = minTimeNs;
    const numbers = this.numbers.ofMemory(dictionary);
    if (numbers !== null) this.noteNumbers(numbers, taken, minTimeNs);
  }

  private noteNumbers(numbers: Uint32Array, { seriesPtr, rowCount }: Pick<Run, "seriesPtr" | "rowCount">, minNs: bigint): void {
    if (this.metMs.length < this.numbers.seriesCount) {
      const grown = new Float64Array(this.numbers.seriesCount).fill(Number.NEGATIVE_INFINITY);
      grown.set(this.metMs);
      this.metMs = grown;
    }
    const ms = Number(minNs / NS_PER_MS) - 1;
    const { metMs } = this;
    const { u32 } = this.kernel;
    let newCount = 0;
    for (let at = seriesPtr / 4; at < seriesPtr / 4 + rowCount; at++) {
      const number = numbers[u32[at]!]!;
      const knownMs = metMs[number]!;
      if (knownMs === Number.NEGATIVE_INFINITY) newCount++;
      if (ms > knownMs) metMs[number] = ms;
    }
    this.metCount += newCount;
    // of a series that was met before at a later time, too early: then blocks are looked at that need not be
    if (rowCount > 0 && ms < this.earliestMetMs) this.earliestMetMs = ms;
  }

  private begin(dictionary: DictionaryView): Met {
    const { count } = this.choice.filter.wanted(dictionary);
    const met: Met = { series: new Uint8Array(dictionary.seriesCount), leftCount: count, earliestNs: I64_MAX };
    this.met.set(dictionary, met);
    return met;
  }
}
