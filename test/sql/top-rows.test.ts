// The first rows of an order are found while a scan is read (execute/order/top-rows.ts): the same rows as DuckDB sorts first.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { ColumnType } from "../../src/model/rows/column.ts";
import { SqlEngine } from "../../src/sql/execute/engine.ts";
import { prng } from "../support/prng.ts";
import { type FakeRow, FakeTable } from "../support/rows/fake-table.ts";
import { askRows } from "../support/sql/sql-rows.ts";

const { time, tag, float, integer, unsigned, string, boolean } = ColumnType;
const COLUMNS = { time, host: tag, f: float, few: float, i: integer, u: unsigned, n: integer, b: boolean, s: string, none: float };
const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;
const VALUES: Readonly<Record<string, readonly (number | bigint | boolean | string | null)[]>> = {
  f: [null, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 1.5, -1.5, 5e-324, 1e308],
  few: [1, 2],
  i: [
    null,
    I64_MIN,
    I64_MAX,
    I64_MIN + 1n,
    I64_MAX - 1n,
    2n ** 53n,
    2n ** 53n + 1n,
    2n ** 53n + 2n,
    -(2n ** 53n) - 1n,
    0n,
    -1n,
    2n ** 32n,
    2n ** 31n,
  ],
  u: [null, 2n ** 64n - 1n, 2n ** 64n - 2n, 2n ** 63n, 2n ** 63n - 1n, 0n, 1n],
  b: [null, true, false],
  s: [null, "", "a", "a text that is longer than its view", "b"],
};
const KEYS = ["time", "host", "f", "few", "i", "u", "n", "b", "none"];

let engine: SqlEngine;
beforeAll(async () => {
  engine = await SqlEngine.open(Kernel.create(), { memoryBytes: 256 << 20, threads: 2, tempDir: null });
});
afterAll(() => engine.close());

/** Half of the values are special ones, half are others; `n` ascends, so that each row comes before all earlier ones in one direction. */
function rowsOf(seed: number, count: number): FakeRow[] {
  const below = prng(seed);
  return Array.from({ length: count }, (_, row) => {
    const special = (name: string) => VALUES[name]![below(VALUES[name]!.length)]!;
    const isSpecial = () => below(2) === 0;
    return {
      ...{ time: 1_700_000_000_000_000_000n + BigInt(row), host: `h${below(9)}`, n: BigInt(row), few: special("few"), none: null },
      ...{ b: special("b"), s: special("s") },
      f: isSpecial() ? special("f") : below(1 << 20) / 8 - 1000,
      i: isSpecial() ? special("i") : BigInt(below(1000)) - 500n,
      u: isSpecial() ? special("u") : BigInt(below(1000)),
    };
  });
}

function statementOf(below: (n: number) => number): string {
  const keys = Array.from({ length: 1 + below(3) }, () => KEYS[below(KEYS.length)]!);
  const order = (key: string) => `${key}${["", " ASC", " DESC"][below(3)]}${["", " NULLS FIRST", " NULLS LAST"][below(3)]}`;
  const limit = [1, 2, 7, 300, 5000, 9_999][below(6)]!;
  const offset = below(3) === 0 ? ` OFFSET ${[1, 10, 4000, 20_000][below(4)]}` : "";
  const condition = below(3) === 0 ? ` WHERE ${["f > 0", "b", "host = 'h3'", "i IS NOT NULL", "n < 3"][below(5)]}` : "";
  // with the time no two rows are equal
  return `SELECT *, n AS again FROM t${condition} ORDER BY ${[...keys, "time"].map(order).join(", ")} LIMIT ${limit}${offset}`;
}

test.each(Array.from({ length: 12 }, (_, seed) => [seed, [0, 1, 9, 2047, 5000, 12_000][seed % 6]!]))(
  "random orders, seed %i, of %i rows",
  async (seed, count) => {
    const table = new FakeTable(engine.kernel, "t", COLUMNS, rowsOf(seed, count));
    const below = prng(1000 + seed);
    for (let round = 0; round < 25; round++) {
      const statement = statementOf(below);
      const expected = await askRows(engine, statement, { params: {}, tables: [table], isPlain: true });
      const rows = await askRows(engine, statement, { params: {}, tables: [table] });
      expect({ statement, rows }).toEqual({ statement, rows: expected });
    }
    expect(table.openCursors).toBe(0);
  },
);

test.each([
  ["n DESC LIMIT 3", [29_999n, 29_998n, 29_997n]],
  ["n LIMIT 2 OFFSET 20000", [20_000n, 20_001n]],
  // equal keys alone: the earlier rows
  ["one LIMIT 3", [0n, 1n, 2n]],
  ["one DESC LIMIT 2 OFFSET 5", [5n, 6n]],
])("30,000 rows that ascend, ORDER BY %s", async (order, expected) => {
  const rows = Array.from({ length: 30_000 }, (_, row) => ({ time: BigInt(row), n: BigInt(row), one: 1 }));
  const table = new FakeTable(engine.kernel, "t", { time, n: integer, one: float }, rows);
  const found = await askRows(engine, `SELECT n FROM t ORDER BY ${order}`, { params: {}, tables: [table] });
  expect(found).toEqual(expected.map((n) => [n]));
});

test("integers that doubles cannot tell apart, and a second key", async () => {
  const large = 2n ** 53n;
  const rows = Array.from({ length: 3000 }, (_, row) => ({ time: BigInt(row), i: row === 2900 ? large + 1n : large, m: BigInt(row) }));
  const table = new FakeTable(engine.kernel, "t", { time, i: integer, m: integer }, rows);
  const found = await askRows(engine, "SELECT m FROM t ORDER BY i DESC, m LIMIT 2", { params: {}, tables: [table] });
  expect(found).toEqual([[2900n], [0n]]);
});

test("a key with one value, and another: DuckDB sorts what may be among the first", async () => {
  const count = 250_000;
  const rows = Array.from({ length: count }, (_, row) => ({ time: BigInt(row), one: 1, m: BigInt((row * 7919) % count) }));
  const table = new FakeTable(engine.kernel, "t", { time, one: float, m: integer }, rows);
  const found = await askRows(engine, "SELECT m FROM t ORDER BY one, m DESC LIMIT 2", { params: {}, tables: [table] });
  expect(found).toEqual([[BigInt(count - 1)], [BigInt(count - 2)]]);
  expect(table.openCursors).toBe(0);
});
