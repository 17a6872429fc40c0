// Annotated CSV: one block for each schema, RFC 4180 with CRLF.
import type { FluxColumn } from "../tables/column.ts";
import type { FluxTable } from "../tables/table.ts";
import type { FluxColumnType } from "../values/column-type.ts";
import { timeText } from "../values/duration.ts";
import { floatText, stringOf } from "../values/text.ts";
import { isNull, type Value } from "../values/value.ts";

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
const EOL = "\r\n";

/** One result, table by table. */
export class CsvResult {
  private schema: string | null = null;
  private wasEmpty = false;
  private tableIndex = 0;

  constructor(
    private readonly name: string,
    private readonly dialect: Dialect,
  ) {}

  table(table: FluxTable): string {
    const schema = JSON.stringify([table.columns.map(({ label, type }) => [label, type, table.key.has(label)])]);
    let text = "";
    if (schema !== this.schema || this.wasEmpty || table.isEmpty) {
      if (this.schema !== null) text += EOL;
      text += this.head(table);
    }
    this.schema = schema;
    this.wasEmpty = table.isEmpty;
    text += this.rows(table);
    this.tableIndex++;
    return text;
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
    if (!isEmpty) return [this.name, "", ...columns.map(() => "")];
    const values = columns.map(({ label }) => cellOf(key.get(label)?.value));
    return [this.name, String(this.tableIndex), ...values];
  }

  private rows({ columns, rowCount }: FluxTable): string {
    const { delimiter, annotations } = this.dialect;
    const name = annotations.includes("default") ? "" : quoted(this.name, delimiter);
    const prefix = `${delimiter}${name}${delimiter}${this.tableIndex}`;
    const cells = columns.map((column) => cellReader(column, delimiter));
    let text = "";
    for (let row = 0; row < rowCount; row++) {
      text += prefix;
      for (const cell of cells) text += delimiter + cell(row);
      text += EOL;
    }
    return text;
  }
}

function cellReader(column: FluxColumn, delimiter: string): (row: number) => string {
  const { cells, mask, type } = column;
  const at = (row: number) => (cells as (number | bigint | string)[])[row & mask]!;
  const text = (row: number): string => {
    const cell = at(row);
    switch (type) {
      case "string":
        return quoted(cell as string, delimiter);
      case "float":
        return floatText(cell as number);
      case "bool":
        return cell === 1 ? "true" : "false";
      case "time":
        return timeText(cell as bigint);
      default:
        return String(cell);
    }
  };
  return (row) => (column.isNull(row) ? "" : text(row));
}

function cellOf(value: Value | undefined): string {
  return value === undefined || isNull(value) ? "" : (stringOf(value) ?? "");
}

function quoted(text: string, delimiter: string): string {
  const needsQuotes = text.includes(delimiter) || text.startsWith(" ") || /["\r\n]/.test(text);
  // line ends within a cell are those of the file, as recorded
  return needsQuotes ? `"${text.replaceAll('"', '""').replaceAll("\r", "").replaceAll("\n", EOL)}"` : text;
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
