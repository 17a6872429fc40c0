// Rows in the kernel's shared memory. A run is what a buffer segment, a decoded .pt block and the result of a merge have in common;
// pointers are byte offsets into the shared memory, valid while the run's pin is held.
import { assert } from "../assert.ts";
import type { TimeRange } from "../query/scan.ts";
import type { ColumnType } from "./column.ts";

/** One field column of a run: VALUE_BYTES[type] × rowCount bytes at dataPtr; validityPtr is an LSB-first bitmap
 *  (1 = present), 0 = all present. Values of absent rows are 0: DuckDB gets them too, and they must be nobody else's. */
export interface ColumnRun {
  readonly columnId: number;
  readonly type: ColumnType;
  readonly dataPtr: number;
  readonly validityPtr: number;
  /** Only the present rows' values lie at dataPtr, one after the other, and there is a bitmap. Buffer segments have such columns; merges
   *  take them, everything else gets their runs from `denseRun` (kernel/scan/dense-run.ts). */
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

/** What is known of rows beside each other and beside earlier ones. */
export interface RowFacts {
  /** False when a row may have the series and time of another row, among these or those of a lower sequence. */
  readonly unique: boolean;
  /** When not unique: all times of such rows lie in these ranges, which are ascending and apart; absent = they may have any time. */
  readonly overlaps?: readonly TimeRange[] | undefined;
  /** True: the rows of each series ascend in time. Absent: not known. Of sorted rows it goes without saying. */
  readonly ascending?: boolean;
}

/** Rows with their fields. Series and times are absent where the reader decoded neither: nothing stands for them. */
export interface PartialRun extends RowFacts {
  readonly rowCount: number;
  /** u32 per row: series id in `dictionary`. Both or neither. */
  readonly seriesPtr?: number | undefined;
  readonly dictionary?: DictionaryView | undefined;
  /** i64 per row: nanoseconds since 1970. */
  readonly timePtr?: number | undefined;
  readonly columns: readonly ColumnRun[];
  /** Sorted by series id, then time, each pair once: what a merge makes and a file holds. */
  readonly sorted: boolean;
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  /** Of a segment that takes no more rows: runs of the same number are the same rows with the same columns. No two segments that there ever
   *  were have the same. */
  readonly segment?: number | undefined;
  /** Log sequences of the rows; within one table runs are totally ordered by disjoint ranges, later wins. */
  readonly seqMin: number;
  readonly seqMax: number;
}

/** A run that is decoded as a whole. */
export interface Run extends PartialRun {
  readonly seriesPtr: number;
  readonly dictionary: DictionaryView;
  readonly timePtr: number;
}

/** The run of a reader that asked for series and times. */
export function wholeRun(run: PartialRun): Run {
  const { seriesPtr, timePtr, dictionary } = run;
  assert(seriesPtr !== undefined && timePtr !== undefined && dictionary !== undefined, "the run has series and times");
  // the same object: it is checked, not copied
  return run as Run;
}
