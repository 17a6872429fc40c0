// Exported files against a table that is read row by row, with two readers: the library of Arrow's Rust project, and DuckDB.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { Dictionary, tableFromIPC } from "apache-arrow";
import { readParquet } from "parquet-wasm/esm";
import { prng } from "../../test/support/prng.ts";
import { randomTombstones } from "../../test/support/rows/naive-scan.ts";
import { naiveRows } from "../../test/support/rows/naive-table.ts";
import { ALL_TYPES, randomRows } from "../../test/support/rows/random-rows.ts";
import type { TestRow, TestValue } from "../../test/support/rows/rows.ts";
import { type TablePart, TestSnapshot } from "../../test/support/rows/table-snapshot.ts";
import { loadParquetLibrary } from "../encode/parquet/library.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { ALL_TIME, type TimeRange } from "../model/query/scan.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../model/rows/column.ts";
import type { Tombstone } from "../model/rows/tombstone.ts";
import { Turns } from "../model/turns.ts";
import { SeriesNumbersOfTables } from "../scan/series-numbers.ts";
import type { TableSnapshot } from "../scan/snapshot.ts";
import { BlockCache } from "../storage/block-cache/block-cache.ts";
import { RowExport } from "./row-export.ts";
import { StatementClock } from "./statement-clock.ts";

const SEED = Number(process.env["SEED"] ?? 3);
const HOUR_NS = 3_600_000_000_000n;
const DAY_NS = 24n * HOUR_NS;

type Below = (n: number) => number;
type Values = readonly (TestValue | null)[];

const kernel = Kernel.create();
const folder = mkdtempSync(join(tmpdir(), "tsdb-row-export-"));
let duckdb: DuckDBConnection;
beforeAll(async () => {
  await loadParquetLibrary();
  duckdb = await (await DuckDBInstance.create(":memory:")).connect();
});
afterAll(() => {
  duckdb.closeSync();
  rmSync(folder, { recursive: true });
});

async function exported(
  snapshot: TableSnapshot,
  range: TimeRange = ALL_TIME,
  cache = new BlockCache(kernel, 0),
): Promise<{ bytes: Uint8Array; rowCount: number }> {
  const numbers = new SeriesNumbersOfTables(kernel);
  const known = { numbers: numbers.of(1), segments: null };
  const rows = new RowExport({ kernel, cache, turns: new Turns(new AbortController().signal), ...known }, snapshot, range);
  try {
    const parts: Uint8Array[] = [];
    for await (const part of rows.answer(new StatementClock())) parts.push(part.slice());
    return { bytes: new Uint8Array(Buffer.concat(parts)), rowCount: rows.rowCount };
  } finally {
    rows.close();
    numbers.release();
  }
}

const names = (columns: readonly ColumnDef[]) => columns.map(({ name }) => name).sort();

/** Values as text that tells them apart. */
function shown(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : `${value}`;
  return typeof value === "bigint" ? `${value}n` : JSON.stringify(value);
}

const sorted = (rows: readonly Values[]) => rows.map((row) => row.map(shown).join(" ")).sort();

function expectedRows(rows: readonly TestRow[], columns: readonly ColumnDef[]): string[] {
  const value = (row: TestRow, name: string) => (name === "time" ? row.timeNs : (row.tags[name] ?? row.fields[name] ?? null));
  return sorted(rows.map((row) => names(columns).map((name) => value(row, name))));
}

function byArrow(bytes: Uint8Array): string[] {
  const table = tableFromIPC(readParquet(bytes.slice()).intoIPCStream());
  const columns = table.schema.fields.map(({ name }) => name);
  expect(columns).toEqual([...columns].sort());
  return sorted(
    table.batches.flatMap((batch) => {
      const children = columns.map((name) => batch.getChild(name)!);
      const value = (column: number, row: number) =>
        columns[column] === "time" ? children[column]!.data[0]!.values[row] : children[column]!.get(row);
      return Array.from({ length: batch.numRows }, (_, row) => columns.map((_, column) => value(column, row)));
    }),
  );
}

async function ask(statement: string): Promise<Values[]> {
  const reader = await duckdb.runAndReadAll(statement);
  return reader.getRows() as unknown as Values[];
}

/** Text that hardly compresses. */
function noise(below: Below, length: number): string {
  return Buffer.from(Uint8Array.from({ length }, () => below(256))).toString("base64");
}

let fileCount = 0;

async function stored(bytes: Uint8Array): Promise<string> {
  const path = join(folder, `${fileCount++}.parquet`);
  await Bun.write(path, bytes);
  return path;
}

async function byDuckdb(bytes: Uint8Array, columns: readonly ColumnDef[]): Promise<string[]> {
  const list = names(columns).map((name) => (name === "time" ? "epoch_ns(time)" : `"${name}"`));
  return sorted(await ask(`SELECT ${list.join(", ")} FROM '${await stored(bytes)}'`));
}

function randomParts(below: Below): TablePart[] {
  const batch = () => {
    const start = BigInt(below(60));
    const rows = randomRows(below, { count: below(3) === 0 ? 0 : 1 + below(400), times: 1 + below(60), hosts: 1 + below(9) });
    return rows.map((row) => ({ ...row, timeNs: (row.timeNs + start) * HOUR_NS }));
  };
  const files = Array.from({ length: below(4) }, (): TablePart => ({ kind: "file", batches: Array.from({ length: 1 + below(3) }, batch) }));
  return [...files, { kind: "memory", batches: Array.from({ length: below(4) }, batch) }];
}

/** A tombstone over times in hours, with an id as the catalog gives. */
function inHours({ id, range: { minNs, maxNs }, ...rest }: Tombstone): Tombstone {
  const scaled = (ns: bigint) => (ns >= -100n && ns <= 100_000n ? ns * HOUR_NS : ns);
  return { ...rest, id: id + 1, range: { minNs: scaled(minNs), maxNs: scaled(maxNs) } };
}

describe("exported rows are those of the table", () => {
  test(`random tables, seed ${SEED}`, async () => {
    const below = prng(SEED);
    const before = kernel.heap.usedBytes;
    for (let round = 0; round < 12; round++) {
      const parts = randomParts(below);
      const tombstones = randomTombstones(below, { count: below(4), sequences: 12, times: 60 }).map(inHours);
      const retentionMinNs = below(3) === 0 ? BigInt(below(40)) * HOUR_NS : ALL_TIME.minNs;
      const snapshot = new TestSnapshot(kernel, parts, { columns: ALL_TYPES, pageRowsMax: 64, retentionMinNs, tombstones });
      const { table } = snapshot;
      const day = BigInt(below(4)) * DAY_NS;
      const range = below(2) === 0 ? ALL_TIME : { minNs: day, maxNs: day + DAY_NS - 1n };
      const rows = naiveRows(kernel, table).filter(({ timeNs }) => timeNs >= range.minNs && timeNs <= range.maxNs);
      const { bytes, rowCount } = await exported(table, range);
      const expected = expectedRows(rows, ALL_TYPES);
      expect(rowCount).toBe(expected.length);
      expect(byArrow(bytes)).toEqual(expected);
      expect(await byDuckdb(bytes, ALL_TYPES)).toEqual(expected);
      snapshot.free();
    }
    expect(kernel.heap.usedBytes).toBe(before);
  }, 60_000);

  test("more rows than a page and a group hold, integers with large and small steps, texts of a megabyte", async () => {
    const columns: readonly ColumnDef[] = [
      TIME_COLUMN,
      { id: 1, name: "t", type: ColumnType.tag },
      { id: 2, name: "i", type: ColumnType.integer },
      { id: 3, name: "s", type: ColumnType.string },
      { id: 4, name: "f", type: ColumnType.float },
      { id: 5, name: "late", type: ColumnType.boolean },
    ];
    const below = prng(SEED);
    let value = 0n;
    const rows = Array.from({ length: 60_000 }, (_, i): TestRow => {
      // runs of equal, small and large steps, so that miniblocks have every width
      value = BigInt.asIntN(64, value + (i % 512 < 128 ? 0n : BigInt(below(2 ** 20)) ** BigInt(Math.floor(i / 4096) % 4)));
      const long = i % 1000 === 999 ? noise(below, 400_000 + i) : `s${i % 7}`;
      const late = i > 59_990 ? { late: i % 2 === 0 } : {};
      return { timeNs: BigInt(i), tags: { t: `v${i % 300}` }, fields: { i: value, s: long, f: below(1000) / 8, ...late } };
    });
    const snapshot = new TestSnapshot(
      kernel,
      [
        { kind: "file", batches: [rows.slice(0, 25_000)] },
        { kind: "memory", batches: [rows.slice(25_000)] },
      ],
      {
        columns,
      },
    );
    const { bytes } = await exported(snapshot.table);
    snapshot.free();
    const path = await stored(bytes);
    const groups = await ask(`SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata('${path}') ORDER BY 1`);
    expect(groups.length).toBeGreaterThan(1);
    expect(groups.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(rows.length);
    const found = await ask(`SELECT epoch_ns(time), t, i, md5(s), f, late FROM '${path}' ORDER BY time`);
    const md5 = (text: TestValue) => new Bun.CryptoHasher("md5").update(text as string).digest("hex");
    const expected = rows.map(({ timeNs, tags, fields: { i, s, f, late } }) => [timeNs, tags["t"]!, i!, md5(s!), f!, late ?? null]);
    expect(found.map((row) => row.map(shown).join(" "))).toEqual(expected.map((row) => row.map(shown).join(" ")));
  }, 60_000);

  test("pages pass the cache, except where rows are merged", async () => {
    const rows = (from: number, count: number) =>
      Array.from({ length: count }, (_, i): TestRow => ({ timeNs: BigInt(from + i), tags: { t: "a" }, fields: { f: i } }));
    const columns: readonly ColumnDef[] = [
      TIME_COLUMN,
      { id: 1, name: "t", type: ColumnType.tag },
      { id: 2, name: "f", type: ColumnType.float },
    ];
    const bytesLeft: number[] = [];
    for (const second of [50_000, 49_990]) {
      const batches = [rows(0, 50_000), rows(second, 50_000)];
      const parts = batches.map((batch): TablePart => ({ kind: "file", batches: [batch] }));
      const snapshot = new TestSnapshot(kernel, parts, { columns });
      const before = kernel.heap.usedBytes;
      const cache = new BlockCache(kernel, 64 << 20);
      const { rowCount } = await exported(snapshot.table, ALL_TIME, cache);
      expect(rowCount).toBe(second + 50_000);
      bytesLeft.push(kernel.heap.usedBytes - before);
      expect(cache.bytes).toBeGreaterThanOrEqual(kernel.heap.usedBytes - before);
      for (const { fileId } of snapshot.table.blocks) cache.dropFile(fileId);
      expect(kernel.heap.usedBytes).toBe(before);
      snapshot.free();
    }
    const pageBytes = 16_384 * 8;
    expect(bytesLeft[0]!).toBeLessThan(pageBytes);
    expect(bytesLeft[1]!).toBeGreaterThan(pageBytes);
  });

  test("a table without rows in the range, and one of many columns", async () => {
    const many = Array.from({ length: 600 }, (_, i): ColumnDef => ({ id: i + 1, name: `f${i}`, type: ColumnType.float }));
    const columns = [TIME_COLUMN, ...many];
    const rows = Array.from(
      { length: 3000 },
      (_, i): TestRow => ({ timeNs: BigInt(i), tags: {}, fields: { [`f${i % 600}`]: i, f7: 0.5 } }),
    );
    const snapshot = new TestSnapshot(kernel, [{ kind: "memory", batches: [rows] }], { columns });
    const { bytes } = await exported(snapshot.table);
    expect(byArrow(bytes)).toEqual(expectedRows(rows, columns));
    const empty = await exported(snapshot.table, { minNs: 5000n, maxNs: 6000n });
    expect(byArrow(empty.bytes)).toEqual([]);
    expect(await byDuckdb(empty.bytes, columns)).toEqual([]);
    snapshot.free();
  }, 60_000);
});

describe("what the file says of itself", () => {
  const COLUMNS: readonly ColumnDef[] = [
    TIME_COLUMN,
    { id: 1, name: "t", type: ColumnType.tag },
    { id: 2, name: "f", type: ColumnType.float },
    { id: 3, name: "i", type: ColumnType.integer },
    { id: 4, name: "u", type: ColumnType.unsigned },
    { id: 5, name: "s", type: ColumnType.string },
    { id: 6, name: "b", type: ColumnType.boolean },
    { id: 7, name: "none", type: ColumnType.float },
  ];
  const ROWS: readonly TestRow[] = [
    { timeNs: 7n, tags: { t: "b" }, fields: { f: 2, i: -5n, u: 2n ** 64n - 1n, s: "mm", b: true } },
    { timeNs: -3n, tags: { t: "ab" }, fields: { f: Number.NaN, i: 4n, u: 1n, s: `z${"y".repeat(99)}`, b: true } },
    { timeNs: 9n, tags: {}, fields: { f: -1.5, i: 3n, u: 2n, s: "m" } },
  ];

  test("bounds and numbers of nulls", async () => {
    const snapshot = new TestSnapshot(kernel, [{ kind: "memory", batches: [ROWS] }], { columns: COLUMNS });
    const { bytes } = await exported(snapshot.table);
    snapshot.free();
    const path = await stored(bytes);
    const found = await ask(
      `SELECT path_in_schema, stats_min_value, stats_max_value, stats_null_count FROM parquet_metadata('${path}') ORDER BY 1`,
    );
    expect(found.map((row) => row.map((value) => (typeof value === "bigint" ? Number(value) : value)))).toEqual([
      ["b", "true", "true", 1],
      ["f", "-1.5", "2.0", 0],
      ["i", "-5", "4", 0],
      ["none", null, null, 3],
      // the largest text is cut, and rounded up
      ["s", "m", `z${"y".repeat(62)}z`, 0],
      ["t", "ab", "b", 1],
      ["time", "1969-12-31 23:59:59.999999997", "1970-01-01 00:00:00.000000009", 0],
      ["u", "1", "18446744073709551615", 0],
    ]);
    // rows that bounds rule out are not read: the bounds must therefore be true
    expect(await ask(`SELECT count(*) FROM '${path}' WHERE s >= 'zyy'`)).toEqual([[1n]]);
    expect(await ask(`SELECT count(*) FROM '${path}' WHERE u = 18446744073709551615`)).toEqual([[1n]]);
  });

  test("types are those of answers: dictionaries of tags, nanoseconds, what each column is", async () => {
    const snapshot = new TestSnapshot(kernel, [{ kind: "memory", batches: [ROWS] }], { columns: COLUMNS });
    const { bytes } = await exported(snapshot.table);
    snapshot.free();
    const { schema } = tableFromIPC(readParquet(bytes).intoIPCStream());
    const kinds = schema.fields.map(({ name, type, nullable, metadata }) => [
      ...[name, String(type), nullable, metadata.get("iox::column::type")],
    ]);
    expect(kinds).toEqual([
      ["b", "Bool", true, "iox::column_type::field::boolean"],
      ["f", "Float64", true, "iox::column_type::field::float"],
      ["i", "Int64", true, "iox::column_type::field::integer"],
      ["none", "Float64", true, "iox::column_type::field::float"],
      ["s", "Utf8", true, "iox::column_type::field::string"],
      ["t", "Dictionary<Int32, Utf8>", true, "iox::column_type::tag"],
      ["time", "Timestamp<NANOSECOND>", false, "iox::column_type::timestamp"],
      ["u", "Uint64", true, "iox::column_type::field::uinteger"],
    ]);
    expect(schema.fields.find(({ name }) => name === "t")!.type).toBeInstanceOf(Dictionary);
  });
});
