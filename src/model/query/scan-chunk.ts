// Rows of a scan in chunks of shared memory.
import type { DictionaryView } from "../rows/dictionary.ts";

/** VALUE_BYTES[type] × rowCount bytes at dataPtr (tags and strings as views); validityPtr is an LSB-first bitmap, 0 = all present.
 *  Borrowed until the next call of `next`. dataPtr 0 = every row is NULL. */
export interface ScanColumn {
  readonly dataPtr: number;
  readonly validityPtr: number;
}

/** The series of rows: u32 ids in `dictionary`, one per row, at idsPtr. Borrowed like columns. */
export interface ScanSeries {
  readonly idsPtr: number;
  readonly dictionary: DictionaryView;
}

/** Values of a tag: a code for each group, 0 for absent, and a view for each code, that of 0 undefined. */
export interface GroupTag {
  readonly codesPtr: number;
  readonly valuesPtr: number;
}

export interface ScanChunk {
  /** 1 .. LIMITS.vectorRows */
  readonly rowCount: number;
  readonly columns: readonly ScanColumn[];
  /** Present if the request has `withSeries`. */
  readonly series?: ScanSeries;
  /** Present if the request has `numbersGroups`: the number of each row's group, u32. Borrowed like columns. */
  readonly groupsPtr?: number;
}

/** A chunk with copies of its texts. */
export interface KeptChunk extends ScanChunk {
  /** Bytes that were copied. */
  readonly textBytes: number;
}

export interface ScanCursor {
  next(): ScanChunk | null;
  /** The grouping tags of all groups; borrowed until `close`. Present if the request has `numbersGroups`. */
  groupTags?(): readonly GroupTag[];
  close(): void;
}
