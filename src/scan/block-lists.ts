// The blocks of tables as statements see them, described once per manifest change: a statement on a table of a thousand files must not pay
// for each of them, and an unchanged object need not be sent to a worker again.

import { I64_MAX } from "../model/rows/int64.ts";
import type { ObjectSource } from "../storage/block/byte-source.ts";
import type { BlockMeta, Manifest } from "../storage/manifest/manifest.ts";
import type { BlockSnapshot } from "./snapshot.ts";

export interface BlockList {
  readonly blocks: readonly BlockSnapshot[];
  /** The earliest end time of all blocks: up to it, no block is past its retention. The maximum time if there are no blocks. */
  readonly endMinNs: bigint;
}

const NO_BLOCKS: BlockList = { blocks: [], endMinNs: I64_MAX };

/** Tables whose lists are cached: the most recently used. */
const TABLES_MAX = 1000;

/** The cached block lists, on the main thread. */
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
    // move to the end: most recently used
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
      const { index, rowCount, minTimeNs, maxTimeNs, seqMin, seqMax, unique, overlaps, appliedTombstone, unappliedTombstones } = block;
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
        ...(unappliedTombstones === undefined ? {} : { unappliedTombstones }),
      };
      this.described.set(block, described);
      return described;
    });
    return { blocks, endMinNs };
  }
}
