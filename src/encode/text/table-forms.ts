// The text formats of one table: what precedes, separates and follows rows and values.
import type { ResultField, ResultSchema } from "../../model/query/result-batch.ts";
import type { RowLayout } from "../../model/query/row-text.ts";
import { ByteWriter } from "../byte-writer.ts";
import { writeText } from "../cells/text-cells.ts";

const encoder = new TextEncoder();
const utf8 = (text: string): Uint8Array => encoder.encode(text);
const COMMA = 0x2c;

export interface TableForm {
  readonly contentType: string;
  readonly layout: (fields: readonly ResultField[]) => RowLayout;
  /** All rows except the first begin with a comma. */
  readonly joinsRows: boolean;
  /** Writes what precedes the rows. */
  readonly writeHead: (out: ByteWriter, schema: ResultSchema) => void;
  /** An answer without rows is empty. */
  readonly hasHeadOnlyWithRows: boolean;
  readonly tail: string;
}

/** Format `json`: an array of objects without null members: `[{…},{…}]`. */
export const JSON_ROWS: TableForm = {
  contentType: "application/json",
  layout: (fields) => objects(fields, ",{", "}"),
  joinsRows: true,
  writeHead: (out) => out.ascii("["),
  hasHeadOnlyWithRows: false,
  tail: "]",
};

/** Format `jsonl`: the same objects, one per line. */
export const JSON_LINES: TableForm = {
  contentType: "application/jsonl",
  layout: (fields) => objects(fields, "{", "}\n"),
  joinsRows: false,
  writeHead: () => {},
  hasHeadOnlyWithRows: false,
  tail: "",
};

/** The default format, `seed`: `{"results":[{"series":[{"name":…,"columns":[…],"values":[[…],…]}]}]}`; NULL is null. */
export const SERIES: TableForm = {
  contentType: "application/json",
  layout: (fields) => lists(fields, { isCsv: false, rowStart: ",[", rowEnd: "]", nullText: "null" }),
  joinsRows: true,
  writeHead: (out, { tableName, fields }) => {
    out.ascii('{"results":[{"series":[{"name":');
    writeText(out, "json", tableName);
    out.ascii(',"columns":[');
    writeNames(out, "json", fields);
    out.ascii('],"values":[');
  },
  hasHeadOnlyWithRows: false,
  tail: "]}]}]}",
};

/** Format `csv`: a header line and rows, each ended by `\n`; quotes only where needed, NULL is empty. An answer without rows is an empty
 *  body, whatever its batches. */
export const CSV: TableForm = {
  contentType: "text/csv",
  layout: (fields) => lists(fields, { isCsv: true, rowStart: "", rowEnd: "\n", nullText: "" }),
  joinsRows: false,
  writeHead: (out, { fields }) => {
    const start = out.length;
    writeNames(out, "csv", fields);
    // a single empty cell is written as quotes, as in rows
    if (out.length === start) out.ascii('""');
    out.ascii("\n");
  },
  hasHeadOnlyWithRows: true,
  tail: "",
};

function objects(fields: readonly ResultField[], rowStart: string, rowEnd: string): RowLayout {
  const labels = fields.map(({ name }) => {
    const label = new ByteWriter();
    label.byte(COMMA);
    writeText(label, "json", name);
    label.ascii(":");
    return label.take();
  });
  return { isCsv: false, skipsNulls: true, rowStart: utf8(rowStart), rowEnd: utf8(rowEnd), nullText: utf8(""), labels };
}

interface ListTexts {
  readonly isCsv: boolean;
  readonly rowStart: string;
  readonly rowEnd: string;
  readonly nullText: string;
}

function lists(fields: readonly ResultField[], { isCsv, rowStart, rowEnd, nullText }: ListTexts): RowLayout {
  const labels = fields.map((_, index) => utf8(index > 0 ? "," : ""));
  return { isCsv, skipsNulls: false, rowStart: utf8(rowStart), rowEnd: utf8(rowEnd), nullText: utf8(nullText), labels };
}

function writeNames(out: ByteWriter, style: "json" | "csv", fields: readonly ResultField[]): void {
  for (const [index, { name }] of fields.entries()) {
    if (index > 0) out.byte(COMMA);
    writeText(out, style, name);
  }
}
