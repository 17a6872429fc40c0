// A block of a data file as a scan sees it: a dictionary of series, and pages of rows whose columns are decoded
// one by one. Readers hold no decoded data: what is worth keeping is the caller's cache's to keep.
import type { ColumnType } from "../../model/rows/column.ts";
import type { ColumnRun, DictionaryView } from "../../model/rows/run.ts";

/** Where decoded data goes: kernel memory that the caller owns and frees as a whole. */
export interface DecodeMemory {
  /** Contents undefined. @throws TsdbError overloaded */
  alloc(bytes: number): number;
}

/** Rows of a block that are decoded together, sorted by series and time. */
export interface BlockPage {
  readonly rowCount: number;
  /** Number of its first row in the block. */
  readonly firstRow: number;
  /** Ids in the block's dictionary. */
  readonly firstSeries: number;
  readonly lastSeries: number;
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
}

/** The range of times that pages, at least one, cover. */
export function timesOf(pages: readonly Pick<BlockPage, "minTimeNs" | "maxTimeNs">[]): { minTimeNs: bigint; maxTimeNs: bigint } {
  let { minTimeNs, maxTimeNs } = pages[0]!;
  for (const page of pages) {
    if (page.minTimeNs < minTimeNs) minTimeNs = page.minTimeNs;
    if (page.maxTimeNs > maxTimeNs) maxTimeNs = page.maxTimeNs;
  }
  return { minTimeNs, maxTimeNs };
}

/** The series of a block. `offsetsPtr`: u32[seriesCount + 1], series s has the rows from offsets[s] to before offsets[s + 1]. */
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
  /** Time and the fields that some row has a value of. */
  readonly columns: readonly { readonly columnId: number; readonly type: ColumnType }[];
  /** @throws TsdbError corrupt_file naming file and offset, io, overloaded */
  readSeries(memory: DecodeMemory): BlockSeries;
  /** The values of one page, `rowCount` of them, text included; null when the block does not have the column. @throws as readSeries */
  readColumn(page: number, columnId: number, memory: DecodeMemory): ColumnRun | null;
}

/** An open data file: its directory is read and checked. */
export interface DataFile {
  readonly blockCount: number;
  /** What it keeps in JavaScript's memory, for a cache's budget. */
  readonly memoryBytes: number;
  /** Read from the file so far. */
  readonly bytesRead: number;
  /** @throws TsdbError corrupt_file */
  block(index: number): DataBlock;
  /** Lets go of descriptor and scratch memory; reading again takes both again. */
  close(): void;
}
