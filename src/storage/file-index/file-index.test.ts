// File indexes against the rows of the blocks that they are of: a page that has a text is never ruled out, lists say exactly which pages
// have it, filters nearly; damage is an error or rules nothing out.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { Arena, type TestRow, writeRun } from "../../../test/support/rows/rows.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { TsdbError } from "../../model/errors.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../../model/rows/column.ts";
import type { ByteSource } from "../block/byte-source.ts";
import { FileOutput } from "../block/file-output.ts";
import { PtReader } from "../pt/reader.ts";
import { encodePt } from "../pt/writer.ts";
import { FileIndex } from "./file-index.ts";
import { needleOf } from "./format.ts";
import { FileIndexWriter } from "./writer.ts";

const kernel = Kernel.create();
const PAGE_ROWS = 64;
const COLUMNS: readonly ColumnDef[] = [
  TIME_COLUMN,
  { id: 1, name: "host", type: ColumnType.tag },
  { id: 2, name: "few", type: ColumnType.string },
  { id: 3, name: "many", type: ColumnType.string },
  { id: 4, name: "nowhere", type: ColumnType.string },
];
const BLOCK = { rowCount: 1, minTimeNs: -5n, maxTimeNs: 7n, seqMin: 3, seqMax: 4 };
const PLACE = { ...BLOCK, blockIndex: 0 };

const sourceOf = (bytes: Uint8Array): ByteSource => ({
  name: "index",
  size: bytes.length,
  read: (offset, count) => bytes.subarray(offset, offset + count),
  close: () => {},
});

/** Rows in the order of the file: by host, then time. */
async function indexed(rows: readonly TestRow[], rowsPerPage = PAGE_ROWS): Promise<Uint8Array> {
  const arena = new Arena(kernel);
  const table = { databaseId: 1, tableId: 1, tableName: "t", columns: COLUMNS };
  try {
    const run = writeRun(arena, COLUMNS, rows, { unique: true, seqMin: 1, seqMax: 1 });
    const { bytes } = encodePt(kernel, [{ ...table, runs: [run] }], { pageRowsMax: rowsPerPage });
    const reader = new PtReader(kernel, sourceOf(bytes));
    const pieces: Uint8Array[] = [];
    const output = new FileOutput(async (piece) => void pieces.push(piece));
    const writer = new FileIndexWriter(kernel, output, async () => {});
    for (const column of COLUMNS.slice(1)) await writer.add(reader.block(0), 0, BLOCK, column);
    writer.end();
    await output.end();
    reader.close();
    return Buffer.concat(pieces);
  } finally {
    arena.free();
  }
}

const rowAt = (i: number, fields: Record<string, string>): TestRow => ({
  timeNs: BigInt(i),
  tags: i % 7 === 0 ? {} : { host: `h${i % 3}` },
  fields,
});

/** Rows by page, as the file has them: without a host first, then by host; in each by time. */
function pagesOf(rows: readonly TestRow[]): TestRow[][] {
  const order = (row: TestRow) => row.tags["host"] ?? "";
  const sorted = rows.toSorted((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : Number(a.timeNs - b.timeNs)));
  return Array.from({ length: Math.ceil(rows.length / PAGE_ROWS) }, (_, i) => sorted.slice(i * PAGE_ROWS, (i + 1) * PAGE_ROWS));
}

/** "none" and no page marked are one. */
function flags(found: ReturnType<FileIndex["pages"]>, pageCount: number): number[] | null {
  return found === "none" ? new Array<number>(pageCount).fill(0) : found === null ? null : [...found];
}

test.each([1, 2, 3])("columns of few and of many values, seed %i", async (seed) => {
  const below = prng(seed);
  const rows = Array.from({ length: 3000 }, (_, i) => {
    const few = below(3) === 0 ? {} : { few: ["", "é", "a text of more than twelve bytes", `v${below(300)}`][below(4)]! };
    return rowAt(i, { ...few, ...(below(9) === 0 ? {} : { many: `id-${seed}-${below(50_000)}` }) });
  });
  const bytes = await indexed(rows);
  const index = new FileIndex(sourceOf(bytes));
  const pages = pagesOf(rows);
  expect(index.entries.map(({ columnId, pageCount, content }) => [columnId, pageCount, content.kind])).toEqual([
    [1, 0, "values"],
    [2, pages.length, "values"],
    [3, pages.length, "filters"],
    [4, pages.length, "values"],
  ]);
  const truth = (name: string, texts: readonly string[]) =>
    pages.map((page) => Number(page.some(({ fields }) => texts.includes((fields[name] ?? null) as string))));
  let [extra, asked] = [0, 0];
  for (let i = 0; i < 300; i++) {
    const few = Array.from({ length: 1 + below(3) }, () => ["", "é", "a text of more than twelve bytes", `v${below(400)}`, "w"][below(5)]!);
    expect(flags(index.pages(PLACE, 2, few.map(needleOf)), pages.length)).toEqual(truth("few", few));
    expect(index.pages(PLACE, 4, few.map(needleOf))).toBe("none");
    const many = [`id-${seed}-${below(60_000)}`];
    const found = flags(index.pages(PLACE, 3, many.map(needleOf)), pages.length)!;
    truth("many", many).forEach((isThere, page) => {
      if (isThere) expect(found[page]).toBe(1);
      else extra += found[page]!;
      asked++;
    });
  }
  // one in 1,000 is meant: of 14,000 three times as many would be luck of one in a billion
  expect(extra / asked).toBeLessThan(0.004);
  expect([index.pages(PLACE, 1, [needleOf("h1")]), index.pages(PLACE, 1, [needleOf("h3")])]).toEqual([null, "none"]);
});

test("a list of values has bounds, beyond which there are filters", async () => {
  const kindOf = async (value: (i: number) => string, count = 2000) => {
    const { entries } = new FileIndex(sourceOf(await indexed(Array.from({ length: count }, (_, i) => rowAt(i, { few: value(i) })))));
    return entries.find(({ columnId }) => columnId === 2)!.content.kind;
  };
  expect(await kindOf((i) => `${i % 1024}`)).toBe("values");
  expect(await kindOf((i) => `${i % 1025}`)).toBe("filters");
  expect(await kindOf((i) => "x".repeat(640) + (i % 100))).toBe("values");
  expect(await kindOf((i) => "x".repeat(700) + (i % 100))).toBe("filters");
});

describe("what an index is not of", () => {
  test("another block, another column, or a block that has changed its rows", async () => {
    const index = new FileIndex(sourceOf(await indexed([rowAt(1, { few: "a" })])));
    const needles = [needleOf("b")];
    expect(index.pages(PLACE, 2, needles)).toBe("none");
    expect(index.pages(PLACE, 9, needles)).toBeNull();
    expect(index.pages({ ...PLACE, blockIndex: 1 }, 2, needles)).toBeNull();
    for (const other of [{ rowCount: 2 }, { minTimeNs: -6n }, { maxTimeNs: 8n }, { seqMin: 2 }, { seqMax: 5 }]) {
      expect(index.pages({ ...PLACE, ...other }, 2, needles)).toBeNull();
    }
  });
});

test("damage: every byte changed, every length cut off; no page that has the text is ruled out", async () => {
  const rows = Array.from({ length: 200 }, (_, i) => rowAt(i, { few: `v${i % 5}`, many: `id-${i}-${"x".repeat(i % 400)}` }));
  const bytes = await indexed([...rows, ...Array.from({ length: 1300 }, (_, i) => rowAt(i + 200, { many: `other ${i}` }))]);
  const ask = (damaged: Uint8Array) => {
    try {
      const index = new FileIndex(sourceOf(damaged));
      return [index.pages(PLACE, 2, [needleOf("v3")]), index.pages(PLACE, 3, [needleOf(`id-77-${"x".repeat(77)}`)])];
    } catch (error) {
      if (error instanceof TsdbError && error.kind === "corrupt_file") return "corrupt";
      throw error;
    }
  };
  const truth = ask(bytes);
  const step = Math.max(1, Math.floor(bytes.length / 4000));
  for (let at = 0; at < bytes.length; at += step) {
    const damaged = bytes.slice();
    damaged[at]! ^= 1 << (at & 7);
    const found = ask(damaged);
    if (found !== "corrupt") expect(found as unknown, `byte ${at}`).toEqual(truth);
    expect(ask(bytes.slice(0, at)), `${at} bytes`).toBe("corrupt");
  }
});
