// Newest rows of tables whose series are numbered, out of parts in which others end later.
import { expect, test } from "bun:test";
import { readChunk, type TestRow } from "../../test/support/rows/rows.ts";
import { type TablePart, TestSnapshot } from "../../test/support/rows/table-snapshot.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { LIMITS } from "../model/limits.ts";
import { ALL_TIME } from "../model/query/scan.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../model/rows/column.ts";
import { BlockCache } from "../storage/block-cache/block-cache.ts";
import { SeriesNumbersOfTables } from "./series-numbers.ts";
import { TableScan } from "./table-scan.ts";

const HOUR_NS = 3_600_000_000_000n;
const COLUMNS: ColumnDef[] = [TIME_COLUMN, { id: 1, name: "host", type: ColumnType.tag }, { id: 2, name: "load", type: ColumnType.float }];
const kernel = Kernel.create();

const row = (host: number, hour: number): TestRow => {
  return { timeNs: BigInt(hour) * HOUR_NS, tags: { host: `host ${host}` }, fields: { load: hour } };
};

/** Hosts and hours of the rows that a question for newest ones gets. */
function newest(snapshot: TestSnapshot, tables: SeriesNumbersOfTables): unknown[][] {
  const scan = new TableScan(kernel, snapshot.table, new BlockCache(kernel, 0), LIMITS, { numbers: tables.of(1), segments: null });
  const columns = COLUMNS.slice(1);
  const cursor = scan.open({ columns, range: ALL_TIME, tags: [], newestOnly: true });
  const rows: unknown[][] = [];
  for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) rows.push(...readChunk(kernel, columns, chunk));
  scan.close();
  return rows;
}

test("a part that ends earlier may hold the newest row of a series all the same", () => {
  const before = kernel.heap.usedBytes;
  const parts: TablePart[] = [
    { kind: "file", batches: [[row(1, 2), row(2, 1), row(2, 20)]] },
    { kind: "file", batches: [[row(1, 15)]] },
    { kind: "file", batches: [[row(3, 18), row(4, 3)]] },
    { kind: "memory", batches: [[row(1, 16), row(3, 19)], [row(1, 17)]] },
  ];
  const answers: [host: number, hour: number][][] = [
    [
      [1, 2],
      [2, 20],
    ],
    [
      [1, 15],
      [2, 20],
    ],
    [
      [1, 15],
      [2, 20],
      [3, 18],
      [4, 3],
    ],
    [
      [1, 17],
      [2, 20],
      [3, 19],
      [4, 3],
    ],
  ];
  for (const [i, answer] of answers.entries()) {
    const snapshot = new TestSnapshot(kernel, parts.slice(0, i + 1), { columns: COLUMNS });
    const tables = new SeriesNumbersOfTables(kernel);
    // the second time all series are known before anything is read
    for (let time = 0; time < 2; time++) {
      expect(newest(snapshot, tables)).toEqual(expect.arrayContaining(answer.map(([host, hour]) => [`host ${host}`, hour])));
    }
    tables.release();
    snapshot.free();
  }
  expect(kernel.heap.usedBytes).toBe(before);
});
