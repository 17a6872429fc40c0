// Pages of a chunk: their bytes, and the memory that they pass through, which later groups use again.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { ChunkPages, CODEC, ENCODING } from "./chunk.ts";
import { ChunkMemory } from "./chunk-memory.ts";
import { FileParts } from "./file-parts.ts";

const bytesOf = (views: Iterable<Uint8Array>) => Buffer.concat([...views].map((view) => view.slice()));
const noise = (length: number, below = prng(length)) => Uint8Array.from({ length }, () => below(256));

describe.each([
  ["stored as they are", CODEC.none],
  ["compressed", CODEC.zstd],
] as const)("pages that are %s", (_, codec) => {
  test("follow a dictionary that came last; each is its header, levels and values", () => {
    const memory = new ChunkMemory();
    const chunk = new ChunkPages(codec, memory);
    const pages = [10, 70_000].map((count) => ({ levels: noise(9), values: noise(count) }));
    for (const { levels, values } of pages) {
      // as the next page does with buffers that are lent
      const lent = { levels: levels.slice(), values: values.slice() };
      chunk.add({ rowCount: values.length, nullCount: 1, ...lent, encoding: ENCODING.dictionary });
      lent.values.fill(0);
      lent.levels.fill(0);
    }
    const finished = chunk.finish(null, { values: noise(33), count: 3 });
    const bytes = bytesOf(finished.views());
    let at = 0;
    const bodies = [noise(33), ...pages.map(({ levels, values }) => Buffer.concat([levels, values]))].map((expected, i) => {
      const header = readNumbers(bytes, at);
      const [kind, plainBytes, storedBytes] = header.numbers;
      expect([kind, plainBytes]).toEqual([i === 0 ? 2 : 0, expected.length]);
      const stored = bytes.subarray(header.end, header.end + storedBytes!);
      at = header.end + storedBytes!;
      if (i === 0) expect(at).toBe(finished.dictionaryBytes);
      return [...(codec === CODEC.none ? stored : Bun.zstdDecompressSync(stored))];
    });
    expect(bodies).toEqual([noise(33), ...pages.map(({ levels, values }) => Buffer.concat([levels, values]))].map((body) => [...body]));
    expect([at, finished.bytes]).toEqual([bytes.length, bytes.length]);
    expect([finished.rowCount, finished.nullCount]).toEqual([70_010, 2]);
  });

  test("groups take no more memory than the largest of them", () => {
    const memory = new ChunkMemory();
    const held = [300_000, 900_000, 900_000, 100, 900_000].map((count) => {
      const chunk = new ChunkPages(codec, memory);
      for (let i = 0; i < 3; i++) {
        chunk.add({ rowCount: count, nullCount: 0, levels: null, values: noise(count / 4), encoding: ENCODING.plain });
      }
      const finished = chunk.finish(null, null);
      expect(bytesOf(finished.views()).length).toBe(finished.bytes);
      finished.release();
      return memory.pieceBytes;
    });
    expect(held[0]!).toBeLessThan(300_000);
    expect(held.slice(1)).toEqual(Array(4).fill(held[1]!));
    expect(held[1]!).toBeLessThan(720_000);
  });
});

/** The numbers that a page's header begins with, and where its fields and those of the struct in it end. */
function readNumbers(bytes: Uint8Array, start: number): { numbers: number[]; end: number } {
  let at = start;
  const numbers: number[] = [];
  for (let depth = 1; depth > 0; ) {
    const field = bytes[at++]!;
    if (field === 0) depth -= 1;
    else if ((field & 15) === 12) depth += 1;
    else {
      let [zigzag, factor] = [0, 1];
      do {
        zigzag += (bytes[at]! & 127) * factor;
        factor *= 128;
      } while (bytes[at++]! > 127);
      numbers.push(zigzag / 2);
    }
  }
  return { numbers, end: at };
}

test("a file comes in parts of one size, each in a buffer of its own", () => {
  const parts = new FileParts();
  const pieces = [4, 100_000, 400_000, 31_068, 7].map((length) => noise(length));
  const found = [...pieces.flatMap((piece) => [...parts.add(piece)]), ...parts.end()];
  expect(found.map(({ length }) => length)).toEqual([131_072, 131_072, 131_072, 131_072, 6791]);
  expect(Buffer.concat(found).equals(Buffer.concat(pieces))).toBe(true);
  expect(new Set(found.map(({ buffer }) => buffer)).size).toBe(5);
  expect(found.every(({ length, buffer }) => buffer.byteLength === length)).toBe(true);
  expect([...parts.end()]).toEqual([]);
});
