// A line as the vendor prints its parsed form in error records: values in one spelling each, parts separated by one space. The parser has
// accepted the line, or refused it for its types only.
import { ColumnType } from "../../model/rows/column.ts";

/** A field of a line. `text`: the value as it is printed. */
export interface DisplayedField {
  readonly name: string;
  readonly type: ColumnType;
  readonly text: string;
}

/** The parts of a line. */
export interface LineParts {
  /** Table and tags as written. */
  readonly series: string;
  readonly tableName: string;
  /** In the line's order. */
  readonly tagNames: readonly string[];
  readonly fields: readonly DisplayedField[];
  /** The timestamp, or "". */
  readonly time: string;
}

const SERIES = /[ \t]*([^ \\]*(?:\\[\s\S][^ \\]*)*) +/y;
const FIELD = /((?:[^=\\]|\\[\s\S])+?)=(?:"([^"\\]*(?:\\[\s\S][^"\\]*)*)"|([^, ]*))(,?)/y;
const TAG = /,((?:[^=,\\]|\\[\s\S])+)=(?:[^,\\]|\\[\s\S])*/g;
const TIME = / *([+-]?\d+)? *$/y;

/** Splits a line; null if it does not have the form of one. */
export function lineParts(line: string): LineParts | null {
  SERIES.lastIndex = 0;
  const series = SERIES.exec(line)?.[1];
  if (series === undefined) return null;
  const fields: DisplayedField[] = [];
  let at = SERIES.lastIndex;
  for (let isMore = true; isMore; ) {
    FIELD.lastIndex = at;
    const [, name, quoted, plain, comma] = FIELD.exec(line) ?? [];
    if (name === undefined) return null;
    fields.push({ name: unescaped(name), ...(quoted === undefined ? plainValue(plain!) : stringValue(quoted)) });
    at = FIELD.lastIndex;
    isMore = comma !== "";
  }
  TIME.lastIndex = at;
  const time = TIME.exec(line);
  if (time === null) return null;
  const tableName = unescaped(/^(?:[^,\\]|\\[\s\S])*/.exec(series)![0]);
  const tagNames = [...series.matchAll(TAG)].map(([, name]) => unescaped(name!));
  return { series, tableName, tagNames, fields, time: time[1] === undefined ? "" : String(BigInt(time[1])) };
}

/** The line with each value in its one spelling: `m v=1e3,s="a b"  7` is `m v=1000,s=a b 7`. */
export function displayedLine({ series, fields, time }: LineParts): string {
  const values = fields.map(({ name, text }) => `${name.replace(/[,= ]/g, "\\$&")}=${text}`);
  return [series, values.join(","), ...(time === "" ? [] : [time])].join(" ");
}

function unescaped(name: string): string {
  return name.replace(/\\([,= ])/g, "$1");
}

function stringValue(quoted: string): Omit<DisplayedField, "name"> {
  const text = quoted.replace(/\\(["\\])/g, "$1").replaceAll('"', '\\"');
  return { type: ColumnType.string, text };
}

function plainValue(value: string): Omit<DisplayedField, "name"> {
  if (/^[tf]/i.test(value)) return { type: ColumnType.boolean, text: String(/^t/i.test(value)) };
  const integer = /^([+-]?\d+)([iu])$/.exec(value);
  if (integer === null) return { type: ColumnType.float, text: plainNumber(Number(value)) };
  return { type: integer[2] === "i" ? ColumnType.integer : ColumnType.unsigned, text: `${BigInt(integer[1]!)}${integer[2]}` };
}

/** The shortest digits of a number, without an exponent. */
function plainNumber(value: number): string {
  if (Object.is(value, -0)) return "-0";
  const [, sign, first, rest = "", exponent] = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(String(value)) ?? [];
  if (exponent === undefined) return String(value);
  const digits = `${first}${rest}`;
  const power = Number(exponent);
  return power < 0 ? `${sign}0.${"0".repeat(-power - 1)}${digits}` : `${sign}${digits.padEnd(power + 1, "0")}`;
}
