// A deletion that is remembered until compaction has applied it.
import type { TagPredicate, TimeRange } from "./scan.ts";

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
