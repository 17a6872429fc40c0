// Aggregation inside the scan: reduces the rows of any number of runs to one row per group and time bin. A sorted run is processed series
// by series and bin by bin, reducing each contiguous stretch of a column at once; for an unsorted run the cell of each row is computed once
// and used for all columns.

import { EXPRESSION_ROWS } from "../../../assembly/abi.ts";
import { assert } from "../../model/assert.ts";
import { LIMITS } from "../../model/limits.ts";
import {
  type AggregateRequest,
  aggregateColumns,
  computedColumns,
  type QuantileAggregate,
  readsSeriesAndTimes,
} from "../../model/query/aggregate.ts";
import type { ComputedColumn } from "../../model/query/field-expression.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import type { ScanCursor } from "../../model/query/scan-table.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { type PartialRun, type Run, wholeRun } from "../../model/rows/run.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import { computeColumn, type RowStretch } from "../scan/expression-program.ts";
import { RowSelection, type SelectedRun } from "../scan/row-selection.ts";
import { type CellArray, CellArrays } from "./arrays.ts";
import { AggregateCells, type ListedRows, planBins } from "./cells.ts";
import { type CellRows, ColumnFacts, countRows } from "./columns.ts";
import { AggregateGroups, FixedGroups, type Groups } from "./groups.ts";
import { factOf, GroupCursor } from "./output.ts";
import { Quantiles } from "./quantiles.ts";
import { ValueGroups } from "./value-groups.ts";

/** Rows whose cells are computed before their columns are read: one page, so that the cell numbers stay in the processor's cache. */
const BLOCK_ROWS = LIMITS.pageRowsMax;
const RANGES_MAX = 2048;
const SPANS_MAX = 4096;
/** Below this many rows a series, a sorted run is cheaper row by row. */
const SERIES_ROWS_MIN = 8;
/** Minimum average of adjacent rows of one cell for which reducing spans beats reducing rows; a page then yields at most SPANS_MAX
 *  spans. */
const SPAN_ROWS_MIN = BLOCK_ROWS / SPANS_MAX;
/** Up to this many, groups by values may have any number of rows; more must have some each, or there will be still more. */
const SPARSE_GROUPS_MAX = 1 << 14;
const GROUP_ROWS_MIN = 16;
const RANGE_BYTES = 12;
const SPAN_BYTES = 12;

export interface AggregatorOptions {
  /** Maximum kernel memory for cells. The tag values of groups have a limit of the same size, checked separately. */
  readonly memoryBytesMax: number;
  /** Upper bound of the rows to come, before predicates; decides between dense and hashed cells. */
  readonly rowCountMax?: number;
}

/** Accumulates `request` over runs that share no (series, time): overlapping runs are merged by the caller. Owned: call `release`, or
 *  close the cursor that `finish` returns. */
export class Aggregator {
  /** True if the results for `first` and `last` of strings are views into the runs' text: then all runs must outlive the aggregator and
   *  its cursor. */
  readonly keepsText: boolean;
  private readonly range: TimeRange;
  private readonly scratch: Blocks;
  private readonly arrays: CellArrays;
  private readonly columns = new Map<number, ColumnFacts>();
  private readonly quantiles = new Map<string, Quantiles>();
  private readonly computed: readonly ComputedColumn[];
  private readonly groups: Groups;
  /** Groups within these, which have cells in their place. */
  private readonly values: ValueGroups | null;
  private readonly rowCounts: CellArray | null;
  /** Null if the request cannot be accumulated: no such bins, or not enough memory. */
  private readonly cells: AggregateCells | null = null;
  private readonly rangesPtr: number;
  private readonly blockPtr: number;
  private readonly spansPtr: number;
  /** True: series and times of fully selected runs are not read. */
  private readonly readsFieldsAlone: boolean;
  /** True if all rows belong to one cell: they need not be asked for theirs. */
  private readonly hasOneGroup: boolean;
  /** Rows that were grouped by values. */
  private rowsByValues = 0;
  private failed = false;
  private released = false;

  /** `range` covers the times of all rows to come, as far as they lie in the request's range. @throws TsdbError overloaded */
  constructor(
    private readonly kernel: Kernel,
    private readonly request: AggregateRequest,
    range: TimeRange,
    private readonly options: AggregatorOptions,
  ) {
    aggregateColumns(request);
    this.range = intersect(range, request.range);
    const { bins: times, groupBy, merged, values = [] } = request;
    this.readsFieldsAlone = !readsSeriesAndTimes(request);
    this.hasOneGroup = times === null && !this.hasTagGroups && values.length === 0;
    this.computed = computedColumns(request);
    this.keepsText = request.aggregates.some(({ fn, column }) => (fn === "first" || fn === "last") && column?.type === ColumnType.string);
    this.scratch = new Blocks(kernel);
    this.arrays = new CellArrays(kernel, options.memoryBytesMax);
    this.rowCounts = this.arrays.add(8);
    this.groups = merged === undefined ? new AggregateGroups(kernel, groupBy) : new FixedGroups(merged);
    try {
      this.values = values.length === 0 ? null : new ValueGroups(kernel, values, options.memoryBytesMax);
      this.addColumns();
      this.rangesPtr = this.scratch.alloc(Math.max(RANGES_MAX * RANGE_BYTES, BLOCK_ROWS * 4));
      this.blockPtr = this.scratch.allocZeroed(BLOCK_ROWS * 4);
      this.spansPtr = this.scratch.alloc(SPANS_MAX * SPAN_BYTES);
      const bins = planBins(request.bins, this.range);
      if (bins !== null && this.rowCounts !== null) {
        const { memoryBytesMax: bytesMax, rowCountMax = Number.POSITIVE_INFINITY } = options;
        this.cells = new AggregateCells(kernel, bins, { arrays: this.arrays, rowCounts: this.rowCounts, bytesMax, rowCountMax });
      }
    } catch (error) {
      this.release();
      throw error;
    }
    this.failed = this.cells === null;
  }

  /** Adds the selected rows that satisfy the request's field predicates and lie in its range; tag predicates are part of the
   *  selection. Reads the run's series and times, except as told by `readsSeriesAndTimes`. Returns false once the aggregation has
   *  failed: `finish` will return null and no more runs are needed. @throws TsdbError overloaded: only `release` is allowed
   *  afterwards; bad_query: see RowSelection */
  add(added: SelectedRun): boolean {
    assert(!this.released, "a run for an aggregator that was released");
    if (this.failed) return false;
    const selected = this.within(added);
    if (this.computed.length === 0) return this.addSelected(selected);
    const blocks = new Blocks(this.kernel);
    try {
      const whole = this.withComputed(selected, blocks);
      if (whole === null) this.failed = true;
      return whole !== null && this.addSelected(whole);
    } finally {
      blocks.release();
    }
  }

  /** The run with its computed columns, unless no row of it is wanted. Null: they need too much memory, or an integer of a row left 64
   *  bits. */
  private withComputed(selected: SelectedRun, blocks: Blocks): SelectedRun | null {
    const { run } = selected;
    const stretches = this.wantedStretches(selected);
    if (stretches.length === 0) return selected;
    if (run.rowCount * this.computed.length * 8 > this.options.memoryBytesMax / 4) return null;
    const columns = [...run.columns];
    for (const column of this.computed) {
      const values = computeColumn(this.kernel, run, column, stretches, blocks);
      if (values === "failed") return null;
      columns.push(values);
    }
    const whole = { ...run, columns };
    return selected.selection === "all" ? { run: whole, selection: "all" } : { run: wholeRun(whole), selection: selected.selection };
  }

  /** Stretches with all wanted rows, and others beside them: of a long run often few are. */
  private wantedStretches(selected: SelectedRun): readonly RowStretch[] {
    const { run } = selected;
    const all = [{ first: 0, end: run.rowCount }];
    // finding rows of an unsorted run takes as long as computing them
    if (!run.sorted || RowSelection.isAll(selected)) return RowSelection.canHold(selected) ? all : [];
    const selection = RowSelection.openBySeries(this.kernel, selected);
    if (selection === "none") return [];
    const stretches: { first: number; end: number }[] = [];
    try {
      for (let count = RANGES_MAX; count === RANGES_MAX; ) {
        count = selection.nextRanges(this.rangesPtr, RANGES_MAX);
        for (let at = this.rangesPtr / 4, last = at + count * 3; at < last; at += 3) {
          const first = Math.floor(this.kernel.u32[at + 1]! / EXPRESSION_ROWS) * EXPRESSION_ROWS;
          const end = Math.min(Math.ceil(this.kernel.u32[at + 2]! / EXPRESSION_ROWS) * EXPRESSION_ROWS, run.rowCount);
          const before = stretches.at(-1);
          if (before === undefined || first > before.end) stretches.push({ first, end });
          else before.end = Math.max(before.end, end);
        }
      }
      return stretches;
    } finally {
      selection.release();
    }
  }

  private addSelected(selected: SelectedRun): boolean {
    const { fields } = this.request;
    const isWhole = this.readsFieldsAlone && RowSelection.isAll(selected);
    if (isWhole && fields.length === 0) {
      const { run } = selected;
      this.failed = !(this.prepare(run) && (this.values === null ? this.addWhole(run) : this.addRows(run, "all")));
      return !this.failed;
    }
    const run = isWhole ? selected.run : wholeRun(selected.run);
    if (fields.length === 0 && this.values === null && this.hasLongSeries(wholeRun(run))) {
      const selection = RowSelection.openBySeries(this.kernel, selected);
      if (selection === "none") return true;
      try {
        this.failed = !(this.prepare(run) && this.addRanges(wholeRun(run), selection));
      } finally {
        selection.release();
      }
    } else {
      const selection = RowSelection.open(this.kernel, selected, fields);
      if (selection === "none") return true;
      try {
        const isCounted = selection !== "all" && selection.isCountable && this.onlyCounts(run);
        this.failed = !(this.prepare(run) && (isCounted ? this.countSelected(run, selection) : this.addRows(run, selection)));
      } finally {
        if (selection !== "all") selection.release();
      }
    }
    this.failed ||= this.hasTooManyGroups();
    return !this.failed;
  }

  /** True if at least so many groups have rows. @param count at most NEWEST_GROUPS_MAX */
  hasGroups(count: number): boolean {
    return this.cells !== null && !this.failed && this.cells.listUsed(0, this.blockPtr, count) === count;
  }

  /** The groups that have rows, with the columns of `aggregateColumns`. Returns null if a sum of integers, even an intermediate one,
   *  exceeds 64 bits, if the cells exceed the memory allowed, the groups their number, or if a bin begins before the least i64. The
   *  cursor owns the accumulated state; nothing may be added afterwards. @throws TsdbError overloaded: everything is freed then */
  finish(): ScanCursor | null {
    assert(!this.released, "finish after release");
    const { request, groups, values, cells, rowCounts, columns, quantiles } = this;
    if (this.failed || cells === null || rowCounts === null) {
      this.release();
      return null;
    }
    try {
      return new GroupCursor(this.kernel, { request, groups, values, cells, rowCounts, columns, quantiles }, () => this.release());
    } catch (error) {
      this.release();
      throw error;
    }
  }

  release(): void {
    if (this.released) return;
    this.released = true;
    this.scratch.release();
    this.arrays.release();
    this.groups.release();
    this.values?.release();
    this.cells?.release();
    for (const each of this.quantiles.values()) each.release();
  }

  private within(selected: SelectedRun): SelectedRun {
    if (selected.selection === "all") return selected;
    const { run, selection } = selected;
    const { range } = selection;
    if (range.minNs >= this.range.minNs && range.maxNs <= this.range.maxNs) return selected;
    return { run, selection: { ...selection, range: intersect(range, this.range) } };
  }

  /** True for a sorted run with several rows of each series. The distance of the lowest and the highest series id bounds the number of
   *  series. */
  private hasLongSeries({ sorted, rowCount, seriesPtr }: Run): boolean {
    if (!sorted || rowCount === 0) return false;
    const { u32 } = this.kernel;
    return rowCount >= (u32[seriesPtr / 4 + rowCount - 1]! - u32[seriesPtr / 4]! + 1) * SERIES_ROWS_MIN;
  }

  private addColumns(): void {
    for (const aggregate of this.request.aggregates) {
      if (aggregate.fn === "quantile") {
        this.addQuantile(aggregate);
        continue;
      }
      const { column } = aggregate;
      if (column === null) continue;
      const facts = this.columns.get(column.id) ?? new ColumnFacts(this.kernel, column, this.arrays);
      this.columns.set(column.id, facts);
      const fact = factOf(aggregate);
      if (fact !== null) facts.need(fact);
    }
  }

  private addQuantile(aggregate: QuantileAggregate): void {
    const key = Quantiles.key(aggregate);
    if (this.quantiles.has(key)) return;
    this.quantiles.set(key, new Quantiles(this.kernel, aggregate, this.arrays, this.options.memoryBytesMax));
  }

  /** Starts counting present values for columns that contain NULLs in this run. Returns false if that exceeds the memory budget. */
  private prepare(run: PartialRun): boolean {
    for (const facts of this.columns.values()) {
      if (facts.of(run)?.validityPtr !== 0 && !facts.countApart(this.rowCounts!)) return false;
    }
    return true;
  }

  /** True if the number of the rows of a run that satisfy the predicates is all that is wanted of them. */
  private onlyCounts(run: PartialRun): boolean {
    const { fields } = this.request;
    return this.hasOneGroup && this.quantiles.size === 0 && [...this.columns.values()].every((facts) => facts.countsRows(run, fields));
  }

  private countSelected(run: PartialRun, selection: RowSelection): boolean {
    if (!this.reserveGroups()) return false;
    const count = BigInt(selection.count());
    this.kernel.i64[this.rowCounts!.ptr / 8]! += count;
    for (const facts of this.columns.values()) facts.addRows(run, count);
    return true;
  }

  /** Adds every row of the run to the only cell. */
  private addWhole(run: PartialRun): boolean {
    if (!this.reserveGroups()) return false;
    this.kernel.u32.set([0, 0, run.rowCount], this.spansPtr / 4);
    return this.reduce(run, { kind: "spans", ptr: this.spansPtr, count: 1 });
  }

  private addRanges(run: Run, selection: RowSelection): boolean {
    const { rangesPtr, spansPtr } = this;
    const cells = this.cells!;
    for (let count = RANGES_MAX; count === RANGES_MAX; ) {
      count = selection.nextRanges(rangesPtr, RANGES_MAX);
      if (count === 0) return true;
      this.groups.learnRanges(run.dictionary, rangesPtr, count);
      if (!this.reserveGroups()) return false;
      const mapPtr = this.groups.mapOf(run.dictionary);
      for (let spans = SPANS_MAX; spans === SPANS_MAX; ) {
        const target = { timePtr: run.timePtr, mapPtr, targetPtr: spansPtr, max: SPANS_MAX };
        const found = cells.cut({ ptr: rangesPtr, count }, target);
        if (found === null) return false;
        spans = found;
        if (!this.reduce(run, { kind: "spans", ptr: spansPtr, count: spans })) return false;
      }
    }
    return true;
  }

  private addRows(run: PartialRun, selection: RowSelection | "all"): boolean {
    const { rangesPtr, blockPtr } = this;
    for (let first = 0, count = BLOCK_ROWS; count === BLOCK_ROWS; first += BLOCK_ROWS) {
      if (selection === "all") count = Math.max(0, Math.min(BLOCK_ROWS, run.rowCount - first));
      else count = selection.next(rangesPtr, BLOCK_ROWS);
      if (count === 0) return true;
      const rows = { rowsPtr: selection === "all" ? 0 : rangesPtr, first, count };
      if (!this.reserveGroups()) return false;
      const counted = selection === "all" ? this.countValues(run, rows) : 0;
      if (counted > 0) {
        if (this.hasTooManyGroups() || !this.reserveGroups()) return false;
        countRows(this.kernel, { kind: "spans", ptr: this.spansPtr, count: counted }, 0, this.rowCounts!);
        continue;
      }
      // of one group each row has cell 0, as the block does
      if (!this.hasOneGroup && !(this.values === null ? this.findCells(wholeRun(run), rows) : this.findValues(run, rows))) return false;
      const byRow: CellRows = { kind: "rows", cellsPtr: blockPtr, ...rows };
      const spans = this.kernel.call.cellsJoin(blockPtr, rows.rowsPtr, first, count, this.spansPtr, Math.ceil(count / SPAN_ROWS_MIN));
      if (!this.reduce(run, spans === 0 ? byRow : { kind: "spans", ptr: this.spansPtr, count: spans }, byRow)) return false;
    }
    return true;
  }

  /** Writes the cells of rows to the block. Returns false if the memory does not suffice. */
  private findCells(run: Run, rows: ListedRows): boolean {
    const cells = this.cells!;
    let found = cells.ofRows(run, rows, { mapPtr: this.groups.mapOf(run.dictionary), targetPtr: this.blockPtr });
    if (found === "unknown") {
      this.groups.learnRows(run.dictionary, run.seriesPtr, rows);
      // compute all cells again: new groups may have renumbered them
      if (!this.reserveGroups()) return false;
      found = cells.ofRows(run, rows, { mapPtr: this.groups.mapOf(run.dictionary), targetPtr: this.blockPtr });
    }
    return found !== null;
  }

  /** Counts rows by groups of values, as spans. Returns how many these are; 0: they are to be found row by row, or more than counts is
   *  wanted of them. */
  private countValues(run: PartialRun, rows: ListedRows): number {
    const { values, columns, quantiles, request, rangesPtr, spansPtr } = this;
    if (values === null || columns.size > 0 || quantiles.size > 0 || request.bins !== null) return 0;
    const numbersPtr = this.hasTagGroups ? this.blockPtr : 0;
    if (numbersPtr !== 0) this.findTagGroups(run, rows);
    const counted = values.countRows(run, rows, { numbersPtr, countsPtr: rangesPtr, targetPtr: spansPtr, max: SPANS_MAX });
    if (counted > 0) this.rowsByValues += rows.count;
    return counted;
  }

  /** Writes the groups of tags of rows to the block. */
  private findTagGroups(run: PartialRun, { rowsPtr, first, count }: ListedRows): void {
    const { seriesPtr = 0, dictionary } = run;
    const { call } = this.kernel;
    const find = () => {
      const mapPtr = dictionary === undefined ? 0 : this.groups.mapOf(dictionary);
      return call.groupsOfRows(seriesPtr, rowsPtr, first, count, mapPtr, this.blockPtr) === count;
    };
    if (!find()) {
      this.groups.learnRows(wholeRun(run).dictionary, seriesPtr, { rowsPtr, first, count });
      find();
    }
  }

  /** The same as findCells where values of fields tell groups apart. */
  private findValues(run: PartialRun, rows: ListedRows): boolean {
    const { timePtr = 0 } = run;
    const { count } = rows;
    this.findTagGroups(run, rows);
    this.values!.number(run, rows, this.blockPtr);
    this.rowsByValues += count;
    return !this.hasTooManyGroups() && this.reserveGroups() && this.cells!.ofGroups(timePtr, rows, this.blockPtr);
  }

  private get hasTagGroups(): boolean {
    const { groupBy, merged } = this.request;
    return groupBy.length > 0 || merged !== undefined;
  }

  private get groupCount(): number {
    return (this.values ?? this.groups).count;
  }

  /** True if reading the rows is cheaper. */
  private hasTooManyGroups(): boolean {
    const { groupsMax } = this.request;
    if (groupsMax === undefined) return false;
    const isSparse = this.values !== null && this.groupCount > SPARSE_GROUPS_MAX && this.groupCount * GROUP_ROWS_MIN > this.rowsByValues;
    return isSparse || this.groupCount > groupsMax;
  }

  private reserveGroups(): boolean {
    const bytes = this.groups.memoryBytes + (this.values?.memoryBytes ?? 0);
    return bytes <= this.options.memoryBytesMax && this.cells!.reserveGroups(this.groupCount);
  }

  /** Adds rows to every column. `inTime` describes the same rows for aggregates that depend on time order, which spans of unsorted runs
   *  do not have. */
  private reduce(run: PartialRun, rows: CellRows, inTime = rows): boolean {
    if (this.hasOneGroup && rows.kind === "rows") this.kernel.i64[this.rowCounts!.ptr / 8]! += BigInt(rows.count);
    else countRows(this.kernel, rows, 0, this.rowCounts!);
    for (const facts of this.columns.values()) {
      const column = facts.of(run);
      if (column !== undefined && !facts.add({ rows, inTime }, column, run.timePtr ?? 0)) return false;
    }
    for (const each of this.quantiles.values()) each.add(run, rows);
    return this.quantiles.size === 0 || this.fitQuantiles();
  }

  private fitQuantiles(): boolean {
    let bytes = this.arrays.capacity * this.arrays.cellBytes;
    for (const each of this.quantiles.values()) bytes += each.memoryBytes;
    return bytes <= this.options.memoryBytesMax;
  }
}

function intersect(a: TimeRange, b: TimeRange): TimeRange {
  return { minNs: a.minNs > b.minNs ? a.minNs : b.minNs, maxNs: a.maxNs < b.maxNs ? a.maxNs : b.maxNs };
}
