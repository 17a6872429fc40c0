// A table of the snapshot as DuckDB's table function sees it: columns by name, cursors opened with what the WHERE clause said.
import type { ChunkCursor, ScanSource } from "../duckdb/table-function.ts";
import type { ColumnDef } from "../model/column.ts";
import { ALL_TIME, type FieldPredicate, type ScanTable, type TimeRange } from "../model/scan.ts";
import type { ScanUse } from "./kind.ts";
import { encodeName } from "./names.ts";
import { OpenCursors } from "./open-cursors.ts";

/** The dialect's order of `*`: by name, byte for byte. */
export function compareNames(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export const EMPTY_CURSOR: ChunkCursor = { next: () => null, close: () => {} };

/** What a statement reads: rows of a table, or groups of them. */
export interface StatementScan extends ScanSource {
  readonly table: ScanTable;
  handle: number;
  /** The first error of its cursors. */
  error: unknown;
  end(): void;
}

/** One reference to a table in a running statement. */
export class TableScan implements StatementScan, ScanUse {
  readonly defs: readonly ColumnDef[];
  readonly columns: ScanSource["columns"];
  /** Set by the rewriter before the statement starts. */
  range: TimeRange = ALL_TIME;
  tags: ScanUse["tags"] = [];
  fields: FieldPredicate[] = [];
  handle = 0;
  error: unknown;
  private readonly cursors = new OpenCursors();

  /** `sorted`: `*` is in the order of names, as for all tables of users. */
  constructor(
    readonly table: ScanTable,
    sorted: boolean,
  ) {
    this.defs = sorted ? sortedColumns(table) : table.columns;
    this.columns = this.defs.map(({ name, type }) => ({ name: encodeName(name), type }));
  }

  get selectsExactly(): boolean {
    return this.table.selectsExactly === true;
  }

  get rowCountMax(): number {
    return this.table.rowCountMax;
  }

  open(columnIndexes: readonly number[]): ChunkCursor {
    this.cursors.throwIfEnded();
    if (this.range.minNs > this.range.maxNs) return EMPTY_CURSOR;
    const columns = columnIndexes.map((index) => this.defs[index]!);
    return this.cursors.track(this.table.open({ columns, range: this.range, tags: this.tags, fields: this.fields }));
  }

  failed(error: unknown): void {
    this.error ??= error;
  }

  /** Closes what is open; nothing is read after it. */
  end(): void {
    this.cursors.end();
  }
}

/** A table's columns in the order of `*`. */
export function sortedColumns(table: ScanTable): readonly ColumnDef[] {
  return [...table.columns].sort((a, b) => compareNames(a.name, b.name));
}
