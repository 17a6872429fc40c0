// Newest rows out of the segments of a table, latest segment first. Once every wanted series of a dictionary has been met after the last
// time of the segments that are left, those are not looked at: with thousands of rows a series in memory that is nearly all of them.
import type { HiddenRows } from "../kernel/hidden-rows.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { RowSelection } from "../kernel/row-selection.ts";
import type { OwnedRun } from "../kernel/run-merge.ts";
import type { SeriesFilter } from "../kernel/series-filter.ts";
import type { DictionaryView, Run } from "../model/run.ts";
import type { TimeRange } from "../model/scan.ts";
import { takeRows } from "./taken-rows.ts";

/** Of the series of a dictionary. */
interface Met {
  readonly series: Uint8Array;
  leftCount: number;
  /** The earliest of their newest times so far. */
  earliestNs: bigint;
}

export class NewestSegments {
  private readonly met = new Map<DictionaryView, Met>();

  constructor(
    private readonly kernel: Kernel,
    private readonly choice: { readonly filter: SeriesFilter; readonly hidden: HiddenRows },
  ) {}

  /** False: no series has its newest row there. */
  canHold({ dictionary, maxTimeNs }: Run): boolean {
    const met = this.met.get(dictionary);
    return met === undefined || met.leftCount > 0 || met.earliestNs <= maxTimeNs;
  }

  /** The newest wanted row of each series within the range, but for the times of `except`; null when there is none. Owned by the caller.
   *  @throws TsdbError overloaded */
  take(run: Run, range: TimeRange, except: readonly TimeRange[]): OwnedRun | null {
    const selection = RowSelection.openBySeries(this.kernel, run, { range, except, ...this.choice });
    if (selection === "none") return null;
    try {
      const list = selection.newest();
      if (list.count === 0) return null;
      const taken = takeRows(this.kernel, run, list);
      this.note(taken);
      return taken;
    } finally {
      selection.release();
    }
  }

  private note({ dictionary, rowCount, seriesPtr, minTimeNs }: Run): void {
    const met = this.met.get(dictionary) ?? this.begin(dictionary);
    const ids = this.kernel.u32.subarray(seriesPtr / 4, seriesPtr / 4 + rowCount);
    for (const id of ids) {
      if (met.series[id] === 1) continue;
      met.series[id] = 1;
      met.leftCount--;
    }
    // later segments come first: what a series shows first is its newest, or as good as any for this bound
    if (minTimeNs < met.earliestNs) met.earliestNs = minTimeNs;
  }

  private begin(dictionary: DictionaryView): Met {
    const { count } = this.choice.filter.wanted(dictionary);
    const met: Met = { series: new Uint8Array(dictionary.seriesCount), leftCount: count, earliestNs: 2n ** 63n - 1n };
    this.met.set(dictionary, met);
    return met;
  }
}
