// Random rows of a table with every column type, for tests that compare kernel code with a naive model.
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../../../src/model/rows/column.ts";
import type { TestRow, TestValue } from "./rows.ts";

const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;

export const ALL_TYPES: readonly ColumnDef[] = [
  TIME_COLUMN,
  { id: 1, name: "host", type: ColumnType.tag },
  { id: 2, name: "f", type: ColumnType.float },
  { id: 3, name: "i", type: ColumnType.integer },
  { id: 4, name: "u", type: ColumnType.unsigned },
  { id: 5, name: "s", type: ColumnType.string },
  { id: 6, name: "b", type: ColumnType.boolean },
  { id: 7, name: "region", type: ColumnType.tag },
  { id: 8, name: "s2", type: ColumnType.string },
  { id: 9, name: "rack", type: ColumnType.tag },
];

/** A value of a field type, often an extreme one. */
export function randomValue(type: ColumnType, below: (n: number) => number): TestValue {
  if (type === ColumnType.float) return [0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, below(1e6) / 7][below(6)]!;
  if (type === ColumnType.integer) return [0n, -1n, I64_MIN, I64_MAX, BigInt(below(1e9))][below(5)]!;
  if (type === ColumnType.unsigned) return [0n, 2n ** 64n - 1n, BigInt(below(1e9))][below(3)]!;
  if (type === ColumnType.boolean) return below(2) === 1;
  return ["", "é", "x".repeat(12), "y".repeat(13), `text ${below(1000)}`, "z".repeat(below(300))][below(6)]!;
}

export interface RandomRows {
  readonly count: number;
  /** Times are 0 .. times-1: few make many duplicates. */
  readonly times: number;
  readonly hosts: number;
}

/** Rows of ALL_TYPES in which each field column has values in no row, some rows or all rows. Tags are often absent. */
export function randomRows(below: (n: number) => number, { count, times, hosts }: RandomRows): TestRow[] {
  const density = new Map(ALL_TYPES.map(({ name }) => [name, [0, 1, 1, 3][below(4)]!]));
  return Array.from({ length: count }, () => {
    const fields: Record<string, TestValue> = {};
    for (const { name, type } of ALL_TYPES) {
      const oneIn = density.get(name)!;
      if (type === ColumnType.time || type === ColumnType.tag || oneIn === 0 || below(oneIn) > 0) continue;
      fields[name] = randomValue(type, below);
    }
    const tags: Record<string, string> = below(5) === 0 ? {} : { host: `host-${below(hosts)}` };
    if (below(3) === 0) tags["region"] = ["eu", "", "a region with a long name"][below(3)]!;
    return { timeNs: BigInt(below(times)), tags, fields };
  });
}
