// Rows of one table by windows of time, without a table for each window: what operators between `window` and the window of all times make
// of many small tables at once.
import { FluxColumn, NO_ROW, newCells, takeOrNull } from "../../tables/column.ts";
import { ColumnBuilder } from "../../tables/column-builder.ts";
import { FluxTable } from "../../tables/table.ts";
import type { FluxColumnType } from "../../values/column-type.ts";
import type { Value } from "../../values/value.ts";

export interface Aggregate {
  readonly name: string;
  /** The type of the result for a column, or null for a column that it has none for. */
  readonly typeOf: (type: FluxColumnType) => FluxColumnType | null;
  readonly compute: (column: FluxColumn) => Value;
  /** The result from the sum of squared distances from the mean and the number of values. Absent: there is none. */
  readonly ofSquares?: (squares: number, count: number) => number;
}

/** Bounds of windows within the range. */
export interface WindowTimes {
  readonly startsNs: BigInt64Array;
  readonly stopsNs: BigInt64Array;
}

/** What an operator makes of such rows. Null: only tables tell, since it has an error, or columns that differ between windows. */
export type ByWindows = (rows: WindowRows) => Generator<null, WindowRows | null, void>;

/** Rows and windows between two pauses. */
const PAUSE_WORK = 8192;
/** A window costs about as much as so many of its rows. */
const WINDOW_WORK = 4;

/** The rows of some windows, the windows in the order of time. */
export class WindowRows {
  private readonly taken = new Map<string, FluxColumn>();

  constructor(
    readonly table: FluxTable,
    /** Rows of the table in the order of windows; null: all, in their order. */
    readonly rows: Uint32Array | null,
    /** Where the rows of each window end; they begin where those of the window before end. */
    readonly ends: Uint32Array,
    readonly times: WindowTimes,
  ) {}

  get windowCount(): number {
    return this.ends.length;
  }

  get rowCount(): number {
    return this.ends.length === 0 ? 0 : this.ends[this.ends.length - 1]!;
  }

  /** The column, its cells in the order of windows. Bounds of the window are not known yet: they are those of all windows. */
  column(label: string): FluxColumn | undefined {
    const column = this.table.column(label);
    if (this.rows === null || column === undefined) return column;
    let found = this.taken.get(label);
    if (found === undefined) {
      found = column.take(this.rows);
      this.taken.set(label, found);
    }
    return found;
  }

  /** All rows in the order of windows. */
  inOrder(): FluxTable {
    return this.rows === null ? this.table : this.table.take(this.rows);
  }

  /** Calls `visit` with the rows [from, to) of each window. */
  *each(visit: (from: number, to: number, window: number) => void): Generator<null, void, void> {
    const { ends } = this;
    let from = 0;
    let work = 0;
    for (let window = 0; window < ends.length; window++) {
      const to = ends[window]!;
      visit(from, to, window);
      work += WINDOW_WORK + to - from;
      if (work > PAUSE_WORK) {
        work = 0;
        yield null;
      }
      from = to;
    }
  }

  /** Some of the rows. @param places of rows by window @param ends where those of each window end @param windows all, if null */
  chosen(places: Uint32Array, ends: Uint32Array, windows: Uint32Array | null = null): WindowRows {
    const { rows, times } = this;
    const left = (bounds: BigInt64Array) => (windows === null ? bounds : BigInt64Array.from(windows, (window) => bounds[window]!));
    const taken = rows === null ? places : places.map((place) => rows[place]!);
    return new WindowRows(this.table, taken, ends, { startsNs: left(times.startsNs), stopsNs: left(times.stopsNs) });
  }

  /** Rows of the key's columns and a result. @param ends where those of each window end */
  ofKey(result: FluxColumn, ends: Uint32Array): WindowRows {
    const { key } = this.table;
    const { length } = result;
    const inKey = key.columns.map(({ label, type, value }) => FluxColumn.constant(label, type, value, length));
    return new WindowRows(new FluxTable(key, [...inKey, result], length), null, ends, this.times);
  }

  /** The same with a row for each window. */
  oneEach(result: FluxColumn): WindowRows {
    return this.ofKey(
      result,
      Uint32Array.from({ length: this.windowCount }, (_, i) => i + 1),
    );
  }
}

/** Whether the column is a bound of the window, which rows do not have yet. */
export function isOfWindow(label: string): boolean {
  return label === "_start" || label === "_stop";
}

/** Numbers of rows that grow. */
export class Places {
  private numbers: Uint32Array;
  count = 0;

  constructor(capacity: number) {
    this.numbers = new Uint32Array(Math.max(16, capacity));
  }

  add(place: number): void {
    if (this.count === this.numbers.length) {
      const numbers = new Uint32Array(this.count * 2);
      numbers.set(this.numbers);
      this.numbers = numbers;
    }
    this.numbers[this.count++] = place;
  }

  build(): Uint32Array {
    return this.numbers.subarray(0, this.count);
  }
}

/** Rows of each window that `choose` adds. */
export function* chosenRows(
  rows: WindowRows,
  choose: (from: number, to: number, places: Places) => void,
): Generator<null, WindowRows, void> {
  const places = new Places(rows.windowCount);
  const ends = new Uint32Array(rows.windowCount);
  yield* rows.each((from, to, window) => {
    choose(from, to, places);
    ends[window] = places.count;
  });
  return rows.chosen(places.build(), ends);
}

/** With a row of the key's values and nulls in each window without rows. */
export function filledRows(part: WindowRows): WindowRows {
  const { table, rows, ends, times, windowCount } = part;
  let empty = 0;
  for (let window = 0; window < windowCount; window++) if (ends[window] === (ends[window - 1] ?? 0)) empty++;
  if (empty === 0) return part;
  const taken = new Uint32Array(part.rowCount + empty);
  const filledEnds = new Uint32Array(windowCount);
  let [from, count] = [0, 0];
  for (let window = 0; window < windowCount; window++) {
    const to = ends[window]!;
    if (from === to) taken[count++] = NO_ROW;
    for (; from < to; from++) taken[count++] = rows === null ? from : rows[from]!;
    filledEnds[window] = count;
  }
  const columns = table.columns.map((column) => {
    const inKey = table.key.get(column.label);
    return inKey === undefined ? takeOrNull(column, taken) : FluxColumn.constant(column.label, column.type, inKey.value, taken.length);
  });
  return new WindowRows(new FluxTable(table.key, columns, taken.length), null, filledEnds, times);
}

/** An aggregate of one column, a row for each window. */
export function* aggregatedRows(rows: WindowRows, label: string, { typeOf, compute }: Aggregate): Generator<null, WindowRows | null, void> {
  const column = rows.column(label);
  const type = column === undefined || rows.table.key.has(label) ? null : typeOf(column.type);
  if (column === undefined || type === null) return null;
  const builder = new ColumnBuilder(label, type, rows.windowCount);
  yield* rows.each((from, to) => builder.append(compute(column.slice(from, to))));
  return rows.oneEach(builder.build());
}

/** A time for each row: a bound of its window. */
export function boundsOfRows({ ends, times }: WindowRows, side: "_start" | "_stop"): BigInt64Array {
  const bounds = side === "_start" ? times.startsNs : times.stopsNs;
  const count = ends.length === 0 ? 0 : ends[ends.length - 1]!;
  if (count === ends.length && ends.every((end, i) => end === i + 1)) return bounds;
  const all = newCells("time", count) as BigInt64Array;
  let from = 0;
  for (let window = 0; window < ends.length; window++) {
    const to = ends[window]!;
    if (to > from) all.fill(bounds[window]!, from, to);
    from = to;
  }
  return all;
}
