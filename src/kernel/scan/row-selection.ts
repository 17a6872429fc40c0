// Which rows of a run a statement wants, exactly: assembly/scan/select.ts over one run, with what it points to.
import { EXCLUSION_BYTES } from "../../../assembly/abi.ts";
import { assert } from "../../model/assert.ts";
import { ALL_TIME, type FieldPredicate, type TimeRange } from "../../model/query/scan.ts";
import { type PartialRun, type Run, wholeRun } from "../../model/rows/run.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import type { SeriesFilter } from "../series/series-filter.ts";
import { writePredicates } from "./field-predicates.ts";
import type { Exclusion, HiddenRows } from "./hidden-rows.ts";

/** What decides which rows of a run a statement selects, predicates on fields aside. */
export interface RowChoice {
  readonly range: TimeRange;
  /** Of the tag predicates. */
  readonly filter: SeriesFilter;
  readonly hidden?: HiddenRows | undefined;
  /** Times within `range` that are left out: what is read elsewhere. */
  readonly except?: readonly TimeRange[] | undefined;
}

/** A run and which of its rows a statement selects, predicates on fields aside. "all": the maker of the run has decided that, by its block,
 *  its page or a merge. There is no choice left to evaluate then, and series and times may be absent. */
export type SelectedRun = { readonly selection: "all"; readonly run: PartialRun } | { readonly selection: RowChoice; readonly run: Run };

/** Rows of a run in ascending order, given out once. Owned: call `release`. What the choice consists of must outlive it. */
export class RowSelection {
  private constructor(
    private readonly kernel: Kernel,
    private readonly of: { readonly run: PartialRun; readonly wantedCount: number },
    private readonly ptr: number,
    private readonly blocks: Blocks,
  ) {}

  /** The selected rows that satisfy `fields`. "none", "all": of the run's rows. @throws TsdbError overloaded */
  static open(kernel: Kernel, selected: SelectedRun, fields: readonly FieldPredicate[] = []): RowSelection | "none" | "all" {
    const choice = resolve(selected);
    if (choice === "none") return "none";
    if (choice.isAll && fields.length === 0) return "all";
    return RowSelection.create(kernel, choice, fields);
  }

  /** For `nextRanges` over a sorted run, or for `newest`: without predicates on fields. @throws TsdbError overloaded */
  static openBySeries(kernel: Kernel, selected: SelectedRun): RowSelection | "none" {
    const choice = resolve(selected);
    return choice === "none" ? "none" : RowSelection.create(kernel, choice, []);
  }

  /** Whether a selection without predicates on fields would be of all rows. @throws TsdbError overloaded */
  static isAll(selected: SelectedRun): boolean {
    const choice = resolve(selected);
    return choice !== "none" && choice.isAll;
  }

  private static create(kernel: Kernel, choice: ResolvedChoice, fields: readonly FieldPredicate[]): RowSelection | "none" {
    const { run, range, wantedPtr, wantedCount, exclusions } = choice;
    const blocks = new Blocks(kernel);
    try {
      const predicates = writePredicates(kernel, run, fields, blocks);
      if (predicates === null) {
        blocks.release();
        return "none";
      }
      const exclusionsPtr = writeExclusions(kernel, exclusions, blocks);
      const ptr = create(kernel, run, range, wantedPtr);
      kernel.call.selectionExclude(ptr, exclusionsPtr, exclusions.length);
      kernel.call.selectionWhere(ptr, predicates.ptr, predicates.count);
      return new RowSelection(kernel, { run, wantedCount }, ptr, blocks);
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
    const { seriesCount } = wholeRun(run).dictionary;
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

/** What is left to test of the rows of a run. */
interface ResolvedChoice {
  readonly run: PartialRun;
  /** Nothing is. */
  readonly isAll: boolean;
  /** All of time: times are not read. */
  readonly range: TimeRange;
  /** A byte per series, 1 = wanted; 0 = all are. */
  readonly wantedPtr: number;
  readonly wantedCount: number;
  readonly exclusions: readonly Exclusion[];
}

function resolve(selected: SelectedRun): ResolvedChoice | "none" {
  const { run } = selected;
  if (run.rowCount === 0) return "none";
  if (selected.selection === "all") {
    const wantedCount = run.dictionary?.seriesCount ?? 0;
    return { run, isAll: true, range: ALL_TIME, wantedPtr: 0, wantedCount, exclusions: [] };
  }
  const { range, filter, hidden, except = [] } = selected.selection;
  if (range.minNs > range.maxNs || run.minTimeNs > range.maxNs || run.maxTimeNs < range.minNs) return "none";
  const { none, wantedPtr, count: wantedCount } = filter.wanted(selected.run.dictionary);
  if (none) return "none";
  const hiddenRows = hidden?.of(selected.run) ?? [];
  if (hiddenRows === "all") return "none";
  const leftOut = except.filter(({ minNs, maxNs }) => minNs <= run.maxTimeNs && maxNs >= run.minTimeNs);
  if (leftOut.some(({ minNs, maxNs }) => minNs <= run.minTimeNs && maxNs >= run.maxTimeNs)) return "none";
  const exclusions = [...hiddenRows, ...leftOut.map((times) => ({ ...times, seriesPtr: 0 }))];
  const isWithin = run.minTimeNs >= range.minNs && run.maxTimeNs <= range.maxNs;
  const isAll = isWithin && wantedPtr === 0 && exclusions.length === 0;
  return { run, isAll, range: isWithin ? ALL_TIME : range, wantedPtr, wantedCount, exclusions };
}

function create({ call }: Kernel, run: PartialRun, range: TimeRange, wantedPtr: number): number {
  const { seriesPtr, dictionary, timePtr = 0, rowCount } = run;
  assert(seriesPtr !== undefined && dictionary !== undefined, "rows are selected series by series");
  // in a sorted run no time is read for all of time
  assert(timePtr !== 0 || (run.sorted && range === ALL_TIME), "rows are selected by time");
  const { seriesCount } = dictionary;
  const { minNs, maxNs } = range;
  return call.selectionCreate(seriesPtr, timePtr, rowCount, run.sorted ? 1 : 0, wantedPtr, seriesCount, minNs, maxNs) >>> 0;
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
