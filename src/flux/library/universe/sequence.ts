// Functions of a row and those before it: differences, rates, sums so far.
import type { FluxColumn } from "../../tables/column.ts";
import { ColumnBuilder } from "../../tables/column-builder.ts";
import { eachTable, type StreamNode } from "../../tables/stream.ts";
import type { FluxTable } from "../../tables/table.ts";
import type { FluxColumnType } from "../../values/column-type.ts";
import { addDuration, durationNs, isZero, SECOND_NS } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import { Duration, isNull, Null, Time, UInt, type Value } from "../../values/value.ts";
import type { NativeBody } from "../native-call.ts";
import { operator, streamOf } from "../operator.ts";
import { emptyLike } from "./shape.ts";

const ONE_SECOND = new Duration(0n, SECOND_NS);

/** Columns of the labels, which have to be numbers; the error otherwise. */
function numberColumns(table: FluxTable, labels: readonly string[], unsupported: (column: FluxColumn) => string): FluxColumn[] {
  return labels.flatMap((label) => {
    const column = table.column(label);
    if (column === undefined) return [];
    if (column.type === "int" || column.type === "uint" || column.type === "float") return [column];
    throw new FluxError(unsupported(column));
  });
}

function plain(value: Value): number | bigint {
  return value instanceof UInt ? value.value : (value as number | bigint);
}

export const difference = operator((call) => {
  const labels = call.strings("columns", ["_value"]);
  const nonNegative = call.bool("nonNegative", false);
  const keepFirst = call.bool("keepFirst", false);
  const initialZero = call.bool("initialZero", false);
  return (input) =>
    eachTable(input, (table) => {
      const columns = numberColumns(table, labels, noDifference);
      if (table.isEmpty) return table;
      const kept = keepFirst ? table : table.slice(1, table.rowCount);
      const options = { nonNegative, keepFirst, initialZero };
      return columns.reduce((made, column) => made.set(differences(column, options)), kept);
    });
});

function noDifference({ label, type }: FluxColumn): string {
  if (type === "time") return "difference does not support time columns. Try the elapsed function";
  return `difference does not support column ${JSON.stringify(label)} of type "${type}"`;
}

interface DifferenceOptions {
  readonly nonNegative: boolean;
  readonly keepFirst: boolean;
  readonly initialZero: boolean;
}

function differences(column: FluxColumn, { nonNegative, keepFirst, initialZero }: DifferenceOptions): FluxColumn {
  const type: FluxColumnType = column.type === "float" ? "float" : "int";
  const builder = new ColumnBuilder(column.label, type, column.length);
  let before: number | bigint | null = null;
  for (let row = 0; row < column.length; row++) {
    const cell = column.get(row);
    const isFirst = row === 0;
    if (isNull(cell)) {
      if (!isFirst || keepFirst) builder.appendNull();
      continue;
    }
    const value = plain(cell);
    let made: Value = Null.of(type);
    if (before !== null) {
      const step = typeof value === "number" ? value - (before as number) : BigInt.asIntN(64, value - (before as bigint));
      if (!nonNegative || step >= 0) made = step;
      // a counter that began anew; it does not count below zero
      else if (initialZero && value >= 0) made = typeof value === "number" ? value : BigInt.asIntN(64, value);
    } else if (initialZero && isFirst) made = typeof value === "number" ? 0 : 0n;
    before = value;
    if (!isFirst || keepFirst) builder.append(made);
  }
  return builder.build();
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
        const rows = distinctTimes(times, "derivative");
        if (rows.length < 2) return emptyDerivative(table, labels);
        const kept = table.take(rows.subarray(1));
        return columns.reduce((made, column) => made.set(rates(column, times, rows, { unit, nonNegative, initialZero })), kept);
      });
  },
  "tables",
  { flow: "rows" },
);

function emptyDerivative(table: FluxTable, labels: readonly string[]): FluxTable {
  const empty = emptyLike(table);
  const made = labels.filter((label) => table.column(label) !== undefined);
  return made.reduce((all, label) => all.set(new ColumnBuilder(label, "float").build()), empty);
}

/** The first row of each time, in order. */
function distinctTimes(times: FluxColumn, what: string): Uint32Array {
  const rows: number[] = [];
  let before: bigint | null = null;
  for (let row = 0; row < times.length; row++) {
    if (times.isNull(row)) throw new FluxError(`${what} found null time in time column`);
    const { ns } = times.get(row) as Time;
    if (before !== null && ns < before) throw new FluxError(`${what} found out-of-order times in time column`);
    if (before === null || ns > before) rows.push(row);
    before = ns;
  }
  return Uint32Array.from(rows);
}

interface RateOptions {
  readonly unit: number;
  readonly nonNegative: boolean;
  readonly initialZero: boolean;
}

function rates(column: FluxColumn, times: FluxColumn, rows: Uint32Array, { unit, nonNegative, initialZero }: RateOptions): FluxColumn {
  const builder = new ColumnBuilder(column.label, "float", rows.length);
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
  return builder.build();
}

export const cumulativeSum = operator(
  (call) => {
    const labels = call.strings("columns", ["_value"]);
    return (input) =>
      eachTable(input, (table) =>
        labels.reduce((made, label) => {
          const column = table.column(label);
          if (column === undefined || !["int", "uint", "float"].includes(column.type)) return made;
          return made.set(sums(column));
        }, table),
      );
  },
  "tables",
  { flow: "rows" },
);

function sums(column: FluxColumn): FluxColumn {
  const builder = new ColumnBuilder(column.label, column.type, column.length);
  let [float, integer] = [0, 0n];
  for (let row = 0; row < column.length; row++) {
    const cell = column.get(row);
    // a null adds nothing, and shows the sum so far
    if (typeof cell === "number") float += cell;
    else if (!isNull(cell)) integer += plain(cell) as bigint;
    if (column.type === "float") builder.append(float);
    else builder.append(column.type === "uint" ? new UInt(BigInt.asUintN(64, integer)) : BigInt.asIntN(64, integer));
  }
  return builder.build();
}

/** What the reference's processor makes of a division by zero. */
export const NO_UNITS = -(1n << 63n);

export const elapsed = operator((call) => {
  const unit = durationNs(call.duration("unit", ONE_SECOND));
  const timeColumn = call.string("timeColumn", "_time");
  const columnName = call.string("columnName", "elapsed");
  return (input) =>
    eachTable(input, (table) => {
      const times = table.column(timeColumn);
      if (times === undefined) throw new FluxError(`column "${timeColumn}" does not exist`);
      // as recorded: nothing has elapsed between other values
      if (times.type !== "time") return table.slice(0, 0);
      const builder = new ColumnBuilder(columnName, "int", table.rowCount);
      for (let row = 1; row < table.rowCount; row++) {
        const [before, now] = [times.get(row - 1), times.get(row)];
        if (isNull(before) || isNull(now)) builder.appendNull();
        else builder.append(unit === 0n ? NO_UNITS : ((now as Time).ns - (before as Time).ns) / unit);
      }
      return table.slice(Math.min(1, table.rowCount), table.rowCount).set(builder.build());
    });
});

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
  });
  return node;
};
