// A table of plain rows in the kernel's memory, scanned like a table of a snapshot, and answers of the SQL engine as plain values.
import type { Kernel } from "../../../src/kernel/memory/kernel.ts";
import { LIMITS } from "../../../src/model/limits.ts";
import type { ScanRequest, TimeRange } from "../../../src/model/query/scan.ts";
import type { ScanColumn, ScanCursor, ScanTable } from "../../../src/model/query/scan-table.ts";
import { type ColumnDef, ColumnType, VALUE_BYTES } from "../../../src/model/rows/column.ts";
import { Arena, type TestValue, writeColumn } from "./rows.ts";

/** Values by column name; an absent one is NULL. */
export type FakeRow = Readonly<Record<string, TestValue | null>>;

/** Column types by name, in order of appearance. */
export function columnDefs(types: Readonly<Record<string, ColumnType>>): ColumnDef[] {
  return Object.entries(types).map(([name, type], index) => ({ id: type === ColumnType.time ? 0 : index + 100, name, type }));
}

/** Ignores the hints of a request and records the requests for tests. */
export class FakeTable implements ScanTable {
  readonly columns: readonly ColumnDef[];
  /** The reported value; may be changed. */
  rowCountMax: number;
  /** May be set. */
  times?: TimeRange;
  readonly requests: ScanRequest[] = [];
  openCursors = 0;
  /** Called before every chunk. */
  onChunk: (chunk: number) => void = () => {};
  private readonly arena: Arena;
  private readonly data = new Map<number, ScanColumn>();

  constructor(
    kernel: Kernel,
    readonly name: string,
    types: Readonly<Record<string, ColumnType>>,
    readonly fakeRows: readonly FakeRow[],
  ) {
    this.columns = columnDefs(types);
    const rows = fakeRows;
    this.rowCountMax = rows.length;
    this.arena = new Arena(kernel);
    for (const column of this.columns) {
      const values = rows.map((row) => row[column.name] ?? null);
      const allNull = values.every((value) => value === null);
      // a tag in a chunk is a string view, like a string
      const asString = column.type === ColumnType.tag ? { ...column, type: ColumnType.string } : column;
      this.data.set(column.id, allNull ? { dataPtr: 0, validityPtr: 0 } : writeColumn(this.arena, asString, values));
    }
  }

  open(request: ScanRequest): ScanCursor {
    this.requests.push(request);
    this.openCursors++;
    let row = 0;
    let closed = false;
    return {
      next: () => {
        const total = this.fakeRows.length;
        if (row >= total) return null;
        this.onChunk(row / LIMITS.vectorRows);
        const first = row;
        const rowCount = Math.min(LIMITS.vectorRows, total - row);
        row += rowCount;
        return { rowCount, columns: request.columns.map((column) => this.slice(column, first)) };
      },
      close: () => {
        if (closed) throw new Error("a cursor was closed twice");
        closed = true;
        this.openCursors--;
      },
    };
  }

  free(): void {
    this.arena.free();
  }

  private slice(column: ColumnDef, first: number): ScanColumn {
    const { dataPtr, validityPtr } = this.data.get(column.id)!;
    if (dataPtr === 0) return { dataPtr: 0, validityPtr: 0 };
    return { dataPtr: dataPtr + first * VALUE_BYTES[column.type], validityPtr: validityPtr === 0 ? 0 : validityPtr + first / 8 };
  }
}
