// Annotated CSV: one block for each schema, RFC 4180 with CRLF.
import type { RowTextMaker } from "../../model/query/row-text.ts";
import type { FluxTable } from "../tables/table.ts";
import type { FluxColumnType } from "../values/column-type.ts";
import { stringOf } from "../values/text.ts";
import { isNull, type Value } from "../values/value.ts";
import { cellReader, EOL, quoted } from "./cells.ts";
import { RowBatches } from "./row-batches.ts";

export type Annotation = "datatype" | "group" | "default";

export interface Dialect {
  readonly header: boolean;
  readonly delimiter: string;
  readonly annotations: readonly Annotation[];
}

export const DATATYPES: Readonly<Record<FluxColumnType, string>> = {
  bool: "boolean",
  int: "long",
  uint: "unsignedLong",
  float: "double",
  string: "string",
  time: "dateTime:RFC3339",
};
/** Tables with fewer rows are written cell by cell. */
const KERNEL_ROWS_MIN = 16;

/** Text, or its UTF-8. */
export type CsvPiece = string | Uint8Array<ArrayBuffer>;

/** Where rows of large tables are written, from `rowsMin` on (16). */
export interface KernelRows {
  readonly maker: RowTextMaker;
  readonly rowsMin?: number;
}

type Schema = readonly { readonly label: string; readonly type: FluxColumnType; readonly isKey: boolean }[];

function isSame(a: Schema, b: Schema): boolean {
  if (a.length !== b.length) return false;
  return a.every(({ label, type, isKey }, i) => label === b[i]!.label && type === b[i]!.type && isKey === b[i]!.isKey);
}

/** One result, table by table. */
export class CsvResult {
  /** Of the last table; null: there was none. */
  private schema: Schema | null = null;
  private wasEmpty = false;
  private tableIndex = 0;

  constructor(
    private readonly name: string,
    private readonly dialect: Dialect,
    /** Null: all rows are written cell by cell. */
    private readonly kernelRows: KernelRows | null = null,
  ) {}

  /** Pieces of one table, in order. */
  *table(table: FluxTable): Generator<CsvPiece, void> {
    let text = "";
    const schema = table.columns.map(({ label, type }) => ({ label, type, isKey: table.key.has(label) }));
    if (this.schema === null || this.wasEmpty || table.isEmpty || !isSame(schema, this.schema)) {
      if (this.schema !== null) text += EOL;
      text += this.head(table);
    }
    this.schema = schema;
    this.wasEmpty = table.isEmpty;
    const { kernelRows } = this;
    if (kernelRows !== null && table.rowCount >= (kernelRows.rowsMin ?? KERNEL_ROWS_MIN) && table.columns.length > 0) {
      if (text !== "") yield text;
      for (const { bytes, from, to } of new RowBatches(table, this.prefix, this.dialect.delimiter, kernelRows.maker).pieces()) {
        yield bytes ?? this.rows(table, from, to);
      }
    } else yield text + this.rows(table, 0, table.rowCount);
    this.tableIndex++;
  }

  end(): string {
    return EOL;
  }

  private head(table: FluxTable): string {
    const { delimiter, annotations, header } = this.dialect;
    const row = (cells: readonly string[]) => cells.map((cell) => quoted(cell, delimiter)).join(delimiter) + EOL;
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

  /** What every row of the table begins with. */
  private get prefix(): string {
    const { delimiter, annotations } = this.dialect;
    const name = annotations.includes("default") ? "" : quoted(this.name, delimiter);
    return `${delimiter}${name}${delimiter}${this.tableIndex}`;
  }

  /** Rows [from, to). */
  private rows({ columns }: FluxTable, from: number, to: number): string {
    const { delimiter } = this.dialect;
    const { prefix } = this;
    const cells = columns.map((column) => cellReader(column, delimiter));
    let text = "";
    // a table without columns has no rows either
    for (let row = from; columns.length > 0 && row < to; row++) {
      text += prefix;
      for (const cell of cells) text += delimiter + cell(row);
      text += EOL;
    }
    return text;
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
  return rows.map((row) => row.map((cell) => quoted(cell, delimiter)).join(delimiter) + EOL).join("");
}
