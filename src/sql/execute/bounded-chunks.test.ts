// Chunks of long texts are cut, of short ones left alone; every row comes once, with its NULLs.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { FakeTable } from "../../../test/support/rows/fake-table.ts";
import { readRows } from "../../../test/support/sql/sql-rows.ts";
import type { ChunkCursor } from "../../duckdb/table-function.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { LIMITS } from "../../model/limits.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { boundChunks, cutChunks } from "./bounded-chunks.ts";
import { SqlEngine } from "./engine.ts";

const { time, tag, string, integer } = ColumnType;
const LONG = 300_000;

let kernel: Kernel;
let engine: SqlEngine;
let table: FakeTable;
const rowOf = (i: number) => ({
  time: BigInt(i),
  n: BigInt(i),
  s: i % 5 === 0 ? null : "abc"[i % 3]!.repeat(i < 100 ? LONG : 3),
  h: `h${i % 9}`,
});
beforeAll(async () => {
  kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  table = new FakeTable(
    kernel,
    "t",
    { time, n: integer, s: string, h: tag },
    Array.from({ length: 5000 }, (_, i) => rowOf(i)),
  );
});
afterAll(() => engine.close());

function sizes(names: readonly string[]): number[] {
  const columns = names.map((name) => table.columns.find((column) => column.name === name)!);
  const cursor: ChunkCursor = boundChunks(kernel, table.open({ columns, range: ALL_TIME, tags: [] }), columns);
  const counts: number[] = [];
  for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) counts.push(chunk.rowCount);
  cursor.close();
  return counts;
}

test("only what is long is cut, at whole bytes of bitmaps", () => {
  const whole = [LIMITS.vectorRows, LIMITS.vectorRows, 5000 - 2 * LIMITS.vectorRows];
  expect(sizes(["n", "time"])).toEqual(whole);
  expect(sizes(["h"])).toEqual(whole);
  const cut = sizes(["n", "s"]);
  expect(cut.reduce((sum, count) => sum + count)).toBe(5000);
  // 4 of 5 rows have 300 kB: 8 of them are more than 1 MiB; what is short stays together
  expect(cut.slice(0, 12)).toEqual(Array(12).fill(8));
  expect(cut.slice(-2)).toEqual(whole.slice(-2));
  expect(cut.length).toBeLessThan(18);
});

test("chunks grow from the first rows to the most rows, and hold every row", () => {
  const columns = table.columns.filter(({ type }) => type === time || type === integer);
  const open = () => table.open({ columns, range: ALL_TIME, tags: [] });
  const read = (cursor: ChunkCursor): { counts: number[]; values: bigint[] } => {
    const [counts, values]: [number[], bigint[]] = [[], []];
    for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) {
      counts.push(chunk.rowCount);
      for (const { dataPtr } of chunk.columns) values.push(...kernel.i64.slice(dataPtr >>> 3, (dataPtr >>> 3) + chunk.rowCount));
    }
    cursor.close();
    return { counts, values: values.sort((a, b) => Number(a - b)) };
  };
  const types = columns.map(({ type }) => type);
  const cut = read(cutChunks(open(), types, 256, 1024));
  expect(cut.counts.slice(0, 4)).toEqual([256, 512, 1024, 256]);
  expect(Math.max(...cut.counts)).toBe(1024);
  expect(cut.values).toEqual(read(open()).values);
  expect(read(cutChunks(open(), types, 4096, 512)).counts.slice(0, 2)).toEqual([512, 512]);
});

test("every row is there, from the scan alone and through the engine", async () => {
  for (const sql of ["SELECT n, s, h FROM t", "SELECT n, s, h FROM t WHERE n >= 0", "SELECT n, lower(s), h FROM t ORDER BY n LIMIT 5000"]) {
    const answer = await engine.run(await engine.plan(sql), { tables: [table], params: {} });
    const rows = await readRows(answer);
    await answer.close();
    expect(rows.length).toBe(5000);
    rows.forEach(([n, s, h], i) => {
      const wanted = rowOf(i);
      if (n !== wanted.n || s !== wanted.s || h !== wanted.h) throw new Error(`${sql}: row ${i}`);
    });
  }
});
