// Answers of many columns leave in batches of a bounded number of values, from each source: what is encoded at a time takes milliseconds.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { FakeTable } from "../../test/support/rows/fake-table.ts";
import { readRows } from "../../test/support/sql/sql-rows.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { LIMITS } from "../model/limits.ts";
import { type ResultBatch, rowsOfBatch } from "../model/query/result-batch.ts";
import { ColumnType } from "../model/rows/column.ts";
import { SqlEngine } from "./execute/engine.ts";

const ROWS = 2500;
const COLUMNS = 250;
/** Not inline in DuckDB's vectors, and together more than a batch may have. */
const LONG = "text ".repeat(5);

let engine: SqlEngine;
let table: FakeTable;

beforeAll(async () => {
  const kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 1 << 30, threads: 2, tempDir: null });
  const { time, tag, integer, string } = ColumnType;
  const rows = Array.from({ length: ROWS }, (_, i) => ({
    time: BigInt(i),
    host: i % 3 === 0 ? null : `h${i}`,
    v: i % 5 === 0 ? null : BigInt(i),
    s: `${LONG}${i}`,
  }));
  table = new FakeTable(kernel, "t", { time, host: tag, v: integer, s: string }, rows);
});
afterAll(() => engine.close());

const STATEMENTS: readonly (readonly [sql: string, value: (row: number) => unknown])[] = [
  ["SELECT $ FROM t, v", (i) => (i % 5 === 0 ? null : BigInt(i))],
  ["SELECT $ FROM t LIMIT 2000 OFFSET 13, v", (i) => ((i + 13) % 5 === 0 ? null : BigInt(i + 13))],
  ["SELECT $ FROM t ORDER BY time DESC, v", (i) => ((ROWS - 1 - i) % 5 === 0 ? null : BigInt(ROWS - 1 - i))],
  ["SELECT $ FROM t, host", (i) => (i % 3 === 0 ? null : `h${i}`)],
  ["SELECT $ FROM t, v + 1", (i) => (i % 5 === 0 ? null : BigInt(i + 1))],
  ["SELECT $ FROM t, host || '!'", (i) => (i % 3 === 0 ? null : `h${i}!`)],
  ["SELECT $ FROM t, s || '!'", (i) => `${LONG}${i}!`],
  ["SELECT $ FROM t, [v]", (i) => [i % 5 === 0 ? null : BigInt(i)]],
];

test.each(STATEMENTS.map(([sql, value]) => [sql, value] as const))("%s", async (template, value) => {
  const at = template.lastIndexOf(", ");
  const columns = Array.from({ length: COLUMNS }, (_, i) => `${template.slice(at + 2)} AS c${i}`).join(", ");
  const sql = template.slice(0, at).replace("$", columns);
  const answer = await engine.run(await engine.plan(sql), { tables: [table], databaseTables: [table], params: {} });
  const sizes: number[] = [];
  async function* counted(): AsyncGenerator<ResultBatch> {
    for await (const batch of answer.batches) {
      sizes.push(batch.rowCount);
      yield batch;
    }
  }
  const rows = await readRows({ schema: answer.schema, batches: counted() });
  await answer.close();
  expect(Math.max(...sizes)).toBeLessThanOrEqual(rowsOfBatch(COLUMNS));
  expect(rows).toHaveLength(template.includes("LIMIT") ? 2000 : ROWS);
  rows.forEach((row, i) => {
    const expected = value(i);
    for (const shown of [row[0], row[i % COLUMNS], row[COLUMNS - 1]]) expect(shown).toEqual(expected as never);
  });
});

test("a batch is some rows, however many columns there are", () => {
  for (let count = 1; count <= LIMITS.answerColumnsMax; count++) {
    const rows = rowsOfBatch(count);
    expect(rows % 8).toBe(0);
    expect(rows >= 32 && (rows === 32 || rows * count <= LIMITS.batchCellsMax)).toBe(true);
  }
});
