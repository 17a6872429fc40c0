// Which blocks of a table a statement sees, and which deletions it has to look at for them: found once for each list of blocks and of
// deletions, since a statement must not pay for a thousand of both, and what is the same object as before need not be sent again.
import { canHide, hidesWhole, type Tombstone } from "../model/rows/tombstone.ts";
import type { BlockList } from "./block-lists.ts";
import type { BlockSnapshot } from "./snapshot.ts";

export interface VisibleBlocks {
  /** Those that are not past their retention, nor hidden as a whole. */
  readonly blocks: readonly BlockSnapshot[];
  /** Those that can hide rows of `blocks`. */
  readonly tombstones: ReadonlySet<Tombstone>;
}

interface Found extends VisibleBlocks {
  readonly known: readonly Tombstone[];
  /** Right for retention that begins from one to the other. */
  readonly fromNs: bigint;
  readonly toNs: bigint;
}

const NONE: ReadonlySet<Tombstone> = new Set();

export class VisibleBlocksOfTables {
  private readonly found = new WeakMap<BlockList, Found>();

  /** `known`: the table's deletions, another object when they are others. */
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
  const toNs = blocks.reduce((least, { maxTimeNs }) => (maxTimeNs < least ? maxTimeNs : least), 2n ** 63n - 1n);
  return { blocks, tombstones, known, fromNs, toNs };
}
