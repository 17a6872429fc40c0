// Rows in the kernel's shared memory. A run is what a buffer segment, a decoded .pt block and the result of a merge have in common;
// pointers are byte offsets into the shared memory, valid while the run's pin is held.
import type { ColumnType } from "./column.ts";

/** One field column of a run: VALUE_BYTES[type] × rowCount bytes at dataPtr; validityPtr is an LSB-first bitmap
 *  (1 = present), 0 = all present. */
export interface ColumnRun {
  readonly columnId: number;
  readonly type: ColumnType;
  readonly dataPtr: number;
  readonly validityPtr: number;
  /** Only the present rows' values lie at dataPtr, one after the other, and there is a bitmap. Buffer segments have such columns; merges
   *  take them, everything else gets their runs from `denseRun` (kernel/dense-run.ts). */
  readonly isPacked?: true;
}

/** A tag column of a dictionary: u32 code per series at codesPtr (0 = absent); string views at valuesPtr, one per
 *  code (view 0 is unused). */
export interface TagColumnView {
  readonly columnId: number;
  readonly codesPtr: number;
  readonly valuesPtr: number;
  readonly valueCount: number;
  /** Values ascend by code, bytes compared as unsigned. */
  readonly isSorted?: true;
}

/** The series of a run: ids 0 .. seriesCount-1. Two runs with equal `id` share their series ids; otherwise series are matched by
 *  their tags. */
export interface DictionaryView {
  readonly id: number;
  readonly seriesCount: number;
  readonly tags: readonly TagColumnView[];
}

export interface Run {
  readonly rowCount: number;
  /** u32 per row: series id in `dictionary`. */
  readonly seriesPtr: number;
  /** i64 per row: nanoseconds since 1970. */
  readonly timePtr: number;
  readonly columns: readonly ColumnRun[];
  readonly dictionary: DictionaryView;
  /** Sorted by series id, then time, each pair once: what a merge makes and a file holds. */
  readonly sorted: boolean;
  /** False when a row of this run may have the series and time of another row, in this run or in one of a lower sequence. The rows of each
   *  series ascend in time in a run that is unique, sorted or not. */
  readonly unique: boolean;
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  /** Log sequences of the rows; within one table runs are totally ordered by disjoint ranges, later wins. */
  readonly seqMin: number;
  readonly seqMax: number;
}
