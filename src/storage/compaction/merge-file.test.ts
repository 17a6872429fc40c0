// Merging of blocks against a naive model: any number of files, slices of any size, duplicates, deletions, long text, damage.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { prng } from "../../../test/support/prng.ts";
import { ALL_TYPES, randomRows } from "../../../test/support/rows/random-rows.ts";
import { Arena, readRun, type TestRow, type TestValue, writeRun } from "../../../test/support/rows/rows.ts";
import { Blocks } from "../../kernel/memory/blocks.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import { ColumnType } from "../../model/rows/column.ts";
import type { Tombstone } from "../../model/rows/tombstone.ts";
import { openByteSource } from "../block/byte-source.ts";
import type { DataBlock } from "../block/data-block.ts";
import { writePt } from "../pt/file.ts";
import { PtReader } from "../pt/reader.ts";
import type { MergeLimits } from "./block-merge.ts";
import { type BlockInput, type FileRequest, type MergedFile, type MergeTask, writeMergedFile } from "./merge-file.ts";
import { rewriteParquet } from "./old-parquet.ts";

const kernel = Kernel.create();
const TAGS = ALL_TYPES.filter(({ type }) => type === ColumnType.tag).sort((a, b) => a.id - b.id);

/** A flushed file with the rows of one run; sequences are 10 n + 1 to 10 n + 10. */
function fileOf(rows: readonly TestRow[], n: number, columns = ALL_TYPES): BlockInput {
  const arena = new Arena(kernel);
  const run = writeRun(arena, columns, rows, { seqMin: n * 10 + 1, seqMax: n * 10 + 10 });
  const { bytes, directory } = writePt(kernel, [{ databaseId: 1, tableId: 7, tableName: "t", columns, runs: [run] }]);
  arena.free();
  expect(directory.blocks).toHaveLength(1);
  const block = { ...directory.blocks[0]!, flushedMinMs: 1000 + n, flushedMaxMs: 2000 + n };
  return { fileId: n + 1, source: { kind: "bytes", bytes }, block };
}

const taskOf = (inputs: readonly BlockInput[], change: Partial<MergeTask> = {}): MergeTask => ({
  databaseId: 1,
  tableId: 7,
  tableName: "t",
  tombstones: [],
  isFirst: true,
  isClosed: false,
  inputs,
  ...change,
});

interface Written extends MergedFile {
  readonly file: Uint8Array<ArrayBuffer>;
}

async function write(
  tasks: FileRequest["tasks"],
  limits: Partial<MergeLimits> = {},
  pace: () => Promise<void> = () => Promise.resolve(),
): Promise<Written> {
  const pieces: Uint8Array[] = [];
  const before = kernel.heap.usedBytes;
  const merged = await writeMergedFile(
    kernel,
    { tasks },
    {
      write: (piece) => {
        pieces.push(piece);
        return Promise.resolve();
      },
      pace,
      limits,
    },
  );
  expect(kernel.heap.usedBytes).toBe(before);
  const file = new Uint8Array(Buffer.concat(pieces));
  expect(merged.bytes).toBe(file.length);
  return { ...merged, file };
}

/** The rows of a block as a scan decodes them, page by page. */
function readBlock(block: DataBlock): TestRow[] {
  const memory = new Blocks(kernel);
  const { dictionary, offsetsPtr } = block.readSeries(memory);
  const rows = block.pages.flatMap(({ rowCount, firstRow, firstSeries, lastSeries, minTimeNs, maxTimeNs }, page) => {
    const seriesPtr = memory.alloc(rowCount * 4);
    const first = kernel.call.seriesOfRow(offsetsPtr, dictionary.seriesCount, firstRow);
    kernel.call.fillSeries(offsetsPtr, first, firstRow, rowCount, seriesPtr);
    const columns = block.columns.map(({ columnId }) => block.readColumn(page, columnId, memory)!);
    const timePtr = columns[0]!.dataPtr;
    const span = { minTimeNs, maxTimeNs, seqMin: 1, seqMax: 1 };
    const run = { rowCount, seriesPtr, timePtr, columns: columns.slice(1), dictionary, sorted: true, unique: true, ...span };
    const found = readRun(kernel, ALL_TYPES, run);
    const times = found.map(({ timeNs }) => timeNs).sort((a, b) => (a < b ? -1 : 1));
    expect([times[0], times.at(-1)]).toEqual([minTimeNs, maxTimeNs]);
    const series = [...kernel.u32.subarray(seriesPtr / 4, seriesPtr / 4 + rowCount)];
    expect([series[0], series.at(-1)]).toEqual([firstSeries, lastSeries]);
    return found;
  });
  memory.release();
  return rows;
}

function readAll({ file, blocks }: Written): TestRow[][] {
  // of a file without blocks nothing is kept
  if (blocks.length === 0) return [];
  const open = new PtReader(kernel, openByteSource({ kind: "bytes", bytes: file }));
  expect(open.blockCount).toBe(blocks.length);
  const rows = blocks.map(({ index, rowCount, seriesCount }) => {
    const block = open.block(index);
    expect([block.rowCount, block.seriesCount]).toEqual([rowCount, seriesCount]);
    return readBlock(block);
  });
  open.close();
  return rows;
}

// The model: what the blocks' rows are, in plain words.

function compareTags(a: TestRow["tags"], b: TestRow["tags"]): number {
  for (const { name } of TAGS) {
    const [left, right] = [a[name], b[name]];
    if (left === right) continue;
    if (left === undefined || right === undefined) return left === undefined ? -1 : 1;
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  }
  return 0;
}

function isHidden({ timeNs, tags }: TestRow, seqMax: number, tombstones: readonly Tombstone[]): boolean {
  return tombstones.some(
    ({ sequence, range, tags: predicates }) =>
      seqMax <= sequence &&
      timeNs >= range.minNs &&
      timeNs <= range.maxNs &&
      predicates.every(({ columnId, values }) => values.includes(tags[TAGS.find(({ id }) => id === columnId)!.name] ?? null)),
  );
}

function modelRows(runs: readonly (readonly TestRow[])[], tombstones: readonly Tombstone[] = []): TestRow[] {
  const merged = new Map<string, { timeNs: bigint; tags: TestRow["tags"]; fields: Record<string, TestValue> }>();
  runs.forEach((rows, n) => {
    for (const row of rows) {
      if (isHidden(row, n * 10 + 10, tombstones)) continue;
      const key = JSON.stringify([String(row.timeNs), TAGS.map(({ name }) => row.tags[name] ?? null)]);
      const into = merged.get(key) ?? { timeNs: row.timeNs, tags: row.tags, fields: {} };
      for (const [name, value] of Object.entries(row.fields)) if (value !== null) into.fields[name] = value;
      merged.set(key, into);
    }
  });
  return [...merged.values()].sort((a, b) => compareTags(a.tags, b.tags) || (a.timeNs < b.timeNs ? -1 : 1));
}

const SEED = Number(process.env["SEED"] ?? 1);

describe("merging", () => {
  const SHAPES: [name: string, rows: Parameters<typeof randomRows>[1], files: number, limits: Partial<MergeLimits>][] = [
    ["a single slice", { count: 200, times: 50, hosts: 5 }, 4, {}],
    ["slices of some rows", { count: 400, times: 300, hosts: 9 }, 5, { sliceRows: 500 }],
    ["slices smaller than a series", { count: 500, times: 5000, hosts: 1 }, 3, { sliceRows: 200 }],
    ["many duplicates in small slices", { count: 600, times: 40, hosts: 1 }, 4, { sliceRows: 150 }],
    ["a single input file", { count: 700, times: 1000, hosts: 3 }, 1, { sliceRows: 300 }],
    ["many files", { count: 60, times: 1000, hosts: 40 }, 20, { sliceRows: 300 }],
    ["no room to keep text", { count: 3000, times: 100_000, hosts: 9 }, 2, { sliceRows: 4096, textBytes: 5000 }],
    ["little room for text", { count: 3000, times: 100_000, hosts: 9 }, 2, { sliceRows: 4096, textBytes: 200_000 }],
  ];
  test.each(SHAPES)(`%s (seed ${SEED})`, async (_, shape, files, limits) => {
    const below = prng(SEED);
    for (let round = 0; round < 4; round++) {
      const runs = Array.from({ length: files }, () => randomRows(below, { ...shape, count: 1 + below(shape.count) }));
      const inputs = runs.map((rows, n) => fileOf(rows, n));
      const merged = await write([taskOf(inputs)], limits);
      expect(readAll(merged)).toEqual([modelRows(runs)]);
    }
  });

  test(`deletions are applied to what they hide, and to nothing later (seed ${SEED})`, async () => {
    const below = prng(SEED);
    for (let round = 0; round < 20; round++) {
      const runs = Array.from({ length: 4 }, () => randomRows(below, { count: 1 + below(300), times: 200, hosts: 4 }));
      const tombstones = Array.from({ length: 1 + below(3) }, (__, i): Tombstone => {
        const minNs = BigInt(below(150));
        const tags = below(2) === 0 ? [] : [{ columnId: 1, values: [`host-${below(4)}`, below(3) === 0 ? null : "nobody"] }];
        const range = below(3) === 0 ? ALL_TIME : { minNs, maxNs: minNs + BigInt(below(100)) };
        return { id: i + 3, tableId: 7, sequence: below(5) * 10, range, tags };
      });
      const inputs = runs.map((rows, n) => fileOf(rows, n));
      const merged = await write([taskOf(inputs, { tombstones })], { sliceRows: 100 + below(400) });
      const expected = modelRows(runs, tombstones);
      expect(readAll(merged)).toEqual(expected.length === 0 ? [] : [expected]);
      for (const block of merged.blocks) expect(block.appliedTombstone).toBe(tombstones.length + 2);
    }
  });

  test("more than a page, and more than a group", async () => {
    const hosts = 7;
    const rowsOf = (from: number, count: number, step: number): TestRow[] =>
      Array.from({ length: count }, (_, i) => ({
        timeNs: BigInt(from + Math.floor(i / hosts) * step),
        tags: { host: `host-${i % hosts}` },
        fields: { i: BigInt(i), ...(i % 3 > 0 ? { f: i / 10 } : {}), ...(i % 50 === 0 ? { s: `text ${i} that is not short` } : {}) },
      }));
    const runs = [rowsOf(0, 13_000, 2), rowsOf(1, 9000, 2), rowsOf(0, 3000, 6)];
    const inputs = runs.map((rows, n) => fileOf(rows, n));
    for (const limits of [{}, { sliceRows: 22_000 }]) {
      const merged = await write([taskOf(inputs)], limits);
      expect(readAll(merged)).toEqual([modelRows(runs)]);
      const open = new PtReader(kernel, openByteSource({ kind: "bytes", bytes: merged.file }));
      const sizes = open.block(0).pages.map(({ rowCount }) => rowCount);
      expect(Math.max(...sizes)).toBe(LIMITS.pageRowsMax);
      for (const size of sizes.slice(0, -1)) expect(size % 64).toBe(0);
      open.close();
    }
  });

  test("points that 20 files have, with more text than a slice of 64 of them may have", async () => {
    const runs = Array.from({ length: 20 }, (_, n) =>
      Array.from(
        { length: 200 },
        (_, i): TestRow => ({ timeNs: 5n, tags: { host: `h${1000 + i}` }, fields: { s: `${n} ${i} `.padEnd(1000, "x") } }),
      ),
    );
    let paces = 0;
    const pace = () => (++paces < 1000 ? Promise.resolve() : Promise.reject(new Error("it does not end")));
    const merged = await write([taskOf(runs.map((rows, n) => fileOf(rows, n)))], { textBytes: 1 << 20 }, pace);
    expect(readAll(merged)).toEqual([modelRows(runs)]);
  });

  test("pages of long text are smaller", async () => {
    const rows = Array.from({ length: 200 }, (_, i): TestRow => ({ timeNs: BigInt(i), tags: {}, fields: { s: `${i} `.repeat(60_000) } }));
    const runs = [rows.filter((_, i) => i % 2 === 0), rows.filter((_, i) => i % 2 === 1)];
    const merged = await write([taskOf(runs.map((part, n) => fileOf(part, n)))]);
    const [found] = readAll(merged);
    expect(found!.length).toBe(200);
    expect(found!.every((row, i) => row.fields["s"] === rows[i]!.fields["s"])).toBe(true);
    const open = new PtReader(kernel, openByteSource({ kind: "bytes", bytes: merged.file }));
    expect(open.block(0).pages.length).toBeGreaterThan(2);
    open.close();
  });

  test("a merged file describes its blocks for the manifest", async () => {
    const row = (timeNs: bigint, host: string): TestRow => ({ timeNs, tags: { host }, fields: { i: 1n } });
    const day = 86_400_000_000_000n;
    const first = fileOf([row(-5n, "a"), row(-9n, "b")], 2);
    const second = fileOf([row(-day, "a")], 3);
    const { blocks } = await write([taskOf([first, second])]);
    expect(blocks).toEqual([
      {
        index: 0,
        databaseId: 1,
        tableId: 7,
        dayStartNs: -day,
        rowCount: 3,
        seriesCount: 2,
        minTimeNs: -day,
        maxTimeNs: -5n,
        seqMin: 21,
        seqMax: 40,
        unique: true,
        columnIds: [0, 1, 3],
        flushedMinMs: 1002,
        flushedMaxMs: 2003,
      },
    ]);
    expect((await write([taskOf([first], { isClosed: true })])).blocks[0]!.closed).toBe(true);
    const later = await write([taskOf([first, second], { isFirst: false })]);
    expect(later.blocks[0]!.unique).toBe(false);
    const uniques = [first, second].map((input) => ({ ...input, block: { ...input.block, unique: true } }));
    expect((await write([taskOf(uniques, { isFirst: false })])).blocks[0]!.unique).toBe(true);
  });

  test("a merge of merges is the merge of all", async () => {
    const below = prng(9);
    const runs = Array.from({ length: 6 }, () => randomRows(below, { count: 300, times: 100, hosts: 6 }));
    const inputs = runs.map((rows, n) => fileOf(rows, n));
    const halves: Written[] = [];
    for (const part of [inputs.slice(0, 3), inputs.slice(3)]) halves.push(await write([taskOf(part)], { sliceRows: 200 }));
    const again = halves.map(
      ({ file, blocks }, i): BlockInput => ({ fileId: 100 + i, source: { kind: "bytes", bytes: file }, block: blocks[0]! }),
    );
    expect(readAll(await write([taskOf(again)], { sliceRows: 333 }))).toEqual([modelRows(runs)]);
  });

  test("blocks whose series are out of order are refused", async () => {
    const input = fileOf([{ timeNs: 1n, tags: { host: "a" }, fields: { i: 1n } }], 1);
    const damaged = new Uint8Array((input.source as { bytes: Uint8Array }).bytes);
    damaged[30]! ^= 0x55;
    const before = kernel.heap.usedBytes;
    const outcome = await write([taskOf([{ ...input, source: { kind: "bytes", bytes: damaged } }])]).catch((error) => error);
    expect(outcome).toBeInstanceOf(TsdbError);
    expect(outcome.kind).toBe("corrupt_file");
    expect(kernel.heap.usedBytes).toBe(before);
  });
});

test("a .pt file holds blocks of many tables and days", async () => {
  const below = prng(3);
  const tasks = Array.from({ length: 40 }, (_, i) => {
    const runs = [0, 1].map(() => randomRows(below, { count: 20, times: 10, hosts: 3 }));
    const inputs = runs.map((rows, n) => fileOf(rows, n)).map((input) => ({ ...input, fileId: i * 10 + input.fileId }));
    return { runs, task: taskOf(inputs, { tableId: 100 + i }) };
  });
  const merged = await write(tasks.map(({ task }) => task));
  expect(readAll(merged)).toEqual(tasks.map(({ runs }) => modelRows(runs)));
  expect(merged.blocks.map(({ tableId }) => tableId)).toEqual(tasks.map(({ task }) => task.tableId));
});

// Files of released formats are read for ever. UPDATE=1 writes a missing one; an existing one is never rewritten.
describe("format 1 of merged files", () => {
  const folder = join(import.meta.dir, "../../../test/golden/format-v1");
  const plain = (_: string, value: unknown): unknown => {
    if (typeof value === "bigint") return `${value}n`;
    if (Object.is(value, -0)) return "-0";
    return typeof value === "number" && !Number.isFinite(value) ? `${value}` : value;
  };
  const below = prng(2016);
  const runs = [0, 1, 2].map(() => randomRows(below, { count: 250, times: 300, hosts: 5 }));

  test("merged.pt", async () => {
    const path = join(folder, "merged.pt");
    const json = join(folder, "merged.json");
    if (process.env["UPDATE"] === "1" && !existsSync(path)) {
      // several groups, pages with and without absent values
      const { file } = await write([taskOf(runs.map((rows, n) => fileOf(rows, n)))], { sliceRows: 300 });
      writeFileSync(path, file);
      writeFileSync(
        json,
        `[\n${modelRows(runs)
          .map((row) => JSON.stringify(row, plain))
          .join(",\n")}\n]\n`,
      );
    }
    const open = new PtReader(kernel, openByteSource({ kind: "path", path }));
    const rows = readBlock(open.block(0));
    open.close();
    expect(JSON.parse(JSON.stringify(rows, plain))).toEqual(JSON.parse(readFileSync(json, "utf8")));
  });

  test("merged.parquet, which older servers wrote, is rewritten", async () => {
    const pieces: Uint8Array[] = [];
    const { block: meta } = fileOf([{ timeNs: 1n, tags: {}, fields: { i: 1n } }], 0);
    const before = kernel.heap.usedBytes;
    const source = { kind: "path", path: join(folder, "merged.parquet") } as const;
    const { bytes, block } = await rewriteParquet(kernel, { source, meta }, async (piece) => void pieces.push(piece));
    expect(kernel.heap.usedBytes).toBe(before);
    expect(block).toEqual({ ...meta, closed: true });
    const file = new Uint8Array(Buffer.concat(pieces));
    expect(file.length).toBe(bytes);
    const open = new PtReader(kernel, openByteSource({ kind: "bytes", bytes: file }));
    const rows = readBlock(open.block(0));
    open.close();
    expect(JSON.parse(JSON.stringify(rows, plain))).toEqual(JSON.parse(readFileSync(join(folder, "merged.json"), "utf8")));
  });
});
