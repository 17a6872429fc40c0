// The location of a column in its file: the extents of its pages and dictionary, each with a checksum.
import type { ColumnType } from "../../model/rows/column.ts";

/** A range of a file with its checksum. */
export interface PtExtent {
  readonly offset: number;
  readonly bytes: number;
  readonly crc: number;
}

/** A column of a directory. */
export interface StoredColumn {
  readonly columnId: number;
  readonly type: ColumnType;
  chunk(page: number): PtExtent;
  /** The dictionary before the chunks of a page's group, in Parquet files of older servers. */
  dictionary?(page: number): PtExtent | null;
}
