// Averages over the last rows.
import { FluxColumn } from "../../tables/column.ts";
import { ColumnBuilder } from "../../tables/column-builder.ts";
import { eachTable } from "../../tables/stream.ts";
import { FluxTable, GroupKey } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import { isNull, Null, UInt, type Value } from "../../values/value.ts";
import { inOneTable } from "../merge-tables.ts";
import type { NativeBody } from "../native-call.ts";
import { operator } from "../operator.ts";
import { emptyLike } from "./shape.ts";

/** Cells as numbers, null for null. @param what the column is wanted for, in the error's words @throws FluxError: it holds no numbers */
export function numbersOf(column: FluxColumn, what: string): (number | null)[] {
  if (column.type !== "int" && column.type !== "uint" && column.type !== "float") {
    throw new FluxError(`cannot take ${what} of column ${column.label} (type ${column.type})`);
  }
  return Array.from({ length: column.length }, (_, row) => {
    const cell = column.get(row);
    return isNull(cell) ? null : Number(cell instanceof UInt ? cell.value : cell);
  });
}

/** A column of floats. */
export function floatColumn(label: string, values: readonly (number | null)[]): FluxColumn {
  const builder = new ColumnBuilder(label, "float", values.length);
  for (const value of values) {
    if (value === null) builder.appendNull();
    else builder.append(value);
  }
  return builder.build();
}

function valueNumbers(table: FluxTable, what: string): (number | null)[] {
  const column = table.column("_value");
  if (column === undefined) throw new FluxError("cannot find _value column");
  return numbersOf(column, what);
}

function positive(n: number, what = "moving average"): number {
  if (n <= 0) throw new FluxError(`cannot take ${what} with a period of ${n} (must be greater than 0)`);
  return n;
}

/** Windows up to this length are added up one by one, from the left. */
const SHORT_MAX = 64;

/** The sums of each `n` values in a row: the i-th of values i to i + n - 1. None if there are fewer values. Longer windows are put together
 *  from the end of one block and the beginning of the next: a row costs the same for any n, and as nothing is subtracted, an infinite value
 *  does not stay in sums that it has left. */
export function windowSums(values: Float64Array, n: number): Float64Array {
  const sums = new Float64Array(Math.max(0, values.length - n + 1));
  if (n <= SHORT_MAX) {
    for (let first = 0; first < sums.length; first++) {
      let sum = 0;
      for (let i = first; i < first + n; i++) sum += values[i]!;
      sums[first] = sum;
    }
    return sums;
  }
  const [toEnd, fromStart] = blockSums(values, n);
  for (let first = 0; first < sums.length; first++) {
    const last = fromStart[first + n - 1]!;
    sums[first] = first % n === 0 ? last : toEnd[first]! + last;
  }
  return sums;
}

/** Of each value: the sum from it to the end of its block, and from the beginning of its block to it. */
function blockSums(values: Float64Array, n: number): [toEnd: Float64Array, fromStart: Float64Array] {
  const [toEnd, fromStart] = [new Float64Array(values.length), new Float64Array(values.length)];
  for (let i = 0, sum = 0; i < values.length; i++) {
    sum = i % n === 0 ? values[i]! : sum + values[i]!;
    fromStart[i] = sum;
  }
  for (let i = values.length - 1, sum = 0; i >= 0; i--) {
    sum = (i + 1) % n === 0 ? values[i]! : sum + values[i]!;
    toEnd[i] = sum;
  }
  return [toEnd, fromStart];
}

export const movingAverage = operator(
  (call) => {
    const n = positive(call.int("n"));
    return (input, { use }) =>
      eachTable(input, (table) => {
        const values = valueNumbers(table, "moving average");
        const length = Math.min(n, table.rowCount);
        // as recorded: where one row is missing there is no average, where more are missing one of all rows
        if (length < 1 || n === table.rowCount + 1) return emptyLike(table).set(floatColumn("_value", []));
        use.work(table.rowCount);
        const sums = windowSums(
          Float64Array.from(values, (value) => value ?? 0),
          length,
        );
        const counts = windowSums(
          Float64Array.from(values, (value) => (value === null ? 0 : 1)),
          length,
        );
        const averages = Array.from(sums, (sum, i) => (counts[i] === 0 ? null : sum / counts[i]!));
        return table.slice(length - 1, table.rowCount).set(floatColumn("_value", averages));
      });
  },
  "tables",
  { flow: "rows" },
);

const EMA = "exponential moving average";

/** k = 2 / (n + 1) from the mean of the first n values on; nulls change nothing. */
function exponentialAverages(values: readonly (number | null)[], n: number): (number | null)[] {
  const weight = 2 / (n + 1);
  const averages: (number | null)[] = [];
  let [sum, count] = [0, 0];
  let last: number | null = null;
  values.forEach((value, row) => {
    if (last === null || row < n) {
      if (value !== null) {
        sum += value;
        count++;
      }
      if (row < n - 1 && row < values.length - 1) return;
      last = count === 0 ? null : sum / count;
    } else if (value !== null) last = value * weight + last * (1 - weight);
    averages.push(last);
  });
  return averages;
}

export const exponentialMovingAverage = operator((call) => {
  const n = call.int("n");
  return (input) =>
    eachTable(input, (table) => {
      positive(n);
      const averages = exponentialAverages(valueNumbers(table, EMA), n);
      // as recorded: a table without rows gets one of nulls
      if (table.isEmpty) return nullRow(table).set(floatColumn("_value", [null]));
      return table.slice(table.rowCount - averages.length, table.rowCount).set(floatColumn("_value", averages));
    });
});

/** The rows from the n-th on, with columns made of those that are there. */
function rowsBehind(table: FluxTable, n: number, labels: readonly string[], make: (column: FluxColumn) => (number | null)[]): FluxTable {
  const behind = table.slice(Math.min(Math.max(0, n), table.rowCount), table.rowCount);
  const columns = table.columns.filter(({ label }) => labels.includes(label));
  return columns.reduce((made, column) => made.set(floatColumn(column.label, make(column))), behind);
}

const zeroForNull = (value: number | null) => value ?? 0;

export const chandeMomentumOscillator = operator((call) => {
  const n = call.int("n");
  const labels = call.strings("columns", ["_value"]);
  const make = (column: FluxColumn) => momentum(stepsIn(column, "chande momentum oscillator"), positive(n));
  return (input) =>
    eachTable(input, function* (table) {
      if (table.pieceEnds.length < 2) return yield rowsBehind(table, n, labels, make);
      // as recorded: each piece begins anew
      const { key, pieceEnds } = table;
      const made = pieceEnds.map((end, i) => rowsBehind(table.slice(pieceEnds[i - 1] ?? 0, end), n, labels, make));
      yield (yield* inOneTable(made)).withKey(key);
    });
});

function momentum(steps: Float64Array, n: number): number[] {
  const up = windowSums(
    steps.map((step) => (step > 0 ? step : 0)),
    n,
  );
  const down = windowSums(
    steps.map((step) => (step > 0 ? 0 : -step)),
    n,
  );
  // NaN where nothing moves
  return Array.from(up, (rise, i) => (100 * (rise - down[i]!)) / (rise + down[i]!));
}

/** From each value of the column to the next, a null being zero. Steps of integers wrap as their type does, so none of unsigned
 *  ones goes down. */
function stepsIn(column: FluxColumn, what: string): Float64Array {
  const { type, length } = column;
  if (type !== "int" && type !== "uint") return stepsOf(numbersOf(column, what).map(zeroForNull));
  const wrap = type === "int" ? BigInt.asIntN : BigInt.asUintN;
  const integerOf = (cell: Value) => (cell instanceof UInt ? cell.value : isNull(cell) ? 0n : (cell as bigint));
  const steps = new Float64Array(Math.max(0, length - 1));
  let before = length === 0 ? 0n : integerOf(column.get(0));
  for (let row = 1; row < length; row++) {
    const value = integerOf(column.get(row));
    steps[row - 1] = Number(wrap(64, value - before));
    before = value;
  }
  return steps;
}

/** From each value to the next. */
function stepsOf(values: readonly number[]): Float64Array {
  return Float64Array.from({ length: Math.max(0, values.length - 1) }, (_, i) => values[i + 1]! - values[i]!);
}

export const relativeStrengthIndex = operator((call) => {
  const n = call.int("n");
  const labels = call.strings("columns", ["_value"]);
  return (input) =>
    eachTable(input, (table) => {
      // as recorded: a table that is too short gives its last row, what a row alone has besides is lost, and an empty table has such a row
      const filled = table.isEmpty ? nullRow(table) : table;
      // as recorded: no row is behind a period of none
      if (n <= 0) return rowsBehind(filled, filled.rowCount, labels, (column) => numbersOf(column, "relative strength index").slice(0, 0));
      const isShort = filled.rowCount <= n;
      const first = isShort ? filled.rowCount - 1 : n;
      const make = (column: FluxColumn) => {
        const made = strength(numbersOf(column, "relative strength index"), n).slice(first);
        return isShort ? made.map((value) => value ?? Number.NaN) : made;
      };
      const made = rowsBehind(filled, first, labels, make);
      return filled.rowCount === 1 ? withNulls(made, ({ label }) => labels.includes(label)) : made;
    });
});

/** A row for a table without any. */
function nullRow(table: FluxTable): FluxTable {
  const columns = table.columns.map(({ label, type }) => FluxColumn.constant(label, type, Null.of(type), 1));
  return new FluxTable(table.key, columns, 1);
}

/** The table with nulls in other columns; its key has what its rows have. */
function withNulls(table: FluxTable, isKept: (column: FluxColumn) => boolean): FluxTable {
  const columns = table.columns.map((column) =>
    isKept(column) ? column : FluxColumn.constant(column.label, column.type, Null.of(column.type), table.rowCount),
  );
  const key = new GroupKey(
    table.key.columns.map(({ label, type }) => {
      const column = columns.find((each) => each.label === label);
      return { label, type, value: column === undefined || column.length === 0 ? Null.of(type) : column.get(0) };
    }),
  );
  return table.with(columns, key);
}

/** For each row, from averages of rises and falls: those of the first n rows, smoothed by Wilder from there on. The first value rises from
 *  zero; nulls change nothing. */
function strength(values: readonly (number | null)[], n: number): (number | null)[] {
  let [up, down, last, count] = [0, 0, 0, 0];
  return values.map((value, row) => {
    if (value !== null) {
      const [rise, fall] = [Math.max(0, value - last), Math.max(0, last - value)];
      const before = row < n || count === 0 ? count : n - 1;
      up = (up * before + rise) / (before + 1);
      down = (down * before + fall) / (before + 1);
      last = value;
      count++;
    }
    // NaN where nothing has moved
    return count === 0 ? null : 100 - 100 / (1 + up / down);
  });
}

export const kaufmansAMA = operator((call) => {
  const n = call.int("n");
  const label = call.string("column", "_value");
  const make = (column: FluxColumn) => adaptiveAverages(numbersOf(column, "KAMA").map(zeroForNull), n);
  return (input) => eachTable(input, (table) => rowsBehind(table, positive(n, "KaufmansAMA"), [label], make));
});

/** The smoothing constant goes between those of 2 and 30 rows by the efficiency of the last n. */
function adaptiveAverages(values: readonly number[], n: number): number[] {
  const slow = 2 / 31;
  // 2 / 3 - 2 / 31, rounded once
  const range = 56 / 93;
  const made: number[] = [];
  // as recorded: the efficiency is never that of one step, except in the first row
  const span = Math.max(2, n);
  const steps = stepsOf(values).map(Math.abs);
  const paths = windowSums(steps, span);
  let average = values[n - 1] ?? 0;
  for (let row = n; row < values.length; row++) {
    const path = row < span ? steps[0]! : paths[row - span]!;
    const efficiency = Math.abs(values[row]! - values[Math.max(0, row - span)]!) / path;
    const constant = (efficiency * range + slow) ** 2;
    average += constant * (values[row]! - average);
    made.push(average);
  }
  return made;
}

const NUMBER_TYPES: readonly string[] = ["int", "uint", "float"];

export const tripleExponentialDerivative: NativeBody = operator((call) => {
  const n = positive(call.int("n"), "triple exponential derivative");
  return (input) =>
    eachTable(input, (table) => {
      const values = valueNumbers(table, EMA);
      // as recorded: a table that is too short for the third average gives a row with its times
      if (table.rowCount <= 3 * (n - 1)) return lastTimes(table, 3 * (n - 1));
      const third = [1, 2, 3].reduce<readonly (number | null)[]>((each) => exponentialAverages(each, n), values);
      const made = third.slice(1).map((value, i) => (value === null || third[i] == null ? null : (value / third[i]! - 1) * 100));
      const behind = table.slice(Math.max(0, table.rowCount - made.length), table.rowCount);
      // as recorded: other numbers are lost, but for the key
      return withNulls(behind, ({ type }) => !NUMBER_TYPES.includes(type))
        .set(floatColumn("_value", made))
        .withKey(table.key);
    });
});

function lastTimes(table: FluxTable, needed: number): FluxTable {
  const filled = table.isEmpty && needed > 0 ? nullRow(table) : table;
  const first = table.rowCount === needed ? needed : filled.rowCount - 1;
  const last = filled.slice(first, filled.rowCount);
  const values = floatColumn("_value", new Array<null>(last.rowCount).fill(null));
  const made = withNulls(last, ({ type }) => type === "time").set(values);
  return made.isEmpty ? made : made.withKey(table.key);
}
