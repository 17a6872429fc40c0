// What a statement leaves behind on its connection: no thread that reads.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Kernel } from "../kernel/memory/kernel.ts";
import type { ScanChunk } from "../model/query/scan-table.ts";
import { ColumnType } from "../model/rows/column.ts";
import type { Connection } from "./connection.ts";
import { Database } from "./database.ts";
import { ScanRegistry, type ScanSource, scanCall } from "./table-function.ts";

const CHUNK_ROWS = 2048;
const THREADS = 2;
const kernel = Kernel.create();
const registry = new ScanRegistry(kernel.memory);
const dataPtr = kernel.heap.alloc(CHUNK_ROWS * 8);
let database: Database;

beforeAll(async () => {
  kernel.u8.fill(0, dataPtr, dataPtr + CHUNK_ROWS * 8);
  const options = { memoryBytes: 64 << 20, threads: THREADS, tempDir: null };
  database = await Database.open(options, async (connection) => registry.install(connection));
});
afterAll(() => {
  database.close();
  kernel.heap.free(dataPtr, CHUNK_ROWS * 8);
});

/** Rows without end, read by several threads; counts the chunks. */
function endless(): { readonly source: ScanSource; chunks(): number } {
  let count = 0;
  const next = (): ScanChunk => {
    count++;
    return { rowCount: CHUNK_ROWS, columns: [{ dataPtr, validityPtr: 0 }] };
  };
  const columns = [{ name: "v", type: ColumnType.integer }];
  const source = { columns, rowCountMax: 1 << 30, threadsMax: THREADS, open: () => ({ next, close: () => {} }), failed: () => {} };
  return {
    source: { ...source, keepTexts: (_thread, chunk) => (chunk === null ? null : { ...chunk, textBytes: 0 }) },
    chunks: () => count,
  };
}

/** Statements that take other threads of DuckDB, and turns of the event loop, for longer than a chunk takes. */
async function others(connection: Connection): Promise<void> {
  for (let i = 0; i < 20; i++) await connection.run("SELECT sum(range) FROM range(100000)");
}

// a sum never ends by itself; a stream stops when its buffer is full, and goes on when it is read
test.each(["SELECT v FROM", "SELECT sum(v) FROM"])("after settle no thread reads for an interrupted statement: %s", async (head) => {
  const connection = await database.connect();
  const other = await database.connect();
  const { source, chunks } = endless();
  const handle = registry.add(source);
  const statement = await connection.prepare(`${head} ${scanCall({ ...source, handle })}`);
  const failed = statement
    .execute()
    .then((stream) => stream.next().then(() => stream.next()))
    // of what an interrupted statement ends with nothing is asked here, but it may end before it is waited for
    .catch(() => null);
  while (chunks() < 10) await new Promise((resolve) => setImmediate(resolve));
  connection.interrupt();
  await connection.settle();
  const before = chunks();
  await others(other);
  expect(chunks()).toBe(before);
  await failed;
  statement.close();
  registry.release(handle);
  connection.close();
  other.close();
});

test("a statement runs after settle, also after settle twice, and a kept one again", async () => {
  const connection = await database.connect();
  const statement = await connection.prepare("SELECT 42");
  for (let i = 0; i < 2; i++) {
    const stream = await statement.execute();
    expect((await stream.next())!.columns[0]!.values).toEqual(Int32Array.of(42));
    await connection.settle();
    await connection.settle();
  }
  statement.close();
  connection.close();
});
