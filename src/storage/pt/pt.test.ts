// Writing and reading .pt files against plain rows: order, merging, days, pages, pruning, damage, and a file of the first release.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { prng } from "../../../test/support/prng.ts";
import { Arena, readRun, type TestRow, type TestValue, writeRun } from "../../../test/support/rows/rows.ts";
import { parseDirectory } from "../../../test/support/storage/pt-directory.ts";
import { crc32 } from "../../disk/crc32.ts";
import { Blocks } from "../../kernel/memory/blocks.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../../model/rows/column.ts";
import type { Run } from "../../model/rows/run.ts";
import type { ByteSource } from "../block/byte-source.ts";
import type { DataBlock } from "../block/data-block.ts";
import { columnIdsOf, dayStartNs, encodeDirectory, type StoredBlock } from "./format.ts";
import { PtReader } from "./reader.ts";
import type { PtExtent, StoredColumn } from "./stored-column.ts";
import { encodePt, type PtFile } from "./writer.ts";

const kernel = Kernel.create();

const DAY_NS = 86_400_000_000_000n;
const COLUMNS: readonly ColumnDef[] = [
  TIME_COLUMN,
  { id: 7, name: "host", type: ColumnType.tag },
  { id: 2, name: "region", type: ColumnType.tag },
  { id: 3, name: "load", type: ColumnType.float },
  { id: 4, name: "count", type: ColumnType.integer },
  { id: 5, name: "total", type: ColumnType.unsigned },
  { id: 6, name: "state", type: ColumnType.string },
  { id: 8, name: "up", type: ColumnType.boolean },
];
const FIELD_IDS = COLUMNS.filter(({ type }) => type !== ColumnType.time && type !== ColumnType.tag).map(({ id }) => id);

function bytesOf({ bytes }: PtFile): Uint8Array {
  expect(bytes.buffer.byteLength).toBe(bytes.length);
  return bytes;
}

/** A file in memory that insists on sensible reads. */
function sourceOf(file: Uint8Array): ByteSource & { readBytes: number } {
  return {
    name: "test.pt",
    size: file.length,
    readBytes: 0,
    read(offset, bytes) {
      if (offset < 0 || bytes < 0 || offset + bytes > file.length) throw new Error(`BUG: read of ${bytes} bytes at ${offset}`);
      this.readBytes += bytes;
      return file.slice(offset, offset + bytes);
    },
    close: () => {},
  };
}

const table = (runs: readonly Run[], tableId = 1) => ({ databaseId: 9, tableId, tableName: "cpu", columns: COLUMNS, runs });

function writeRows(runs: readonly (readonly TestRow[])[], options: Parameters<typeof writeRun>[3] = {}): PtFile {
  const arena = new Arena(kernel);
  const written = runs.map((rows, i) => writeRun(arena, COLUMNS, rows, { seqMin: i + 1, ...options }));
  const file = encodePt(kernel, [table(written)]);
  arena.free();
  return file;
}

/** Rows of each block. */
function readRows(file: Uint8Array): TestRow[][] {
  const reader = new PtReader(kernel, sourceOf(file));
  try {
    return Array.from({ length: reader.blockCount }, (_, index) =>
      decoded(reader.block(index), (runs) => runs.flatMap((run) => readRun(kernel, COLUMNS, run))),
    );
  } finally {
    reader.close();
  }
}

/** Calls `read` with a run of each page. */
function decoded<T>(block: DataBlock, read: (runs: Run[]) => T): T {
  const memory = new Blocks(kernel);
  try {
    const { dictionary, offsetsPtr } = block.readSeries(memory);
    for (const { codesPtr, inOrder } of dictionary.tags) {
      const codes = [...kernel.u32.subarray(codesPtr / 4, codesPtr / 4 + dictionary.seriesCount)];
      expect(inOrder).toBe(codes.every((code, series) => series === 0 || code >= codes[series - 1]!));
    }
    const runs = block.pages.map(({ rowCount, firstRow, minTimeNs, maxTimeNs }, page) => {
      const seriesPtr = memory.alloc(rowCount * 4);
      const firstSeries = kernel.call.seriesOfRow(offsetsPtr, block.seriesCount, firstRow);
      kernel.call.fillSeries(offsetsPtr, firstSeries, firstRow, rowCount, seriesPtr);
      const timePtr = block.readColumn(page, TIME_COLUMN.id, memory)!.dataPtr;
      const columns = FIELD_IDS.flatMap((id) => block.readColumn(page, id, memory) ?? []);
      const run = { rowCount, seriesPtr, timePtr, columns, dictionary, sorted: true, unique: true, minTimeNs, maxTimeNs };
      return { ...run, seqMin: 0, seqMax: 0 };
    });
    return read(runs);
  } finally {
    memory.release();
  }
}

// The model: what a block holds, in plain words.

const dayOf = (timeNs: bigint) => Number((timeNs - (((timeNs % DAY_NS) + DAY_NS) % DAY_NS)) / DAY_NS);

function compareTags(a: TestRow["tags"], b: TestRow["tags"]): number {
  for (const name of ["region", "host"]) {
    const [left, right] = [a[name], b[name]];
    if (left === right) continue;
    if (left === undefined || right === undefined) return left === undefined ? -1 : 1;
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  }
  return 0;
}

function modelBlocks(runs: readonly (readonly TestRow[])[]): TestRow[][] {
  const merged = new Map<string, { timeNs: bigint; tags: TestRow["tags"]; fields: Record<string, TestValue> }>();
  for (const { timeNs, tags, fields } of runs.flat()) {
    const key = JSON.stringify([String(timeNs), tags["region"] ?? null, tags["host"] ?? null]);
    const row = merged.get(key) ?? { timeNs, tags, fields: {} };
    for (const [name, value] of Object.entries(fields)) if (value !== null) row.fields[name] = value;
    merged.set(key, row);
  }
  const rows = [...merged.values()].sort(
    (a, b) => dayOf(a.timeNs) - dayOf(b.timeNs) || compareTags(a.tags, b.tags) || (a.timeNs < b.timeNs ? -1 : 1),
  );
  const days = [...new Set(rows.map(({ timeNs }) => dayOf(timeNs)))];
  return days.map((day) => rows.filter(({ timeNs }) => dayOf(timeNs) === day));
}

/** Rows over a few hosts, with duplicates and absent values. */
function randomRows(below: (n: number) => number, count: number, timeOf: () => bigint): TestRow[] {
  return Array.from({ length: count }, () => {
    const tags: Record<string, string> = {};
    if (below(10) > 0)
      tags["host"] = ["a", "ab", "host_10", "host_2", "a host with a long name 1", "a host with a long name 2", "é"][below(7)]!;
    if (below(4) > 0) tags["region"] = ["eu", "us"][below(2)]!;
    const fields: Record<string, TestValue | null> = {};
    if (below(3) > 0) fields["load"] = below(1000) / 10;
    if (below(3) > 0) fields["count"] = BigInt(below(100)) - 50n;
    if (below(5) > 0) fields["total"] = 2n ** 64n - 1n - BigInt(below(9));
    if (below(2) > 0) fields["state"] = "ok ".repeat(below(9));
    if (below(2) > 0) fields["up"] = below(2) === 0;
    return { timeNs: timeOf(), tags, fields };
  });
}

const DAY_0 = 16_801n * DAY_NS; // 2016-01-01

describe("rows come back in the file's order, merged", () => {
  const SEED = Number(process.env["SEED"] ?? 1);
  const TIMES: [name: string, time: (below: (n: number) => number) => bigint][] = [
    ["one day", (below) => DAY_0 + BigInt(below(200)) * 1_000_000_000n],
    ["days around 1970", (below) => (BigInt(below(5)) - 2n) * DAY_NS + BigInt(below(3)) - 1n],
    ["ends of i64", (below) => (below(2) === 0 ? -(2n ** 63n) : 2n ** 63n - 4n) + BigInt(below(3))],
    ["scattered years", (below) => BigInt(below(3000) - 1500) * DAY_NS * 40n],
  ];
  test.each(TIMES)(`%s, seed ${SEED}`, (_, time) => {
    const below = prng(SEED);
    for (let round = 0; round < 6; round++) {
      const runs = Array.from({ length: 1 + below(4) }, () => randomRows(below, 1 + below(120), () => time(below)));
      const file = bytesOf(writeRows(runs));
      expect(readRows(file)).toEqual(modelBlocks(runs));
    }
  });

  test("later runs win, whatever their order in the list", () => {
    const arena = new Arena(kernel);
    const row = (fields: TestRow["fields"]): TestRow => ({ timeNs: DAY_0, tags: { host: "a" }, fields });
    const early = writeRun(arena, COLUMNS, [row({ load: 1, count: 1n }), row({ load: 2 })], { seqMin: 1 });
    const late = writeRun(arena, COLUMNS, [row({ load: null, count: 3n })], { seqMin: 2 });
    const file = bytesOf(encodePt(kernel, [table([late, early])]));
    expect(readRows(file)).toEqual([[row({ load: 2, count: 3n })]]);
    arena.free();
  });
});

test("rows of no table make a file without blocks", () => {
  const file = bytesOf(writeRows([[], []]));
  expect(parseDirectory(file).blocks).toEqual([]);
  expect(readRows(bytesOf(encodePt(kernel, [])))).toEqual([]);
});

test("rows without tags are written and read", () => {
  const rows = [3n, 1n, 2n].map((timeNs): TestRow => ({ timeNs, tags: {}, fields: { load: Number(timeNs) } }));
  expect(readRows(bytesOf(writeRows([rows])))).toEqual(modelBlocks([rows]));
});

test("the directory tells what is in a block", () => {
  const arena = new Arena(kernel);
  const row = (day: bigint, fields: TestRow["fields"], tags: TestRow["tags"] = { host: "a" }): TestRow => ({
    timeNs: day * DAY_NS + 5n,
    tags,
    fields,
  });
  const runs = [
    writeRun(arena, COLUMNS, [row(1n, { load: 1 })], { seqMin: 3, seqMax: 4, unique: true }),
    writeRun(arena, COLUMNS, [row(2n, { load: 1 }), row(1n, { count: 2n }, { region: "eu" })], { seqMin: 5, seqMax: 5, unique: true }),
    writeRun(arena, COLUMNS, [row(2n, { up: true })], { seqMin: 7, seqMax: 9, unique: false }),
  ];
  const file = bytesOf(encodePt(kernel, [table(runs), table([runs[0]!], 2)]));
  const { blocks } = parseDirectory(file);
  const told = blocks.map((block) => {
    const { databaseId, tableId, day, rowCount, seriesCount, minTimeNs, maxTimeNs, seqMin, seqMax, unique, tableName } = block;
    const ids = columnIdsOf(block);
    return { databaseId, tableId, day, rowCount, seriesCount, minTimeNs, maxTimeNs, seqMin, seqMax, unique, tableName, ids };
  });
  const common = { databaseId: 9, tableName: "cpu" };
  const at = (day: bigint) => ({ day: Number(day), minTimeNs: day * DAY_NS + 5n, maxTimeNs: day * DAY_NS + 5n });
  expect(told).toEqual([
    { ...common, tableId: 1, ...at(1n), rowCount: 2, seriesCount: 2, seqMin: 3, seqMax: 5, unique: true, ids: [0, 2, 3, 4, 7] },
    { ...common, tableId: 1, ...at(2n), rowCount: 1, seriesCount: 1, seqMin: 5, seqMax: 9, unique: false, ids: [0, 3, 7, 8] },
    { ...common, tableId: 2, ...at(1n), rowCount: 1, seriesCount: 1, seqMin: 3, seqMax: 4, unique: true, ids: [0, 3, 7] },
  ]);
  expect(dayStartNs(blocks[1]!)).toBe(2n * DAY_NS);
  arena.free();
});

describe("pages", () => {
  // 40 series of 1,000 rows: three pages, each over several series
  const hosts = 40;
  const perHost = 1000;
  const rows = Array.from({ length: hosts * perHost }, (_, i): TestRow => {
    const host = i % hosts;
    const step = Math.floor(i / hosts);
    const fields: Record<string, TestValue> = { count: BigInt(i % 97) };
    if (i % 3 > 0) fields["state"] = `state of host ${host}`;
    return { timeNs: DAY_0 + BigInt(step) * 10_000_000_000n, tags: { host: `host_${String(host).padStart(2, "0")}` }, fields };
  });
  const file = bytesOf(writeRows([rows], { unique: true }));
  const [all] = modelBlocks([rows]);

  test("hold at most pageRowsMax rows and tell what is in them", () => {
    const [block] = parseDirectory(file).blocks;
    expect(block!.pages.map(({ rowCount }) => rowCount)).toEqual([LIMITS.pageRowsMax, LIMITS.pageRowsMax, 40_000 - 2 * LIMITS.pageRowsMax]);
    expect(block!.pages.map(({ firstSeries, lastSeries }) => [firstSeries, lastSeries])).toEqual([
      [0, 16],
      [16, 32],
      [32, 39],
    ]);
  });

  test("all pages of a block are read", () => {
    expect(readRows(file)).toEqual([all!]);
  });

  test("only what is asked for is read", () => {
    const source = sourceOf(file);
    const reader = new PtReader(kernel, source);
    const { columns } = reader.stored(0);
    const block = reader.block(0);
    const memory = new Blocks(kernel);
    const before = source.readBytes;
    const count = columns.find(({ columnId }) => columnId === 4)!;
    expect(block.readColumn(2, 4, memory)!.columnId).toBe(4);
    expect(block.readColumn(2, 3, memory)).toBe(null);
    expect(source.readBytes - before).toBe(count.chunk(2).bytes);
    expect(reader.bytesRead).toBe(source.readBytes);
    reader.close();
    memory.release();
  });

  test("of long strings hold fewer rows", () => {
    const text = "x".repeat(LIMITS.stringFieldBytesMax);
    const long = Array.from(
      { length: 80 },
      (_, i): TestRow => ({ timeNs: BigInt(i), tags: {}, fields: { state: `${i}${text}`.slice(0, 1 << 20) } }),
    );
    const written = bytesOf(writeRows([long]));
    expect(parseDirectory(written).blocks[0]!.pages.map(({ rowCount }) => rowCount)).toEqual([64, 16]);
    const [back] = readRows(written);
    expect(back!.every((row, i) => row.fields["state"] === long[i]!.fields["state"])).toBe(true);
  });
});

test("writer and reader free their kernel memory", () => {
  const below = prng(5);
  const runs = [randomRows(below, 500, () => BigInt(below(4)) * DAY_NS), randomRows(below, 500, () => BigInt(below(4)) * DAY_NS)];
  const before = kernel.heap.usedBytes;
  const file = bytesOf(writeRows(runs));
  expect(kernel.heap.usedBytes).toBe(before);
  readRows(file);
  expect(kernel.heap.usedBytes).toBe(before);
});

describe("damage", () => {
  const below = prng(3);
  const rows = [randomRows(below, 150, () => DAY_0 + BigInt(below(1000)) * 1_000_000n)];
  const good = bytesOf(writeRows(rows));
  const expected = modelBlocks(rows);

  const outcome = (file: Uint8Array) => {
    const before = kernel.heap.usedBytes;
    try {
      return readRows(file);
    } catch (error) {
      if (!(error instanceof TsdbError) || error.kind !== "corrupt_file") throw error;
      expect(error.details["file"]).toBe("test.pt");
      expect(typeof error.details["offset"]).toBe("number");
      expect(kernel.heap.usedBytes).toBe(before);
      return "corrupt_file";
    }
  };

  test("a file cut off at any length is corrupt_file", () => {
    for (let length = 0; length < good.length; length += length < 100 || length > good.length - 400 ? 1 : 37) {
      expect(outcome(good.subarray(0, length))).toBe("corrupt_file");
    }
  });

  test("one bit anywhere is noticed, or was in unused bytes", () => {
    const unused = new Set([12, 13, 14, 15, ...[12, 11, 10, 9].map((back) => good.length - back)]);
    for (let at = 0; at < good.length; at += at < 200 ? 1 : 5) {
      const damaged = good.slice();
      damaged[at]! ^= 1 << (at % 8);
      expect([at, outcome(damaged)]).toEqual([at, unused.has(at) ? expected : "corrupt_file"]);
    }
  });

  test("damage under matching checksums does not break the reader", () => {
    const directory = parseDirectory(good);
    for (let round = 0; round < 600; round++) {
      const damaged = good.slice();
      const [block] = directory.blocks;
      const extents = [block!.dictionary, ...block!.columns.flatMap((column) => chunksOf(block!, column))];
      const hit = extents[below(extents.length)]!;
      for (let hits = 1 + below(3); hits > 0; hits--)
        damaged[hit.offset + below(Math.min(hit.bytes, below(2) === 0 ? 80 : 1e9))] = below(256);
      const result = outcome(withDirectory(damaged, directory));
      expect(result === "corrupt_file" || result[0]!.length === block!.rowCount).toBe(true);
    }
  });

  test("a directory whose checksum fits", () => {
    const view = new DataView(good.buffer);
    const [start, length] = [Number(view.getBigUint64(good.length - 32, true)), view.getUint32(good.length - 24, true)];
    for (let round = 0; round < 600; round++) {
      const damaged = good.slice();
      for (let hits = 1 + below(2); hits > 0; hits--) damaged[start + below(length)] = below(3) === 0 ? 255 : below(256);
      new DataView(damaged.buffer).setUint32(good.length - 20, crc32(damaged.subarray(start, start + length)), true);
      // ids may now be of no column: decoding alone is looked at
      expect(["decoded", "corrupt_file"]).toContain(decodeAll(damaged));
    }
  });

  function decodeAll(file: Uint8Array): string {
    const before = kernel.heap.usedBytes;
    let reader: PtReader | undefined;
    try {
      reader = new PtReader(kernel, sourceOf(file));
      for (let block = 0; block < reader.blockCount; block++) decoded(reader.block(block), () => {});
      return "decoded";
    } catch (error) {
      if (error instanceof TsdbError) return error.kind;
      throw error;
    } finally {
      reader?.close();
      expect(kernel.heap.usedBytes).toBe(before);
    }
  }

  const chunksOf = ({ pages }: StoredBlock, column: StoredColumn) => pages.map((_, page) => column.chunk(page));

  /** The file with checksums as its bytes are now. */
  function withDirectory(file: Uint8Array, { blocks }: { blocks: readonly StoredBlock[] }): Uint8Array {
    const fixed = ({ offset, bytes }: PtExtent) => ({ offset, bytes, crc: crc32(file.subarray(offset, offset + bytes)) });
    const dataEnd = Number(new DataView(file.buffer).getBigUint64(file.length - 32, true));
    const directory = encodeDirectory(
      {
        blocks: blocks.map((block) => ({
          ...block,
          dictionary: fixed(block.dictionary),
          columns: block.columns.map((column) => ({
            columnId: column.columnId,
            type: column.type,
            chunks: chunksOf(block, column).map(fixed),
          })),
        })),
      },
      dataEnd,
    );
    return new Uint8Array(Buffer.concat([file.subarray(0, dataEnd), directory]));
  }
});

// Files of released formats are read for ever. UPDATE=1 writes a missing one; an existing one is never rewritten.
describe("format 1", () => {
  const folder = join(import.meta.dir, "../../../test/golden/format-v1");
  const path = join(folder, "cpu.pt");
  const json = join(folder, "cpu.pt.json");
  const plain = (value: unknown): unknown =>
    typeof value === "bigint"
      ? `${value}n`
      : Object.is(value, -0)
        ? "-0"
        : typeof value === "number" && !Number.isFinite(value)
          ? `${value}`
          : value;

  if (process.env["UPDATE"] === "1" && !existsSync(path)) {
    const below = prng(2016);
    const runs = [0, 1].map(() => randomRows(below, 200, () => DAY_0 + BigInt(below(300)) * 1_000_000_000n - BigInt(below(2)) * DAY_NS));
    runs[1]![0] = { ...runs[1]![0]!, fields: { load: -0, count: -(2n ** 63n), state: "漢字 and more than twelve bytes" } };
    runs[1]![1] = { ...runs[1]![1]!, fields: { load: Number.NEGATIVE_INFINITY } };
    writeFileSync(path, bytesOf(writeRows(runs)));
    // a row a line
    const lines = modelBlocks(runs).map(
      (rows) => `[\n${rows.map((row) => JSON.stringify(row, (_, value) => plain(value))).join(",\n")}\n]`,
    );
    writeFileSync(json, `[${lines.join(",")}]\n`);
  }

  test("cpu.pt of format 1 is still read", () => {
    const expected = JSON.parse(readFileSync(json, "utf8"));
    const got = readRows(new Uint8Array(readFileSync(path)));
    expect(JSON.parse(JSON.stringify(got, (_, value) => plain(value)))).toEqual(expected);
  });
});

test("a row a day for fifty years is written in the memory for one block at a time", () => {
  const rows = Array.from({ length: 18_262 }, (_, day): TestRow => ({ timeNs: BigInt(day) * DAY_NS, tags: {}, fields: { load: day } }));
  const file = writeRows([rows]);
  expect(file.directory.blocks.map(({ day, rowCount }) => [day, rowCount])).toEqual(rows.map((_, day) => [day, 1]));
  expect(readRows(bytesOf(file)).flat()).toEqual(rows);
});

test("string columns that are merged twice, for lack of room, make the same file", () => {
  const columns: ColumnDef[] = [TIME_COLUMN, ...[1, 2, 3].map((id) => ({ id, name: `s${id}`, type: ColumnType.string }))];
  const rows = Array.from({ length: 1500 }, (_, i): TestRow => {
    const fields = Object.fromEntries([1, 2, 3].flatMap((id) => (i % 2 === 0 ? [[`s${id}`, `${i} `.repeat(id * 6000)]] : [])));
    return { timeNs: BigInt(i % 3) * DAY_NS + BigInt(i), tags: {}, fields };
  });
  const arena = new Arena(kernel);
  const runs = [rows.slice(0, 900), rows.slice(900)].map((part, i) => writeRun(arena, columns, part, { seqMin: i + 1 }));
  // none of them is kept, one, all
  const files = [0, 30_000, 1 << 30].map((stringsKeptBytes) => {
    return encodePt(kernel, [{ databaseId: 9, tableId: 1, columns, runs }], { stringsKeptBytes });
  });
  arena.free();
  expect(files[0]!.directory.blocks.map(({ pages }) => pages.length > 1)).toEqual([true, true, true]);
  for (const file of files) expect(Buffer.compare(bytesOf(file), bytesOf(files[2]!))).toBe(0);
});
