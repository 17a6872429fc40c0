// Rows of a scan, and rows as written, as values in column order, for comparison.
import { expect } from "bun:test";
import type { Kernel } from "../../../src/kernel/memory/kernel.ts";
import { LIMITS } from "../../../src/model/limits.ts";
import type { ScanCursor } from "../../../src/model/query/scan-table.ts";
import { type ColumnDef, ColumnType } from "../../../src/model/rows/column.ts";
import { readChunk, type TestRow, type TestValue } from "./rows.ts";

export type RowValues = (TestValue | null)[];

/** All rows of a cursor, which is closed twice. Chunks hold 1 .. vectorRows rows. */
export function drain(kernel: Kernel, cursor: ScanCursor, columns: readonly ColumnDef[]): RowValues[] {
  const rows: RowValues[] = [];
  for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) {
    expect(chunk.rowCount).toBeGreaterThan(0);
    expect(chunk.rowCount).toBeLessThanOrEqual(LIMITS.vectorRows);
    rows.push(...readChunk(kernel, columns, chunk));
  }
  expect(cursor.next()).toBeNull();
  cursor.close();
  cursor.close();
  return rows;
}

/** The values that a scan of these columns returns for a row. */
export function project(columns: readonly ColumnDef[], row: TestRow): RowValues {
  return columns.map(({ name, type }) => {
    if (type === ColumnType.time) return row.timeNs;
    return (type === ColumnType.tag ? row.tags[name] : row.fields[name]) ?? null;
  });
}
