// Statistics of a statement's scans, for EXPLAIN ANALYZE and the telemetry endpoint.

/** One scan of one table. `seen`: the table's data in the snapshot; `read`: what remained after pruning by time, tags and series. */
export interface ScanRecord {
  table: string;
  filesSeen: number;
  filesRead: number;
  /** A block is a table's part of a file, for one UTC day. */
  blocksSeen: number;
  blocksRead: number;
  /** Pages; seen are those of opened blocks. */
  pagesSeen: number;
  pagesRead: number;
  /** Blocks, and pages of read blocks, that file indexes excluded. */
  blocksRuledOut: number;
  pagesRuledOut: number;
  /** Runs in memory. */
  segmentsSeen: number;
  segmentsRead: number;
  /** Rows of the pages and segments that were read: of a page all, or the wanted ones if only these were decoded. */
  rowsRead: number;
  /** Rows or groups returned by the scan. */
  rowsReturned: number;
  /** Bytes read from files. */
  bytesRead: number;
  /** Columns of pages and dictionaries found in the block cache, and not found; for generation 0 and for compacted files. */
  gen0Hits: number;
  gen0Misses: number;
  compactedHits: number;
  compactedMisses: number;
}

/** A record for a scan of `table` that has not read anything. */
export function emptyScanRecord(table: string): ScanRecord {
  return {
    table,
    filesSeen: 0,
    filesRead: 0,
    blocksSeen: 0,
    blocksRead: 0,
    pagesSeen: 0,
    pagesRead: 0,
    blocksRuledOut: 0,
    pagesRuledOut: 0,
    segmentsSeen: 0,
    segmentsRead: 0,
    rowsRead: 0,
    rowsReturned: 0,
    bytesRead: 0,
    gen0Hits: 0,
    gen0Misses: 0,
    compactedHits: 0,
    compactedMisses: 0,
  };
}
