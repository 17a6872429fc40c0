// Errors that come after the first rows: they end the answer as errors, with their reason, and never look like its end.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Kernel } from "../kernel/memory/kernel.ts";
import { TsdbError } from "../model/errors.ts";
import { type SqlAnswer, SqlEngine } from "./execute/engine.ts";

let engine: SqlEngine;
beforeAll(async () => {
  engine = await SqlEngine.open(Kernel.create(), { memoryBytes: 256 << 20, threads: 2, tempDir: "" });
});
afterAll(() => engine.close());

async function read(statement: string): Promise<{ rowCount: number; error: unknown }> {
  let rowCount = 0;
  let answer: SqlAnswer | undefined;
  try {
    answer = await engine.run(await engine.plan(statement), { tables: [], params: {} });
    for await (const batch of answer.batches) rowCount += batch.rowCount;
    return { rowCount, error: null };
  } catch (error) {
    return { rowCount, error };
  } finally {
    await answer?.close();
  }
}

const ROWS = "generate_series(1, 2000000) AS t(i)";
const LATE: [why: string, statement: string, kind: string, message: string][] = [
  [
    "a cast",
    `SELECT CAST(CASE WHEN i = 1500000 THEN 'x' ELSE '1' END AS BIGINT) AS n FROM ${ROWS}`,
    "bad_query",
    "Cannot cast string 'x' to value of Int64 type",
  ],
  ["an overflow", `SELECT 9223372036854775807 - 1500000 + i AS n FROM ${ROWS}`, "bad_query", "verflow"],
  ["memory", `SELECT i, array_agg(i) OVER (ORDER BY i) AS a FROM ${ROWS}`, "query_limit", "Resources exhausted"],
];

test.each(LATE)("an error of a row behind the first batch: %s", async (_, statement, kind, message) => {
  const { error } = await read(statement);
  expect(error).toBeInstanceOf(TsdbError);
  expect((error as TsdbError).kind).toBe(kind as TsdbError["kind"]);
  expect((error as TsdbError).message).toContain(message);
  expect(await read(`SELECT i FROM ${ROWS}`)).toEqual({ rowCount: 2_000_000, error: null });
});

test("an answer of more columns than there may be is refused before anything is computed", async () => {
  const columns = (count: number) => `SELECT ${Array.from({ length: count }, (_, i) => i).join(", ")}`;
  expect(await read(columns(4096))).toEqual({ rowCount: 1, error: null });
  expect((await read(columns(4097))).error).toMatchObject({ kind: "bad_query", message: expect.stringContaining("4097 columns") });
});
