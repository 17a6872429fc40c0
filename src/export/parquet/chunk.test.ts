// What a chunk does with the buffers of its pages: garbage collection comes late, and a page is made for each 16,384 rows and column.
import { describe, expect, test } from "bun:test";
import { ChunkPages, CODEC, ENCODING } from "./chunk.ts";

const VALUES = 1024;

describe.each([
  ["stored as they are", CODEC.none],
  ["compressed", CODEC.zstd],
] as const)("pages that are %s", (_, codec) => {
  test("the values and levels are in the chunk, and their buffers are free", () => {
    const chunk = new ChunkPages(codec);
    const values = new Uint8Array(VALUES).map((_, i) => i % 251);
    const levels = Uint8Array.of(4, 0, 0, 0, 128, 16, 1, 0);
    const expected = [...levels, ...values];
    chunk.add({ rowCount: VALUES, nullCount: 0, levels, values, encoding: ENCODING.plain });
    expect([values.byteLength, levels.byteLength]).toEqual([0, 0]);
    const [, stored] = chunk.finish(null, null).pages;
    expect([...(codec === CODEC.none ? stored! : Bun.zstdDecompressSync(stored!))]).toEqual(expected);
  });
});
