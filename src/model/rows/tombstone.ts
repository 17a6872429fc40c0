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
  /** It may still be taken back: no file is written without the rows that it hides. */
  readonly isHeld?: true;
}

/** Properties of a run or block. */
interface Rows {
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  readonly seqMax: number;
  /** For a block: all tombstones up to this id were applied when it was written ... */
  readonly appliedTombstone?: number;
  /** ... except these, ascending ids. */
  readonly unappliedTombstones?: readonly number[];
}

/** False if it hides no row of the run or block. */
export function canHide({ id, sequence, range }: Tombstone, rows: Rows): boolean {
  const { minTimeNs, maxTimeNs, seqMax, appliedTombstone = 0, unappliedTombstones } = rows;
  if (seqMax > sequence || minTimeNs > range.maxNs || maxTimeNs < range.minNs) return false;
  return appliedTombstone < id || unappliedTombstones?.includes(id) === true;
}

/** True if it hides every row of the run or block. */
export function hidesWhole(tombstone: Tombstone, rows: Rows): boolean {
  const { range, tags } = tombstone;
  return tags.length === 0 && rows.minTimeNs >= range.minNs && rows.maxTimeNs <= range.maxNs && canHide(tombstone, rows);
}

/** Whether a later tombstone of a table hides everything that an earlier one hides. Both may name thousands of values. */
export function coverOf({ range, tags, sequence }: Tombstone): (earlier: Tombstone) => boolean {
  const allowed = tags.map(({ columnId, values }) => ({ columnId, values: new Set(values) }));
  return (earlier) => {
    if (sequence < earlier.sequence || range.minNs > earlier.range.minNs || range.maxNs < earlier.range.maxNs) return false;
    return allowed.every(({ columnId, values }) =>
      earlier.tags.some((other) => other.columnId === columnId && other.values.every((value) => values.has(value))),
    );
  };
}

/** True if it hides all rows so far. A table has at most one such tombstone that is not held, because it covers all earlier ones. */
export function hidesAll({ range, tags }: Tombstone): boolean {
  return tags.length === 0 && range.minNs <= ALL_TIME.minNs && range.maxNs >= ALL_TIME.maxNs;
}

/** The tombstones of a table, as a file is written: those whose rows it leaves out, and the ids of the others. Both ascending. */
export function applicable(tombstones: readonly Tombstone[]): {
  readonly applied: readonly Tombstone[];
  readonly heldIds: readonly number[];
} {
  if (tombstones.every(({ isHeld }) => isHeld !== true)) return { applied: tombstones, heldIds: [] };
  return {
    applied: tombstones.filter(({ isHeld }) => isHeld !== true),
    heldIds: tombstones.flatMap(({ id, isHeld }) => (isHeld === true ? [id] : [])),
  };
}

/** What a block that is written without the rows of `applied` knows of the table's tombstones. */
export function appliedMarks({ applied, heldIds }: ReturnType<typeof applicable>): Pick<Rows, "appliedTombstone" | "unappliedTombstones"> {
  const last = applied.at(-1);
  if (last === undefined) return {};
  const open = heldIds.filter((id) => id < last.id);
  return { appliedTombstone: last.id, ...(open.length === 0 ? {} : { unappliedTombstones: open }) };
}
