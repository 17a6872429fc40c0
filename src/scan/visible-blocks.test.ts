// Visible blocks are those that a look at each block would leave, and the same list while nothing has changed.
import { describe, expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { ALL_TIME } from "../model/query/scan.ts";
import { canHide, type Tombstone } from "../model/rows/tombstone.ts";
import type { BlockList } from "./block-lists.ts";
import type { BlockSnapshot } from "./snapshot.ts";
import { VisibleBlocksOfTables } from "./visible-blocks.ts";

type Below = (n: number) => number;

function randomBlocks(below: Below): BlockList {
  const blocks = Array.from({ length: below(6) }, (_, i): BlockSnapshot => {
    const minTimeNs = BigInt(below(20));
    const maxTimeNs = minTimeNs + BigInt(below(10));
    const source = { kind: "path", path: "" } as const;
    const place = { fileId: i, generation: 0, source, blockIndex: 0 } as const;
    const block = { ...place, rowCount: 1, minTimeNs, maxTimeNs, seqMin: 1, seqMax: 1 + below(9), unique: true };
    return below(2) === 0 ? block : { ...block, appliedTombstone: below(6) };
  });
  const ends = blocks.map(({ maxTimeNs }) => maxTimeNs).sort((a, b) => Number(a - b));
  return { blocks, endMinNs: ends[0] ?? ALL_TIME.maxNs };
}

function randomTombstones(below: Below): Tombstone[] {
  return Array.from({ length: below(5) }, (_, i) => {
    const minNs = below(3) === 0 ? ALL_TIME.minNs : BigInt(below(20));
    const maxNs = below(3) === 0 ? ALL_TIME.maxNs : minNs + BigInt(below(20));
    return {
      id: i + 1,
      tableId: 1,
      sequence: below(10),
      range: { minNs, maxNs },
      tags: below(2) === 0 ? [] : [{ columnId: 1, values: ["a"] }],
    };
  });
}

/** True when a row of any time of the block and of any series may be seen. */
function isVisible(block: BlockSnapshot, known: readonly Tombstone[], retentionMinNs: bigint): boolean {
  if (block.maxTimeNs < retentionMinNs) return false;
  return !known.some((one) => {
    const whole = one.tags.length === 0 && one.range.minNs <= block.minTimeNs && one.range.maxNs >= block.maxTimeNs;
    return whole && canHide(one, block);
  });
}

describe("visible blocks", () => {
  test("are those that a look at each leaves, whatever was asked before, seed 1", () => {
    const below = prng(1);
    for (let round = 0; round < 500; round++) {
      const lists = [randomBlocks(below), randomBlocks(below)];
      const deletions = [randomTombstones(below), randomTombstones(below), []];
      const visible = new VisibleBlocksOfTables();
      for (let i = 0; i < 10; i++) {
        const [list, known] = [lists[below(2)]!, deletions[below(3)]!];
        const retentionMinNs = below(3) === 0 ? ALL_TIME.minNs : BigInt(below(30));
        const { blocks, tombstones } = visible.of(list, known, retentionMinNs);
        expect(blocks).toEqual(list.blocks.filter((block) => isVisible(block, known, retentionMinNs)));
        expect([...tombstones]).toEqual(known.filter((one) => blocks.some((block) => canHide(one, block))));
      }
    }
  });

  test("are the same list while blocks, deletions and what retention leaves are the same", () => {
    const list = { blocks: [0n, 10n, 20n].map((ns) => ({ ...ONE_BLOCK, minTimeNs: ns, maxTimeNs: ns })), endMinNs: 0n };
    const known: Tombstone[] = [{ id: 1, tableId: 1, sequence: 9, range: { minNs: 20n, maxNs: 30n }, tags: [] }];
    const visible = new VisibleBlocksOfTables();
    const first = visible.of(list, known, 5n).blocks;
    expect(first.map(({ minTimeNs }) => minTimeNs)).toEqual([10n]);
    expect(visible.of(list, known, 6n).blocks).toBe(first);
    expect(visible.of(list, known, 10n).blocks).toBe(first);
    expect(visible.of(list, known, 11n).blocks).toEqual([]);
    expect(visible.of(list, [], ALL_TIME.minNs).blocks).toBe(list.blocks);
  });
});

const ONE_BLOCK: BlockSnapshot = {
  fileId: 1,
  generation: 0,
  source: { kind: "path", path: "" },
  blockIndex: 0,
  rowCount: 1,
  minTimeNs: 0n,
  maxTimeNs: 0n,
  seqMin: 1,
  seqMax: 1,
  unique: true,
};
