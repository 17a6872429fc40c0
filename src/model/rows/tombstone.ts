// A deletion that is remembered until compaction has applied it.
import { ALL_TIME, type TagPredicate, type TimeRange } from "../query/scan.ts";

/** Hides the rows of a table that were logged up to `sequence`, lie in `range` and satisfy all of `tags` (exactly; none = every series).
 *  A run or block is wholly at or below that sequence (its seqMax <= sequence: the tombstone counts) or not (it does not count: what it
 *  holds of earlier rows has had the tombstone applied when it was written). */
export interface Tombstone {
  /** Ascending in order of deletion, unique within the server. */
  readonly id: number;
  readonly tableId: number;
  readonly sequence: number;
  readonly range: TimeRange;
  readonly tags: readonly TagPredicate[];
}

/** What there is to know of a run or block. */
interface Rows {
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  readonly seqMax: number;
  /** Of a block: all tombstones up to this id were applied when it was written. */
  readonly appliedTombstone?: number;
}

/** False: no row of the run or block is hidden by it. */
export function canHide({ id, sequence, range }: Tombstone, { minTimeNs, maxTimeNs, seqMax, appliedTombstone = 0 }: Rows): boolean {
  return seqMax <= sequence && appliedTombstone < id && minTimeNs <= range.maxNs && maxTimeNs >= range.minNs;
}

/** True: every row of the run or block is hidden by it. */
export function hidesWhole(tombstone: Tombstone, rows: Rows): boolean {
  const { range, tags } = tombstone;
  return tags.length === 0 && rows.minTimeNs >= range.minNs && rows.maxTimeNs <= range.maxNs && canHide(tombstone, rows);
}

/** Whether a later tombstone of the same table makes an earlier one needless: it hides all that the other does. */
export function covers(later: Tombstone, earlier: Tombstone): boolean {
  const { range, tags, sequence } = later;
  if (sequence < earlier.sequence || range.minNs > earlier.range.minNs || range.maxNs < earlier.range.maxNs) return false;
  return tags.every(({ columnId, values }) =>
    earlier.tags.some((other) => other.columnId === columnId && other.values.every((value) => values.includes(value))),
  );
}

/** Hides every row so far. At most one of them is kept of a table: it covers all before it. */
export function hidesAll({ range, tags }: Tombstone): boolean {
  return tags.length === 0 && range.minNs <= ALL_TIME.minNs && range.maxNs >= ALL_TIME.maxNs;
}
