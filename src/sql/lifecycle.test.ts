// Statements that do not simply run to their end: cancelled, timed out, abandoned, interleaved, out of memory, failing underneath.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { FakeTable } from "../../test/support/rows/fake-table.ts";
import { askRows, readRows } from "../../test/support/sql/sql-rows.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { TsdbError } from "../model/errors.ts";
import { ColumnType } from "../model/rows/column.ts";
import { type SqlAnswer, SqlEngine, type SqlInput } from "./execute/engine.ts";

/** Some rows over a whole number of chunks. */
const ROWS = 100_001;
const CHUNKS = Math.ceil(ROWS / 2048);
const HOSTS = 100;

let engine: SqlEngine;
let kernel: Kernel;
let big: FakeTable;
beforeAll(async () => {
  kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 96 << 20, threads: 2, tempDir: null });
  const { time, tag, integer } = ColumnType;
  const rows = Array.from({ length: ROWS }, (_, i) => ({
    time: BigInt(i),
    host: `host-${i % HOSTS}-${"x".repeat(i % 17)}`,
    n: i % 7 === 0 ? null : BigInt(i),
  }));
  big = new FakeTable(kernel, "big", { time, host: tag, n: integer }, rows);
});
afterEach(() => {
  big.onChunk = () => {};
  expect(big.openCursors).toBe(0);
});
afterAll(() => engine.close());

async function start(sql: string, input: Partial<SqlInput> = {}): Promise<SqlAnswer> {
  return engine.run(await engine.plan(sql), { tables: [big], params: {}, ...input });
}

async function ask(sql: string, input: Partial<SqlInput> = {}): Promise<unknown[][]> {
  return askRows(engine, sql, { tables: [big], params: {}, ...input });
}

async function failure(promise: Promise<unknown>): Promise<TsdbError> {
  const error = await promise.then(
    () => "no error",
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(TsdbError);
  return error as TsdbError;
}

test("100,001 rows over many chunks: every row once, in order, every string whole", async () => {
  const answer = await start("SELECT time, host, n FROM big");
  let next = 0n;
  for (const [time, host, n] of await readRows(answer)) {
    const i = Number(time);
    if (time !== next++ || host !== `host-${i % HOSTS}-${"x".repeat(i % 17)}` || n !== (i % 7 === 0 ? null : BigInt(i))) {
      throw new Error(`row ${next}: ${time} ${host} ${n}`);
    }
  }
  await answer.close();
  expect(next).toBe(BigInt(ROWS));
});

test("aggregates over all chunks", async () => {
  const sumOfAll = (BigInt(ROWS) * BigInt(ROWS - 1)) / 2n;
  const seventh = BigInt(Math.floor((ROWS - 1) / 7));
  expect(await ask("SELECT count(*), count(n), sum(n), max(time) FROM big")).toEqual([
    [BigInt(ROWS), BigInt(ROWS) - seventh - 1n, sumOfAll - (7n * seventh * (seventh + 1n)) / 2n, BigInt(ROWS - 1)],
  ]);
  expect(await ask("SELECT count(*) FROM (SELECT host FROM big GROUP BY host)")).toEqual([[BigInt(HOSTS * 17)]]);
});

test("a reader that stops holds back the scan: DuckDB buffers a megabyte, not the whole answer", async () => {
  let chunks = 0;
  big.onChunk = () => chunks++;
  const answer = await start("SELECT time, host, n, host AS again FROM big");
  for await (const _ of answer.batches) break;
  await answer.close();
  expect(chunks).toBeLessThan(CHUNKS);
});

test("two statements read in turns on one engine", async () => {
  const [a, b] = [await start("SELECT time FROM big"), await start("SELECT host, time FROM big WHERE time >= to_timestamp_nanos(1000)")];
  const [left, right] = [a.batches[Symbol.asyncIterator](), b.batches[Symbol.asyncIterator]()];
  let [rowsLeft, rowsRight] = [0, 0];
  for (let done = false; !done; ) {
    const [x, y] = [await left.next(), await right.next()];
    rowsLeft += x.done ? 0 : x.value.rowCount;
    rowsRight += y.done ? 0 : y.value.rowCount;
    done = x.done === true && y.done === true;
  }
  await a.close();
  await b.close();
  expect([rowsLeft, rowsRight]).toEqual([ROWS, ROWS - 1000]);
});

test("many statements at once", async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => ask(`SELECT count(*) FROM big WHERE time < to_timestamp_nanos(${i * 10})`)),
  );
  expect(answers).toEqual(Array.from({ length: 20 }, (_, i) => [[BigInt(i * 10)]]));
});

test("an abandoned answer frees its cursors, and the engine goes on", async () => {
  for (let i = 0; i < 20; i++) {
    const answer = await start("SELECT host, n FROM big");
    if (i % 2 === 0) await answer.batches[Symbol.asyncIterator]().next();
    await answer.close();
    await answer.close();
  }
  expect(await ask("SELECT count(*) FROM big")).toEqual([[BigInt(ROWS)]]);
});

test("an abort interrupts in the middle", async () => {
  const controller = new AbortController();
  big.onChunk = (chunk) => {
    if (chunk === 3) controller.abort();
  };
  const error = await failure(ask("SELECT host, sum(n) FROM big GROUP BY host", { signal: controller.signal }));
  expect(error.kind).toBe("cancelled");
  big.onChunk = () => {};
  expect(await ask("SELECT 1")).toEqual([[1n]]);
});

test("an abort between batches, and one before the start", async () => {
  const controller = new AbortController();
  const answer = await start("SELECT host FROM big", { signal: controller.signal });
  const batches = answer.batches[Symbol.asyncIterator]();
  await batches.next();
  controller.abort();
  expect((await failure(batches.next())).kind).toBe("cancelled");
  await answer.close();
  expect((await failure(ask("SELECT 1", { signal: controller.signal }))).kind).toBe("cancelled");
});

test("an abort while DuckDB computes without asking for rows", async () => {
  const controller = new AbortController();
  const endless = "SELECT count(*) FROM range(100000000) AS a(x), range(100000) AS b(y) WHERE x + y = -1";
  const asked = ask(endless, { signal: controller.signal });
  setTimeout(() => controller.abort(), 20);
  expect((await failure(asked)).kind).toBe("cancelled");
});

test("a statement that runs too long is stopped", async () => {
  const error = await failure(
    ask("SELECT count(*) FROM range(100000000) AS a(x), range(100000) AS b(y) WHERE x + y = -1", { timeoutMs: 20 }),
  );
  expect(error.kind).toBe("query_limit");
  expect(error.message).toContain("20 ms");
});

test("a statement that needs too much memory is stopped", async () => {
  const error = await failure(ask("SELECT list(x ORDER BY x DESC) FROM range(100000000) AS a(x)"));
  expect(error.kind).toBe("query_limit");
  expect(error.message).toStartWith("Resources exhausted: ");
  expect(await ask("SELECT count(*) FROM big")).toEqual([[BigInt(ROWS)]]);
});

test("an error of the scan comes out as it was thrown", async () => {
  big.onChunk = (chunk) => {
    if (chunk === 5) throw new TsdbError("corrupt_file", "page 5 is damaged", { file: "x.pt" });
  };
  const error = await failure(ask("SELECT sum(n) FROM big"));
  expect([error.kind, error.message, error.details]).toEqual(["corrupt_file", "page 5 is damaged", { file: "x.pt" }]);
});

test("errors of values name the value, not our functions", async () => {
  expect((await failure(ask("SELECT CAST(host AS BIGINT) FROM big"))).message).toContain("Cannot cast string 'host-0-");
  expect((await failure(ask("SELECT sum(9223372036854775807) FROM range(2)"))).message).toContain("overflow");
  expect((await failure(ask("SELECT sum(n) FROM (VALUES (9223372036854775807), (1)) AS v(n)"))).message).not.toContain("__");
});

test("after a bug inside DuckDB the next statement gets a new one, and a running one still ends", async () => {
  const running = await start("SELECT time, host, n, host FROM big");
  const batches = running.batches[Symbol.asyncIterator]();
  await batches.next();
  engine.noticeError(new Error("BUG: DuckDB INTERNAL: invalidated"));
  expect(await ask("SELECT count(*), date_bin(INTERVAL '1 hour', max(time)) FROM big")).toEqual([[BigInt(ROWS), 0n]]);
  expect(await ask("SELECT 4")).toEqual([[4n]]);
  expect((await batches.next()).done).toBe(false);
  await running.close();
});

test("the order of rows survives types that leave as text", async () => {
  const order = "FROM range(20000) AS r(i) ORDER BY hash(i)";
  const [plain, cast] = [await ask(`SELECT i ${order}`), await ask(`SELECT i, CAST(i % 2 AS BIT) AS i ${order}`)];
  expect(cast.map(([i]) => i)).toEqual(plain.map(([i]) => i));
  expect(typeof cast[0]![1]).toBe("string");
});

test("the same plan over other tables", async () => {
  const plan = await engine.plan("SELECT count(*), max(time) FROM big");
  const small = new FakeTable(kernel, "big", { time: ColumnType.time }, [{ time: 7n }]);
  for (const [table, rows] of [
    [big, [BigInt(ROWS), BigInt(ROWS - 1)]],
    [small, [1n, 7n]],
  ] as const) {
    const answer = await engine.run(plan, { tables: [table], params: {} });
    expect(await readRows(answer)).toEqual([[...rows]]);
    await answer.close();
  }
  small.free();
});

test("memory of the kernel is given back", async () => {
  await ask("SELECT count(*) FROM information_schema.columns", { databaseTables: [big] });
  const used = kernel.heap.usedBytes;
  for (let i = 0; i < 10; i++) await ask("SELECT * FROM information_schema.tables", { databaseTables: [big] });
  expect(kernel.heap.usedBytes).toBe(used);
});
