// A parsed body as plain objects: what the reference parser gives, and what is read back from the kernel's, so that they can be compared.
import type { Kernel } from "../../src/kernel/memory/kernel.ts";
import type { LineParser, ParseOptions } from "../../src/kernel/parse/line-parser.ts";
import type { ParsedBody, ParsedColumn, ParsedTable } from "../../src/kernel/parse/parser-view.ts";
import { ColumnType } from "../../src/model/rows/column.ts";

export type FieldValue = number | bigint | string | boolean;

export interface PlainRow {
  readonly lineOffset: number;
  readonly timeNs: bigint;
  /** As written in the line. */
  readonly tags: readonly (readonly [name: string, value: string])[];
  /** Sorted by name. */
  readonly fields: readonly (readonly [name: string, type: ColumnType, value: FieldValue])[];
}

export interface PlainBody {
  readonly lineCount: number;
  readonly rowCount: number;
  /** In the order of their first rows. */
  readonly tables: readonly { readonly name: string; readonly rows: readonly PlainRow[] }[];
  readonly errors: readonly { readonly lineOffset: number; readonly lineBytes: number; readonly message: string }[];
}

export type PlainParser = (body: Uint8Array, options: ParseOptions) => PlainBody;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Orders entries by their names. */
export function byName(a: readonly [string, ...unknown[]], b: readonly [string, ...unknown[]]): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;
}

/** Reads everything that a parser says about a body. Throws when the parser contradicts itself. */
export class KernelReader {
  private series: [string, string][][][] = [];
  private generation = 0;

  constructor(
    private readonly kernel: Kernel,
    readonly parser: LineParser,
  ) {}

  parse(body: Uint8Array, options: ParseOptions): PlainBody {
    const parsed = this.parser.parse(body, options);
    if (this.generation !== this.parser.generation) this.series = [];
    this.generation = this.parser.generation;
    return this.read(parsed);
  }

  private read(parsed: ParsedBody): PlainBody {
    const tables = parsed.tables.map((table) => ({ name: table.name, rows: this.readRows(table) }));
    const rowCount = tables.reduce((sum, table) => sum + table.rows.length, 0);
    if (rowCount !== parsed.rowCount) throw new Error(`${rowCount} rows in tables, rowCount ${parsed.rowCount}`);
    const errors = parsed.errors.map(({ lineOffset, lineBytes, message }) => ({ lineOffset, lineBytes, message }));
    return { lineCount: parsed.lineCount, rowCount, tables, errors };
  }

  private readRows(table: ParsedTable): PlainRow[] {
    this.readNewSeries(table);
    const { u32, i64 } = this.kernel;
    const series = this.series[table.index]!;
    const rows = Array.from({ length: table.rowCount }, (_, row) => ({
      lineOffset: u32[table.lineOffsetsPtr / 4 + row]!,
      timeNs: i64[table.timePtr / 8 + row]!,
      tags: series[u32[table.seriesPtr / 4 + row]!]!,
      fields: [] as [string, ColumnType, FieldValue][],
    }));
    for (const column of table.columns) {
      let presentCount = 0;
      rows.forEach(({ fields }, row) => {
        if (!this.isPresent(column, row)) return;
        fields.push([column.name, column.type, this.readValue(column, presentCount)]);
        presentCount++;
      });
      if (presentCount !== column.presentCount || presentCount === 0) {
        throw new Error(`${column.name}: ${presentCount} values, presentCount ${column.presentCount}`);
      }
      if (column.validityPtr !== 0 && presentCount === rows.length) throw new Error(`${column.name}: a bitmap without gaps`);
    }
    for (const row of rows) row.fields.sort(byName);
    return rows;
  }

  private readNewSeries(table: ParsedTable): void {
    this.series[table.index] ??= [];
    const series = this.series[table.index]!;
    if (series.length !== table.newSeriesFirst) throw new Error(`${series.length} series known, new from ${table.newSeriesFirst}`);
    let at = table.newSeriesRecordsPtr;
    for (let i = 0; i < table.newSeriesCount; i++) {
      const { tags, endPtr } = this.readRecord(at, table.tagColumns);
      at = endPtr;
      series.push(tags);
    }
  }

  /** Tags of a series record, and the address behind it. */
  readRecord(ptr: number, tagColumns: readonly string[]): { tags: [string, string][]; endPtr: number } {
    const { u32 } = this.kernel;
    const tags = Array.from({ length: u32[ptr / 4]! }, (_, tag): [string, string] => {
      const at = ptr / 4 + 1 + tag * 3;
      return [tagColumns[u32[at]!]!, this.text(u32[at + 1]!, u32[at + 2]!)];
    });
    return { tags, endPtr: ptr + 4 + tags.length * 12 };
  }

  private isPresent(column: ParsedColumn, row: number): boolean {
    return column.validityPtr === 0 || ((this.kernel.u8[column.validityPtr + (row >> 3)]! >> (row & 7)) & 1) === 1;
  }

  /** `row`: among the rows that have a value. */
  private readValue({ type, dataPtr }: ParsedColumn, row: number): FieldValue {
    const { u8, u32, i64, f64, base } = this.kernel;
    if (type === ColumnType.boolean) return u8[dataPtr + row] === 1;
    if (type === ColumnType.float) return f64[dataPtr / 8 + row]!;
    if (type === ColumnType.unsigned) return BigInt.asUintN(64, i64[dataPtr / 8 + row]!);
    if (type !== ColumnType.string) return i64[dataPtr / 8 + row]!;
    const view = dataPtr + row * 16;
    const bytes = u32[view / 4]!;
    if (bytes <= 12) {
      if (u8.subarray(view + 4 + bytes, view + 16).some((byte) => byte !== 0)) throw new Error("a short view is not padded with zeros");
      return this.text(view + 4, bytes);
    }
    const text = Number(BigInt.asUintN(64, i64[view / 8 + 1]!) - base);
    if (u32[view / 4 + 1] !== new DataView(u8.buffer).getUint32(text, true)) throw new Error("a view's prefix is not its text's");
    return this.text(text, bytes);
  }

  private text(ptr: number, bytes: number): string {
    return decoder.decode(this.kernel.copyOut(ptr, bytes));
  }
}
