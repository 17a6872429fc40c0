// Damaged Parquet files: whatever the bytes are, reading ends with the rows or with an error that names the file.
import { beforeAll, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { ALL_TYPES, randomRows } from "../../../test/support/random-rows.ts";
import { Arena, readValue, type TestValue, writeRun } from "../../../test/support/rows.ts";
import { crc32 } from "../../disk/crc32.ts";
import { Blocks } from "../../kernel/memory/blocks.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { TsdbError } from "../../model/errors.ts";
import type { ByteSource } from "../block/byte-source.ts";
import { writeMergedFile } from "../compaction/merge-file.ts";
import { writePt } from "../pt/file.ts";
import { encodeDirectory, PT_TRAILER_BYTES, PT_VERSION_GROUPED, type PtExtent } from "../pt/format.ts";
import { GroupedColumnEntries } from "../pt/groups.ts";
import { ParquetReader } from "./reader.ts";

const kernel = Kernel.create();

function sourceOf(file: Uint8Array): ByteSource {
  return {
    name: "test.parquet",
    size: file.length,
    read(offset, bytes) {
      if (offset < 0 || bytes < 0 || offset + bytes > file.length) throw new Error(`BUG: read of ${bytes} bytes at ${offset}`);
      return file.slice(offset, offset + bytes);
    },
    close: () => {},
  };
}

/** Every value of every column, or "corrupt_file". */
function outcome(file: Uint8Array): (TestValue | null)[][] | "corrupt_file" {
  const before = kernel.heap.usedBytes;
  const memory = new Blocks(kernel);
  let reader: ParquetReader | undefined;
  try {
    reader = new ParquetReader(kernel, sourceOf(file));
    const block = reader.block(0);
    block.readSeries(memory);
    return block.columns.map(({ columnId, type }) =>
      block.pages.flatMap(({ rowCount }, page) => {
        const column = block.readColumn(page, columnId, memory)!;
        return Array.from({ length: rowCount }, (_, row) => readValue(kernel, type, column, row));
      }),
    );
  } catch (error) {
    if (!(error instanceof TsdbError) || error.kind !== "corrupt_file") throw error;
    expect(error.details["file"]).toBe("test.parquet");
    expect(typeof error.details["offset"]).toBe("number");
    return "corrupt_file";
  } finally {
    memory.release();
    reader?.close();
    expect(kernel.heap.usedBytes).toBe(before);
  }
}

/** Where the directory and the footer begin, in a good file. */
function placesIn(file: Uint8Array): { directory: number; footer: number } {
  const data = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const footer = file.length - 8 - data.getUint32(file.length - 8, true);
  return { directory: Number(data.getBigUint64(footer - PT_TRAILER_BYTES, true)), footer };
}

/** The file with checksums as its bytes are now. */
function withChecksums(file: Uint8Array, good: Uint8Array): Uint8Array {
  const { directory, footer } = placesIn(good);
  const reader = new ParquetReader(kernel, sourceOf(good));
  const block = reader.stored(0);
  const fixed = ({ offset, bytes }: PtExtent) => ({ offset, bytes, crc: crc32(file.subarray(offset, offset + bytes)) });
  const columns = block.columns.map((column) => {
    const entries = new GroupedColumnEntries(column.columnId, column.type);
    const dictionary = column.dictionary!(0);
    entries.addGroup(
      dictionary === null ? null : fixed(dictionary),
      block.pages.map((_, page) => fixed(column.chunk(page))),
    );
    return entries;
  });
  reader.close();
  const grouped = { ...block, dictionary: fixed(block.dictionary), groups: [block.pages.length], columns };
  const encoded = encodeDirectory({ blocks: [grouped] }, directory, PT_VERSION_GROUPED);
  return new Uint8Array(Buffer.concat([file.subarray(0, directory), encoded, file.subarray(footer)]));
}

describe("damage", () => {
  let good: Uint8Array<ArrayBuffer>;
  let rows: ReturnType<typeof outcome>;

  beforeAll(async () => {
    const arena = new Arena(kernel);
    // some columns with dictionaries, some without, with and without absent values
    const some = randomRows(prng(4), { count: 300, times: 200, hosts: 4 });
    const run = writeRun(arena, ALL_TYPES, some);
    const { bytes, directory } = writePt(kernel, [{ databaseId: 1, tableId: 1, columns: ALL_TYPES, runs: [run] }]);
    arena.free();
    const input = { fileId: 1, format: "pt", source: { kind: "bytes", bytes }, block: directory.blocks[0]! } as const;
    const task = { databaseId: 1, tableId: 1, tableName: "t", columns: ALL_TYPES, tombstones: [], isFirst: true, inputs: [input] };
    const pieces: Uint8Array[] = [];
    const write = async (piece: Uint8Array) => void pieces.push(piece);
    await writeMergedFile(kernel, { format: "parquet", tasks: [task] }, { write, pace: async () => {} });
    good = new Uint8Array(Buffer.concat(pieces));
    rows = outcome(good);
    expect(rows).not.toBe("corrupt_file");
    expect(withChecksums(good, good)).toEqual(good);
  });

  test("cut off anywhere", () => {
    for (let length = 0; length < good.length; length += length < 50 || length > good.length - 100 ? 1 : 41) {
      expect(outcome(good.subarray(0, length))).toBe("corrupt_file");
    }
  });

  test("one bit anywhere is noticed, or was in what we do not read", () => {
    const { directory, footer } = placesIn(good);
    for (let at = 0; at < good.length; at += 3) {
      const damaged = good.slice();
      damaged[at]! ^= 1 << (at % 8);
      const found = outcome(damaged);
      if (found !== "corrupt_file") expect(found).toEqual(rows as (TestValue | null)[][]);
      // reserved in the trailer
      const isUnused = at >= footer - 12 && at < footer - 8;
      if (at >= directory && at < footer && !isUnused) expect([at, found]).toEqual([at, "corrupt_file"]);
    }
  });

  const SEED = Number(process.env["SEED"] ?? 1);
  test(`with checksums that fit (seed ${SEED})`, () => {
    const below = prng(SEED);
    const reader = new ParquetReader(kernel, sourceOf(good));
    const block = reader.stored(0);
    const extents = block.columns.flatMap((column) => [column.chunk(0), ...[column.dictionary!(0)].filter((each) => each !== null)]);
    reader.close();
    let decoded = 0;
    for (let round = 0; round < 1500; round++) {
      const damaged = good.slice();
      const hit = extents[below(extents.length)]!;
      // heads and levels are at the front
      for (let hits = 1 + below(3); hits > 0; hits--) {
        damaged[hit.offset + below(Math.min(hit.bytes, below(2) === 0 ? 40 : 1e9))] = below(3) === 0 ? 255 : below(256);
      }
      const found = outcome(withChecksums(damaged, good));
      if (found === "corrupt_file") continue;
      decoded++;
      expect(found.map(({ length }) => length)).toEqual((rows as unknown[][]).map(({ length }) => length));
    }
    expect(decoded).toBeGreaterThan(10);
  });
});
