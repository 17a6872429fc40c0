// Random statements over a table that lies in files and in memory, with duplicates and deletions: the same answers as over its merged rows
// in a list, from which DuckDB makes everything.
import { expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { columnDefs, FakeTable } from "../../test/support/rows/fake-table.ts";
import { isHiddenRow, mergeRows } from "../../test/support/rows/naive-scan.ts";
import type { TestRow } from "../../test/support/rows/rows.ts";
import { type TablePart, TestSnapshot } from "../../test/support/rows/table-snapshot.ts";
import { randomStatement } from "../../test/support/sql/random-sql.ts";
import { sameAnswer, TWIN_COLUMNS, twinRows } from "../../test/support/sql/sql-twins.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { ColumnType } from "../model/rows/column.ts";
import type { Tombstone } from "../model/rows/tombstone.ts";
import { TableScan } from "../scan/table-scan.ts";
import { SqlEngine } from "../sql/execute/engine.ts";
import { BlockCache } from "../storage/block-cache/block-cache.ts";

const SEED = Number(process.env["SEED"] ?? 2);
const ROUNDS = Number(process.env["ROUNDS"] ?? 1);
const STATEMENTS = 40;
const SECOND = 1_000_000_000n;
const columns = columnDefs(TWIN_COLUMNS);
const tagNames = columns.filter(({ type }) => type === ColumnType.tag).map(({ name }) => name);

/** Rows as they are written: each series has times of its own, so that no two merged rows have the same. `sameTags`: of all rows. */
function writtenRows(below: (n: number) => number, series: Map<string, number>, sameTags: Record<string, string>): TestRow[] {
  return twinRows(below, 1 + below(120)).map(({ time: _, ...written }) => {
    const row = { ...written, ...sameTags };
    const tags = Object.fromEntries(Object.entries(row).filter(([name, value]) => tagNames.includes(name) && value !== null));
    const fields = Object.fromEntries(Object.entries(row).filter(([name]) => !tagNames.includes(name)));
    const key = JSON.stringify(Object.entries(tags).sort());
    if (!series.has(key)) series.set(key, series.size);
    const timeNs = BigInt(below(30) - 15) * 20n * SECOND + BigInt(series.get(key)!) * SECOND;
    return { timeNs, tags: tags as Record<string, string>, fields };
  });
}

test(`random tables and statements, seed ${SEED}`, async () => {
  const below = prng(SEED);
  const kernel = Kernel.create();
  const engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  let answers = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const series = new Map<string, number>();
    const sameTags: Record<string, string> = [{}, {}, { host: "a" }, { host: "a", Region: "eu" }][below(4)]!;
    const batches = () => Array.from({ length: 1 + below(3) }, () => writtenRows(below, series, sameTags));
    const files = Array.from({ length: below(3) }, (): TablePart => ({ kind: "file", batches: batches() }));
    const parts: TablePart[] = [...files, { kind: "memory", batches: files.length > 0 && below(2) === 0 ? [] : batches() }];
    const tombstones: Tombstone[] = [];
    const fileBatches = files.flatMap((part) => part.batches).length;
    if (below(2) === 0 && fileBatches > 0) {
      const range = { minNs: BigInt(below(100) - 100) * SECOND, maxNs: BigInt(below(100)) * SECOND };
      const host = columns.find(({ name }) => name === "host")!;
      tombstones.push({
        id: 1,
        tableId: 1,
        sequence: fileBatches,
        range,
        tags: below(2) === 0 ? [] : [{ columnId: host.id, values: ["a", null] }],
      });
    }
    const snapshot = new TestSnapshot(kernel, parts, { columns, pageRowsMax: 64, tombstones });
    const written = parts.flatMap((part) => part.batches);
    const shown = written.flatMap((rows, i) => rows.filter((row) => !isHiddenRow(row, i + 1, tombstones, columns)));
    const merged = mergeRows(shown, columns).map(({ timeNs, tags, fields }) => ({ time: timeNs, ...tags, ...fields }));
    const expected = new FakeTable(kernel, "cpu", TWIN_COLUMNS, merged);
    const cache = new BlockCache(kernel, below(2) * 10_000_000, { readsMax: below(3), pageRowsMin: 1 });
    for (let i = 0; i < STATEMENTS; i++) {
      const found = new TableScan(kernel, snapshot.table, cache);
      const rowCountMax = below(2) === 0 ? found.rowCountMax : 1e9;
      const pretended = new Proxy(found, {
        get: (scan, key) => {
          if (key === "rowCountMax") return rowCountMax;
          const value: unknown = Reflect.get(scan, key);
          return typeof value === "function" ? value.bind(scan) : value;
        },
      });
      const { fields } = await sameAnswer(engine, { expected, found: pretended }, randomStatement(below, true));
      found.close();
      answers += Number(fields !== "error");
    }
    expected.free();
    snapshot.free();
  }
  engine.close();
  expect(answers).toBe(ROUNDS * STATEMENTS);
});
