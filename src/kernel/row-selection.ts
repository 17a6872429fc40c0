// Which rows of a run a statement wants, exactly: assembly/scan/select.ts over one run, with what it points to.
import { EXCLUSION_BYTES } from "../../assembly/abi.ts";
import { assert } from "../model/assert.ts";
import type { Run } from "../model/run.ts";
import { ALL_TIME, type FieldPredicate, type TimeRange } from "../model/scan.ts";
import { Blocks } from "./blocks.ts";
import { writePredicates } from "./field-predicates.ts";
import type { Exclusion, HiddenRows } from "./hidden-rows.ts";
import type { Kernel } from "./kernel.ts";
import type { SeriesFilter } from "./series-filter.ts";

export interface RowChoice {
  readonly range: TimeRange;
  /** Of the tag predicates. */
  readonly filter: SeriesFilter;
  readonly fields?: readonly FieldPredicate[];
  readonly hidden?: HiddenRows | undefined;
  /** Times within `range` that are left out: what is read elsewhere. */
  readonly except?: readonly TimeRange[] | undefined;
}

/** Rows of a run in ascending order, given out once. Owned: call `release`. What the choice consists of must outlive it. */
export class RowSelection {
  private constructor(
    private readonly kernel: Kernel,
    private readonly of: { readonly run: Run; readonly wantedCount: number },
    private readonly ptr: number,
    private readonly blocks: Blocks,
  ) {}

  /** "none", "all": of the run's rows. @throws TsdbError overloaded */
  static open(kernel: Kernel, run: Run, choice: RowChoice): RowSelection | "none" | "all" {
    return RowSelection.choose(kernel, run, choice, true);
  }

  /** For `nextRanges` over a sorted run, or for `newest`: without predicates on fields. @throws TsdbError overloaded */
  static openBySeries(kernel: Kernel, run: Run, choice: Omit<RowChoice, "fields">): RowSelection | "none" {
    const selection = RowSelection.choose(kernel, run, { ...choice, fields: [] }, false);
    assert(selection !== "all", "a selection was asked for");
    return selection;
  }

  /** Whether a selection without predicates on fields would be of all rows. @throws TsdbError overloaded */
  static isAll(run: Run, { range, filter, hidden, except = [] }: Omit<RowChoice, "fields">): boolean {
    if (run.rowCount === 0 || run.minTimeNs < range.minNs || run.maxTimeNs > range.maxNs) return false;
    if (except.some(({ minNs, maxNs }) => minNs <= run.maxTimeNs && maxNs >= run.minTimeNs)) return false;
    const { none, wantedPtr } = filter.wanted(run.dictionary);
    return !none && wantedPtr === 0 && (hidden?.of(run) ?? []).length === 0;
  }

  private static choose(
    kernel: Kernel,
    run: Run,
    { range, filter, fields = [], hidden, except = [] }: RowChoice,
    allIsEnough: boolean,
  ): RowSelection | "none" | "all" {
    if (run.rowCount === 0 || range.minNs > range.maxNs || run.minTimeNs > range.maxNs || run.maxTimeNs < range.minNs) return "none";
    const { none, wantedPtr, count } = filter.wanted(run.dictionary);
    if (none) return "none";
    const hiddenRows = hidden?.of(run) ?? [];
    if (hiddenRows === "all") return "none";
    const leftOut = except.filter(({ minNs, maxNs }) => minNs <= run.maxTimeNs && maxNs >= run.minTimeNs);
    if (leftOut.some(({ minNs, maxNs }) => minNs <= run.minTimeNs && maxNs >= run.maxTimeNs)) return "none";
    const exclusions = [...hiddenRows, ...leftOut.map((times) => ({ ...times, seriesPtr: 0 }))];
    const isWithin = run.minTimeNs >= range.minNs && run.maxTimeNs <= range.maxNs;
    if (allIsEnough && isWithin && wantedPtr === 0 && exclusions.length === 0 && fields.length === 0) return "all";
    const blocks = new Blocks(kernel);
    try {
      const predicates = writePredicates(kernel, run, fields, blocks);
      if (predicates === null) {
        blocks.release();
        return "none";
      }
      const exclusionsPtr = writeExclusions(kernel, exclusions, blocks);
      // all of time is a loop that reads no times
      const ptr = create(kernel, run, isWithin ? ALL_TIME : range, wantedPtr);
      kernel.call.selectionExclude(ptr, exclusionsPtr, exclusions.length);
      kernel.call.selectionWhere(ptr, predicates.ptr, predicates.count);
      return new RowSelection(kernel, { run, wantedCount: count }, ptr, blocks);
    } catch (error) {
      blocks.release();
      throw error;
    }
  }

  /** Writes the next row numbers (u32), at most `max`, to `targetPtr`. Returns how many; fewer than `max`: these were the last. */
  next(targetPtr: number, max: number): number {
    return this.kernel.call.selectionNext(this.ptr, targetPtr, max);
  }

  /** Writes the next ranges | series u32 | first row u32 | end u32 |, each of one series, at most `max`, to `targetPtr`. Returns how many;
   *  fewer than `max`: these were the last. */
  nextRanges(targetPtr: number, max: number): number {
    assert(this.of.run.sorted, "only a sorted run has ranges");
    return this.kernel.call.selectionRanges(this.ptr, targetPtr, max);
  }

  /** The newest row of every series, ascending row numbers (u32), borrowed until `release`. To be called once, and instead of the others.
   *  @throws TsdbError overloaded */
  newest(): { rowsPtr: number; count: number } {
    const { kernel, blocks, ptr } = this;
    const { run, wantedCount } = this.of;
    const { seriesCount } = run.dictionary;
    assert(run.seriesPtr !== 0, "newest rows are found by their series");
    const rowsPtr = blocks.alloc(Math.min(wantedCount, run.rowCount) * 4);
    if (run.sorted) return { rowsPtr, count: kernel.call.newestSorted(ptr, rowsPtr) };
    if (run.ascending) return { rowsPtr, count: kernel.call.newestAscending(ptr, wantedCount, blocks.allocZeroed(seriesCount), rowsPtr) };
    return { rowsPtr, count: kernel.call.newestUnordered(ptr, blocks.allocZeroed(seriesCount * 4), rowsPtr) };
  }

  release(): void {
    this.kernel.call.selectionFree(this.ptr);
    this.blocks.release();
  }
}

function create({ call }: Kernel, run: Run, { minNs, maxNs }: TimeRange, wantedPtr: number): number {
  const { seriesPtr, timePtr, rowCount, dictionary } = run;
  return call.selectionCreate(seriesPtr, timePtr, rowCount, run.sorted ? 1 : 0, wantedPtr, dictionary.seriesCount, minNs, maxNs) >>> 0;
}

function writeExclusions(kernel: Kernel, exclusions: readonly Exclusion[], blocks: Blocks): number {
  if (exclusions.length === 0) return 0;
  const ptr = blocks.allocZeroed(exclusions.length * EXCLUSION_BYTES);
  exclusions.forEach(({ seriesPtr, minNs, maxNs }, i) => {
    const at = ptr + i * EXCLUSION_BYTES;
    kernel.i64.set([minNs, maxNs], at / 8);
    kernel.u32[at / 4 + 4] = seriesPtr;
  });
  return ptr;
}
