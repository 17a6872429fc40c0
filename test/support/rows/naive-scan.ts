// The expected answer of a scan, row by row: predicates, deletions, merging. Deliberately slow and simple.

import type { FieldCondition, FieldPredicate, TagOrder, TagPredicate, TimeRange } from "../../../src/model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../../src/model/rows/column.ts";
import type { Tombstone } from "../../../src/model/rows/tombstone.ts";
import type { Below } from "../prng.ts";
import { evaluate } from "./naive-expression.ts";
import { randomExpression } from "./random-expression.ts";
import { ALL_TYPES, randomValue } from "./random-rows.ts";
import { canonicalKey, type TestRow, type TestValue } from "./rows.ts";

export interface NaiveChoice {
  readonly range: TimeRange;
  readonly tags: readonly TagPredicate[];
  readonly fields?: readonly FieldPredicate[];
}

export interface NamedTagOrder extends TagOrder {
  readonly name: string;
}

const nameOf = (columns: readonly ColumnDef[], columnId: number) => columns.find(({ id }) => id === columnId)?.name ?? "";

/** True if a row matches times, tags and fields. */
export function isWanted(row: TestRow, { range, tags, fields = [] }: NaiveChoice, columns = ALL_TYPES): boolean {
  if (row.timeNs < range.minNs || row.timeNs > range.maxNs) return false;
  if (!tags.every(({ columnId, values }) => values.includes(row.tags[nameOf(columns, columnId)] ?? null))) return false;
  const fieldOf = (columnId: number) => row.fields[nameOf(columns, columnId)] ?? null;
  return fields.every((predicate) =>
    predicate.operator === "true" ? evaluate(predicate.expression, fieldOf) === true : satisfies(fieldOf(predicate.columnId), predicate),
  );
}

/** NaN equals itself and is greater than every other number. */
export function satisfies(value: TestValue | null, predicate: Exclude<FieldPredicate, FieldCondition>): boolean {
  if (value === null) return false;
  if (predicate.operator === "in") return predicate.values.includes(value as string);
  const sign = compareValues(value, predicate.value);
  return { "=": sign === 0, "!=": sign !== 0, "<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0 }[predicate.operator];
}

/** Orders two values of one type. */
export function compareValues(a: TestValue, b: TestValue): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

/** True if a deletion hides the row. */
export function isHiddenRow(row: TestRow, sequence: number, tombstones: readonly Tombstone[], columns = ALL_TYPES): boolean {
  return tombstones.some((tombstone) => sequence <= tombstone.sequence && isWanted(row, tombstone, columns));
}

/** Rows in log order merged as a table returns them: one per series and time, with the latest present value of each field. */
export function mergeRows(rows: readonly TestRow[], columns = ALL_TYPES): TestRow[] {
  const merged = new Map<string, TestRow>();
  for (const row of rows) {
    const key = `${Buffer.from(canonicalKey(columns, row.tags)).toString("latin1")}@${row.timeNs}`;
    const fields: Record<string, TestValue | null> = { ...merged.get(key)?.fields };
    for (const [name, value] of Object.entries(row.fields)) if (value !== null) fields[name] = value;
    merged.set(key, { ...row, fields });
  }
  return [...merged.values()];
}

/** Field predicates of ALL_TYPES: conditions, and comparisons, often with a constant that occurs or lies at an edge of the type; sometimes
 *  of a column no row has. */
export function randomFields(below: Below): FieldPredicate[] {
  const tested = ALL_TYPES.filter(({ type }) => type !== ColumnType.time && type !== ColumnType.tag && below(4) === 0);
  const conditions = Array.from(
    { length: below(3) === 0 ? 1 : 0 },
    (): FieldCondition => ({
      operator: "true",
      expression: randomExpression(below, "boolean", 3, false),
    }),
  );
  const comparisons = tested.map(({ id: columnId, type }): FieldPredicate => {
    if (type === ColumnType.string) {
      const values = Array.from({ length: below(5) === 0 ? 40 : below(4) }, () => randomValue(type, below) as string);
      return { columnId, operator: "in", values };
    }
    const operator = (["=", "!=", "<", "<=", ">", ">="] as const)[below(6)]!;
    return { columnId, operator, value: randomValue(type, below) as number | bigint | boolean };
  });
  return [...comparisons, ...conditions];
}

/** Random conditions on tags. */
export function randomTags(below: Below): TagPredicate[] {
  const hosts = Array.from({ length: below(8) }, () => (below(6) === 0 ? null : `host-${below(9)}`));
  const choices: TagPredicate[][] = [
    [],
    [{ columnId: 1, values: hosts }],
    [
      { columnId: 1, values: hosts },
      { columnId: 7, values: ["a region with a long name", null] },
    ],
    [{ columnId: 9, values: below(2) === 0 ? [null] : ["x"] }], // a tag column that no row has
  ];
  return choices[below(4)]!;
}

/** Tombstones with sequences 1 .. `sequences`, over times 0 .. `times` or all of it. */
export function randomTombstones(
  below: Below,
  { count, sequences, times }: { count: number; sequences: number; times: number },
): Tombstone[] {
  return Array.from({ length: count }, (_, id) => {
    const minNs = BigInt(below(times));
    const ends = [
      { minNs, maxNs: minNs + BigInt(below(times)) },
      { minNs: -(2n ** 63n), maxNs: minNs },
      { minNs, maxNs: 2n ** 63n - 1n },
      { minNs, maxNs: minNs },
    ];
    return { id, tableId: 1, sequence: 1 + below(sequences), range: ends[below(4)]!, tags: randomTags(below) };
  });
}

/** Some tags to order by, in any order. */
export function randomTagOrders(below: Below): NamedTagOrder[] {
  const keys = ALL_TYPES.filter(({ type }) => type === ColumnType.tag).flatMap(({ id, name }) => {
    return below(2) === 0 ? [] : [{ columnId: id, name, isDescending: below(3) === 0, nullsFirst: below(2) === 0 }];
  });
  return below(2) === 0 ? keys : keys.reverse();
}

/** Each combination of the tags with its newest time, in order. */
export function newestInOrder(rows: readonly TestRow[], keys: readonly NamedTagOrder[]): (string | bigint | null)[][] {
  const keyOf = (row: TestRow) => keys.map(({ name }) => row.tags[name] ?? null);
  const groups = [...Map.groupBy(rows, (row) => JSON.stringify(keyOf(row))).values()];
  const found = groups.map((alike) => ({
    key: keyOf(alike[0]!),
    timeNs: alike.map(({ timeNs }) => timeNs).reduce((a, b) => (a > b ? a : b)),
  }));
  found.sort((a, b) => {
    for (const [i, { isDescending, nullsFirst }] of keys.entries()) {
      const [x, y] = [a.key[i]!, b.key[i]!];
      if (x === y) continue;
      if (x === null || y === null) return (x === null) === nullsFirst ? -1 : 1;
      return Buffer.compare(Buffer.from(x), Buffer.from(y)) * (isDescending ? -1 : 1);
    }
    return 0;
  });
  return found.map(({ key, timeNs }) => [...key, timeNs]);
}
