// The groups of a table as the scan computes them, collected in columns.
import { type AggregateRequest, aggregateColumns } from "../../../model/query/aggregate.ts";
import type { Turns } from "../../../model/turns.ts";
import { type GrowingColumn, growingColumn } from "./columns.ts";
import type { MeasurementTable } from "./table.ts";

export interface AggregatedColumns {
  /** In the order of `aggregateColumns`. */
  readonly columns: readonly GrowingColumn[];
  readonly rowCount: number;
}

/** Null: the scan cannot answer the request. @param onChunk called with the bytes collected so far; may refuse more
 *  @throws TsdbError query_limit, cancelled */
export async function aggregatedColumns(
  { scan, kernel }: Pick<MeasurementTable, "scan" | "kernel">,
  request: AggregateRequest,
  turns: Turns,
  onChunk?: (bytes: number) => void,
): Promise<AggregatedColumns | null> {
  const cursor = await turns.run(scan.aggregateInSteps?.(request) ?? null);
  if (cursor === null) return null;
  const columns = aggregateColumns(request).map((type) => growingColumn(kernel, type));
  let rowCount = 0;
  try {
    for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) {
      for (let i = 0; i < columns.length; i++) columns[i]!.append(chunk.columns[i]!, chunk.rowCount);
      rowCount += chunk.rowCount;
      onChunk?.(columns.reduce((sum, { bytes }) => sum + bytes, 0));
      const pause = turns.pause();
      if (pause !== null) await pause;
    }
  } finally {
    cursor.close();
  }
  return { columns, rowCount };
}
