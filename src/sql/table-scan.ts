// A table of the snapshot as DuckDB's table function sees it: columns by name, cursors opened with what the WHERE clause said.
import type { ChunkCursor, ScanSource } from "../duckdb/table-function.ts";
import type { ColumnDef } from "../model/column.ts";
import { ALL_TIME, type ScanTable, type TimeRange } from "../model/scan.ts";
import { encodeName } from "./names.ts";

/** The dialect's order of `*`: by name, byte for byte. */
export function compareNames(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

const EMPTY: ChunkCursor = { next: () => null, close: () => {} };

/** One reference to a table in a running statement. */
export class TableScan implements ScanSource {
  readonly defs: readonly ColumnDef[];
  readonly columns: ScanSource["columns"];
  /** Set by the rewriter before the statement starts. */
  range: TimeRange = ALL_TIME;
  tags: { columnId: number; values: readonly (string | null)[] }[] = [];
  handle = 0;
  private readonly open_ = new Set<ChunkCursor>();
  private ended = false;
  error: unknown;

  /** `sorted`: `*` is in the order of names, as for all tables of users. */
  constructor(
    readonly table: ScanTable,
    sorted: boolean,
  ) {
    this.defs = sorted ? [...table.columns].sort((a, b) => compareNames(a.name, b.name)) : table.columns;
    this.columns = this.defs.map(({ name, type }) => ({ name: encodeName(name), type }));
  }

  get rowCountMax(): number {
    return this.table.rowCountMax;
  }

  open(columnIndexes: readonly number[]): ChunkCursor {
    if (this.ended) throw new Error("the statement has ended");
    if (this.range.minNs > this.range.maxNs) return EMPTY;
    const cursor = this.table.open({ columns: columnIndexes.map((index) => this.defs[index]!), range: this.range, tags: this.tags });
    const tracked: ChunkCursor = {
      // a straggling thread of DuckDB must not read memory whose pin is gone
      next: () => (this.ended ? null : cursor.next()),
      close: () => {
        if (this.open_.delete(tracked)) cursor.close();
      },
    };
    this.open_.add(tracked);
    return tracked;
  }

  failed(error: unknown): void {
    this.error ??= error;
  }

  /** Closes what is open; nothing is read after it. */
  end(): void {
    this.ended = true;
    for (const cursor of [...this.open_]) cursor.close();
  }
}
