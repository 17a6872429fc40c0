// The slow, obvious parser of line protocol: the grammar of the specification as regular expressions over one line at a time. The kernel
// must agree with it on every row and message. Bytes are handled as one character each (latin1) until a name or string is complete.
import { ColumnType } from "../../src/model/rows/column.ts";
import { Precision } from "../../src/model/time/precision.ts";
import { byName, type FieldValue, type PlainBody, type PlainParser, type PlainRow } from "./parsed-lines.ts";

const STRING_BYTES_MAX = 1024 * 1024;
const COLUMNS_MAX = 4095;
const ERRORS_KEPT = 100;

class BadLine extends Error {}

function fail(message: string): never {
  throw new BadLine(message);
}

export const parseReference: PlainParser = (body, { precision, receiveTimeNs }) => {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1");
  const tables = new Map<string, PlainRow[]>();
  const errors: PlainBody["errors"][number][] = [];
  let lineCount = 0;
  let rowCount = 0;
  for (const { offset, line } of splitLines(text)) {
    lineCount++;
    try {
      const { table, ...row } = parseLine(line, offset, precision, receiveTimeNs);
      if (!tables.has(table)) tables.set(table, []);
      tables.get(table)!.push(row);
      rowCount++;
    } catch (error) {
      if (!(error instanceof BadLine)) throw error;
      if (errors.length < ERRORS_KEPT) errors.push({ lineOffset: offset, lineBytes: line.length, message: error.message });
    }
  }
  return { lineCount, rowCount, tables: [...tables].map(([name, rows]) => ({ name, rows })), errors };
};

/** Lines that are neither blank nor comments, without their line ends. */
export function* splitLines(text: string): Generator<{ offset: number; line: string }> {
  const skipped = /[ \t]*(?:#[^\n]*)?(?:\r?\n|\r?$)/y;
  const series = /[ \t]*(?:\\[^\n]|[^ \n])*/y;
  // a quoted string may hold newlines; when it is never closed, its quote is a character like any other
  const fields = /(?:\\[^\n]|="[^"\\]*(?:\\[\s\S][^"\\]*)*"|[^\n])*/y;
  for (let at = 0; at < text.length; ) {
    skipped.lastIndex = at;
    if (skipped.test(text)) {
      at = skipped.lastIndex;
      continue;
    }
    series.lastIndex = at;
    series.test(text);
    fields.lastIndex = series.lastIndex;
    fields.test(text);
    yield { offset: at, line: text.slice(at, fields.lastIndex).replace(/\r$/, "") };
    at = fields.lastIndex + 1;
  }
}

/** A place in a line. */
class Cursor {
  constructor(
    readonly line: string,
    public at: number,
  ) {}

  get rest(): string {
    return this.line.slice(this.at);
  }

  /** Consumes what the pattern matches here. */
  take(pattern: RegExp): string | null {
    const match = this.rest.match(new RegExp(`^(?:${pattern.source})`));
    this.at += match?.[0].length ?? 0;
    return match?.[0] ?? null;
  }
}

function parseLine(line: string, lineOffset: number, precision: Precision, receiveTimeNs: bigint): PlainRow & { table: string } {
  const cursor = new Cursor(line, 0);
  cursor.take(/[ \t]*/);
  // a NUL ends the name, and an equals sign is nothing special in it
  const table = takeName(cursor, /[^\0\\, \t\n]/, ", \\");
  if (table === "" || table.includes("\0")) fail("Invalid measurement was provided");
  const tags = takeTags(cursor);
  if (cursor.take(/ +/) === null)
    fail(`Expected at least one space character, got ${cursor.rest === "" ? "end of input" : `\`${cursor.rest}\``}`);
  const fields = takeFields(cursor, tags.length);
  const written = takeTimestamp(cursor);
  checkNames(tags, fields);
  const timeNs = written === null ? receiveTimeNs - (receiveTimeNs % receiveUnit(precision)) : toNanoseconds(written, precision);
  return { table, lineOffset, timeNs, tags, fields: fields.sort(byName) };
}

function takeTags(cursor: Cursor): [string, string][] {
  const tags: [string, string][] = [];
  const tagSet = cursor.rest.slice(1);
  while (cursor.take(/,/) !== null) {
    const keyAt = cursor.rest;
    const key = takeName(cursor, /[^\\,= \t\n]/);
    if (key === "") fail(`Expected tag key, got ${quoteOrEnd(keyAt)}`);
    if (cursor.take(/=/) === null) fail(`Tag set malformed: could not find equals sign in ${quote(tagSet)}`);
    if (tags.length >= COLUMNS_MAX) tooManyColumns();
    const valueAt = cursor.rest;
    const value = takeName(cursor, /[^\\, \t\n]/);
    if (value === "") fail(`Expected tag value, got ${quoteOrEnd(valueAt)}`);
    tags.push([key, value]);
  }
  return tags;
}

type Field = [string, ColumnType, FieldValue];

function takeFields(cursor: Cursor, tagCount: number): Field[] {
  const fields: Field[] = [];
  while (true) {
    // after one field the vendor quotes what is behind the comma, after several the comma too
    // a comma behind the only field is taken, as there
    if (fields.length === 1 && /^(?: +[^ \r]|\r?$)/.test(cursor.rest)) return fields;
    const trailing = fields.length === 1 ? cursor.rest : cursor.line.slice(cursor.at - 1);
    const noField =
      fields.length === 0 ? "No fields were provided" : `Could not parse entire line. Found trailing content: ${quote(trailing)}`;
    const key = takeName(cursor, /[^\\,= \t\n]/);
    if (key === "" || cursor.take(/=/) === null) fail(noField);
    if (tagCount + fields.length >= COLUMNS_MAX) tooManyColumns();
    const value = takeValue(cursor);
    if (value === null) fail(noField);
    fields.push([key, ...value]);
    if (cursor.take(/,/) === null) return fields;
  }
}

function takeValue(cursor: Cursor): [ColumnType, FieldValue] | null {
  const start = cursor.at;
  const string = cursor.take(/"[^"\\]*(?:\\[\s\S][^"\\]*)*"/);
  if (string !== null) {
    checkUtf8(string, start);
    const value = string.slice(1, -1).replace(/\\(["\\])/g, "$1");
    if (value.length > STRING_BYTES_MAX) fail("String is greater than 1MB");
    return [ColumnType.string, utf8(value)];
  }
  const integer = cursor.take(/-?\d+i/)?.slice(0, -1);
  if (integer !== undefined) {
    if (BigInt.asIntN(64, BigInt(integer)) !== BigInt(integer)) fail(`Unable to parse integer value \`${integer}\``);
    return [ColumnType.integer, BigInt(integer)];
  }
  const unsigned = cursor.take(/\d+u/)?.slice(0, -1);
  if (unsigned !== undefined) {
    if (BigInt(unsigned) >= 2n ** 64n) fail(`Unable to parse unsigned integer value \`${unsigned}\``);
    return [ColumnType.unsigned, BigInt(unsigned)];
  }
  const float = cursor.take(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/);
  if (float !== null) {
    if (!Number.isFinite(Number(float))) fail(`Unable to parse floating-point value \`${float}\``);
    return [ColumnType.float, Number(float)];
  }
  const boolean = cursor.take(/true|True|TRUE|t|T|false|False|FALSE|f|F/);
  return boolean === null ? null : [ColumnType.boolean, /^t/i.test(boolean)];
}

/** The number as written; null when there is none. Consumes the rest of the line. */
function takeTimestamp(cursor: Cursor): bigint | null {
  if (cursor.rest === "") return null;
  const rest = cursor.rest;
  if (cursor.take(/ +(?=-?\d)/) === null) fail(`Could not parse entire line. Found trailing content: ${quote(rest)}`);
  const digits = cursor.take(/-?\d+/)!;
  if (BigInt.asIntN(64, BigInt(digits)) !== BigInt(digits)) fail(`Unable to parse timestamp value \`${digits}\``);
  cursor.take(/ */);
  if (cursor.rest !== "") fail(`Could not parse entire line. Found trailing content: ${quote(cursor.rest)}`);
  return BigInt(digits);
}

const COLUMN_LABELS: Readonly<Record<number, string>> = {
  [ColumnType.tag]: "iox::column_type::tag",
  [ColumnType.float]: "iox::column_type::field::float",
  [ColumnType.integer]: "iox::column_type::field::integer",
  [ColumnType.unsigned]: "iox::column_type::field::uinteger",
  [ColumnType.string]: "iox::column_type::field::string",
  [ColumnType.boolean]: "iox::column_type::field::boolean",
};

function checkNames(tags: readonly [string, string][], fields: readonly Field[]): void {
  const seen = new Map<string, ColumnType>();
  for (const [name, type] of [...tags.map(([tag]) => [tag, ColumnType.tag] as const), ...fields]) {
    if (name === "time" || name === "__chunk_order") fail(`'${name}' is a reserved column`);
    const earlier = seen.get(name);
    if (earlier === ColumnType.tag && type === ColumnType.tag) fail(`Must not contain duplicate tags, but \`${name}\` was repeated`);
    if (earlier !== undefined && earlier !== type) {
      fail(`invalid column type for column '${name}', expected ${COLUMN_LABELS[earlier]}, got ${COLUMN_LABELS[type]}`);
    }
    if (earlier !== undefined) fail(`invalid line protocol - multiple instances of '${name}' field found`);
    seen.set(name, type);
  }
}

/** A table, tag or field name or a tag value: `character`s and backslashes with what they precede. */
function takeName(cursor: Cursor, character: RegExp, escaped = ",= \\"): string {
  const start = cursor.at;
  const raw = cursor.take(new RegExp(`(?:${character.source}+|\\\\[^\\n]|\\\\)*`))!;
  const name = raw.replace(/\\([\s\S])/g, (both, next: string) => (escaped.includes(next) ? next : both));
  if (name.endsWith("\\")) fail("Measurements, tag keys and values, and field keys may not end with a backslash");
  if (name.length > STRING_BYTES_MAX) fail("String is greater than 1MB");
  checkUtf8(raw, start);
  return utf8(name);
}

function checkUtf8(raw: string, start: number): void {
  // Unicode Standard, table 3-7: well-formed UTF-8 byte sequences
  const sequences = [
    "[\\0-\\x7f]+",
    "[\\xc2-\\xdf][\\x80-\\xbf]",
    "\\xe0[\\xa0-\\xbf][\\x80-\\xbf]",
    "[\\xe1-\\xec\\xee\\xef][\\x80-\\xbf]{2}",
    "\\xed[\\x80-\\x9f][\\x80-\\xbf]",
    "\\xf0[\\x90-\\xbf][\\x80-\\xbf]{2}",
    "[\\xf1-\\xf3][\\x80-\\xbf]{3}",
    "\\xf4[\\x80-\\x8f][\\x80-\\xbf]{2}",
  ];
  const wellFormed = new RegExp(`^(?:${sequences.join("|")})*`);
  const goodBytes = raw.match(wellFormed)![0].length;
  if (goodBytes !== raw.length) fail(`Invalid UTF-8 at byte ${start + goodBytes} of the line`);
}

const UNITS: Readonly<Record<Precision, readonly [label: string, nanoseconds: bigint]>> = {
  [Precision.auto]: ["Auto", 1n],
  [Precision.nanosecond]: ["Nanosecond", 1n],
  [Precision.microsecond]: ["Microsecond", 1_000n],
  [Precision.millisecond]: ["Millisecond", 1_000_000n],
  [Precision.second]: ["Second", 1_000_000_000n],
  [Precision.minute]: ["Minute", 60_000_000_000n],
  [Precision.hour]: ["Hour", 3_600_000_000_000n],
};

function receiveUnit(precision: Precision): bigint {
  return UNITS[precision][1];
}

function toNanoseconds(time: bigint, precision: Precision): bigint {
  const size = time < 0n ? -time : time;
  let [label, unit] = UNITS[precision];
  if (precision === Precision.auto) {
    unit = size < 5_000_000_000n ? 1_000_000_000n : size < 5_000_000_000_000n ? 1_000_000n : size < 5_000_000_000_000_000n ? 1_000n : 1n;
  }
  const timeNs = time * unit;
  if (BigInt.asIntN(64, timeNs) !== timeNs) fail(`timestamp, ${time}, out of range for precision: ${label}`);
  return timeNs;
}

function tooManyColumns(): never {
  fail("Update to schema would exceed number of columns per table limit of 4095 columns");
}

/** Text of latin1 characters as UTF-8; what is no UTF-8 becomes U+FFFD. */
function utf8(bytes: string): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.from(bytes, "latin1"));
}

function quote(bytes: string): string {
  const text = utf8(bytes);
  return Buffer.byteLength(text) > 10 ? `\`${Array.from(text).slice(0, 10).join("")}...\`` : `\`${text}\``;
}

function quoteOrEnd(bytes: string): string {
  return bytes === "" ? "end of input" : quote(bytes);
}
