// Aggregates: one row of a table, with the key's columns and the result.
import type { ScriptRun } from "../../interpret/script-run.ts";
import { FluxColumn, floatsOfIntegers } from "../../tables/column.ts";
import { ColumnBuilder } from "../../tables/column-builder.ts";
import { eachTable, type Tables } from "../../tables/stream.ts";
import { FluxTable } from "../../tables/table.ts";
import type { FluxColumnType } from "../../values/column-type.ts";
import { FluxError, UnplacedError } from "../../values/flux-error.ts";
import { Null, UInt, type Value } from "../../values/value.ts";
import { checkNew } from "../merge-tables.ts";
import type { NativeBody, NativeCall } from "../native-call.ts";
import { operator, streamOf } from "../operator.ts";
import { AggregateOperation, RowsOperation } from "../plan/operations.ts";
import { combinedValue, reducedOr, reducedRows } from "../plan/reduced.ts";
import type { Aggregate, WindowRows } from "../windows/window-rows.ts";
import { PushedNode, pushedState, type StorageReduce, sinceEpoch, wantColumn } from "./pushed.ts";
import { COUNTS } from "./sources.ts";

const NUMBERS: readonly FluxColumnType[] = ["int", "uint", "float"];
const toFloat = (type: FluxColumnType): FluxColumnType | null => (NUMBERS.includes(type) ? "float" : null);
const sameNumber = (type: FluxColumnType): FluxColumnType | null => (NUMBERS.includes(type) ? type : null);

/** Values that are not null, as floats. */
export function floatsOf(column: FluxColumn): Float64Array {
  const { cells, mask, length, valid, type } = column;
  if (valid === null && mask === -1) {
    if (type === "float") return (cells as Float64Array).slice(0, length);
    if (type === "int" || type === "uint") return floatsOfIntegers(column);
  }
  const values = new Float64Array(length);
  let count = 0;
  for (let row = 0; row < length; row++) {
    if (!column.isNull(row)) values[count++] = Number((cells as Float64Array)[row & mask]);
  }
  return values.subarray(0, count);
}

export const COUNT: Aggregate = {
  name: "count",
  typeOf: (type) => (type === "time" ? null : "int"),
  compute: ({ length }) => BigInt(length),
};

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

/** The arithmetic mean; NaN without values. */
function meanOf(values: Float64Array): number {
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

/** The sum of integers wraps, as `sum` does; next to nulls they are added as floats. */
export const MEAN: Aggregate = {
  name: "mean",
  typeOf: toFloat,
  compute(column) {
    const values = floatsOf(column);
    if (values.length === 0) return Null.of("float");
    if (column.type === "float" || values.length < column.length || isSafeSum(values)) return meanOf(values);
    const sum = SUM.compute(column);
    return Number(sum instanceof UInt ? sum.value : sum) / values.length;
  },
};

/** Whether no sum of some of them can leave the integers that a float holds. */
function isSafeSum(values: Float64Array): boolean {
  let [least, most] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return Math.max(most, -least) * values.length <= Number.MAX_SAFE_INTEGER;
}

/** Sum of squared distances from the mean, one value at a time. Source: Welford, Technometrics 4 (1962). */
function squaredDistances(values: Float64Array): number {
  let mean = 0;
  let squares = 0;
  for (let i = 0; i < values.length; i++) {
    const delta = values[i]! - mean;
    mean += delta / (i + 1);
    squares += delta * (values[i]! - mean);
  }
  return squares;
}

/** The standard deviation of a sample or of a population. */
export function stddevOf(mode: "sample" | "population"): Aggregate {
  const ofSquares = (squares: number, count: number) => {
    if (mode === "population") return Math.sqrt(squares / count);
    return count === 1 ? Number.NaN : Math.sqrt(squares / (count - 1));
  };
  return { ...overFloats("stddev", (values) => ofSquares(squaredDistances(values), values.length)), ofSquares };
}

/** Sums of squares and cubes of distances from the mean, one value at a time. Source: Terriberry, 2007. */
export const SKEW = overFloats("skew", (values) => {
  const n = values.length;
  if (n < 2) return Number.NaN;
  let [mean, second, third] = [0, 0, 0];
  for (let i = 0; i < n; i++) {
    const delta = values[i]! - mean;
    const step = delta / (i + 1);
    const square = delta * step * i;
    third += square * step * (i - 1) - 3 * step * second;
    second += square;
    mean += step;
  }
  return (Math.sqrt(n) * third) / second ** 1.5;
});

type Extreme = number | bigint | null;

/** The least and the greatest value; null without values. */
function extremesOf(column: FluxColumn): readonly [least: Extreme, most: Extreme] {
  let least: Extreme = null;
  let most: Extreme = null;
  const cells = column.cells as unknown as (number | bigint)[];
  for (let row = 0; row < column.length; row++) {
    if (column.isNull(row)) continue;
    const cell = cells[row & column.mask]!;
    if (least === null || cell < least) least = cell;
    if (most === null || cell > most) most = cell;
  }
  return [least, most];
}

function spreadOf(type: FluxColumnType, least: Extreme, most: Extreme): Value {
  if (least === null || most === null) return Null.of(type);
  if (typeof most === "number") return most - (least as number);
  const difference = most - (least as bigint);
  return type === "uint" ? new UInt(difference) : BigInt.asIntN(64, difference);
}

export const SPREAD: Aggregate = {
  name: "spread",
  typeOf: sameNumber,
  compute: (column) => spreadOf(column.type, ...extremesOf(column)),
};

const STORED_AGGREGATES: readonly string[] = ["count", "sum", "mean"];

/** An aggregate of one column as a native function. */
export function aggregateFunction(aggregateOf: (call: NativeCall) => Aggregate): NativeBody {
  return (call) => {
    const aggregate = aggregateOf(call);
    const column = call.string("column", "_value");
    const input = call.stream();
    const body = ([tables]: readonly Tables[], run: ScriptRun) => {
      const state = storedState();
      const counted = state !== null && aggregate.name === "count" ? (input as PushedNode).counted(run) : null;
      // the storage puts the result behind the bounds
      const place = state === null ? null : state.isGrouped ? "groups" : "series";
      node.handsOn = place === "series" && !state!.isWindowed;
      wantColumn(input, column);
      const all = () => aggregated(counted ?? tables!, column, aggregate, place);
      const { name } = aggregate;
      const reduce = input instanceof PushedNode && column === "_value" ? input.reduce : null;
      if (reduce !== null && name === "spread") return reducedSpread(run, reduce, all);
      if (reduce !== null && aggregate.ofSquares !== undefined) return reducedDeviation(run, reduce, aggregate.ofSquares, all);
      if (reduce === null || (name !== "count" && name !== "sum" && name !== "mean")) return all();
      const combine = (tables: readonly FluxTable[]) => eachTable(tables, (table) => combinedTable(table, name, state !== null));
      return reducedOr(run, reduce, { fn: name, runs: null, ownTimes: false }, combine, all);
    };
    const isStored = column === "_value" && STORED_AGGREGATES.includes(aggregate.name);
    /** Of what the storage computes: it has a mean only where nothing is grouped. */
    const storedState = () => {
      const state = isStored ? pushedState(input) : null;
      return aggregate.name === "mean" && state?.isGrouped === true ? null : state;
    };
    const stored: typeof body = (inputs, run) => (isStored ? sinceEpoch(input, body(inputs, run)) : body(inputs, run));
    const inStorage = () => isStored && aggregate.name !== "mean" && pushedState(input) !== null;
    const inStoredOrder = () => storedState() !== null;
    const operation = new AggregateOperation(aggregate, column);
    const node = streamOf(call, [input], stored, { operation, inStorage, inStoredOrder });
    return node;
  };
}

/** From the greatest and the least value of each series. */
function* reducedSpread(run: ScriptRun, reduce: StorageReduce, otherwise: () => Tables): Tables {
  const most = yield* reducedRows(run, reduce, { fn: "max", runs: null, ownTimes: false, columns: [] });
  const least = most === null ? null : yield* reducedRows(run, reduce, { fn: "min", runs: null, ownTimes: false, columns: [] });
  if (most === null || least?.length !== most.length || least.some(({ key }, i) => key.text !== most[i]!.key.text)) {
    yield* otherwise();
    return;
  }
  for (const [i, table] of most.entries()) {
    const column = table.column("_value")!;
    const value = spreadOf(column.type, extremesOf(least[i]!.column("_value")!)[0], extremesOf(column)[1]);
    yield rowsOfKey(table, FluxColumn.constant("_value", column.type, value, 1));
  }
}

/** From the squares of each series or group; those of several rows are not combined. */
function* reducedDeviation(
  run: ScriptRun,
  reduce: StorageReduce,
  ofSquares: (squares: number, count: number) => number,
  otherwise: () => Tables,
): Tables {
  const tables = yield* reducedRows(run, reduce, { fn: "squares", runs: null, ownTimes: false, columns: [] });
  if (tables === null || tables.some(({ rowCount }) => rowCount > 1)) {
    yield* otherwise();
    return;
  }
  yield* eachTable(tables, (table) => {
    const squares = table.rowCount === 0 ? null : table.column("_value")!.get(0);
    const value = typeof squares === "number" ? ofSquares(squares, Number(table.column(COUNTS)!.get(0))) : Null.of("float");
    return rowsOfKey(table, FluxColumn.constant("_value", "float", value, 1));
  });
}

function combinedTable(table: FluxTable, fn: "count" | "sum" | "mean", isPushed: boolean): FluxTable {
  const column = table.column("_value")!;
  const value = combinedValue(
    fn,
    table,
    column,
    Uint32Array.from({ length: table.rowCount }, (_, row) => row),
  );
  return rowsOfKey(table, FluxColumn.constant("_value", fn === "mean" ? "float" : column.type, value, 1), isPushed);
}

/** One row for each table: its key, and the aggregate of one column. @param stored what of the storage computes it, as the reference's does
 *  @throws FluxError if a table lacks the column */
export function aggregated(input: Tables, label: string, aggregate: Aggregate, stored: "series" | "groups" | null = null): Tables {
  return eachTable(input, (table) => {
    const column = table.column(label);
    if (column === undefined) throw new FluxError(`column ${JSON.stringify(label)} does not exist`);
    if (table.key.has(label)) throw new FluxError(`cannot aggregate columns that are part of the group key`);
    const type = aggregate.typeOf(column.type);
    // as recorded: there is no such group then
    if (type === null && stored === "groups") return null;
    if (type === null) throw unsupported(aggregate.name, column.type, stored !== null);
    return rowsOfKey(table, FluxColumn.constant(label, type, aggregate.compute(column), 1), stored !== null);
  });
}

/** The error of an aggregate that there is not of the type. */
export function unsupported(name: string, type: FluxColumnType, isStored: boolean): FluxError {
  if (!isStored) return new FluxError(`unsupported aggregate column type ${type}`);
  return new UnplacedError(`unsupported input type for ${name} aggregate: ${STORED_TYPES[type] ?? type}`);
}

/** Names of types in messages of the storage. */
const STORED_TYPES: Readonly<Record<string, string>> = { bool: "boolean", int: "integer", uint: "unsigned" };

/** The key's columns and the result. */
export function rowsOfKey({ key }: FluxTable, result: FluxColumn, isBehindBounds = false): FluxTable {
  const { length } = result;
  const columns = key.columns.map(({ label, type, value }) => FluxColumn.constant(label, type, value, length));
  if (!isBehindBounds) return new FluxTable(key, [...columns, result], length);
  const bounds = columns.filter(({ label }) => label === "_start" || label === "_stop");
  return new FluxTable(key, [...bounds, result, ...columns.filter((column) => !bounds.includes(column))], length);
}

export const mode = operator(
  (call) => {
    const label = call.string("column", "_value");
    return (input) =>
      eachTable(input, (table) => {
        checkNew("_value", table.key.columns);
        const column = table.column(label);
        // as recorded, like `distinct`
        if (column === undefined) return rowsOfKey(table, FluxColumn.constant("_value", "string", "", 1));
        const inKey = table.key.get(label);
        if (inKey !== undefined) return rowsOfKey(table, FluxColumn.constant("_value", inKey.type, inKey.value, 1));
        const values = new ColumnBuilder("_value", column.type);
        for (const value of modesOfPieces(table, column)) values.append(value);
        return rowsOfKey(table, values.build());
      });
  },
  "tables",
  (call) => {
    const label = call.string("column", "_value");
    return { operation: new RowsOperation((rows) => modeRows(rows, label)) };
  },
);

/** As recorded: those of each piece, or a null. */
function modesOfPieces({ pieceEnds, rowCount }: FluxTable, column: FluxColumn): Value[] {
  const ends = pieceEnds.length === 0 ? [rowCount] : pieceEnds;
  return ends.flatMap((end, i) => {
    const found = modesOf(column.slice(ends[i - 1] ?? 0, end));
    return found.length === 0 ? [Null.of(column.type)] : found;
  });
}

/** The modes of each window, or a null. */
function* modeRows(rows: WindowRows, label: string): Generator<null, WindowRows | null, void> {
  const { key } = rows.table;
  const column = key.has(label) || key.has("_value") ? undefined : rows.column(label);
  if (column === undefined) return null;
  const builder = new ColumnBuilder("_value", column.type, rows.windowCount);
  const ends = new Uint32Array(rows.windowCount);
  yield* rows.each((from, to, window) => {
    const found = modesOf(column.slice(from, to));
    if (found.length === 0) builder.appendNull();
    for (const value of found) builder.append(value);
    ends[window] = builder.length;
  });
  return rows.ofKey(builder.build(), ends);
}

/** The most frequent values in order; none when all are equally frequent, as recorded. */
function modesOf(column: FluxColumn): Value[] {
  const counts = new Map<number | bigint | string, { count: number; row: number }>();
  let most = 0;
  let hasNaN = false;
  for (let row = 0; row < column.length; row++) {
    if (column.isNull(row)) continue;
    const cell = (column.cells as (number | bigint | string)[])[row & column.mask]!;
    if (Number.isNaN(cell)) {
      // NaN equals nothing: it is never counted, but makes the values differ in frequency
      hasNaN = true;
      continue;
    }
    const entry = counts.get(cell) ?? { count: 0, row };
    entry.count++;
    most = Math.max(most, entry.count);
    counts.set(cell, entry);
  }
  const modes = [...counts].filter(([, { count }]) => count === most);
  if (modes.length === counts.size && !hasNaN) return [];
  return modes.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, { row }]) => column.get(row));
}
