// Blocks within a range of times, against comparing nanoseconds one by one: at the very ends of ranges, of milliseconds, and of 64 bits.
import { expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { BlockIndex } from "./block-index.ts";
import type { BlockSnapshot } from "./snapshot.ts";

const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;

test.each([1, 2, 3, 4])("seed %i", (seed) => {
  const below = prng(seed);
  // a few instants that meet often, some a nanosecond apart
  const instants = [I64_MIN, I64_MIN + 1n, -1_000_001n, -1_000_000n, -1n, 0n, 1n, 999_999n, 1_000_000n, 1_000_001n, I64_MAX - 1n, I64_MAX];
  const instant = () => instants[below(instants.length)]!;
  const ordered = () => {
    const [a, b] = [instant(), instant()];
    return a < b ? [a, b] : [b, a];
  };
  const blocks = Array.from({ length: 40 }, (_, i): BlockSnapshot => {
    const [minTimeNs, maxTimeNs] = ordered() as [bigint, bigint];
    const place = { fileId: below(9), generation: 0, source: { kind: "path" as const, path: "" }, blockIndex: i };
    return { ...place, rowCount: i, minTimeNs, maxTimeNs, seqMin: 1, seqMax: 1, unique: true };
  });
  const index = BlockIndex.of(blocks);
  expect(BlockIndex.of(blocks)).toBe(index);
  expect(index.rowCount).toBe((39 * 40) / 2);
  expect(index.fileCount).toBe(new Set(blocks.map(({ fileId }) => fileId)).size);
  const [least, most] = [blocks.map((block) => block.minTimeNs), blocks.map((block) => block.maxTimeNs)].map((times) =>
    times.sort((a, b) => (a < b ? -1 : 1)),
  );
  const { minNs: first, maxNs: last } = index.times!;
  expect([first <= least![0]!, first >= least![0]! - 2_000_000n, last >= most!.at(-1)!, last <= most!.at(-1)! + 2_000_000n]).toEqual(
    Array(4).fill(true),
  );
  for (const minNs of instants) {
    for (const maxNs of instants) {
      const naive = blocks.filter((block) => minNs <= maxNs && block.minTimeNs <= maxNs && block.maxTimeNs >= minNs);
      expect(index.within({ minNs, maxNs })).toEqual(naive);
    }
  }
});

test("no blocks have no times", () => expect(BlockIndex.of([]).times).toBeNull());
