// `aggregateWindow` over rows that the source has reduced to one for each series and window: the tables that its operators would give.
import type { ReduceFunction } from "../../interpret/flux-source.ts";
import { FluxColumn, halvesOf, NO_ROW, newCells, takeOrNull } from "../../tables/column.ts";
import { ColumnBuilder } from "../../tables/column-builder.ts";
import type { TimeBounds } from "../../tables/stream.ts";
import { FluxTable } from "../../tables/table.ts";
import { Null, Time } from "../../values/value.ts";
import { COUNTS } from "../universe/sources.ts";
import type { NumberedWindows } from "./numbered-windows.ts";
import { combinedValue } from "./reduced.ts";

export interface WindowsOfRows {
  readonly fn: ReduceFunction;
  readonly windows: NumberedWindows;
  /** What becomes the time of a window's row. */
  readonly timeSource: "_start" | "_stop";
  readonly createEmpty: boolean;
  /** What `range` has set: it comes back with the last window. */
  readonly bounds: TimeBounds;
  /** As the reference's storage computes it: bounds, time and value come first. */
  readonly isStored: boolean;
}

/** A group has the bounds in its key only where the storage has made it. */
function withBounds(table: FluxTable, { bounds }: WindowsOfRows): FluxTable {
  const { key } = table;
  if (key.has("_start") && key.has("_stop")) return table;
  const [start, stop] = [new Time(bounds.startNs), new Time(bounds.stopNs)];
  const set = [
    { label: "_start", type: "time", value: start },
    { label: "_stop", type: "time", value: stop },
  ] as const;
  let made = table;
  for (const { label, type, value } of set) made = made.set(FluxColumn.constant(label, type, value, table.rowCount));
  return made.with(made.columns, key.with(...set));
}

interface FoundWindows {
  readonly numbers: Float64Array;
  /** Of each window: its rows, in their order. Null: each has one, the row of its place. */
  readonly rows: readonly (readonly number[])[] | null;
}

/** @param given rows with the number of their window in place of their time */
export function windowedTable(given: FluxTable, how: WindowsOfRows): FluxTable {
  const table = withBounds(given, how);
  const found = windowsOf(table);
  return how.fn === "count" || how.fn === "sum" || how.fn === "mean"
    ? aggregatedTable(table, found, { ...how, fn: how.fn })
    : selectedTable(table, found, how);
}

const TWO_32 = 2 ** 32;

function windowsOf(table: FluxTable): FoundWindows {
  const halves = halvesOf(table.column("_time")!);
  const numbers = new Float64Array(table.rowCount);
  let isInOrder = true;
  for (let row = 0; row < numbers.length; row++) {
    numbers[row] = (halves[2 * row]! >>> 0) + halves[2 * row + 1]! * TWO_32;
    if (row > 0 && numbers[row]! <= numbers[row - 1]!) isInOrder = false;
  }
  if (isInOrder) return { numbers, rows: null };
  const rowsOf = new Map<number, number[]>();
  for (const [row, number] of numbers.entries()) {
    const known = rowsOf.get(number);
    if (known === undefined) rowsOf.set(number, [row]);
    else known.push(row);
  }
  const ordered = Float64Array.from(rowsOf.keys()).sort();
  return { numbers: ordered, rows: Array.from(ordered, (number) => rowsOf.get(number)!) };
}

/** All windows, with the place of each among those that have rows, or `NO_ROW`. */
function withEmpty(numbers: Float64Array, count: number): { readonly numbers: Float64Array; readonly places: Uint32Array } {
  const places = new Uint32Array(count).fill(NO_ROW);
  for (const [place, number] of numbers.entries()) places[number] = place;
  return { numbers: Float64Array.from({ length: count }, (_, i) => i), places };
}

function timesColumn(numbers: Float64Array, { windows, timeSource }: WindowsOfRows): FluxColumn {
  return new FluxColumn("_time", "time", windows.timesOf(numbers, timeSource), null, numbers.length);
}

function isFull(numbers: Float64Array, { windows, createEmpty }: WindowsOfRows): boolean {
  return !createEmpty || numbers.length === windows.count;
}

function selectedTable(table: FluxTable, { numbers, rows }: FoundWindows, how: WindowsOfRows): FluxTable {
  if (rows === null && isFull(numbers, how)) return table.set(timesColumn(numbers, how));
  const value = table.column("_value")!;
  const chosen = rows === null ? Uint32Array.from(numbers, (_, i) => i) : Uint32Array.from(rows, (own) => choose(how.fn, value, own));
  const all = isFull(numbers, how) ? { numbers, places: null } : withEmpty(numbers, how.windows.count);
  const length = all.numbers.length;
  const columns = table.columns.map((column) => {
    const { label, type } = column;
    if (label === "_time") return timesColumn(all.numbers, how);
    const key = table.key.get(label);
    if (key !== undefined) return FluxColumn.constant(label, type, key.value, length);
    const taken = how.fn === "first" || how.isStored ? column.take(chosen) : withoutNulls(column.take(chosen));
    return all.places === null ? taken : takeOrNull(taken, all.places);
  });
  return new FluxTable(table.key, columns, length);
}

/** Rows of several windows have the zero of the type in place of nulls, as single rows have behind a selector. */
function withoutNulls(column: FluxColumn): FluxColumn {
  const { label, type, valid, mask, length } = column;
  if (valid === null) return column;
  const cells = newCells(type, valid.length) as (number | bigint | string)[];
  for (let i = 0; i < valid.length; i++) if (valid[i] === 1) cells[i] = (column.cells as (number | bigint | string)[])[i]!;
  return new FluxColumn(label, type, cells as FluxColumn["cells"], null, length, mask);
}

function choose(fn: ReduceFunction, { cells, mask }: FluxColumn, rows: readonly number[]): number {
  if (fn === "first") return rows[0]!;
  if (fn === "last") return rows.at(-1)!;
  const values = cells as unknown as (number | bigint)[];
  let best = rows[0]!;
  for (const row of rows) {
    const value = values[row & mask]!;
    const most = values[best & mask]!;
    if (fn === "min" ? value < most : value > most) best = row;
  }
  return best;
}

function aggregatedTable(
  table: FluxTable,
  { numbers, rows }: FoundWindows,
  how: WindowsOfRows & { readonly fn: "count" | "sum" | "mean" },
): FluxTable {
  const isPartial = table.column(COUNTS) !== undefined;
  // rows of one series have the columns of the answer, in its order
  if (rows === null && how.isStored && !isPartial && isFull(numbers, how)) return table.set(timesColumn(numbers, how));
  const all = isFull(numbers, how) ? { numbers, places: null } : withEmpty(numbers, how.windows.count);
  const length = all.numbers.length;
  const given = table.column("_value")!;
  let value = given;
  if (rows !== null || all.places !== null || isPartial) {
    const builder = new ColumnBuilder("_value", how.fn === "mean" ? "float" : given.type, length);
    const empty = how.fn === "count" ? 0n : Null.of(builder.type);
    for (let i = 0; i < length; i++) {
      const place = all.places === null ? i : all.places[i]!;
      builder.append(place === NO_ROW ? empty : combinedValue(how.fn, table, given, rows === null ? [place] : rows[place]!));
    }
    value = builder.build();
  }
  const key = table.key.columns.map((each) => FluxColumn.constant(each.label, each.type, each.value, length));
  const isBound = ({ label }: FluxColumn) => label === "_start" || label === "_stop";
  const time = timesColumn(all.numbers, how);
  const columns = how.isStored ? [...key.filter(isBound), time, value, ...key.filter((column) => !isBound(column))] : [time, ...key, value];
  return new FluxTable(table.key, columns, length);
}
