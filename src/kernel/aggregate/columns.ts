// The state of an aggregation per column and cell, and how rows update it. Aggregates that need the same state share it.
import { assert } from "../../model/assert.ts";
import type { FieldPredicate } from "../../model/query/scan.ts";
import { type ColumnDef, ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import { I64_MAX, I64_MIN } from "../../model/rows/int64.ts";
import type { ColumnRun, NarrowValues, PartialRun } from "../../model/rows/run.ts";
import type { Kernel } from "../memory/kernel.ts";
import { assertDense } from "../scan/dense-run.ts";
import type { CellArray, CellArrays } from "./arrays.ts";

/** Rows of a run with their cells: either spans | cell u32 | first row u32 | end u32 | of a sorted run, or a cell (u32) for each listed
 *  row (rows first .. first + count - 1 if rowsPtr is 0). */
export type CellRows =
  | { readonly kind: "spans"; readonly ptr: number; readonly count: number }
  | { readonly kind: "rows"; readonly cellsPtr: number; readonly rowsPtr: number; readonly first: number; readonly count: number };

/** One accumulated state per cell. `trues`: number of true booleans; `squares`: squared deviations, beside the number and the mean of the
 *  values; `first`, `last`: a value and its time; `firstTime`, `lastTime`: the
 *  time alone; `leastTime`, `mostTime`: the time of `least`, `most`. */
export type Fact = "sum" | "squares" | "least" | "most" | "leastTime" | "mostTime" | "trues" | "first" | "last" | "firstTime" | "lastTime";

const NAN_BITS = 0x7ff8000000000000n;
const MINUS_INFINITY_BITS = 0xfff0000000000000n;
const HIGHEST_BIT = 2n ** 63n;
/** Number and mean of values, two floats. */
const MOMENT_BYTES = 16;

/** Addresses of a column's values and validity bitmap, and of the cell array to update. */
interface Place {
  readonly dataPtr: number;
  readonly validityPtr: number;
  readonly targetPtr: number;
}

interface TimePlace {
  /** Times of the rows. */
  readonly timePtr: number;
  /** Times of the cells. */
  readonly timesPtr: number;
}

const isOfEnds = (fact: Fact) => fact === "first" || fact === "last" || fact === "firstTime" || fact === "lastTime";
const extremeOf = (fact: "leastTime" | "mostTime") => (fact === "leastTime" ? "least" : "most");
const timeOf: Partial<Record<Fact, Fact>> = { least: "leastTime", most: "mostTime" };

/** The facts accumulated for one column. */
export class ColumnFacts {
  /** Present values per cell; null while no row had a NULL: then the row counts apply. */
  counts: CellArray | null = null;
  private readonly arrays = new Map<Fact, CellArray>();
  /** Of `first` and `last` the times, of `squares` number and mean. */
  private readonly beside = new Map<Fact, CellArray>();
  /** The run that `of` was last asked for, and its answer. */
  private lastRun: PartialRun | undefined;
  private lastColumn: ColumnRun | undefined;

  constructor(
    private readonly kernel: Kernel,
    readonly column: ColumnDef,
    private readonly cells: CellArrays,
  ) {}

  /** Unsigned integers are stored xor this value in their cells, so that signed comparison orders them. */
  get flip(): bigint {
    return this.column.type === ColumnType.unsigned ? HIGHEST_BIT : 0n;
  }

  /** Adds a cell array for `fact` unless there is one. */
  need(fact: Fact): void {
    if (this.arrays.has(fact)) return;
    if (fact === "first" || fact === "last") {
      this.beside.set(fact, this.addInt64(fact === "first" ? I64_MAX : I64_MIN));
      this.arrays.set(fact, this.addOf(VALUE_BYTES[this.column.type]));
    } else if (fact === "squares") {
      this.beside.set(fact, this.addOf(MOMENT_BYTES));
      this.arrays.set(fact, this.addInt64(0n));
    } else if (fact === "firstTime") this.arrays.set(fact, this.addInt64(I64_MAX));
    else if (fact === "lastTime") this.arrays.set(fact, this.addInt64(I64_MIN));
    else if (fact === "leastTime" || fact === "mostTime") {
      this.need(extremeOf(fact));
      this.arrays.set(fact, this.addInt64(I64_MAX));
    } else if (fact === "least") this.arrays.set(fact, this.addInt64(this.isFloat ? NAN_BITS : I64_MAX));
    else if (fact === "most") this.arrays.set(fact, this.addInt64(this.isFloat ? MINUS_INFINITY_BITS : I64_MIN));
    else this.arrays.set(fact, this.addInt64(0n));
  }

  /** True if nothing but the number of its values is wanted, and each row of the run that satisfies the predicates has one, or none has. */
  countsRows(run: PartialRun, fields: readonly FieldPredicate[]): boolean {
    if (this.arrays.size > 0) return false;
    const column = this.of(run);
    if (column === undefined || column.validityPtr === 0) return true;
    // comparisons are not true of NULL
    return fields.some((field) => field.operator !== "true" && field.columnId === column.columnId);
  }

  /** Adds so many of these rows, of one cell. */
  addRows(run: PartialRun, count: bigint): void {
    if (this.counts !== null && this.of(run) !== undefined) this.kernel.i64[this.counts.ptr / 8]! += count;
  }

  array(fact: Fact): CellArray {
    const found = this.arrays.get(fact);
    assert(found !== undefined, `${fact} of column ${this.column.name} was not asked for`);
    return found;
  }

  /** The column's data in a run; undefined if every row is NULL. */
  of(run: PartialRun): ColumnRun | undefined {
    if (run !== this.lastRun) {
      this.lastColumn = columnRun(run, this.column);
      this.lastRun = run;
    }
    return this.lastColumn;
  }

  /** Starts counting present values; call before adding a run that contains NULLs. Returns false if that exceeds the budget. */
  countApart(rowCounts: CellArray): boolean {
    if (this.counts !== null) return true;
    this.counts = this.cells.add(8);
    if (this.counts === null) return false;
    this.kernel.call.copyBytes(this.counts.ptr, rowCounts.ptr, this.cells.capacity * 8);
    return true;
  }

  /** Adds the rows' values; `inTime` describes the same rows in spans of ascending time. Returns false if a sum of integers overflowed. */
  add({ rows, inTime }: { rows: CellRows; inTime: CellRows }, column: ColumnRun, timePtr: number): boolean {
    const { validityPtr } = column;
    if (this.counts !== null) countRows(this.kernel, rows, validityPtr, this.counts);
    let fine = true;
    for (const [fact, { ptr }] of this.arrays) {
      if (fact === "sum" && rows.kind === "spans" && isNarrowSum(column)) {
        fine &&= this.addNarrow(rows, column.narrow, ptr);
        continue;
      }
      const at = { dataPtr: column.dataPtr, validityPtr, targetPtr: ptr };
      const time = timeOf[fact];
      // the value is kept with its time
      if (time !== undefined && this.arrays.has(time)) continue;
      if (fact === "leastTime" || fact === "mostTime") {
        this.addExtreme(fact, inTime, { ...at, targetPtr: this.array(extremeOf(fact)).ptr, timePtr, timesPtr: ptr });
      } else if (isOfEnds(fact)) this.addOfTime(fact, inTime, { ...at, timePtr, timesPtr: this.beside.get(fact)?.ptr ?? ptr });
      else if (fact === "squares") this.addSquares(rows, at, this.beside.get(fact)!.ptr);
      else fine &&= this.addValues(fact, rows, at);
    }
    return fine;
  }

  private get isFloat(): boolean {
    return this.column.type === ColumnType.float;
  }

  private addInt64(initial: bigint): CellArray {
    return this.cells.add(8, initial)!;
  }

  private addOf(width: number): CellArray {
    assert(width === 1 || width === 8 || width === 16, `values of ${width} bytes`);
    return this.cells.add(width)!;
  }

  private addOfTime(fact: Fact, rows: CellRows, { dataPtr, validityPtr, timePtr, targetPtr, timesPtr }: Place & TimePlace): void {
    const { call } = this.kernel;
    const isFirst = fact === "first" || fact === "firstTime";
    const width = fact === "first" || fact === "last" ? VALUE_BYTES[this.column.type] : 0;
    if (rows.kind === "spans") {
      const reduce = isFirst ? call.spansFirst : call.spansLast;
      reduce(rows.ptr, rows.count, dataPtr, validityPtr, width, timePtr, timesPtr, targetPtr);
    } else {
      const reduce = isFirst ? call.rowsFirst : call.rowsLast;
      reduce(rows.cellsPtr, rows.rowsPtr, rows.first, rows.count, dataPtr, validityPtr, width, timePtr, timesPtr, targetPtr);
    }
  }

  private addExtreme(
    fact: "leastTime" | "mostTime",
    rows: CellRows,
    { dataPtr, validityPtr, timePtr, targetPtr, timesPtr }: Place & TimePlace,
  ): void {
    const { call } = this.kernel;
    const { flip } = this;
    const most = Number(fact === "mostTime");
    if (rows.kind === "spans") {
      const { ptr, count } = rows;
      if (this.isFloat) call.spansExtremeFloat(ptr, count, dataPtr, validityPtr, most, timePtr, timesPtr, targetPtr);
      else call.spansExtremeInteger(ptr, count, dataPtr, validityPtr, flip, most, timePtr, timesPtr, targetPtr);
      return;
    }
    const { cellsPtr, rowsPtr, first, count } = rows;
    if (this.isFloat) call.rowsExtremeFloat(cellsPtr, rowsPtr, first, count, dataPtr, validityPtr, most, timePtr, timesPtr, targetPtr);
    else call.rowsExtremeInteger(cellsPtr, rowsPtr, first, count, dataPtr, validityPtr, flip, most, timePtr, timesPtr, targetPtr);
  }

  private addSquares(rows: CellRows, { dataPtr, validityPtr, targetPtr }: Place, momentsPtr: number): void {
    const { call } = this.kernel;
    const { type } = this.column;
    const isInteger = type === ColumnType.integer;
    if (rows.kind === "spans") {
      const reduce = this.isFloat ? call.spansSquaresFloat : isInteger ? call.spansSquaresInteger : call.spansSquaresUnsigned;
      reduce(rows.ptr, rows.count, dataPtr, validityPtr, momentsPtr, targetPtr);
    } else {
      const reduce = this.isFloat ? call.rowsSquaresFloat : isInteger ? call.rowsSquaresInteger : call.rowsSquaresUnsigned;
      reduce(rows.cellsPtr, rows.rowsPtr, rows.first, rows.count, dataPtr, validityPtr, momentsPtr, targetPtr);
    }
  }

  private addNarrow(
    { ptr, count }: Extract<CellRows, { kind: "spans" }>,
    { ptr: dataPtr, width, base }: NarrowValues,
    targetPtr: number,
  ): boolean {
    const isUnsigned = Number(this.column.type === ColumnType.unsigned);
    return this.kernel.call.spansSumNarrow(ptr, count, dataPtr, width, base, isUnsigned, targetPtr) === 0;
  }

  /** Returns false if a sum of integers overflowed. */
  private addValues(fact: Fact, rows: CellRows, { dataPtr, validityPtr, targetPtr }: Place): boolean {
    const { call } = this.kernel;
    const { type } = this.column;
    if (rows.kind === "spans") {
      const { ptr, count } = rows;
      if (fact === "trues") call.spansCountTrue(ptr, count, dataPtr, validityPtr, targetPtr);
      else if (fact === "sum") {
        if (type === ColumnType.integer) return call.spansSumInteger(ptr, count, dataPtr, validityPtr, targetPtr) === 0;
        if (type === ColumnType.unsigned) return call.spansSumUnsigned(ptr, count, dataPtr, validityPtr, targetPtr) === 0;
        call.spansSumFloat(ptr, count, dataPtr, validityPtr, targetPtr);
      } else if (this.isFloat) {
        (fact === "least" ? call.spansLeastFloat : call.spansMostFloat)(ptr, count, dataPtr, validityPtr, targetPtr);
      } else {
        (fact === "least" ? call.spansLeastInteger : call.spansMostInteger)(ptr, count, dataPtr, validityPtr, targetPtr, this.flip);
      }
      return true;
    }
    const { cellsPtr, rowsPtr, first, count } = rows;
    if (fact === "trues") call.rowsCountTrue(cellsPtr, rowsPtr, first, count, dataPtr, validityPtr, targetPtr);
    else if (fact === "sum") {
      if (type === ColumnType.integer) return call.rowsSumInteger(cellsPtr, rowsPtr, first, count, dataPtr, validityPtr, targetPtr) === 0;
      if (type === ColumnType.unsigned) return call.rowsSumUnsigned(cellsPtr, rowsPtr, first, count, dataPtr, validityPtr, targetPtr) === 0;
      call.rowsSumFloat(cellsPtr, rowsPtr, first, count, dataPtr, validityPtr, targetPtr);
    } else if (this.isFloat) {
      (fact === "least" ? call.rowsLeastFloat : call.rowsMostFloat)(cellsPtr, rowsPtr, first, count, dataPtr, validityPtr, targetPtr);
    } else {
      const reduce = fact === "least" ? call.rowsLeastInteger : call.rowsMostInteger;
      reduce(cellsPtr, rowsPtr, first, count, dataPtr, validityPtr, targetPtr, this.flip);
    }
    return true;
  }
}

/** Above it sums of a page's values may leave 64 bits. */
const NARROW_BASE_MAX = 2n ** 47n;

/** True if a sum of the values is that of narrow ones. */
function isNarrowSum(column: ColumnRun): column is ColumnRun & { readonly narrow: NarrowValues } {
  const { narrow, type, validityPtr } = column;
  if (narrow === undefined || validityPtr !== 0 || narrow.base > NARROW_BASE_MAX) return false;
  return narrow.base >= (type === ColumnType.unsigned ? 0n : -NARROW_BASE_MAX);
}

/** A column's data in a run; undefined if every row is NULL. */
export function columnRun(run: PartialRun, { id, type }: ColumnDef): ColumnRun | undefined {
  // the time column is never NULL; without a time array only rows are counted
  if (type === ColumnType.time) return { columnId: id, type, dataPtr: run.timePtr ?? 0, validityPtr: 0 };
  const column = run.columns.find(({ columnId }) => columnId === id);
  if (column === undefined) return undefined;
  // once per run and column: the message is only built for a mistake
  if (column.type !== type) assert(false, `column ${id} has type ${column.type} in a run, ${type} in the table`);
  assertDense(column);
  return column;
}

/** counts[cell] += present values; validityPtr 0 means that every row has a value. */
export function countRows({ call }: Kernel, rows: CellRows, validityPtr: number, { ptr }: CellArray): void {
  if (rows.kind === "spans") call.spansCount(rows.ptr, rows.count, validityPtr, ptr);
  else call.rowsCount(rows.cellsPtr, rows.rowsPtr, rows.first, rows.count, validityPtr, ptr);
}
