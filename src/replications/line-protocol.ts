// Rows of the log as line protocol, which reads back as the same rows.
import { floatText } from "../flux/values/text.ts";
import type { LogColumn, LogTable } from "../triggers/log-feed.ts";
import type { TableNames } from "./queue-feed.ts";

/** A file is read and sent as a whole; servers take bodies of 10 MiB. */
const PART_LENGTH = 2 << 20;
const TEXT = new TextDecoder("utf-8", { ignoreBOM: true });

/** Rows that belong together in one request. */
export interface LinePart {
  readonly text: string;
  readonly rows: number;
}

/** The rows of all tables in parts of some megabytes. */
export function* lineParts(tables: readonly (readonly [LogTable, TableNames])[]): Generator<LinePart> {
  let lines: string[] = [];
  let length = 0;
  for (const [table, names] of tables) {
    for (const line of linesOf(table, names)) {
      lines.push(line);
      length += line.length;
      if (length < PART_LENGTH) continue;
      yield { text: lines.join(""), rows: lines.length };
      lines = [];
      length = 0;
    }
  }
  if (lines.length > 0) yield { text: lines.join(""), rows: lines.length };
}

/** The text of a column in row after row; "" where the row has no value. */
type NextText = (row: number) => string;

function* linesOf({ rowCount, columns }: LogTable, { name, columns: named }: TableNames): Generator<string> {
  const of = new Map(named.map((column) => [column.id, column]));
  const tags: (readonly [string, NextText])[] = [];
  const fields: NextText[] = [];
  let time: BigInt64Array | null = null;
  for (const column of columns) {
    if (column.values.kind === "time") time = column.values.values;
    const known = of.get(column.columnId);
    if (known === undefined || column.values.kind === "time") continue;
    const head = `${escaped(known.name)}=`;
    if (known.isTag) tags.push([known.name, tagTexts(column, `,${head}`)]);
    else fields.push(present(column, fieldTexts(column, head)));
  }
  const sorted = tags.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
  const measurement = escapedTable(name);
  for (let row = 0; row < rowCount; row++) {
    let line = measurement;
    for (const tag of sorted) line += tag(row);
    let separator = " ";
    for (const field of fields) {
      const text = field(row);
      if (text === "") continue;
      line += separator + text;
      separator = ",";
    }
    if (separator === ",") yield `${line} ${time![row]}\n`;
  }
}

/** Values of present rows alone are there, one after the other. */
function present({ present: rows }: LogColumn, text: (index: number) => string): NextText {
  if (rows === null) return text;
  let next = 0;
  return (row) => (rows[next] === row ? text(next++) : "");
}

function tagTexts(column: LogColumn, head: string): NextText {
  if (column.values.kind !== "text") throw new Error(`BUG: a tag has values of the kind ${column.values.kind}`);
  const { codes, ends, bytes } = column.values;
  const texts: string[] = [];
  ends.forEach((end, i) => {
    texts.push(head + escaped(TEXT.decode(bytes.subarray(i === 0 ? 0 : ends[i - 1]!, end))));
  });
  return present(column, (index) => texts[codes === null ? index : codes[index]!]!);
}

function fieldTexts({ values }: LogColumn, head: string): (index: number) => string {
  switch (values.kind) {
    case "float":
      return (index) => head + floatText(values.values[index]!);
    case "integer":
      return (index) => `${head}${values.values[index]}i`;
    case "unsigned":
      return (index) => `${head}${values.values[index]}u`;
    case "boolean":
      return (index) => head + (values.values[index] === 1 ? "t" : "f");
    case "text": {
      const { codes, ends, bytes } = values;
      return (index) => {
        const i = codes === null ? index : codes[index]!;
        const text = TEXT.decode(bytes.subarray(i === 0 ? 0 : ends[i - 1]!, ends[i]!));
        return `${head}"${text.replace(/["\\]/g, "\\$&")}"`;
      };
    }
    default:
      throw new Error(`BUG: a field has values of the kind ${values.kind}`);
  }
}

// A reader of 2.x takes a backslash and the sign behind it as they are, unless the sign needs one: pairs of backslashes stay pairs. An odd
// number of them before such a sign, or at the end, cannot be written; it becomes even, so that the line has the same parts.
const escapedIn = (signs: string) => {
  const parts = new RegExp(String.raw`\\+|[${signs}]`, "g");
  return (text: string) =>
    text.replace(parts, (part, at: number) => {
      if (!part.startsWith("\\")) return `\\${part}`;
      const next = text[at + part.length];
      return part.length % 2 === 1 && (next === undefined || signs.includes(next)) ? `${part}\\` : part;
    });
};
const escaped = escapedIn(",= ");
const escapedTable = escapedIn(", ");
