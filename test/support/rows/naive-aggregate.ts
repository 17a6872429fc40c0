// Aggregates rows one by one, with integers of arbitrary precision: the reference for the kernel's aggregation.
import { expect } from "bun:test";
import type { Aggregate, AggregateRequest, QuantileAggregate } from "../../../src/model/query/aggregate.ts";
import { type ColumnDef, ColumnType } from "../../../src/model/rows/column.ts";
import { compareValues, isWanted } from "./naive-scan.ts";
import { ALL_TYPES } from "./random-rows.ts";
import type { TestRow, TestValue } from "./rows.ts";

export type GroupValue = TestValue | null;
/** The start of the bin (null without bins), and the acceptable values of each aggregate. */
export interface NaiveGroup {
  readonly bin: bigint | null;
  readonly aggregates: readonly (readonly GroupValue[])[];
}

/** The groups of the requested rows by key, and whether an integer sum overflows 64 bits. */
export function aggregateRows(
  rows: readonly TestRow[],
  request: AggregateRequest,
  columns = ALL_TYPES,
): { groups: Map<string, NaiveGroup>; overflows: boolean } {
  const members = new Map<string, { bin: bigint | null; rows: TestRow[] }>();
  for (const row of rows) {
    if (!isWanted(row, request, columns)) continue;
    const bin = request.bins === null ? null : binOf(row.timeNs, request.bins.originNs, request.bins.widthNs);
    const tags = request.groupBy.map(({ name }) => row.tags[name] ?? null);
    const values = (request.values ?? []).map(({ name }) => row.fields[name] ?? null);
    const key = keyOf(bin, [...tags, ...values]);
    if (!members.has(key)) members.set(key, { bin, rows: [] });
    members.get(key)!.rows.push(row);
  }
  const groups = new Map<string, NaiveGroup>();
  let overflows = false;
  for (const [key, group] of members) {
    const aggregates = request.aggregates.map((aggregate) => {
      const total = integerSum(aggregate, group.rows);
      overflows ||= total !== null && !fits(total, aggregate.column!.type);
      return valuesOf(aggregate, group.rows);
    });
    groups.set(key, { bin: group.bin, aggregates });
  }
  return { groups, overflows };
}

/** Both zeros are one, and so are all NaN. */
const keyOf = (bin: bigint | null, keys: readonly GroupValue[]) =>
  JSON.stringify([bin, ...keys].map((key) => (key === null || typeof key === "string" ? key : [typeof key, String(key)])));

function binOf(timeNs: bigint, originNs: bigint, widthNs: bigint): bigint {
  let index = (timeNs - originNs) / widthNs;
  if (originNs + index * widthNs > timeNs) index -= 1n;
  return originNs + index * widthNs;
}

function integerSum({ fn, column }: Aggregate, rows: readonly TestRow[]): bigint | null {
  if ((fn !== "sum" && fn !== "mean") || column === null || column.type === ColumnType.float) return null;
  return present(column, rows).reduce((sum, { value }) => sum + (value as bigint), 0n);
}

const fits = (sum: bigint, type: ColumnType) => (type === ColumnType.unsigned ? BigInt.asUintN(64, sum) : BigInt.asIntN(64, sum)) === sum;

function present(column: ColumnDef, rows: readonly TestRow[]): { value: TestValue; timeNs: bigint }[] {
  return rows.flatMap(({ timeNs, fields }) => {
    const value = column.type === ColumnType.time ? timeNs : (fields[column.name] ?? null);
    return value === null ? [] : [{ value, timeNs }];
  });
}

/** Values between which an estimated quantile lies: the exact ones of shares that differ by twice the weight of a centroid there, and one
 *  value beyond, because the estimate lies between two values. */
function quantileBounds({ column, weight, share, size }: QuantileAggregate, rows: readonly TestRow[]): GroupValue[] {
  const values = rows
    .flatMap(({ fields }): [TestValue, number][] => {
      const value = fields[column.name] ?? null;
      const counts = weight === null ? 1 : Number(fields[weight.name] ?? 0);
      return value === null || !(counts > 0) ? [] : [[value, counts]];
    })
    .sort(([a], [b]) => compareValues(a, b));
  if (values.length === 0) return [null];
  // no estimate is promised of values that cannot be written
  if (values.some(([value]) => typeof value === "number" && !Number.isFinite(value))) return [Number.NaN];
  const total = values.reduce((sum, [, counts]) => sum + counts, 0);
  const error = (8 * Math.sqrt(Math.min(share, 1 - share) / 2)) / size + 4 / size ** 2;
  const placeOf = (rank: number) => {
    let below = 0;
    for (const [place, [, counts]] of values.entries()) {
      below += counts;
      if (below >= rank * total) return place;
    }
    return values.length - 1;
  };
  const [low, high] = [placeOf(share - error) - 1, placeOf(share + error) + 1];
  if (share === 0 || share === 1) return [values.at(-share)![0]];
  return [values[Math.max(0, low)]![0], values[Math.min(values.length - 1, high)]![0]];
}

function valuesOf(aggregate: Aggregate, rows: readonly TestRow[]): GroupValue[] {
  const { fn, column } = aggregate;
  if (fn === "quantile") return quantileBounds(aggregate, rows);
  if (column === null) return [BigInt(rows.length)];
  const found = present(column, rows);
  if (fn === "count") return [BigInt(found.length)];
  if (found.length === 0) return [null];
  const total = integerSum(aggregate, rows);
  const sum = total ?? found.reduce((floats, { value }) => floats + Number(value), 0);
  const byValue = found.map(({ value }) => value).toSorted(compareValues);
  const byTime = found.toSorted((a, b) => compareValues(a.timeNs, b.timeNs));
  switch (fn) {
    case "sum":
      return [sum];
    case "mean":
      return [Number(sum) / found.length];
    case "squares":
      return [squaredDeviations(found.map(({ value }) => Number(value)))];
    case "min":
      return [byValue[0]!];
    case "max":
      return [byValue.at(-1)!];
    case "minTime":
    case "maxTime": {
      const value = byValue.at(fn === "minTime" ? 0 : -1)!;
      return [byTime.find((each) => compareValues(each.value, value) === 0)!.timeNs];
    }
    case "first":
      return found.filter(({ timeNs }) => timeNs === byTime[0]!.timeNs).map(({ value }) => value);
    case "last":
      return found.filter(({ timeNs }) => timeNs === byTime.at(-1)!.timeNs).map(({ value }) => value);
    case "firstTime":
      return [byTime[0]!.timeNs];
    case "lastTime":
      return [byTime.at(-1)!.timeNs];
  }
}

/** From their mean; NaN where they are not finite, or leave the floats. */
export function squaredDeviations(values: readonly number[]): number {
  const [first] = values;
  const mean = first! + values.reduce((sum, value) => sum + (value - first!), 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Number.isFinite(squares) ? squares : Number.NaN;
}

/** Checks the groups found (bin if there are bins, tags, values, aggregates) against the naive ones. Sums of floats may differ in the
 *  last bits. */
export function expectGroups(
  found: readonly (readonly GroupValue[])[],
  expected: Map<string, NaiveGroup>,
  request: AggregateRequest,
): void {
  const tagsFrom = request.bins === null ? 0 : 1;
  const valuesFrom = tagsFrom + request.groupBy.length + (request.values?.length ?? 0);
  const keys = found.map((row) => keyOf(request.bins === null ? null : (row[0] as bigint), row.slice(tagsFrom, valuesFrom)));
  expect(keys.toSorted()).toEqual([...expected.keys()].toSorted());
  found.forEach((row, i) => {
    request.aggregates.forEach(({ fn, column }, at) => {
      const value = row[valuesFrom + at]!;
      const allowed = expected.get(keys[i]!)!.aggregates[at]!;
      const isWithin = fn === "quantile" && value !== null && allowed[0] !== null;
      const fine = isWithin
        ? Number.isNaN(allowed[0]) || (Number(value) >= Number(allowed[0]) && Number(value) <= Number(allowed.at(-1)))
        : allowed.some((one) => isSame(fn === "squares" ? finite(value) : value, one) || (SUMS.includes(fn) && isClose(value, one)));
      if (!fine) throw new Error(`${fn} of ${column?.name} in ${keys[i]} is ${value}, not ${allowed.join(" or ")}`);
    });
  });
}

const SUMS: readonly Aggregate["fn"][] = ["sum", "mean", "squares"];

/** A square of a large value is infinite, or none. */
const finite = (value: GroupValue) => (typeof value === "number" && !Number.isFinite(value) ? Number.NaN : value);
const isSame = (a: GroupValue, b: GroupValue) => a === b || (Number.isNaN(a) && Number.isNaN(b));

function isClose(a: GroupValue, b: GroupValue): boolean {
  if (typeof a !== "number" || typeof b !== "number") return false;
  return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}
