// The rows of an aggregation as values, whether they have the tags of their groups or the numbers.
import type { Kernel } from "../../../src/kernel/memory/kernel.ts";
import { LIMITS } from "../../../src/model/limits.ts";
import { type AggregateRequest, aggregateColumns } from "../../../src/model/query/aggregate.ts";
import type { ScanCursor } from "../../../src/model/query/scan-table.ts";
import { ColumnType } from "../../../src/model/rows/column.ts";
import type { GroupValue } from "./naive-aggregate.ts";
import { readChunk, readValue } from "./rows.ts";

/** The bin if there are bins, tags, aggregates; closes the cursor. */
export function readGroups(kernel: Kernel, cursor: ScanCursor, request: AggregateRequest): GroupValue[][] {
  const columnsOf = (wanted: AggregateRequest) => aggregateColumns(wanted).map((type, id) => ({ id, name: "", type }));
  const rows: GroupValue[][] = [];
  const numbers: number[] = [];
  for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) {
    if (chunk.rowCount > LIMITS.vectorRows) throw new Error(`a chunk of ${chunk.rowCount} rows`);
    rows.push(...readChunk(kernel, columnsOf(request), chunk));
    if (chunk.groupsPtr !== undefined) numbers.push(...kernel.u32.subarray(chunk.groupsPtr / 4, chunk.groupsPtr / 4 + chunk.rowCount));
  }
  if (request.numbersGroups) {
    const tags = cursor.groupTags!();
    for (const [i, row] of rows.entries()) {
      const codes = tags.map(({ codesPtr }) => kernel.u32[codesPtr / 4 + numbers[i]!]!);
      const values = tags.map(
        ({ valuesPtr }, t): GroupValue =>
          codes[t] === 0 ? null : readValue(kernel, ColumnType.tag, { dataPtr: valuesPtr, validityPtr: 0 }, codes[t]!),
      );
      row.splice(request.bins === null ? 0 : 1, 0, ...values);
    }
  }
  cursor.close();
  return rows;
}
