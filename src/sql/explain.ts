// EXPLAIN: DuckDB's plan as the vendor's two columns, without our internal names.
import type { ResultStream } from "../duckdb/result-stream.ts";
import type { ResultBatch, ResultField } from "../model/result-batch.ts";
import type { ScanRecord } from "../model/scan-record.ts";
import { decodeNames, withoutInternalMarks } from "./names.ts";

export const EXPLAIN_FIELDS: readonly ResultField[] = [
  { name: "plan_type", type: { kind: "utf8" } },
  { name: "plan", type: { kind: "utf8" } },
];

export interface ExplainOptions {
  readonly analyze: boolean;
  readonly scans: () => readonly ScanRecord[];
}

/** The whole plan as one row; behind it, when the statement was run, a line of each scan. */
export async function explainAnswer(stream: ResultStream, { analyze, scans }: ExplainOptions): Promise<ResultBatch> {
  const decoder = new TextDecoder();
  let text = "";
  for (let batch = await stream.next(); batch !== null; batch = await stream.next()) text += decoder.decode(batch.columns[1]!.data!);
  const plan = decodeNames(withoutInternalMarks(text))
    // EXPLAIN ANALYZE repeats the statement as DuckDB got it
    .replace(/^EXPLAIN ANALYZE [\s\S]*?(?=┌)/m, "")
    .replaceAll("__SCAN", "SCAN  ")
    .replaceAll("__scan", "scan  ");
  const lines = analyze ? scans().map(scanLine) : [];
  return { rowCount: 1, columns: [analyze ? "Plan with Metrics" : "physical_plan", [plan, ...lines].join("\n")].map(textColumn) };
}

function scanLine(scan: ScanRecord): string {
  const parts = [
    `files=${scan.filesRead}/${scan.filesSeen}`,
    `blocks=${scan.blocksRead}/${scan.blocksSeen}`,
    `pages=${scan.pagesRead}/${scan.pagesSeen}`,
    `segments=${scan.segmentsRead}/${scan.segmentsSeen}`,
    `rows_read=${scan.rowsRead}`,
    `rows_returned=${scan.rowsReturned}`,
    `bytes_read=${scan.bytesRead}`,
    `gen0_hits=${scan.gen0Hits}`,
    `gen0_misses=${scan.gen0Misses}`,
    `compacted_hits=${scan.compactedHits}`,
    `compacted_misses=${scan.compactedMisses}`,
  ];
  return `scan of ${scan.table}: ${parts.join(" ")}`;
}

function textColumn(text: string): ResultBatch["columns"][number] {
  const data = new TextEncoder().encode(text);
  return { validity: null, values: new Uint8Array(0), offsets: Int32Array.of(0, data.length), data };
}
