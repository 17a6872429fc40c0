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

export interface ScanChunk {
  /** 1 .. LIMITS.vectorRows */
  readonly rowCount: number;
  readonly columns: readonly ScanColumn[];
  /** Present if the request has `withSeries`. */
  readonly series?: ScanSeries;
}

export interface ScanCursor {
  next(): ScanChunk | null;
  close(): void;
}
