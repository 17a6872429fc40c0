// Statistics of an ended statement, for the telemetry endpoint and the log.
import type { ScanRecord } from "../query/scan-record.ts";

/** Statistics of one scan of one table. */
export interface TelemetryChunk {
  readonly chunkId: string;
  readonly filesScanned: number;
  /** Blocks of files and runs in memory. */
  readonly blocksProcessed: number;
  /** Blocks, and pages of other blocks, that file indexes excluded. */
  readonly blocksRuledOut: number;
  readonly pagesRuledOut: number;
  readonly rowsRead: number;
  readonly rowsReturned: number;
  readonly bytesRead: number;
}

export interface QueryTelemetry {
  /** A UUID. */
  readonly queryId: string;
  /** Microseconds from the arrival of the request to the end of its processing. */
  readonly executionTimeUs: number;
  readonly chunks: readonly TelemetryChunk[];
  readonly cacheStats: {
    readonly gen0Hits: number;
    readonly gen0Misses: number;
    readonly compactedHits: number;
    readonly compactedMisses: number;
  };
}

/** Sums up the scans of a statement. */
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
