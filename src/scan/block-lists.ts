// The blocks of tables as statements see them, described once per change of the manifest: a statement on a table of a thousand files must
// not pay for each of them, and what is the same object as before need not be sent again.

import type { ObjectSource } from "../storage/block/byte-source.ts";
import type { BlockMeta, Manifest } from "../storage/manifest/manifest.ts";
import type { BlockSnapshot } from "./snapshot.ts";

export interface BlockList {
  readonly blocks: readonly BlockSnapshot[];
  /** The earliest of the blocks' last times: until then every block has rows. The end of time when there are none. */
  readonly endMinNs: bigint;
}

const NO_BLOCKS: BlockList = { blocks: [], endMinNs: 2n ** 63n - 1n };

/** Tables that are remembered: those used last. */
const TABLES_MAX = 1000;

export class BlockLists {
  private readonly known = new Map<number, BlockList & { readonly changes: number }>();
  private readonly described = new WeakMap<BlockMeta, BlockSnapshot>();

  constructor(
    private readonly manifest: Manifest,
    private readonly objectSource: (key: string) => ObjectSource,
  ) {}

  of(tableId: number): BlockList {
    const changes = this.manifest.changesOf(tableId);
    let list = this.known.get(tableId);
    this.known.delete(tableId);
    if (list?.changes !== changes) list = { ...this.describe(tableId), changes };
    if (list.blocks.length === 0) return NO_BLOCKS;
    // most recently used last
    this.known.set(tableId, list);
    for (const oldest of this.known.keys()) {
      if (this.known.size <= TABLES_MAX) break;
      this.known.delete(oldest);
    }
    return list;
  }

  private describe(tableId: number): BlockList {
    let { endMinNs } = NO_BLOCKS;
    const blocks = this.manifest.blocksOf(tableId).map(({ file, block }): BlockSnapshot => {
      if (block.maxTimeNs < endMinNs) endMinNs = block.maxTimeNs;
      const known = this.described.get(block);
      if (known !== undefined) return known;
      const { index, rowCount, minTimeNs, maxTimeNs, seqMin, seqMax, unique, overlaps, appliedTombstone } = block;
      const described: BlockSnapshot = {
        fileId: file.id,
        generation: file.generation,
        source: this.objectSource(file.key),
        blockIndex: index,
        rowCount,
        minTimeNs,
        maxTimeNs,
        seqMin,
        seqMax,
        unique,
        ...(overlaps === undefined ? {} : { overlaps }),
        ...(appliedTombstone === undefined ? {} : { appliedTombstone }),
      };
      this.described.set(block, described);
      return described;
    });
    return { blocks, endMinNs };
  }
}
