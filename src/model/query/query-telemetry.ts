// What is remembered of a statement that has ended: for the telemetry endpoint and the log.
import type { ScanRecord } from "./scan-record.ts";

/** Of one scan of one table. */
export interface TelemetryChunk {
  readonly chunkId: string;
  readonly filesScanned: number;
  /** Blocks of files and runs of rows in memory. */
  readonly blocksProcessed: number;
  /** Blocks, and pages of others, that file indexes ruled out. */
  readonly blocksRuledOut: number;
  readonly pagesRuledOut: number;
  readonly rowsRead: number;
  readonly rowsReturned: number;
  readonly bytesRead: number;
}

export interface QueryTelemetry {
  /** A UUID. */
  readonly queryId: string;
  /** Microseconds from the request's arrival to the end of the work on it. */
  readonly executionTimeUs: number;
  readonly chunks: readonly TelemetryChunk[];
  readonly cacheStats: {
    readonly gen0Hits: number;
    readonly gen0Misses: number;
    readonly compactedHits: number;
    readonly compactedMisses: number;
  };
}

export function telemetryOf(queryId: string, executionTimeUs: number, scans: readonly ScanRecord[]): QueryTelemetry {
  const cacheStats = { gen0Hits: 0, gen0Misses: 0, compactedHits: 0, compactedMisses: 0 };
  for (const scan of scans) {
    cacheStats.gen0Hits += scan.gen0Hits;
    cacheStats.gen0Misses += scan.gen0Misses;
    cacheStats.compactedHits += scan.compactedHits;
    cacheStats.compactedMisses += scan.compactedMisses;
  }
  const chunks = scans.map((scan, index) => ({
    chunkId: `${index}:${scan.table}`,
    filesScanned: scan.filesRead,
    blocksProcessed: scan.blocksRead + scan.segmentsRead,
    blocksRuledOut: scan.blocksRuledOut,
    pagesRuledOut: scan.pagesRuledOut,
    rowsRead: scan.rowsRead,
    rowsReturned: scan.rowsReturned,
    bytesRead: scan.bytesRead,
  }));
  return { queryId, executionTimeUs, chunks, cacheStats };
}
