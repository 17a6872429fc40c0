// Groups of a table, computed in steps between which other statements run.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { AggregateRequest } from "../../model/query/aggregate.ts";
import type { ScanRequest } from "../../model/query/scan.ts";
import type { ScanCursor, ScanTable } from "../../model/query/scan-table.ts";
import type { Breathe } from "./series/breathe.ts";

/** Null if the scan cannot compute them. @throws TsdbError what scans throw, and `breathe` */
export async function groupsInTurns(table: ScanTable, request: AggregateRequest, breathe: Breathe): Promise<ScanCursor | null> {
  const steps = table.aggregateInSteps?.(request);
  if (steps === undefined) return table.aggregate?.(request) ?? null;
  try {
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      await breathe();
    }
  } finally {
    // no effect if it has ended
    steps.return(null);
  }
}

/** The number of rows that satisfy the request; null if the scan cannot count them. @throws as groupsInTurns */
export async function countRows(
  kernel: Kernel,
  table: ScanTable,
  { range, tags, tests = [], fields = [] }: Pick<ScanRequest, "range" | "tags" | "tests" | "fields">,
  breathe: Breathe,
): Promise<number | null> {
  const aggregates = [{ fn: "count", column: null }] as const;
  const rows = await groupsInTurns(table, { range, tags, tests, fields, bins: null, groupBy: [], aggregates }, breathe);
  if (rows === null) return null;
  try {
    const chunk = rows.next();
    return chunk === null ? 0 : Number(kernel.i64[chunk.columns[0]!.dataPtr / 8]);
  } finally {
    rows.close();
  }
}
