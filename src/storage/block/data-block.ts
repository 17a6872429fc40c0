// A block of a data file as a scan reads it: a series dictionary, and pages of rows whose columns are decoded individually. Readers keep no
// decoded data: caching is the caller's task.
import type { RowParts } from "../../kernel/codec/codec.ts";
import type { ColumnType } from "../../model/rows/column.ts";
import type { ColumnRun, DictionaryView } from "../../model/rows/run.ts";

/** Target memory for decoded data, owned and freed as a whole by the caller. */
export interface DecodeMemory {
  /** A block with undefined contents. @throws TsdbError overloaded */
  alloc(bytes: number): number;
}

/** Rows of a block that are decoded together, sorted by series and time. */
export interface BlockPage {
  readonly rowCount: number;
  /** Number of its first row within the block. */
  readonly firstRow: number;
  /** Ids in the block's dictionary. */
  readonly firstSeries: number;
  readonly lastSeries: number;
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
}

/** The time range covered by at least one page. */
export function timesOf(pages: readonly Pick<BlockPage, "minTimeNs" | "maxTimeNs">[]): { minTimeNs: bigint; maxTimeNs: bigint } {
  let { minTimeNs, maxTimeNs } = pages[0]!;
  for (const page of pages) {
    if (page.minTimeNs < minTimeNs) minTimeNs = page.minTimeNs;
    if (page.maxTimeNs > maxTimeNs) maxTimeNs = page.maxTimeNs;
  }
  return { minTimeNs, maxTimeNs };
}

/** Some rows of a page. */
export interface PageRowParts {
  readonly parts: RowParts;
  /** The rows of all parts, at least one. */
  readonly rowCount: number;
}

/** The series of a block. `offsetsPtr`: u32[seriesCount + 1]; series s has rows offsets[s] .. offsets[s + 1] - 1. */
export interface BlockSeries {
  readonly dictionary: DictionaryView;
  readonly offsetsPtr: number;
}

/** Rows of one table and one UTC day, sorted by series and time, each pair once. */
export interface DataBlock {
  readonly tableId: number;
  readonly rowCount: number;
  readonly seriesCount: number;
  readonly pages: readonly BlockPage[];
  /** Time and every field with at least one value. */
  readonly columns: readonly { readonly columnId: number; readonly type: ColumnType }[];
  /** @throws TsdbError corrupt_file naming file and offset, io, overloaded */
  readSeries(memory: DecodeMemory): BlockSeries;
  /** The values of one page: `rowCount` of them, text included; null if the block lacks the column. @throws as readSeries */
  readColumn(page: number, columnId: number, memory: DecodeMemory): ColumnRun | null;
  /** The values of `rowCount` rows of a page, those of `parts`, back to back. @throws as readSeries */
  readRows(page: number, columnId: number, rows: PageRowParts, memory: DecodeMemory): ColumnRun | null;
}

/** An open data file; its directory has been read and checked. */
export interface DataFile {
  readonly blockCount: number;
  /** Its JavaScript memory, for a cache's budget. */
  readonly memoryBytes: number;
  /** Bytes read from the file so far. */
  readonly bytesRead: number;
  /** @throws TsdbError corrupt_file */
  block(index: number): DataBlock;
  /** Frees file descriptor and scratch memory; later reads allocate them again. */
  close(): void;
}
