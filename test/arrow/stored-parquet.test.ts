// The Parquet files that compaction writes, in the hands of others: DuckDB, parquet-wasm and, where python3 has it, pyarrow find the rows,
// the types, the statistics and the bloom filters.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { tableFromIPC } from "apache-arrow";
import { readParquet } from "parquet-wasm/esm";
import { loadParquetLibrary } from "../../src/encode/parquet/library.ts";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../../src/model/rows/column.ts";
import { writeMergedFile } from "../../src/storage/compaction/merge-file.ts";
import { writePt } from "../../src/storage/pt/file.ts";
import { prng } from "../support/prng.ts";
import { pythonWith } from "../support/python.ts";
import { Arena, type TestRow, type TestValue, writeRun } from "../support/rows.ts";

const COLUMNS: readonly ColumnDef[] = [
  TIME_COLUMN,
  { id: 1, name: "Host name", type: ColumnType.tag },
  { id: 2, name: "f", type: ColumnType.float },
  { id: 3, name: "i", type: ColumnType.integer },
  { id: 4, name: "u", type: ColumnType.unsigned },
  { id: 5, name: "s", type: ColumnType.string },
  { id: 6, name: "b", type: ColumnType.boolean },
  { id: 7, name: "région", type: ColumnType.tag },
  { id: 8, name: "decimal", type: ColumnType.float },
  { id: 9, name: "word", type: ColumnType.string },
  { id: 10, name: "rare", type: ColumnType.integer },
];

/** In the order of a file: hosts, then times. */
function makeRows(): TestRow[] {
  const below = prng(7);
  const EDGES: Record<string, TestValue[]> = {
    f: [0, -0, Number.NaN, Number.POSITIVE_INFINITY, -1e308, 5e-324],
    i: [0n, -(2n ** 63n), 2n ** 63n - 1n, -1n],
    u: [0n, 2n ** 64n - 1n, 2n ** 63n],
    s: ["", "é", "x".repeat(13), "a text that is longer than 64 bytes ".repeat(3)],
    b: [true, false],
  };
  const rows: TestRow[] = [];
  for (let host = 0; host < 5; host++) {
    for (let step = 0; step < 700; step++) {
      const fields: Record<string, TestValue> = {
        decimal: below(10_000) / 100,
        word: ["up", "down", "a word of more than twelve"][below(3)]!,
      };
      for (const [name, edges] of Object.entries(EDGES)) {
        if (below(5) === 0) continue;
        fields[name] = below(3) === 0 ? edges[below(edges.length)]! : other(name, below);
      }
      if (host === 3 && step === 5) fields["rare"] = 42n;
      const tags: Record<string, string> = host === 0 ? {} : { "Host name": `host-${host}` };
      if (host % 2 === 1) tags["région"] = "eu-west";
      rows.push({ timeNs: 1_700_000_000_000_000_000n + BigInt(step) * 1_000_000_007n, tags, fields });
    }
  }
  // region is compared after the host, which is another for each
  return rows;
}

function other(name: string, below: (n: number) => number): TestValue {
  if (name === "f") return below(1e9) / 7;
  if (name === "b") return below(2) === 0;
  return name === "s" ? `text ${below(1e6)}` : BigInt(below(1e9));
}

const rows = makeRows();
const folder = mkdtempSync(join(tmpdir(), "tsdb-parquet-"));
const path = join(folder, "t.parquet");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A value of a row; null where it is absent. */
function cellOf(row: TestRow, { name, type }: ColumnDef): TestValue | null {
  if (type === ColumnType.time) return row.timeNs;
  return (type === ColumnType.tag ? row.tags[name] : row.fields[name]) ?? null;
}

beforeAll(async () => {
  const kernel = Kernel.create();
  const arena = new Arena(kernel);
  const shuffled = rows.toReversed();
  const halves = [shuffled.filter((_, i) => i % 2 === 0), shuffled.filter((_, i) => i % 2 === 1)];
  const inputs = halves.map((half, i) => {
    const run = writeRun(arena, COLUMNS, half, { seqMin: i + 1 });
    const { bytes, directory } = writePt(kernel, [{ databaseId: 1, tableId: 1, columns: COLUMNS, runs: [run] }]);
    return { fileId: i, format: "pt", source: { kind: "bytes", bytes }, block: directory.blocks[0]! } as const;
  });
  const task = { databaseId: 1, tableId: 1, tableName: "t", columns: COLUMNS, tombstones: [], isFirst: true, inputs };
  const pieces: Uint8Array[] = [];
  // small slices make several row groups
  await writeMergedFile(
    kernel,
    { format: "parquet", tasks: [task] },
    { write: async (piece) => void pieces.push(piece), pace: async () => {}, limits: { sliceRows: 1000 } },
  );
  await Bun.write(path, Buffer.concat(pieces));
});

describe("DuckDB", () => {
  const connect = async () => (await DuckDBInstance.create(":memory:")).connect();
  const query = async (sql: string) => (await (await connect()).runAndReadAll(sql)).getRowObjectsJS() as Record<string, unknown>[];

  test("types", async () => {
    const described = await query(`DESCRIBE SELECT * FROM '${path}'`);
    expect(described.map(({ column_name, column_type }) => `${column_name} ${column_type}`)).toEqual([
      ...["time TIMESTAMP_NS", "Host name VARCHAR", "région VARCHAR", "f DOUBLE", "i BIGINT", "u UBIGINT", "s VARCHAR", "b BOOLEAN"],
      ...["decimal DOUBLE", "word VARCHAR", "rare BIGINT"],
    ]);
  });

  test("rows, in order", async () => {
    const found = await query(`SELECT epoch_ns(time) AS time, * EXCLUDE (time) FROM '${path}'`);
    expect(found.length).toBe(rows.length);
    found.forEach((got, i) => {
      const want = Object.fromEntries(COLUMNS.map((column) => [column.name, cellOf(rows[i]!, column)]));
      expect(got).toEqual(want);
    });
  });

  test("row groups with statistics, and what a reader makes of them", async () => {
    const meta = await query(`SELECT * FROM parquet_metadata('${path}') WHERE path_in_schema = 'i' ORDER BY row_group_id`);
    expect(meta.length).toBeGreaterThan(3);
    const groups = meta.map(({ row_group_num_rows }) => Number(row_group_num_rows));
    expect(groups.reduce((sum, count) => sum + count, 0)).toBe(rows.length);
    let row = 0;
    for (const [i, count] of groups.entries()) {
      const values = rows.slice(row, row + count).map((each) => each.fields["i"] as bigint | undefined);
      const present = values.filter((value) => value !== undefined).sort((a, b) => (a < b ? -1 : 1));
      expect(meta[i]).toMatchObject({
        stats_min_value: String(present[0]),
        stats_max_value: String(present.at(-1)),
        stats_null_count: BigInt(count - present.length),
        compression: "ZSTD",
      });
      row += count;
    }
    const counts = await query(`SELECT count(*) AS n FROM '${path}' WHERE u > 9223372036854775808 AND f > 1`);
    const isWanted = ({ fields: { u, f } }: TestRow) => typeof u === "bigint" && u > 2n ** 63n && (Number.isNaN(f) || (f as number) > 1);
    expect(counts[0]!["n"]).toBe(BigInt(rows.filter(isWanted).length));
  });

  test("bloom filters of tags", async () => {
    const probe = async (name: string, value: string) =>
      (
        await query(`SELECT bloom_filter_excludes AS x FROM parquet_bloom_probe('${path}', '${name}', '${value}') ORDER BY row_group_id`)
      ).map(({ x }) => x);
    const nobody = await probe("Host name", "nobody");
    expect(nobody.length).toBeGreaterThan(3);
    expect(nobody.every((excludes) => excludes === true)).toBe(true);
    const third = await probe("Host name", "host-3");
    expect(third).toContain(true);
    expect(third).toContain(false);
  });
});

test("parquet-wasm: the Arrow schema, and values", async () => {
  await loadParquetLibrary();
  const table = tableFromIPC(readParquet(new Uint8Array(await Bun.file(path).arrayBuffer())).intoIPCStream());
  expect(table.schema.fields.map(({ name, type, nullable }) => `${name} ${type}${nullable ? "?" : ""}`)).toEqual([
    "time Timestamp<NANOSECOND>",
    "Host name Dictionary<Int32, Utf8>?",
    "région Dictionary<Int32, Utf8>?",
    ...["f Float64?", "i Int64?", "u Uint64?", "s Utf8?", "b Bool?", "decimal Float64?", "word Utf8?", "rare Int64?"],
  ]);
  expect(table.numRows).toBe(rows.length);
  const times = table.getChild("time")!.data.flatMap(({ values }) => [...(values as BigInt64Array)]);
  expect(times).toEqual(rows.map(({ timeNs }) => timeNs));
  for (const column of COLUMNS.slice(1)) {
    const got = table.getChild(column.name)!;
    expect([column.name, rows.findIndex((row, i) => !Object.is(got.get(i), cellOf(row, column)))]).toEqual([column.name, -1]);
  }
});

const PYTHON = `
import json, math, sys
import pyarrow as pa, pyarrow.parquet as pq
path, want = sys.argv[1], json.load(open(sys.argv[2]))
file = pq.ParquetFile(path, page_checksum_verification=False)
assert file.num_row_groups > 3
table = file.read()
table.validate(full=True)
print([f"{field.name} {field.type}" for field in table.schema])
for name, values in want.items():
    column = table.column(name)
    if pa.types.is_dictionary(column.type): column = column.cast(pa.string())
    if pa.types.is_timestamp(column.type): column = column.cast(pa.int64())
    got = [None if v is None else float(v).hex() if isinstance(v, float) else str(v) for v in column.to_pylist()]
    if pa.types.is_floating(column.type): values = [None if v is None else float(v).hex() for v in values]
    assert got == values, (name, [pair for pair in zip(got, values) if pair[0] != pair[1]][:3])
for group in range(file.num_row_groups):
    for i in range(file.metadata.num_columns):
        chunk = file.metadata.row_group(group).column(i)
        assert chunk.statistics.null_count is not None, chunk
        assert chunk.compression == "ZSTD"
print(table.num_rows)
`;

const python = pythonWith("pyarrow");
if (python !== null) {
  test("pyarrow: the Arrow schema, and values", async () => {
    const text = (value: TestValue | null) => {
      if (value === null || typeof value === "string") return value;
      if (typeof value === "boolean") return value ? "True" : "False";
      if (typeof value === "bigint") return String(value);
      return Object.is(value, -0) ? "-0.0" : String(value).replace("Infinity", "inf");
    };
    const want = Object.fromEntries(COLUMNS.map((column) => [column.name, rows.map((row) => text(cellOf(row, column)))]));
    const expected = join(folder, "want.json");
    await Bun.write(expected, JSON.stringify(want));
    const run = Bun.spawnSync([python, "-c", PYTHON, path, expected]);
    expect(run.stderr.toString()).toBe("");
    const types = [
      "time timestamp[ns]",
      "Host name dictionary<values=string, indices=int32, ordered=0>",
      "région dictionary<values=string, indices=int32, ordered=0>",
      ...["f double", "i int64", "u uint64", "s string", "b bool", "decimal double", "word string", "rare int64"],
    ];
    expect(run.stdout.toString()).toBe(`[${types.map((type) => `'${type}'`).join(", ")}]\n${rows.length}\n`);
  });
} else {
  console.log("stored Parquet: python3 has no pyarrow here; its check is left out");
}
