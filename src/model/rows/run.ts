// Rows in the kernel's shared memory. A run is the common form of a buffer segment, a decoded .pt page and a merge result; pointers are
// byte offsets into the shared memory, valid while the run's pin is held.
import { assert } from "../assert.ts";
import type { TimeRange } from "../query/scan.ts";
import type { ColumnType } from "./column.ts";
import type { DictionaryView } from "./dictionary.ts";

export type { DictionaryView, TagColumnView } from "./dictionary.ts";

/** One field column of a run: VALUE_BYTES[type] × rowCount bytes at dataPtr; validityPtr is an LSB-first bitmap (1 = present), 0 = all
 *  present. Values of absent rows are 0: DuckDB receives them too, so they must not be other data. */
export interface ColumnRun {
  readonly columnId: number;
  readonly type: ColumnType;
  readonly dataPtr: number;
  readonly validityPtr: number;
  /** Only the values of present rows are at dataPtr, back to back, and there is a bitmap. Buffer segments have such columns; merges read
   *  them, all other code uses `denseRun` (kernel/scan/dense-run.ts). */
  readonly isPacked?: true;
  /** The same values in fewer bytes. Those at dataPtr are written when it is read for the first time then. */
  readonly narrow?: NarrowValues;
  /** Reads listed rows without those at dataPtr, which are written when that is read for the first time. */
  readonly gather?: GatherRows;
}

/** Writes the values of `count` row numbers (u32 each, ascending) at `rowsPtr`, one behind the other. */
export type GatherRows = (rowsPtr: number, count: number, targetPtr: number) => void;

/** Integers as differences to the smallest of them: `width` bytes (1, 2 or 4) × rowCount at `ptr`. */
export interface NarrowValues {
  readonly ptr: number;
  readonly width: number;
  readonly base: bigint;
}

/** Known relations of rows to each other and to earlier rows. */
export interface RowFacts {
  /** False if a row may have the series and time of another row, in this set or of a lower sequence. */
  readonly unique: boolean;
  /** If not unique: ranges that contain the times of all such rows, ascending and disjoint; absent = any time. */
  readonly overlaps?: readonly TimeRange[] | undefined;
  /** True: the rows of each series ascend in time. Absent: unknown. Implied by `sorted`. */
  readonly ascending?: boolean;
}

/** Rows with their fields. Series and times are absent if the reader did not decode them. */
export interface PartialRun extends RowFacts {
  readonly rowCount: number;
  /** u32 per row: series id in `dictionary`. Present together with timePtr or not at all. */
  readonly seriesPtr?: number | undefined;
  readonly dictionary?: DictionaryView | undefined;
  /** i64 per row: nanoseconds since 1970. */
  readonly timePtr?: number | undefined;
  /** Read series and times of listed rows, where those of all rows are written when seriesPtr and timePtr are read for the first time. Not
   *  enumerable: a copy of the run with other rows is without them. */
  readonly gatherSeries?: GatherRows;
  readonly gatherTimes?: GatherRows;
  readonly columns: readonly ColumnRun[];
  /** Sorted by series id, then time, each pair once: results of merges and contents of files. */
  readonly sorted: boolean;
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  /** Number of a buffer segment that takes no more rows; equal numbers mean identical rows and columns. Never reused. */
  readonly segment?: number | undefined;
  /** Log sequences of the rows. The ranges of one table's runs are disjoint and totally ordered; the later run wins. */
  readonly seqMin: number;
  readonly seqMax: number;
}

/** A run with series and times. */
export interface Run extends PartialRun {
  readonly seriesPtr: number;
  readonly dictionary: DictionaryView;
  readonly timePtr: number;
}

/** The run of a reader that decoded series and times. */
export function wholeRun(run: PartialRun): Run {
  const { seriesPtr, timePtr, dictionary } = run;
  assert(seriesPtr !== undefined && timePtr !== undefined && dictionary !== undefined, "the run has series and times");
  // the same object, checked rather than copied
  return run as Run;
}
