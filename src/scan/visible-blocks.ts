// Determines the blocks of a table that a statement sees, and the deletions that apply to them: once per list of blocks and deletions,
// since a statement must not pay for a thousand of both, and an unchanged object need not be sent to a worker again.

import { I64_MAX } from "../model/rows/int64.ts";
import { canHide, hidesWhole, type Tombstone } from "../model/rows/tombstone.ts";
import type { BlockList } from "./block-lists.ts";
import type { BlockSnapshot } from "./snapshot.ts";

export interface VisibleBlocks {
  /** Blocks that are neither past their retention nor completely hidden. */
  readonly blocks: readonly BlockSnapshot[];
  /** Tombstones that may hide rows of `blocks`. */
  readonly tombstones: ReadonlySet<Tombstone>;
}

interface Found extends VisibleBlocks {
  readonly known: readonly Tombstone[];
  /** Valid while the start of the retention period is between these times. */
  readonly fromNs: bigint;
  readonly toNs: bigint;
}

const NONE: ReadonlySet<Tombstone> = new Set();

/** The cached results for all tables, on the main thread. */
export class VisibleBlocksOfTables {
  private readonly found = new WeakMap<BlockList, Found>();

  /** @param known the table's deletions; a new object whenever they change */
  of(list: BlockList, known: readonly Tombstone[], retentionMinNs: bigint): VisibleBlocks {
    if (known.length === 0 && list.endMinNs >= retentionMinNs) return { blocks: list.blocks, tombstones: NONE };
    let found = this.found.get(list);
    if (found === undefined || found.known !== known || retentionMinNs < found.fromNs || retentionMinNs > found.toNs) {
      found = find(list, known, retentionMinNs);
      this.found.set(list, found);
    }
    return found;
  }
}

function find(list: BlockList, known: readonly Tombstone[], fromNs: bigint): Found {
  const blocks = list.blocks.filter((block) => block.maxTimeNs >= fromNs && !known.some((tombstone) => hidesWhole(tombstone, block)));
  const tombstones = new Set(known.filter((tombstone) => blocks.some((block) => canHide(tombstone, block))));
  const toNs = blocks.reduce((least, { maxTimeNs }) => (maxTimeNs < least ? maxTimeNs : least), I64_MAX);
  return { blocks, tombstones, known, fromNs, toNs };
}
