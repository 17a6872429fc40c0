// Random storage queries, whose answers are compared with the expected list of points (storage-model.ts).

import { expect } from "bun:test";
import { type AggregateRequest, aggregateType } from "../../../src/model/query/aggregate.ts";
import {
  ALL_TIME,
  type FieldComparison,
  type FieldPredicate,
  predicateColumns,
  type TagPredicate,
  type TimeRange,
} from "../../../src/model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../../src/model/rows/column.ts";
import type { DeleteRequest } from "../../../src/model/rows/deletion.ts";
import { type Below, pick } from "../prng.ts";
import { aggregateRows, expectGroups } from "../rows/naive-aggregate.ts";
import { isWanted } from "../rows/naive-scan.ts";
import type { TestRow, TestValue } from "../rows/rows.ts";
import { rowText, type StorageModel } from "./storage-model.ts";
import type { WritePath } from "./write-path.ts";

const SECOND_NS = 1_000_000_000n;
const HOUR_NS = 3600n * SECOND_NS;

const FLOATS = [0, -0, 1.5, -2.25, 1e300, 5e-324, 0.1, 12_345.678];
const INTEGERS = [0n, -1n, 7n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n];
const TEXTS = ["", "short", "exactly12byt", "thirteen bytes", 'with "quotes", a \\ and = signs', "é🚀", "x".repeat(300)];

/** A random value of a type, often one at an edge of its range. */
export function randomValue(below: Below, type: ColumnType): TestValue {
  if (type === ColumnType.float) return below(3) === 0 ? pick(below, FLOATS) : below(1000) / 8;
  if (type === ColumnType.integer) return below(3) === 0 ? pick(below, INTEGERS) : BigInt(below(1000) - 500);
  if (type === ColumnType.unsigned) return below(4) === 0 ? 2n ** 64n - 1n : BigInt(below(1000));
  if (type === ColumnType.boolean) return below(2) === 1;
  return below(3) === 0 ? `text ${below(50)}` : pick(below, TEXTS);
}

const FUNCTIONS = ["count", "sum", "mean", "min", "max", "minTime", "maxTime", "first", "last", "firstTime", "lastTime"] as const;

export interface Asked {
  readonly below: Below;
  readonly path: WritePath;
  readonly model: StorageModel;
  readonly nowNs: bigint;
  readonly database: string;
  readonly table: string;
  readonly range: TimeRange;
  readonly tags: DeleteRequest["tags"];
}

/** Queries rows of a table by time, tags and fields, of all or some columns, all or the newest, and sometimes groups. @throws if the
 *  answer differs from the model's */
export async function askStorage(asked: Asked): Promise<void> {
  const { below, path, model, nowNs, database, table } = asked;
  const columns = path.columns(table, database);
  const tags = asked.tags.flatMap(({ tag, values }): TagPredicate[] => {
    const column = columns.find(({ name }) => name === tag);
    return column === undefined ? [] : [{ columnId: column.id, values }];
  });
  const request = { range: asked.range, tags, fields: fieldPredicates(below, columns) };
  const tested = new Set([...tags.map(({ columnId }) => columnId), ...request.fields.flatMap(predicateColumns)]);
  const projected = columns.filter(({ id, type }) => type === ColumnType.time || tested.has(id) || below(2) === 0);
  const names = new Set(projected.map(({ name }) => name));
  const newestOnly = below(4) === 0;
  const found = await path.rows(table, { database, columns: projected, ...request, newestOnly });
  const all = model.rows(table, nowNs).filter((row) => isWanted(row, { range: request.range, tags: [] }, columns));
  const text = (row: TestRow) => rowText(row, names);
  const wanted = (rows: readonly TestRow[]) => rows.filter((row) => isWanted(row, request, columns)).map(text);
  expectSome(found.map(text), all.map(text));
  // with field predicates, the newest are determined only after the scan
  if (newestOnly && request.fields.length === 0)
    expectSome(wanted(newest(all.filter((row) => isWanted(row, request, columns)))), wanted(found));
  else if (!newestOnly) expect(wanted(found).sort()).toEqual(wanted(all).sort());
  if (below(2) === 0) askForGroups(asked, columns, request);
}

function askForGroups(asked: Asked, columns: readonly ColumnDef[], choice: Pick<AggregateRequest, "range" | "tags" | "fields">): void {
  const { below, path, model, nowNs, database, table } = asked;
  const possible = columns.flatMap((column) => FUNCTIONS.map((fn) => ({ fn, column }))).filter((one) => aggregateType(one) !== null);
  const request: AggregateRequest = {
    ...choice,
    bins: pick(below, [null, { originNs: BigInt(below(100)), widthNs: SECOND_NS }, { originNs: 0n, widthNs: HOUR_NS }]),
    groupBy: columns.filter(({ type }) => type === ColumnType.tag && below(2) === 0),
    aggregates: [{ fn: "count", column: null }, ...possible.filter(() => below(6) === 0)],
  };
  const found = path.groups(table, database, request);
  const { groups, overflows } = aggregateRows(model.rows(table, nowNs), request, columns);
  // an intermediate sum may overflow although the result does not
  if (found === null) expect(request.aggregates.some(({ fn }) => fn === "sum" || fn === "mean")).toBe(true);
  else {
    expect(overflows && request.aggregates.some(({ fn }) => fn === "sum")).toBe(false);
    expectGroups(found, groups, request);
  }
}

function fieldPredicates(below: Below, columns: readonly ColumnDef[]): FieldPredicate[] {
  const fields = columns.filter(({ type }) => type !== ColumnType.time && type !== ColumnType.tag);
  if (below(3) > 0 || fields.length === 0) return [];
  const { id: columnId, type } = pick(below, fields);
  if (type === ColumnType.string) {
    return [{ columnId, operator: "in", values: Array.from({ length: below(4) }, () => randomValue(below, type) as string) }];
  }
  const operator = pick(below, ["=", "!=", "<", "<=", ">", ">="] as const);
  return [{ columnId, operator, value: randomValue(below, type) as FieldComparison["value"] }];
}

/** The newest row of each series. */
function newest(rows: readonly TestRow[]): TestRow[] {
  const bySeries = new Map<string, TestRow>();
  for (const row of rows) {
    const series = JSON.stringify(Object.entries(row.tags).sort());
    if ((bySeries.get(series)?.timeNs ?? ALL_TIME.minNs) <= row.timeNs) bySeries.set(series, row);
  }
  return [...bySeries.values()];
}

/** Each of `found` is one of `all`, with at most the same multiplicity. */
function expectSome(found: readonly string[], all: readonly string[]): void {
  const left = new Map<string, number>();
  for (const row of all) left.set(row, (left.get(row) ?? 0) + 1);
  const extra = found.filter((row) => {
    const count = left.get(row) ?? 0;
    left.set(row, count - 1);
    return count <= 0;
  });
  expect(extra, "rows that the table does not have").toEqual([]);
}

/** Verifies all rows, read with and without the scan. */
export async function checkStorage({ path, model, nowNs, database }: Pick<Asked, "path" | "model" | "nowNs" | "database">): Promise<void> {
  for (const table of model.tables.keys()) {
    const texts = (rows: readonly TestRow[]) => rows.map((row) => rowText(row)).sort();
    const expected = texts(model.rows(table, nowNs));
    expect(texts(await path.rows(table, { database })), table).toEqual(expected);
    expect(texts(path.naiveRows(table, database)), table).toEqual(expected);
  }
}
