// A deletion that is remembered until compaction has applied it to all files.
import { ALL_TIME, type TagPredicate, type TimeRange } from "../query/scan.ts";

/** Hides the rows of a table that were logged up to `sequence`, lie in `range` and satisfy all `tags` (exactly; empty = every series). A
 *  run or block is either completely at or below that sequence (seqMax <= sequence: the tombstone applies) or not (it does not apply:
 *  earlier rows in it were filtered when the block was written). */
export interface Tombstone {
  /** Ascending in order of deletion, unique on the server. */
  readonly id: number;
  readonly tableId: number;
  readonly sequence: number;
  readonly range: TimeRange;
  readonly tags: readonly TagPredicate[];
}

/** Properties of a run or block. */
interface Rows {
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  readonly seqMax: number;
  /** For a block: all tombstones up to this id were applied when it was written. */
  readonly appliedTombstone?: number;
}

/** False if it hides no row of the run or block. */
export function canHide({ id, sequence, range }: Tombstone, { minTimeNs, maxTimeNs, seqMax, appliedTombstone = 0 }: Rows): boolean {
  return seqMax <= sequence && appliedTombstone < id && minTimeNs <= range.maxNs && maxTimeNs >= range.minNs;
}

/** True if it hides every row of the run or block. */
export function hidesWhole(tombstone: Tombstone, rows: Rows): boolean {
  const { range, tags } = tombstone;
  return tags.length === 0 && rows.minTimeNs >= range.minNs && rows.maxTimeNs <= range.maxNs && canHide(tombstone, rows);
}

/** True if a later tombstone of the same table hides everything that the earlier one hides. */
export function covers(later: Tombstone, earlier: Tombstone): boolean {
  const { range, tags, sequence } = later;
  if (sequence < earlier.sequence || range.minNs > earlier.range.minNs || range.maxNs < earlier.range.maxNs) return false;
  return tags.every(({ columnId, values }) =>
    earlier.tags.some((other) => other.columnId === columnId && other.values.every((value) => values.includes(value))),
  );
}

/** True if it hides all rows so far. A table has at most one such tombstone, because it covers all earlier ones. */
export function hidesAll({ range, tags }: Tombstone): boolean {
  return tags.length === 0 && range.minNs <= ALL_TIME.minNs && range.maxNs >= ALL_TIME.maxNs;
}
