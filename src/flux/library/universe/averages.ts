// Averages over the last rows.
import type { FluxColumn } from "../../tables/column.ts";
import { ColumnBuilder } from "../../tables/column-builder.ts";
import { eachTable } from "../../tables/stream.ts";
import type { FluxTable } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import { isNull, UInt } from "../../values/value.ts";
import type { NativeBody } from "../native-call.ts";
import { operator } from "../operator.ts";
import { emptyLike } from "./shape.ts";

/** Cells as numbers, null for null. */
export function numbersOf(column: FluxColumn): (number | null)[] {
  if (column.type !== "int" && column.type !== "uint" && column.type !== "float") {
    throw new FluxError(`unsupported column type ${column.type}`);
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

function valueColumn(table: FluxTable, label: string): FluxColumn {
  const column = table.column(label);
  if (column === undefined) throw new FluxError(`no column "${label}" exists`);
  return column;
}

function positive(n: number): number {
  if (n <= 0) throw new FluxError(`cannot take moving average with a period of ${n} (must be greater than 0)`);
  return n;
}

export const movingAverage = operator((call) => {
  const n = positive(call.int("n"));
  return (input, { use }) =>
    eachTable(input, (table) => {
      const values = numbersOf(valueColumn(table, "_value"));
      const first = Math.min(n, table.rowCount) - 1;
      // as recorded: a row alone has no average
      if (first < 0 || (n > 1 && table.rowCount === 1)) return emptyLike(table).set(floatColumn("_value", []));
      const averages: (number | null)[] = [];
      for (let row = first; row < values.length; row++) {
        const known = values.slice(Math.max(0, row - n + 1), row + 1).filter((value) => value !== null);
        use.work(known.length);
        averages.push(known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length);
      }
      return table.slice(first, table.rowCount).set(floatColumn("_value", averages));
    });
});

/** k = 2 / (n + 1) from the mean of the first n values on; nulls change nothing. */
export function exponentialAverages(values: readonly (number | null)[], n: number): (number | null)[] {
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
      const averages = exponentialAverages(numbersOf(valueColumn(table, "_value")), n);
      return table.slice(table.rowCount - averages.length, table.rowCount).set(floatColumn("_value", averages));
    });
});

/** Rises and falls over the last n rows, for each row from the n-th on. */
function rowsBehind(table: FluxTable, n: number, label: string, make: (values: readonly number[]) => number[]): FluxTable {
  const column = valueColumn(table, label);
  const values = numbersOf(column).map((value) => value ?? 0);
  const made = make(values);
  return table.slice(Math.min(n, table.rowCount), table.rowCount).set(floatColumn(label, made));
}

export const chandeMomentumOscillator = operator((call) => {
  const n = positive(call.int("n"));
  const labels = call.strings("columns", ["_value"]);
  return (input) =>
    eachTable(input, (table) => labels.reduce((made, label) => rowsOf(made, table, n, label, (values) => momentum(values, n)), table));
});

function rowsOf(made: FluxTable, table: FluxTable, n: number, label: string, make: (values: readonly number[]) => number[]): FluxTable {
  const next = rowsBehind(table, n, label, make);
  return made === table ? next : made.set(next.column(label)!);
}

function momentum(values: readonly number[], n: number): number[] {
  const made: number[] = [];
  for (let row = n; row < values.length; row++) {
    let [up, down] = [0, 0];
    for (let i = row - n + 1; i <= row; i++) {
      const step = values[i]! - values[i - 1]!;
      if (step > 0) up += step;
      else down -= step;
    }
    made.push(up + down === 0 ? 0 : (100 * (up - down)) / (up + down));
  }
  return made;
}

export const relativeStrengthIndex = operator((call) => {
  const n = positive(call.int("n"));
  const labels = call.strings("columns", ["_value"]);
  return (input) =>
    eachTable(input, (table) => {
      const first = Math.max(0, Math.min(n, table.rowCount - 1));
      const columns = labels.map((label) => floatColumn(label, strength(numbersOf(valueColumn(table, label)), n).slice(first)));
      return columns.reduce((made, column) => made.set(column), table.slice(Math.min(first, table.rowCount), table.rowCount));
    });
});

/** For each row, from averages of rises and falls that are smoothed by Wilder. The first value rises from zero; nulls change nothing. */
function strength(values: readonly (number | null)[], n: number): number[] {
  let [up, down, last] = [0, 0, 0];
  return values.map((value, row) => {
    if (value !== null) {
      const [rise, fall] = [Math.max(0, value - last), Math.max(0, last - value)];
      up = row < n ? up + rise / n : (up * (n - 1) + rise) / n;
      down = row < n ? down + fall / n : (down * (n - 1) + fall) / n;
      last = value;
    }
    return up + down === 0 ? 100 : 100 - 100 / (1 + up / down);
  });
}

export const kaufmansAMA = operator((call) => {
  const n = positive(call.int("n"));
  const label = call.string("column", "_value");
  return (input) => eachTable(input, (table) => rowsBehind(table, n, label, (values) => adaptiveAverages(values, n)));
});

/** The smoothing constant goes between those of 2 and 30 rows by the efficiency of the last n. */
function adaptiveAverages(values: readonly number[], n: number): number[] {
  const [fast, slow] = [2 / (2 + 1), 2 / (30 + 1)];
  const made: number[] = [];
  let average = values[n - 1] ?? 0;
  for (let row = n; row < values.length; row++) {
    let path = 0;
    for (let i = row - n + 1; i <= row; i++) path += Math.abs(values[i]! - values[i - 1]!);
    const efficiency = path === 0 ? 0 : Math.abs(values[row]! - values[row - n]!) / path;
    const constant = (efficiency * (fast - slow) + slow) ** 2;
    average += constant * (values[row]! - average);
    made.push(average);
  }
  return made;
}

export const tripleExponentialDerivative: NativeBody = operator((call) => {
  const n = positive(call.int("n"));
  return (input) =>
    eachTable(input, (table) => {
      const values = numbersOf(valueColumn(table, "_value"));
      const third = [1, 2, 3].reduce<readonly (number | null)[]>((each) => exponentialAverages(each, n), values);
      const made = third.slice(1).map((value, i) => (value === null || third[i] == null ? null : (value / third[i]! - 1) * 100));
      return table.slice(Math.max(0, table.rowCount - made.length), table.rowCount).set(floatColumn("_value", made));
    });
});
