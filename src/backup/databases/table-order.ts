// The order of a table's blocks and deletions in the log of another server, which may be shorter: sequences become 1, 2, 3 …, so that who
// is later stays later, and all are below the rows that come.
import type { BlockMeta } from "../../storage/manifest/manifest.ts";
import type { TableContent } from "./content.ts";

/** Numbers of one table. */
export class TableOrder {
  private readonly sequences: ReadonlyMap<number, number>;
  private readonly tombstones: ReadonlyMap<number, number>;

  /** @param firstTombstoneId as many ids from it on as the table has deletions are its own */
  constructor({ tombstones }: Pick<TableContent, "tombstones">, blocks: readonly BlockMeta[], firstTombstoneId: number) {
    const all = new Set([...blocks.flatMap(({ seqMin, seqMax }) => [seqMin, seqMax]), ...tombstones.map(({ sequence }) => sequence)]);
    this.sequences = new Map([...all].sort((a, b) => a - b).map((sequence, i) => [sequence, i + 1]));
    this.tombstones = new Map(tombstones.map(({ id }, i) => [id, firstTombstoneId + i]));
  }

  /** The log must be this long before the rows come. */
  get length(): number {
    return this.sequences.size;
  }

  sequence(former: number): number {
    return this.sequences.get(former)!;
  }

  tombstone(former: number): number {
    return this.tombstones.get(former)!;
  }

  /** Undefined if it no longer matters. */
  known(former: number): number | undefined {
    return this.tombstones.get(former);
  }

  /** The last deletion up to a former id; undefined: none that still matters. */
  applied(former: number): number | undefined {
    let last: number | undefined;
    for (const [id, own] of this.tombstones) if (id <= former) last = own;
    return last;
  }
}
