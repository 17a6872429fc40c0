// Aggregates: one row of a table, with the key's columns and the result.
import { FluxColumn } from "../../tables/column.ts";
import { eachTable, missingColumn, type Tables } from "../../tables/stream.ts";
import { FluxTable } from "../../tables/table.ts";
import type { FluxColumnType } from "../../values/column-type.ts";
import { FluxError } from "../../values/flux-error.ts";
import { Null, UInt, type Value } from "../../values/value.ts";
import type { NativeBody, NativeCall } from "../native-call.ts";
import { operator, streamOf } from "../operator.ts";
import { PushedNode } from "./pushed.ts";

export interface Aggregate {
  readonly name: string;
  /** The type of the result for a column, or null for a column that it has none for. */
  readonly typeOf: (type: FluxColumnType) => FluxColumnType | null;
  readonly compute: (column: FluxColumn) => Value;
}

const NUMBERS: readonly FluxColumnType[] = ["int", "uint", "float"];
const toFloat = (type: FluxColumnType): FluxColumnType | null => (NUMBERS.includes(type) ? "float" : null);
const sameNumber = (type: FluxColumnType): FluxColumnType | null => (NUMBERS.includes(type) ? type : null);

/** Values that are not null, as floats. */
export function floatsOf(column: FluxColumn): Float64Array {
  const { cells, mask, length } = column;
  const values = new Float64Array(length);
  let count = 0;
  for (let row = 0; row < length; row++) {
    if (!column.isNull(row)) values[count++] = Number((cells as Float64Array)[row & mask]);
  }
  return values.subarray(0, count);
}

export const COUNT: Aggregate = { name: "count", typeOf: () => "int", compute: ({ length }) => BigInt(length) };

export const SUM: Aggregate = {
  name: "sum",
  typeOf: sameNumber,
  compute(column) {
    const { type, length, cells, mask } = column;
    if (type === "float") {
      const values = floatsOf(column);
      let sum = 0;
      for (let i = 0; i < values.length; i++) sum += values[i]!;
      return values.length === 0 ? Null.of(type) : sum;
    }
    let sum = 0n;
    let count = 0;
    for (let row = 0; row < length; row++) {
      if (column.isNull(row)) continue;
      sum += (cells as BigInt64Array)[row & mask]!;
      count++;
    }
    if (count === 0) return Null.of(type);
    return type === "uint" ? new UInt(BigInt.asUintN(64, sum)) : BigInt.asIntN(64, sum);
  },
};

export function meanOf(values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum / values.length;
}

function overFloats(name: string, compute: (values: Float64Array) => number | null): Aggregate {
  return {
    name,
    typeOf: toFloat,
    compute(column) {
      const values = floatsOf(column);
      return (values.length === 0 ? null : compute(values)) ?? Null.of("float");
    },
  };
}

export const MEAN = overFloats("mean", meanOf);

/** Sum of squared distances from the mean, one value at a time. Source: Welford, Technometrics 4 (1962). */
export function squaredDistances(values: Float64Array): number {
  let mean = 0;
  let squares = 0;
  for (let i = 0; i < values.length; i++) {
    const delta = values[i]! - mean;
    mean += delta / (i + 1);
    squares += delta * (values[i]! - mean);
  }
  return squares;
}

export function stddevOf(mode: "sample" | "population"): Aggregate {
  return overFloats("stddev", (values) => {
    const count = mode === "sample" ? values.length - 1 : values.length;
    return values.length === 1 && mode === "sample" ? Number.NaN : Math.sqrt(squaredDistances(values) / count);
  });
}

export const SKEW = overFloats("skew", (values) => {
  const n = values.length;
  if (n < 2) return Number.NaN;
  const mean = meanOf(values);
  let [second, third] = [0, 0];
  for (const value of values) {
    const delta = value - mean;
    second += delta * delta;
    third += delta * delta * delta;
  }
  return (Math.sqrt(n) * third) / second ** 1.5;
});

export const SPREAD: Aggregate = {
  name: "spread",
  typeOf: sameNumber,
  compute(column) {
    let [least, most]: [number | bigint | null, number | bigint | null] = [null, null];
    const cells = column.cells as unknown as (number | bigint)[];
    for (let row = 0; row < column.length; row++) {
      if (column.isNull(row)) continue;
      const cell = cells[row & column.mask]!;
      if (least === null || cell < least) least = cell;
      if (most === null || cell > most) most = cell;
    }
    if (least === null || most === null) return Null.of(column.type);
    if (typeof most === "number") return most - (least as number);
    const difference = most - (least as bigint);
    return column.type === "uint" ? new UInt(difference) : BigInt.asIntN(64, difference);
  },
};

/** An aggregate of one column as a native function. */
export function aggregateFunction(aggregateOf: (call: NativeCall) => Aggregate): NativeBody {
  return (call) => {
    const aggregate = aggregateOf(call);
    const column = call.string("column", "_value");
    const input = call.stream();
    // the storage has these, and puts the result behind the bounds; a mean only where nothing is grouped
    const isPushed =
      input instanceof PushedNode &&
      column === "_value" &&
      ["count", "sum", "mean"].includes(aggregate.name) &&
      !(aggregate.name === "mean" && input.state.isGrouped);
    return streamOf(call, [input], ([tables]) => aggregated(tables!, column, aggregate, isPushed));
  };
}

export function aggregated(input: Tables, label: string, aggregate: Aggregate, isPushed = false): Tables {
  return eachTable(input, (table) => {
    const column = table.column(label);
    if (column === undefined) throw missingColumn(label);
    if (table.key.has(label)) throw new FluxError(`cannot aggregate columns that are part of the group key`);
    const type = aggregate.typeOf(column.type);
    if (type === null) throw new FluxError(`unsupported aggregate column type ${column.type}`);
    return oneRow(table, FluxColumn.constant(label, type, aggregate.compute(column), 1), isPushed);
  });
}

/** A row of the key's columns and the result. */
export function oneRow({ key }: FluxTable, result: FluxColumn, isBehindBounds = false): FluxTable {
  const columns = key.columns.map(({ label, type, value }) => FluxColumn.constant(label, type, value, 1));
  if (!isBehindBounds) return new FluxTable(key, [...columns, result], 1);
  const bounds = columns.filter(({ label }) => label === "_start" || label === "_stop");
  return new FluxTable(key, [...bounds, result, ...columns.filter((column) => !bounds.includes(column))], 1);
}

export const mode = operator((call) => {
  const label = call.string("column", "_value");
  return (input) =>
    eachTable(input, (table) => {
      const column = table.column(label);
      if (column === undefined) throw missingColumn(label);
      if (table.key.has(label)) throw new FluxError("cannot aggregate columns that are part of the group key");
      const found = modesOf(column);
      const values = found.length === 0 ? [Null.of(column.type)] : found;
      const made = values.map((value) => oneRow(table, FluxColumn.constant("_value", column.type, value, 1)));
      return made.length === 1 ? made[0]! : joined(made);
    });
});

function joined(rows: readonly FluxTable[]): FluxTable {
  const first = rows[0]!;
  const columns = first.columns.map((column, i) => {
    const length = rows.length;
    const cells = rows.map((row) => (row.columns[i]!.cells as (number | bigint | string)[])[0]!);
    if (column.type === "string") return new FluxColumn(column.label, column.type, cells as string[], null, length);
    const typed =
      column.type === "bool" ? Uint8Array.from(cells as number[]) : column.type === "float" ? Float64Array.from(cells as number[]) : null;
    const integers =
      column.type === "uint"
        ? BigUint64Array.from(cells as bigint[])
        : BigInt64Array.from(column.type === "bool" || column.type === "float" ? [] : (cells as bigint[]));
    return new FluxColumn(column.label, column.type, typed ?? integers, null, length);
  });
  return new FluxTable(first.key, columns, rows.length);
}

/** The most frequent values in order; none when all are equally frequent and there are several. */
function modesOf(column: FluxColumn): Value[] {
  const counts = new Map<number | bigint | string, { count: number; row: number }>();
  let most = 0;
  for (let row = 0; row < column.length; row++) {
    if (column.isNull(row)) continue;
    const cell = (column.cells as (number | bigint | string)[])[row & column.mask]!;
    const entry = counts.get(cell) ?? { count: 0, row };
    entry.count++;
    most = Math.max(most, entry.count);
    counts.set(cell, entry);
  }
  const modes = [...counts].filter(([, { count }]) => count === most);
  if (modes.length === counts.size && most === 1) return [];
  return modes.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, { row }]) => column.get(row));
}
