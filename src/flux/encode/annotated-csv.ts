// Annotated CSV: one block for each schema, RFC 4180 with CRLF.
import type { RowTextMaker } from "../../model/query/row-text.ts";
import type { FluxColumn } from "../tables/column.ts";
import type { FluxTable } from "../tables/table.ts";
import type { FluxColumnType } from "../values/column-type.ts";
import { stringOf } from "../values/text.ts";
import { isNull, type Value } from "../values/value.ts";
import { CellTexts, EOL } from "./cells.ts";
import { ConstantCells } from "./constant-cells.ts";
import { pieceRanges, pieceRowsOf } from "./piece-ranges.ts";
import { RowBatches } from "./row-batches.ts";
import { TableBatch } from "./table-batch.ts";

export type Annotation = "datatype" | "group" | "default";

export interface Dialect {
  readonly header: boolean;
  readonly delimiter: string;
  readonly annotations: readonly Annotation[];
}

const DATATYPES: Readonly<Record<FluxColumnType, string>> = {
  bool: "boolean",
  int: "long",
  uint: "unsignedLong",
  float: "double",
  string: "string",
  time: "dateTime:RFC3339",
};
/** Fewer rows are written cell by cell. */
const KERNEL_ROWS_MIN = 16;

/** Text, or its UTF-8. */
export type CsvPiece = string | Uint8Array<ArrayBuffer>;

/** Where rows are written, from `rowsMin` (16) of a table, or of neighbouring ones, on. */
export interface KernelRows {
  readonly maker: RowTextMaker;
  readonly rowsMin?: number;
  /** For comparisons. False: each table alone. */
  readonly joinsTables?: boolean;
}

type Schema = readonly { readonly label: string; readonly type: FluxColumnType; readonly isKey: boolean }[];

function schemaOf({ columns, key }: FluxTable): Schema {
  return columns.map(({ label, type }) => ({ label, type, isKey: key.has(label) }));
}

function hasSchema({ columns, key }: FluxTable, schema: Schema): boolean {
  if (columns.length !== schema.length) return false;
  const inKey = key.columns;
  // columns of the key mostly come in its order
  let next = 0;
  for (let i = 0; i < columns.length; i++) {
    const { label, type } = columns[i]!;
    const known = schema[i]!;
    if (label !== known.label || type !== known.type) return false;
    const isNext = next < inKey.length && inKey[next]!.label === label;
    if (isNext) next++;
    if ((isNext || key.has(label)) !== known.isKey) return false;
  }
  return true;
}

/** One result, table by table. */
export class CsvResult {
  /** Of the last table; null: there was none. */
  private schema: Schema | null = null;
  private wasEmpty = false;
  private tableIndex = 0;
  private readonly texts: CellTexts;
  private readonly constants: ConstantCells;
  private readonly shownName: string;
  /** Null: all rows are written cell by cell. */
  private readonly kernelRows: KernelRows | null;
  /** Tables that wait for their neighbours; null: none do. */
  private readonly batch: TableBatch | null;

  constructor(
    private readonly name: string,
    private readonly dialect: Dialect,
    kernelRows: KernelRows | null = null,
  ) {
    this.texts = new CellTexts(dialect.delimiter);
    // the kernel writes times and numbers without quotes
    this.kernelRows = this.texts.quotesAll ? null : kernelRows;
    this.constants = new ConstantCells(this.texts, dialect.delimiter);
    this.shownName = dialect.annotations.includes("default") ? "" : this.texts.quoted(name);
    const before = `${dialect.delimiter}${this.shownName}${dialect.delimiter}`;
    const rows = this.kernelRows;
    const joinsTables = rows !== null && rows.joinsTables !== false;
    this.batch = joinsTables ? new TableBatch(before, dialect.delimiter, rows.maker, this.texts) : null;
  }

  /** Pieces up to one table, in order: its own may wait for the next call. */
  *table(table: FluxTable): Generator<CsvPiece, void> {
    if (this.schema === null || this.wasEmpty || table.isEmpty || !hasSchema(table, this.schema)) {
      yield* this.waiting();
      yield (this.schema === null ? "" : EOL) + this.head(table);
      this.schema = schemaOf(table);
    }
    this.wasEmpty = table.isEmpty;
    if (!table.isEmpty && this.batch?.add(table) !== true) {
      yield* this.waiting();
      if (this.batch?.add(table) !== true) yield* this.alone(table);
    }
    this.tableIndex++;
  }

  /** Pieces of the tables that wait. */
  *waiting(): Generator<CsvPiece, void> {
    const { batch } = this;
    if (batch === null || batch.count === 0) return;
    const firstIndex = this.tableIndex - batch.count;
    const bytes = this.isForKernel(batch.rowCount) ? batch.bytes(firstIndex) : null;
    if (bytes !== null) yield bytes;
    else for (const [i, table] of batch.held.entries()) yield this.rows(table, firstIndex + i, 0, table.rowCount);
    batch.clear();
  }

  /** The last pieces. */
  *end(): Generator<CsvPiece, void> {
    yield* this.waiting();
    yield EOL;
  }

  private *alone(table: FluxTable): Generator<CsvPiece, void> {
    const { kernelRows, tableIndex } = this;
    const { delimiter } = this.dialect;
    // each piece costs the kernel something for each column: of a few rows it takes longer than writing them here
    if (kernelRows !== null && this.isForKernel(Math.min(table.rowCount, pieceRowsOf(table))) && table.columns.length > 0) {
      const batches = new RowBatches(table, this.prefix(tableIndex), delimiter, kernelRows.maker, this.texts);
      for (const { bytes, from, to } of batches.pieces()) yield bytes ?? this.rows(table, tableIndex, from, to);
    } else for (const { from, to } of pieceRanges(table)) yield this.rows(table, tableIndex, from, to);
  }

  private isForKernel(rowCount: number): boolean {
    return rowCount >= (this.kernelRows?.rowsMin ?? KERNEL_ROWS_MIN);
  }

  private head(table: FluxTable): string {
    const { delimiter, annotations, header } = this.dialect;
    const row = (cells: readonly string[]) => cells.map((cell) => this.texts.quoted(cell)).join(delimiter) + EOL;
    let text = "";
    for (const annotation of annotations) text += row([`#${annotation}`, ...this.annotated(annotation, table)]);
    if (header) text += row(["", "result", "table", ...table.columns.map(({ label }) => label)]);
    return text;
  }

  private annotated(annotation: Annotation, { columns, key, isEmpty }: FluxTable): readonly string[] {
    if (annotation === "datatype") return ["string", "long", ...columns.map(({ type }) => DATATYPES[type])];
    if (annotation === "group") return ["false", "false", ...columns.map(({ label }) => String(key.has(label)))];
    if (!isEmpty && columns.length > 0) return [this.name, "", ...columns.map(() => "")];
    const values = columns.map(({ label }) => cellOf(key.get(label)?.value));
    return [this.name, String(this.tableIndex), ...values];
  }

  /** What every row of a table begins with. */
  private prefix(index: number): string {
    const { delimiter } = this.dialect;
    return `${delimiter}${this.shownName}${delimiter}${this.texts.quoted(String(index))}`;
  }

  /** Rows [from, to). @param index of the table */
  private rows({ columns }: FluxTable, index: number, from: number, to: number): string {
    // a table without columns has no rows either
    if (columns.length === 0 || from === to) return "";
    const { delimiter } = this.dialect;
    const varying: FluxColumn[] = [];
    // columns with one value are part of the texts around the others
    const before: string[] = [];
    let parts = [this.prefix(index)];
    const tail = this.constants.tailOf(columns);
    for (let place = 0; place < tail.from; place++) {
      const column = columns[place]!;
      if (column.mask === 0) parts.push(delimiter, this.constants.of(column, place));
      else if (to - from === 1) parts.push(delimiter, this.texts.of(column, from));
      else {
        parts.push(delimiter);
        varying.push(column);
        before.push(parts.join(""));
        parts = [];
      }
    }
    parts.push(tail.text, EOL);
    const end = parts.join("");
    if (varying.length === 0) return end.repeat(to - from);
    return this.varyingRows(varying, before, end, from, to);
  }

  private varyingRows(varying: readonly FluxColumn[], before: readonly string[], end: string, from: number, to: number): string {
    const between = end + before[0]!;
    let all = before[0]!;
    for (let row = from; row < to; row++) {
      if (row > from) all += between;
      all += this.texts.of(varying[0]!, row);
      for (let i = 1; i < varying.length; i++) all += before[i]! + this.texts.of(varying[i]!, row);
    }
    return all + end;
  }
}

function cellOf(value: Value | undefined): string {
  return value === undefined || isNull(value) ? "" : (stringOf(value) ?? "");
}

/** An error after the first table: the answer's status is sent already. */
export function errorTable(message: string, { annotations, delimiter }: Dialect): string {
  const rows: readonly (readonly string[])[] = [
    ...annotations.map((annotation) => [
      `#${annotation}`,
      ...(annotation === "datatype" ? ["string", "string"] : annotation === "group" ? ["true", "true"] : ["", ""]),
    ]),
    ["", "error", "reference"],
    ["", message, ""],
  ];
  const texts = new CellTexts(delimiter);
  return rows.map((row) => row.map((cell) => texts.quoted(cell)).join(delimiter) + EOL).join("");
}
