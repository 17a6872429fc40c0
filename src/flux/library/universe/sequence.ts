// Functions of a row and those before it: differences, rates, sums so far.
import type { FluxColumn } from "../../tables/column.ts";
import { ColumnBuilder } from "../../tables/column-builder.ts";
import { eachTable, type StreamNode } from "../../tables/stream.ts";
import type { FluxTable } from "../../tables/table.ts";
import type { FluxColumnType } from "../../values/column-type.ts";
import { addDuration, durationNs, isZero, SECOND_NS } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import { Duration, isNull, Null, Time, UInt, type Value } from "../../values/value.ts";
import { checkNew } from "../merge-tables.ts";
import type { NativeBody, NativeCall } from "../native-call.ts";
import { operator, streamOf } from "../operator.ts";
import { RowsOperation } from "../plan/operations.ts";
import { chosenRows, isOfWindow, type Places, WindowRows } from "../windows/window-rows.ts";
import { emptyLike } from "./shape.ts";

const ONE_SECOND = new Duration(0n, SECOND_NS);

const NUMBERS: readonly FluxColumnType[] = ["int", "uint", "float"];

/** Columns of the labels, which have to be numbers; the error otherwise. */
function numberColumns(table: FluxTable, labels: readonly string[], unsupported: (column: FluxColumn) => string): readonly FluxColumn[] {
  const columns = table.columns.filter(({ label }) => labels.includes(label));
  const wrong = columns.find(({ type }) => !NUMBERS.includes(type));
  if (wrong !== undefined) throw new FluxError(unsupported(wrong));
  return columns;
}

function plain(value: Value): number | bigint {
  return value instanceof UInt ? value.value : (value as number | bigint);
}

export const difference = operator(
  (call) => {
    const labels = call.strings("columns", ["_value"]);
    const options = differenceOptions(call);
    return (input) =>
      eachTable(input, (table) => {
        const columns = numberColumns(table, labels, noDifference);
        const kept = options.keepFirst || table.isEmpty ? table : table.slice(1, table.rowCount);
        return columns.reduce((made, column) => {
          const builder = new ColumnBuilder(column.label, differenceType(column), column.length);
          addDifferences(builder, column, 0, column.length, options);
          return made.set(builder.build());
        }, kept);
      });
  },
  "tables",
  (call) => {
    const labels = call.strings("columns", ["_value"]);
    const options = differenceOptions(call);
    return { operation: new RowsOperation((rows) => differenceRows(rows, labels, options)) };
  },
);

function differenceOptions(call: NativeCall): DifferenceOptions {
  return {
    nonNegative: call.bool("nonNegative", false),
    keepFirst: call.bool("keepFirst", false),
    initialZero: call.bool("initialZero", false),
  };
}

function* differenceRows(
  rows: WindowRows,
  labels: readonly string[],
  options: DifferenceOptions,
): Generator<null, WindowRows | null, void> {
  const columns = rowColumns(rows, labels);
  if (columns === null) return null;
  const kept = options.keepFirst ? rows : yield* chosenRows(rows, addLater);
  return yield* withEach(rows, kept, columns, differenceType, (builder, column, { from, to }) =>
    addDifferences(builder, column, from, to, options),
  );
}

/** All rows but the first. */
function addLater(from: number, to: number, places: Places): void {
  for (let place = from + 1; place < to; place++) places.add(place);
}

/** The columns of the labels, each once, without those of the key. Null: one is no number, or in the key. */
function rowColumns(rows: WindowRows, labels: readonly string[]): readonly FluxColumn[] | null {
  const columns = [...new Set(labels)].flatMap((label) => rows.column(label) ?? []);
  const isTaken = ({ label, type }: FluxColumn) => NUMBERS.includes(type) && !rows.table.key.has(label);
  return columns.every(isTaken) && new Set(labels).size === labels.length ? columns : null;
}

/** The rows [from, to) of a window. */
interface WindowPlace {
  readonly from: number;
  readonly to: number;
  readonly window: number;
}

/** The rows that are kept of each window, with columns that `add` makes of all rows of the window. */
function* withEach(
  rows: WindowRows,
  kept: WindowRows,
  columns: readonly FluxColumn[],
  typeOf: (column: FluxColumn) => FluxColumnType,
  add: (builder: ColumnBuilder, column: FluxColumn, place: WindowPlace) => void,
): Generator<null, WindowRows, void> {
  let table = kept.inOrder();
  for (const column of columns) {
    const builder = new ColumnBuilder(column.label, typeOf(column), kept.rowCount);
    yield* rows.each((from, to, window) => add(builder, column, { from, to, window }));
    table = table.set(builder.build());
  }
  return new WindowRows(table, null, kept.ends, kept.times);
}

function noDifference({ label, type }: FluxColumn): string {
  if (type === "time") return "difference does not support time columns. Try the elapsed function";
  return `difference does not support column ${JSON.stringify(label)} of type "${type}"`;
}

interface DifferenceOptions {
  readonly nonNegative: boolean;
  readonly keepFirst: boolean;
  readonly initialZero: boolean;
}

function differenceType({ type }: FluxColumn): FluxColumnType {
  return type === "float" ? "float" : "int";
}

/** Of rows [from, to), each with the one before. */
function addDifferences(builder: ColumnBuilder, column: FluxColumn, start: number, end: number, options: DifferenceOptions): void {
  const { nonNegative, keepFirst, initialZero } = options;
  let before: number | bigint | null = null;
  for (let row = start; row < end; row++) {
    const cell = column.get(row);
    const isShown = row > start || keepFirst;
    if (isNull(cell)) {
      if (isShown) builder.appendNull();
      continue;
    }
    // as recorded: unsigned values count as integers of the same bits
    const value = column.type === "uint" ? BigInt.asIntN(64, plain(cell) as bigint) : plain(cell);
    let made: Value = Null.of(builder.type);
    if (before !== null) {
      const step = typeof value === "number" ? value - (before as number) : BigInt.asIntN(64, value - (before as bigint));
      if (!nonNegative || step >= 0) made = step;
      // a counter that began anew; it does not count below zero
      else if (initialZero && value >= 0) made = value;
    } else if (initialZero && keepFirst) made = typeof value === "number" ? 0 : 0n;
    before = value;
    if (isShown) builder.append(made);
  }
}

export const derivative = operator(
  (call) => {
    const unit = Number(durationNs(call.duration("unit", ONE_SECOND)));
    const labels = call.strings("columns", ["_value"]);
    const nonNegative = call.bool("nonNegative", false);
    const initialZero = call.bool("initialZero", false);
    const timeColumn = call.string("timeColumn", "_time");
    return (input) =>
      eachTable(input, (table) => {
        const times = table.column(timeColumn);
        if (times === undefined) throw new FluxError(`no column "${timeColumn}" exists`);
        if (times.type !== "time") throw new FluxError(`time column ${JSON.stringify(timeColumn)} is type ${times.type} and not time`);
        const columns = numberColumns(table, labels, ({ label, type }) => `unsupported derivative column type ${label}:${type}`);
        const rows = distinctTimes(times, 0, times.length, "derivative");
        if (rows.length < 2) return emptyDerivative(table, labels);
        const kept = table.take(Uint32Array.from(rows).subarray(1));
        return columns.reduce((made, column) => {
          const builder = new ColumnBuilder(column.label, "float", rows.length);
          addRates(builder, column, times, rows, { unit, nonNegative, initialZero });
          return made.set(builder.build());
        }, kept);
      });
  },
  "tables",
  (call) => ({ operation: derivativeOperation(call), flow: "rows" }),
);

function derivativeOperation(call: NativeCall): RowsOperation {
  const options = {
    unit: Number(durationNs(call.duration("unit", ONE_SECOND))),
    nonNegative: call.bool("nonNegative", false),
    initialZero: call.bool("initialZero", false),
  };
  const labels = call.strings("columns", ["_value"]);
  const timeColumn = call.string("timeColumn", "_time");
  return new RowsOperation(function* (rows) {
    const columns = rowColumns(rows, labels);
    const times = rows.column(timeColumn);
    if (columns === null || times?.type !== "time" || times.valid !== null) return null;
    let isOrdered = true;
    const rowsOf: number[][] = [];
    const kept = yield* chosenRows(rows, (from, to, places) => {
      if (!isInOrder(times, from, to)) isOrdered = false;
      const distinct = isOrdered ? distinctTimes(times, from, to, "derivative") : [];
      rowsOf.push(distinct);
      for (let i = 1; i < distinct.length; i++) places.add(distinct[i]!);
    });
    if (!isOrdered) return null;
    return yield* withEach(
      rows,
      kept,
      columns,
      () => "float",
      (builder, column, { window }) => addRates(builder, column, times, rowsOf[window]!, options),
    );
  });
}

function isInOrder({ cells, mask }: FluxColumn, from: number, to: number): boolean {
  const ns = cells as BigInt64Array;
  for (let row = from + 1; row < to; row++) if (ns[row & mask]! < ns[(row - 1) & mask]!) return false;
  return true;
}

function emptyDerivative(table: FluxTable, labels: readonly string[]): FluxTable {
  const empty = emptyLike(table);
  const made = labels.filter((label) => table.column(label) !== undefined);
  return made.reduce((all, label) => all.set(new ColumnBuilder(label, "float").build()), empty);
}

/** Of rows [from, to) the first one of each time, in order. */
function distinctTimes(times: FluxColumn, from: number, to: number, what: string): number[] {
  const rows: number[] = [];
  let before: bigint | null = null;
  for (let row = from; row < to; row++) {
    if (times.isNull(row)) throw new FluxError(`${what} found null time in time column`);
    const { ns } = times.get(row) as Time;
    if (before !== null && ns < before) throw new FluxError(`${what} found out-of-order times in time column`);
    if (before === null || ns > before) rows.push(row);
    before = ns;
  }
  return rows;
}

interface RateOptions {
  readonly unit: number;
  readonly nonNegative: boolean;
  readonly initialZero: boolean;
}

function addRates(builder: ColumnBuilder, column: FluxColumn, times: FluxColumn, rows: readonly number[], options: RateOptions): void {
  const { unit, nonNegative, initialZero } = options;
  let before: { readonly value: number | bigint; readonly ns: bigint } | null = null;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    const cell = column.get(row);
    const { ns } = times.get(row) as Time;
    if (isNull(cell)) {
      if (i > 0) builder.appendNull();
      continue;
    }
    const value = plain(cell);
    if (i > 0) {
      if (before === null) builder.appendNull();
      else {
        const elapsed = Number(ns - before.ns) / unit;
        const step = typeof value === "number" ? value - (before.value as number) : Number(value - (before.value as bigint));
        if (!nonNegative || step >= 0) builder.append(step / elapsed);
        else if (initialZero) builder.append(0);
        else builder.appendNull();
      }
    }
    before = { value, ns };
  }
}

export const cumulativeSum = operator(
  (call) => {
    const labels = call.strings("columns", ["_value"]);
    return (input) =>
      eachTable(input, (table) =>
        labels.reduce((made, label) => {
          const column = table.column(label);
          if (column === undefined || !["int", "uint", "float"].includes(column.type)) return made;
          const builder = new ColumnBuilder(label, column.type, column.length);
          addSums(builder, column, 0, column.length);
          return made.set(builder.build());
        }, table),
      );
  },
  "tables",
  (call) => {
    const labels = call.strings("columns", ["_value"]);
    const operation = new RowsOperation(function* (rows) {
      const columns = rowColumns(rows, labels);
      return columns === null
        ? null
        : yield* withEach(
            rows,
            rows,
            columns,
            ({ type }) => type,
            (builder, column, { from, to }) => addSums(builder, column, from, to),
          );
    });
    return { operation, flow: "rows" };
  },
);

/** Of rows [from, to), each with all before. */
function addSums(builder: ColumnBuilder, column: FluxColumn, from: number, to: number): void {
  let [float, integer] = [0, 0n];
  for (let row = from; row < to; row++) {
    const cell = column.get(row);
    // a null adds nothing, and shows the sum so far
    if (typeof cell === "number") float += cell;
    else if (!isNull(cell)) integer += plain(cell) as bigint;
    if (column.type === "float") builder.append(float);
    else builder.append(column.type === "uint" ? new UInt(BigInt.asUintN(64, integer)) : BigInt.asIntN(64, integer));
  }
}

/** What the reference's processor makes of a division by zero. */
export const NO_UNITS = -(1n << 63n);

export const elapsed = operator(
  (call) => {
    const { unit, timeColumn, columnName } = elapsedOf(call);
    return (input) =>
      eachTable(input, (table) => {
        const times = table.column(timeColumn);
        if (times === undefined) throw new FluxError(`column "${timeColumn}" does not exist`);
        // as recorded: nothing has elapsed between other values
        if (times.type !== "time") return table.slice(0, 0);
        checkNew(columnName, table.columns);
        const builder = new ColumnBuilder(columnName, "int", table.rowCount);
        addElapsed(builder, times, 0, table.rowCount, unit);
        return table.slice(Math.min(1, table.rowCount), table.rowCount).set(builder.build());
      });
  },
  "tables",
  (call) => {
    const { unit, timeColumn, columnName } = elapsedOf(call);
    const operation = new RowsOperation(function* (rows) {
      const times = isOfWindow(timeColumn) ? undefined : rows.column(timeColumn);
      if (times?.type !== "time" || rows.column(columnName) !== undefined) return null;
      const kept = yield* chosenRows(rows, addLater);
      const made = times.labelled(columnName);
      return yield* withEach(
        rows,
        kept,
        [made],
        () => "int",
        (builder, column, { from, to }) => addElapsed(builder, column, from, to, unit),
      );
    });
    return { operation };
  },
);

function elapsedOf(call: NativeCall) {
  return {
    unit: durationNs(call.duration("unit", ONE_SECOND)),
    timeColumn: call.string("timeColumn", "_time"),
    columnName: call.string("columnName", "elapsed"),
  };
}

/** Of rows [from, to) but the first, since the row before. */
function addElapsed(builder: ColumnBuilder, times: FluxColumn, from: number, to: number, unit: bigint): void {
  for (let row = from + 1; row < to; row++) {
    const before = times.get(row - 1);
    const now = times.get(row);
    if (isNull(before) || isNull(now)) builder.appendNull();
    else builder.append(unit === 0n ? NO_UNITS : ((now as Time).ns - (before as Time).ns) / unit);
  }
}

/** Rows whose times are moved, months by the calendar, and with them what later windows take for the range. */
export const timeShift: NativeBody = (call) => {
  const shift = call.duration("duration");
  const labels = call.strings("columns", ["_start", "_stop", "_time"]);
  const movedNs = (ns: bigint): bigint => addDuration(new Time(ns), shift).ns;
  const moved = (value: Value): Value => (value instanceof Time ? addDuration(value, shift) : value);
  const shifted = (table: FluxTable): FluxTable => {
    let made = table;
    let { key } = table;
    for (const column of table.columns) {
      const { label } = column;
      if (!labels.includes(label)) continue;
      if (column.type !== "time") throw new FluxError(`column "${label}" is not of type time`);
      const inKey = key.get(label);
      if (inKey !== undefined) {
        key = key.with({ ...inKey, value: moved(inKey.value) });
        // the end of a table is known by its key
        if (!isZero(shift)) node.flow = "open";
      }
      const builder = new ColumnBuilder(label, "time", table.rowCount);
      for (let row = 0; row < table.rowCount; row++) builder.append(moved(column.get(row)));
      made = made.set(builder.build());
    }
    return made.with(made.columns, key);
  };
  const input = call.stream();
  const { bounds } = input;
  const node: StreamNode = streamOf(call, [input], ([tables]) => eachTable(tables!, shifted), {
    bounds: bounds === null ? null : { startNs: movedNs(bounds.startNs), stopNs: movedNs(bounds.stopNs) },
    flow: "rows",
    handsOn: false,
  });
  return node;
};
