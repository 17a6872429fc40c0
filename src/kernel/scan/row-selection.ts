// Selects exactly the rows of a run that a statement wants: wraps assembly/scan/select.ts and its inputs.
import { EXCLUSION_BYTES, MATCH_BYTES } from "../../../assembly/abi.ts";
import { assert } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import { ALL_TIME, type FieldPredicate, type TimeRange } from "../../model/query/scan.ts";
import { type PartialRun, type Run, wholeRun } from "../../model/rows/run.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import type { SeriesFilter } from "../series/series-filter.ts";
import { hasFailed } from "./expression-program.ts";
import { type WrittenPredicates, writePredicates } from "./field-predicates.ts";
import type { Exclusion, HiddenRows } from "./hidden-rows.ts";

/** The criteria by which a statement selects rows of a run, except field predicates. */
export interface RowChoice {
  readonly range: TimeRange;
  /** The tag predicates. */
  readonly filter: SeriesFilter;
  readonly hidden?: HiddenRows | undefined;
  /** Times within `range` to skip: they are read from elsewhere, for instance from a merge. */
  readonly except?: readonly TimeRange[] | undefined;
}

/** A run and the rows of it that a statement selects, before field predicates. "all" means that the caller has already decided this for
 *  the whole run, by its block, its page or a merge: nothing is left to evaluate, and series and times may be absent. */
export type SelectedRun = { readonly selection: "all"; readonly run: PartialRun } | { readonly selection: RowChoice; readonly run: Run };

const NO_PREDICATES: WrittenPredicates = { ptr: 0, count: 0, programs: [] };
const INTEGER_TOO_LARGE = "Arrow error: Arithmetic overflow: a value in a condition does not fit a 64-bit integer";
const NO_EXCLUSIONS: readonly Exclusion[] = [];
const NO_TIMES: readonly TimeRange[] = [];

/** The selected rows of a run in ascending order, returned once. Owned: call `release`. The criteria must outlive it. */
export class RowSelection {
  private constructor(
    private readonly kernel: Kernel,
    private readonly of: {
      readonly run: PartialRun;
      readonly wantedCount: number;
      readonly programs: readonly number[];
      readonly hasRanges: boolean;
    },
    private readonly ptr: number,
    private readonly blocks: Blocks,
  ) {}

  /** Selects the rows that also satisfy `fields`. Returns "none" or "all" instead if that is the result for every row. @throws TsdbError
   *  overloaded */
  static open(kernel: Kernel, selected: SelectedRun, fields: readonly FieldPredicate[] = []): RowSelection | "none" | "all" {
    const choice = resolve(selected);
    if (choice === "none") return "none";
    if (choice.isAll && fields.length === 0) return "all";
    return RowSelection.create(kernel, choice, fields, choice.isAll ? "rows" : "series");
  }

  /** For `nextRanges` on a sorted run, or for `newest`: without field predicates. @throws TsdbError overloaded */
  static openBySeries(kernel: Kernel, selected: SelectedRun): RowSelection | "none" {
    const choice = resolve(selected);
    return choice === "none" ? "none" : RowSelection.create(kernel, choice, [], "series");
  }

  /** False if a selection without field predicates would certainly contain no row. @throws TsdbError overloaded */
  static canHold(selected: SelectedRun): boolean {
    return resolve(selected) !== "none";
  }

  /** True if a selection without field predicates would contain all rows. @throws TsdbError overloaded */
  static isAll(selected: SelectedRun): boolean {
    const choice = resolve(selected);
    return choice !== "none" && choice.isAll;
  }

  /** @param by "rows": all rows of the run, whose series and times may be absent */
  private static create(
    kernel: Kernel,
    choice: ResolvedChoice,
    fields: readonly FieldPredicate[],
    by: "rows" | "series",
  ): RowSelection | "none" {
    const { run, range, wantedPtr, wantedCount, exclusions } = choice;
    const blocks = new Blocks(kernel);
    try {
      const predicates = fields.length === 0 ? NO_PREDICATES : writePredicates(kernel, run, fields, blocks);
      if (predicates === null) {
        blocks.release();
        return "none";
      }
      const workPtr = predicates.count === 0 ? 0 : blocks.alloc(MATCH_BYTES);
      const exclusionsPtr = writeExclusions(kernel, exclusions, blocks);
      const ptr = by === "rows" ? kernel.call.selectionOfAll(run.rowCount) >>> 0 : create(kernel, run, range, wantedPtr);
      // a new selection has none of either
      if (exclusions.length > 0) kernel.call.selectionExclude(ptr, exclusionsPtr, exclusions.length);
      if (predicates.count > 0) kernel.call.selectionWhere(ptr, predicates.ptr, predicates.count, workPtr);
      const hasRanges = by === "rows" || run.sorted;
      return new RowSelection(kernel, { run, wantedCount, programs: predicates.programs, hasRanges }, ptr, blocks);
    } catch (error) {
      blocks.release();
      throw error;
    }
  }

  /** Writes at most `max` row numbers (u32) to `targetPtr`. Returns how many; fewer than `max` means these were the last. @throws
   *  TsdbError bad_query if an integer in a condition leaves 64 bits */
  next(targetPtr: number, max: number): number {
    const count = this.kernel.call.selectionNext(this.ptr, targetPtr, max);
    this.throwIfFailed();
    return count;
  }

  /** True if `count` can count the rows. */
  get isCountable(): boolean {
    return this.of.hasRanges;
  }

  /** How many rows are left, without a list of them. Throws as `next`. */
  count(): number {
    assert(this.isCountable, "rows without an order are listed");
    const count = this.kernel.call.selectionCount(this.ptr) >>> 0;
    this.throwIfFailed();
    return count;
  }

  private throwIfFailed(): void {
    const { kernel, of } = this;
    if (of.programs.some((program) => hasFailed(kernel, program))) throw new TsdbError("bad_query", INTEGER_TOO_LARGE);
  }

  /** Writes at most `max` ranges | series u32 | first row u32 | end u32 |, each of one series, to `targetPtr`. Returns how many; fewer
   *  than `max` means these were the last. */
  nextRanges(targetPtr: number, max: number): number {
    assert(this.of.run.sorted, "only a sorted run has ranges");
    return this.kernel.call.selectionRanges(this.ptr, targetPtr, max);
  }

  /** The newest row of every series: ascending row numbers (u32), borrowed until `release`. Call it once and instead of the other
   *  methods. @throws TsdbError overloaded */
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

/** The tests that remain for the rows of a run. */
interface ResolvedChoice {
  readonly run: PartialRun;
  /** True if no test remains. */
  readonly isAll: boolean;
  /** ALL_TIME: times need not be read. */
  readonly range: TimeRange;
  /** A byte per series, 1 = wanted; 0 = all series. */
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
  const { range, filter, hidden, except = NO_TIMES } = selected.selection;
  if (range.minNs > range.maxNs || run.minTimeNs > range.maxNs || run.maxTimeNs < range.minNs) return "none";
  const { none, wantedPtr, count: wantedCount } = filter.wanted(selected.run.dictionary);
  if (none) return "none";
  const hiddenRows = hidden?.of(selected.run) ?? NO_EXCLUSIONS;
  if (hiddenRows === "all") return "none";
  const exclusions = except.length === 0 ? hiddenRows : withTimes(hiddenRows, except, run);
  if (exclusions === null) return "none";
  const isWithin = run.minTimeNs >= range.minNs && run.maxTimeNs <= range.maxNs;
  const isAll = isWithin && wantedPtr === 0 && exclusions.length === 0;
  return { run, isAll, range: isWithin ? ALL_TIME : range, wantedPtr, wantedCount, exclusions };
}

/** The exclusions and those of `except` that overlap the run; null if one of these covers it. */
function withTimes(
  exclusions: readonly Exclusion[],
  except: readonly TimeRange[],
  { minTimeNs, maxTimeNs }: Pick<Run, "minTimeNs" | "maxTimeNs">,
): readonly Exclusion[] | null {
  const leftOut = except.filter(({ minNs, maxNs }) => minNs <= maxTimeNs && maxNs >= minTimeNs);
  if (leftOut.some(({ minNs, maxNs }) => minNs <= minTimeNs && maxNs >= maxTimeNs)) return null;
  return [...exclusions, ...leftOut.map((times) => ({ ...times, seriesPtr: 0 }))];
}

function create({ call }: Kernel, run: PartialRun, range: TimeRange, wantedPtr: number): number {
  const { seriesPtr, dictionary, timePtr = 0, rowCount } = run;
  assert(seriesPtr !== undefined && dictionary !== undefined, "rows are selected series by series");
  // without a time range, a sorted run's times are not read
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
