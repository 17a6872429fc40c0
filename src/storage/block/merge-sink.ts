// What a merge of blocks hands to the writer of a file, whatever its format: groups of merged rows, column by column, and at the end the
// series that they are numbered by.
import type { ColumnType } from "../../model/rows/column.ts";
import type { ColumnRun, TagColumnView } from "../../model/rows/run.ts";

/** A field or time column that the block will have. */
export interface MergedColumn {
  readonly columnId: number;
  readonly type: ColumnType;
}

/** Rows in the order of files; borrowed until the group's end. Series are numbers of the merge, ascending. */
export interface MergedGroup {
  readonly rowCount: number;
  /** u32 per row, less `firstSeries`. */
  readonly seriesPtr: number;
  readonly firstSeries: number;
  readonly timePtr: number;
  /** Rows of each page: a multiple of 64, but for the block's last page, and at most LIMITS.pageRowsMax. */
  readonly pageRows: readonly number[];
}

/** All series of a merge, in order. */
export interface MergedSeries {
  readonly seriesCount: number;
  /** Values in ascending order. */
  readonly tags: readonly TagColumnView[];
}

export interface MergeSink {
  /** A group has a multiple of so many rows where possible: of LIMITS.pageRowsMax at least. */
  readonly groupRows: number;
  /** Before the first group. `columns`: time first, then fields by ascending ids. `series` is borrowed until `end`. */
  begin(columns: readonly MergedColumn[], series: MergedSeries): void;
  /** `pace` is called between steps of some 10 ms, if there are several. */
  beginGroup(group: MergedGroup, pace: () => Promise<void>): Promise<void> | void;
  /** The group's rows of a column; columns come in the order of `begin`, each once a group. */
  writeColumn(column: ColumnRun): void;
  endGroup(): void;
  /** After the last group. `rowCountsPtr`: rows of each series, u32, 0 = it has none left. Not called when there is no row. */
  end(rowCountsPtr: number): void;
}
