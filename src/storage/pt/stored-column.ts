// Where a column of a block lies in its file: pages and dictionary, each with its checksum.
import type { ColumnType } from "../../model/rows/column.ts";

/** A checked piece of a file. */
export interface PtExtent {
  readonly offset: number;
  readonly bytes: number;
  readonly crc: number;
}

/** A column out of a directory. */
export interface StoredColumn {
  readonly columnId: number;
  readonly type: ColumnType;
  chunk(page: number): PtExtent;
  /** What lies before the chunks of a page's group, in Parquet files of older servers. */
  dictionary?(page: number): PtExtent | null;
}
