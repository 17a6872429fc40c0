// Functions computed here, in statements that are broken off, fail or run side by side; and edit distances against a table of all prefixes.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { blake3 } from "@noble/hashes/blake3.js";
import { prng } from "../../../test/support/prng.ts";
import { askRows, readRows, type SqlValue } from "../../../test/support/sql/sql-rows.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { editDistance } from "../../model/edit-distance.ts";
import { TsdbError } from "../../model/errors.ts";
import { SqlEngine, type SqlInput } from "../execute/engine.ts";

let engine: SqlEngine;
beforeAll(async () => {
  engine = await SqlEngine.open(Kernel.create(), { memoryBytes: 256 << 20, threads: 2, tempDir: null });
});
afterAll(() => engine.close());

const NO_TABLES: SqlInput = { tables: [], params: {} };

async function start(sql: string, input: Partial<SqlInput> = {}) {
  return engine.run(await engine.plan(sql), { ...NO_TABLES, ...input });
}

async function rowsOf(sql: string): Promise<SqlValue[][]> {
  return askRows(engine, sql, NO_TABLES);
}

const ENDLESS = "SELECT digest(CAST(value AS VARCHAR), 'sha224') AS d FROM generate_series(1, 1000000000)";

test("a statement that is left after its first batch", async () => {
  const answer = await start(ENDLESS);
  for await (const batch of answer.batches) {
    expect(batch.rowCount).toBeGreaterThan(0);
    break;
  }
  await answer.close();
  expect(await rowsOf("SELECT sha224('') = sha224('')")).toEqual([[true]]);
});

test("a statement that is cancelled", async () => {
  const abort = new AbortController();
  const answer = await start(ENDLESS, { signal: abort.signal });
  const reading = readRows(answer);
  abort.abort();
  await expect(reading).rejects.toThrow("cancelled");
  await answer.close();
  expect(await rowsOf("SELECT 1")).toEqual([[1n]]);
});

test("a statement that has no more time, where nothing is answered before the end", async () => {
  const counting = `SELECT count(DISTINCT d) FROM (${ENDLESS})`;
  const error = await start(counting, { timeoutMs: 100 })
    .then(async (answer) => readRows(answer).finally(() => answer.close()))
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TsdbError);
  expect((error as TsdbError).kind).toBe("query_limit");
  expect(await rowsOf("SELECT 1")).toEqual([[1n]]);
});

test("a row in the middle that is an error", async () => {
  const sql = "SELECT count(digest('x', CASE WHEN value = 50000 THEN 'none' ELSE 'md5' END)) FROM generate_series(1, 100000)";
  await expect(rowsOf(sql)).rejects.toThrow("There is no built-in digest algorithm named 'none'");
  expect(await rowsOf("SELECT 1")).toEqual([[1n]]);
});

test("native functions in statements that run at once", async () => {
  const one = (n: number): string => `SELECT count(DISTINCT digest(CAST(value AS VARCHAR), 'blake2s')) FROM generate_series(1, ${n})`;
  const counts = [30_000, 20_000, 10_000, 5_000];
  expect(await Promise.all(counts.map((n) => rowsOf(one(n))))).toEqual(counts.map((n) => [[BigInt(n)]]));
});

test("NULLs among many rows keep their places", async () => {
  const sql = `SELECT count(*), count(d), sum(value) FILTER (WHERE d IS NULL) FROM
    (SELECT value, levenshtein(CASE WHEN value % 3 <> 0 THEN 'ä' || value END, 'ä') AS d FROM generate_series(1, 9000))`;
  // 3 + 6 + … + 9000
  expect(await rowsOf(sql)).toEqual([[9000n, 6000n, (3n * (3000n * 3001n)) / 2n]]);
});

/** Wagner and Fischer's table, all of it. */
function tableDistance(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  const table = Array.from({ length: left.length + 1 }, (_, i) => Array.from({ length: right.length + 1 }, (_, j) => (i === 0 ? j : i)));
  for (let i = 1; i <= left.length; i++) {
    for (let j = 1; j <= right.length; j++) {
      const replaced = table[i - 1]![j - 1]! + (left[i - 1] === right[j - 1] ? 0 : 1);
      table[i]![j] = Math.min(replaced, table[i - 1]![j]! + 1, table[i]![j - 1]! + 1);
    }
  }
  return table[left.length]![right.length]!;
}

const SEED = Number(process.env["SEED"] ?? 7);
test(`edit distances of random texts, seed ${SEED}`, async () => {
  const below = prng(SEED);
  const letters = [..."abcä日😀"];
  // a word of the method has 32 rows: texts of none, some and all of several words
  const text = (most: number): string => Array.from({ length: below(most) }, () => letters[below(letters.length)]!).join("");
  const pairs = Array.from({ length: 400 }, (_, i) => [text([8, 34, 70, 140][i % 4]!), text([8, 70, 34, 140][i % 4]!)] as const);
  for (const [a, b] of pairs) expect([a, b, editDistance(a, b)]).toEqual([a, b, tableDistance(a, b)]);
  // the same through the engine, whose own function takes the texts of ASCII
  const values = pairs.map(([a, b], i) => `(${i}, '${a}', '${b}')`).join(", ");
  const rows = await rowsOf(`SELECT levenshtein(a, b) FROM (VALUES ${values}) AS v(i, a, b) ORDER BY i`);
  expect(rows).toEqual(pairs.map(([a, b]) => [tableDistance(a, b)]));
});

/** Of the bytes 0, 1, … 250, 0, 1, …, as the authors' test vectors have it, and the first words of their hashes. */
const BLAKE3: readonly [bytes: number, start: string][] = [
  [0, "af1349b9f5f9a1a6a0404dea36dcc949"],
  [1, "2d3adedff11b61f14c886e35afa03673"],
  [1024, "42214739f095a406f3fc83deb889744a"],
  [1025, "d00278ae47eb27b34faecf67b4fe263f"],
  [2048, "e776b6028c7cd22a4d0ba182a8bf6220"],
  [2049, "5f4d72f40d7a5f82b15ca2b2e44b1de3"],
  [3072, "b98cb0ff3623be03326b373de6b90952"],
  [31744, "62b6960e1a44bcc1eb1a611a8d6235b6"],
  [102400, "bc3e3d41a1146b069abffad3c0d44860"],
];
test.each(BLAKE3)("BLAKE3 of %d bytes", (bytes, start) => {
  const input = Uint8Array.from({ length: bytes }, (_, i) => i % 251);
  expect(Buffer.from(blake3(input)).toString("hex")).toStartWith(start);
});
