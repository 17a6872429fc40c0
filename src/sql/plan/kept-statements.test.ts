// Statements that DuckDB has planned before: their plan is used again, for other rows and other values, and never for other columns.
import { expect, test } from "bun:test";
import { FakeTable } from "../../../test/support/rows/fake-table.ts";
import { sqlEngine } from "../../../test/support/sql/sql-engine.ts";
import { askRows, readRows, type SqlValue } from "../../../test/support/sql/sql-rows.ts";
import { type Connection, Statement } from "../../duckdb/connection.ts";
import { Database } from "../../duckdb/database.ts";
import { TsdbError } from "../../model/errors.ts";
import type { QueryParams } from "../../model/query/query.ts";
import type { ScanTable } from "../../model/query/scan-table.ts";
import { ColumnType } from "../../model/rows/column.ts";

const { time, tag, integer, float, string } = ColumnType;

const own = sqlEngine(96 << 20);
const { kernel } = own;

async function ask(sql: string, tables: readonly ScanTable[], params: QueryParams = {}): Promise<SqlValue[][]> {
  return askRows(own.engine, sql, { tables, params });
}

const SQL = "SELECT n * 2 AS twice FROM t WHERE n > 0 ORDER BY twice";

test("other rows, other types, other columns under the same names", async () => {
  const first = new FakeTable(kernel, "t", { time, n: integer }, [{ time: 1n, n: 1n }]);
  const more = new FakeTable(kernel, "t", { time, n: integer }, [
    { time: 1n, n: 30n },
    { time: 2n, n: 20n },
  ]);
  const floats = new FakeTable(kernel, "t", { time, n: float }, [{ time: 1n, n: 0.75 }]);
  const wider = new FakeTable(kernel, "t", { a: string, time, host: tag, n: integer }, [{ time: 1n, n: 7n, a: "x", host: "y" }]);
  for (let round = 0; round < 3; round++) {
    expect(await ask(SQL, [first])).toEqual([[2n]]);
    expect(await ask(SQL, [more])).toEqual([[40n], [60n]]);
    expect(await ask(SQL, [floats])).toEqual([[1.5]]);
    expect(await ask(SQL, [wider])).toEqual([[14n]]);
  }
  for (const table of [first, more, floats, wider]) table.free();
});

test("two tables that change places", async () => {
  const a = new FakeTable(kernel, "a", { time, n: integer, x: integer }, [{ time: 1n, n: 1n, x: 10n }]);
  const b = new FakeTable(kernel, "b", { time, n: integer, y: integer }, [{ time: 1n, n: 1n, y: 100n }]);
  for (let round = 0; round < 3; round++) {
    expect(await ask("SELECT a.x + b.y FROM a JOIN b ON a.n = b.n", [a, b])).toEqual([[110n]]);
    expect(await ask("SELECT a.x - b.y FROM b JOIN a ON a.n = b.n", [a, b])).toEqual([[-90n]]);
    expect(await ask("SELECT p.x + q.x FROM a p JOIN a q ON p.n = q.n", [a])).toEqual([[20n]]);
  }
  a.free();
  b.free();
});

test("one statement many times at once, each over its own rows", async () => {
  const tables = Array.from({ length: 12 }, (_, i) => new FakeTable(kernel, "t", { time, n: integer }, [{ time: 1n, n: BigInt(i + 1) }]));
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(tables.map((table) => ask(SQL, [table])));
    expect(answers).toEqual(tables.map((_, i) => [[BigInt(2 * (i + 1))]]));
  }
  for (const table of tables) table.free();
});

test("values of parameters, and the time, are those of each run", async () => {
  for (const p of [1n, 2n, -5n]) expect(await ask("SELECT $p * 1.0", [], { p })).toEqual([[Number(p)]]);
  expect(await ask("SELECT random() = random()", [])).toEqual([[false]]);
  const [[a], [b]] = [(await ask("SELECT random()", []))[0]!, (await ask("SELECT random()", []))[0]!];
  expect(a).not.toBe(b!);
});

test("after a failure, a cancel, an answer that was left", async () => {
  const rows = Array.from({ length: 30_000 }, (_, i) => ({ time: BigInt(i), n: BigInt(i % 3) }));
  const table = new FakeTable(kernel, "t", { time, n: integer }, rows);
  const sum = "SELECT sum(n + 1) FROM t";
  const expected = [[60_000n]];
  expect(await ask(sum, [table])).toEqual(expected);
  table.onChunk = (chunk) => {
    if (chunk === 3) throw new TsdbError("corrupt_file", "damaged");
  };
  await expect(ask(sum, [table])).rejects.toThrow("damaged");
  table.onChunk = () => {};
  expect(await ask(sum, [table])).toEqual(expected);
  const controller = new AbortController();
  table.onChunk = (chunk) => {
    if (chunk === 2) controller.abort();
  };
  const cancelled = own.engine.run(await own.engine.plan(sum), { tables: [table], params: {}, signal: controller.signal });
  await expect(cancelled.then(readRows)).rejects.toThrow("cancelled");
  await cancelled.then((answer) => answer.close()).catch(() => {});
  table.onChunk = () => {};
  expect(await ask(sum, [table])).toEqual(expected);
  for (let i = 0; i < 3; i++) {
    const left = await own.engine.run(await own.engine.plan("SELECT n + 1 FROM t"), { tables: [table], params: {} });
    await left.batches[Symbol.asyncIterator]().next();
    await left.close();
  }
  expect((await ask("SELECT n + 1 FROM t", [table])).length).toBe(30_000);
  expect(table.openCursors).toBe(0);
  table.free();
});

test("an error of a value leaves the statement usable", async () => {
  const table = (n: string) => new FakeTable(kernel, "t", { time, s: string }, [{ time: 1n, s: n }]);
  const [good, bad] = [table("12"), table("twelve")];
  for (let round = 0; round < 2; round++) {
    expect(await ask("SELECT CAST(s AS BIGINT) + 1 FROM t", [good])).toEqual([[13n]]);
    await expect(ask("SELECT CAST(s AS BIGINT) + 1 FROM t", [bad])).rejects.toThrow("Cannot cast string 'twelve'");
  }
  good.free();
  bad.free();
});

test("a connection keeps sixteen, the last used ones, and none longer than 16 KiB", async () => {
  const database = await Database.open({ memoryBytes: 64 << 20, threads: 1, tempDir: null });
  const connection: Connection = await database.connect();
  for (let i = 0; i < 20; i++) {
    connection.keep(`k${i}`, await connection.prepare(`SELECT ${i}`));
    expect(connection.findKept("k0") instanceof Statement).toBe(true);
  }
  const kept = Array.from({ length: 20 }, (_, i) => i).filter((i) => connection.findKept(`k${i}`) !== undefined);
  expect(kept).toEqual([0, ...Array.from({ length: 15 }, (_, i) => i + 5)]);
  const long = "x".repeat(20_000);
  connection.keep(long, await connection.prepare("SELECT 1"));
  expect(connection.findKept(long)).toBeUndefined();
  const batch = await (await connection.findKept("k19")!.execute()).next();
  expect(batch!.columns[0]!.values[0]).toBe(19);
  connection.close();
  database.close();
});
