// What a statement's scans did, for EXPLAIN ANALYZE and the telemetry of queries.

/** Of one scan of one table. `seen`: what the snapshot has of the table; `read`: what was left after pruning by time, tags and series. */
export interface ScanRecord {
  table: string;
  filesSeen: number;
  filesRead: number;
  /** A table's part of one file, of one UTC day. */
  blocksSeen: number;
  blocksRead: number;
  /** Pages of blocks; seen are those of blocks that were opened. */
  pagesSeen: number;
  pagesRead: number;
  /** Blocks, and pages of blocks that were read, of which file indexes say that they hold no wanted row. */
  blocksRuledOut: number;
  pagesRuledOut: number;
  /** Runs of rows in memory. */
  segmentsSeen: number;
  segmentsRead: number;
  /** Rows that were looked at: those of pages and segments that were read. */
  rowsRead: number;
  /** Rows, or groups, handed to the engine. */
  rowsReturned: number;
  /** Read from files. */
  bytesRead: number;
  /** Pages' columns and dictionaries found decoded in memory, and not; of generation 0 and of compacted files. */
  gen0Hits: number;
  gen0Misses: number;
  compactedHits: number;
  compactedMisses: number;
}

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
