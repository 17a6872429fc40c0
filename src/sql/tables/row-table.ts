// A table of generated rows, written to kernel memory chunk by chunk, so that it is scanned like a user table.
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { LIMITS } from "../../model/limits.ts";
import type { ScanRequest } from "../../model/query/scan.ts";
import type { ScanChunk, ScanColumn, ScanCursor, ScanTable } from "../../model/query/scan-table.ts";
import { type ColumnDef, ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { SystemColumn, SystemRow, SystemType, SystemValue } from "../../model/system-table.ts";
import type { VirtualTable } from "./virtual-tables.ts";

const STORED_AS: Readonly<Record<SystemType, ColumnType>> = {
  text: ColumnType.string,
  texts: ColumnType.string,
  "unsigneds 16": ColumnType.string,
  integer: ColumnType.integer,
  unsigned: ColumnType.unsigned,
  "unsigned 32": ColumnType.unsigned,
  boolean: ColumnType.boolean,
  time: ColumnType.time,
  "zoned time": ColumnType.time,
  duration: ColumnType.integer,
};

/** Its columns as table columns. */
export function rowTableDefs(columns: readonly SystemColumn[]): ColumnDef[] {
  return columns.map(({ name, type }, id) => ({ id, name, type: STORED_AS[type] }));
}

/** Scans generated rows. Owned: call `release`. */
export class RowTable implements ScanTable {
  readonly columns: readonly ColumnDef[];
  /** Texts are kept until the statement ends, because DuckDB's vectors reference them. */
  private readonly blocks: Blocks;

  constructor(
    private readonly kernel: Kernel,
    readonly name: string,
    private readonly own: VirtualTable,
  ) {
    this.columns = rowTableDefs(own.columns);
    this.blocks = new Blocks(kernel);
  }

  get rowCountMax(): number {
    return this.own.rowCountMax;
  }

  open(request: ScanRequest): ScanCursor {
    const left = this.own.rows()[Symbol.iterator]();
    return {
      next: () => {
        const rows: SystemRow[] = [];
        while (rows.length < LIMITS.vectorRows) {
          const { done, value } = left.next();
          if (done) break;
          rows.push(value);
        }
        return rows.length === 0 ? null : this.chunk(request.columns, rows);
      },
      close: () => {},
    };
  }

  /** Frees the memory of all chunks. */
  release(): void {
    this.blocks.release();
  }

  private chunk(columns: readonly ColumnDef[], rows: readonly SystemRow[]): ScanChunk {
    return { rowCount: rows.length, columns: columns.map((column) => this.column(column, rows)) };
  }

  private column({ id, type }: ColumnDef, rows: readonly SystemRow[]): ScanColumn {
    const values = rows.map((row) => row[id] ?? null);
    const dataPtr =
      type === ColumnType.string ? this.blocks.allocViews(values.map((value) => String(value ?? ""))) : this.fixed(type, values);
    return { dataPtr, validityPtr: this.validity(values) };
  }

  private fixed(type: ColumnType, values: readonly SystemValue[]): number {
    const ptr = this.blocks.alloc(values.length * VALUE_BYTES[type]);
    const { i64, u8 } = this.kernel;
    values.forEach((value, i) => {
      if (type === ColumnType.boolean) u8[ptr + i] = Number(value ?? 0);
      else i64[ptr / 8 + i] = BigInt(value ?? 0);
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
