// EXPLAIN: DuckDB's plan as the vendor's two columns, without our internal names.
import type { ResultStream } from "../duckdb/result-stream.ts";
import type { ResultBatch, ResultField } from "../model/result-batch.ts";
import { decodeNames, withoutInternalMarks } from "./names.ts";

export const EXPLAIN_FIELDS: readonly ResultField[] = [
  { name: "plan_type", type: { kind: "utf8" } },
  { name: "plan", type: { kind: "utf8" } },
];

/** The whole plan as one row. */
export async function explainAnswer(stream: ResultStream, analyze: boolean): Promise<ResultBatch> {
  const decoder = new TextDecoder();
  let text = "";
  for (let batch = await stream.next(); batch !== null; batch = await stream.next()) text += decoder.decode(batch.columns[1]!.data!);
  const plan = decodeNames(withoutInternalMarks(text))
    // EXPLAIN ANALYZE repeats the statement as DuckDB got it
    .replace(/^EXPLAIN ANALYZE [\s\S]*?(?=┌)/m, "")
    .replaceAll("__SCAN", "SCAN  ")
    .replaceAll("__scan", "scan  ");
  return { rowCount: 1, columns: [analyze ? "Plan with Metrics" : "physical_plan", plan].map(textColumn) };
}

function textColumn(text: string): ResultBatch["columns"][number] {
  const data = new TextEncoder().encode(text);
  return { validity: null, values: new Uint8Array(0), offsets: Int32Array.of(0, data.length), data };
}
