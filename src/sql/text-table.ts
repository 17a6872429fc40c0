// A small table of texts and integers, written to the kernel's memory chunk by chunk, so that rows made by us are scanned like rows
// written by users.
import { Blocks } from "../kernel/blocks.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { type ColumnDef, ColumnType } from "../model/column.ts";
import { LIMITS } from "../model/limits.ts";
import type { ScanChunk, ScanColumn, ScanCursor, ScanRequest, ScanTable } from "../model/scan.ts";

export type TextRow = Readonly<Record<string, string | bigint | null>>;

/** Rows by column name; a column that a row does not have is NULL. Columns are of type string or integer. */
export class TextTable implements ScanTable {
  /** Texts stay until the statement ends, because DuckDB's vectors point to them. */
  private readonly blocks: Blocks;

  constructor(
    private readonly kernel: Kernel,
    readonly name: string,
    readonly columns: readonly ColumnDef[],
    private readonly rows: readonly TextRow[],
  ) {
    this.blocks = new Blocks(kernel);
  }

  get rowCountMax(): number {
    return this.rows.length;
  }

  open(request: ScanRequest): ScanCursor {
    let at = 0;
    return {
      next: () => {
        if (at >= this.rows.length) return null;
        const rows = this.rows.slice(at, at + LIMITS.vectorRows);
        at += rows.length;
        return this.chunk(request.columns, rows);
      },
      close: () => {},
    };
  }

  /** Frees the memory of all chunks. */
  release(): void {
    this.blocks.release();
  }

  private chunk(columns: readonly ColumnDef[], rows: readonly TextRow[]): ScanChunk {
    return { rowCount: rows.length, columns: columns.map((column) => this.column(column, rows)) };
  }

  private column({ name, type }: ColumnDef, rows: readonly TextRow[]): ScanColumn {
    const values = rows.map((row) => row[name] ?? null);
    const dataPtr = type === ColumnType.string ? this.blocks.allocViews(values.map((value) => String(value ?? ""))) : this.integers(values);
    return { dataPtr, validityPtr: this.validity(values) };
  }

  private integers(values: readonly (string | bigint | null)[]): number {
    const ptr = this.blocks.alloc(values.length * 8);
    const { i64 } = this.kernel;
    values.forEach((value, i) => {
      i64[ptr / 8 + i] = BigInt(value ?? 0);
    });
    return ptr;
  }

  private validity(values: readonly unknown[]): number {
    const ptr = this.blocks.allocZeroed(Math.ceil(values.length / 64) * 8);
    const { u8 } = this.kernel;
    values.forEach((value, i) => {
      if (value !== null) u8[ptr + (i >> 3)] = u8[ptr + (i >> 3)]! | (1 << (i & 7));
    });
    return ptr;
  }
}
