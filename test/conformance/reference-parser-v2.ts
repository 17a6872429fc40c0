// The slow, obvious parser of line protocol by the rules of the vendor's server 2.x, in the order in which that reads a line. The kernel
// must agree with it on every row, and on which lines are bad or left out. Bytes are one character each (latin1) until a name is complete.
import { ColumnType } from "../../src/model/rows/column.ts";
import { Precision } from "../../src/model/time/precision.ts";
import { byName, type FieldValue, type PlainRow } from "./parsed-lines.ts";

/** Why a line is no row. `left out`: it can be parsed. */
export type Fate = "bad" | "left out";

export interface V2Body {
  readonly lineCount: number;
  readonly tables: readonly { readonly name: string; readonly rows: readonly PlainRow[] }[];
  readonly errors: readonly { readonly lineOffset: number; readonly lineBytes: number; readonly fate: Fate }[];
}

interface Options {
  readonly precision: Precision;
  readonly receiveTimeNs: bigint;
}

class NoRow extends Error {
  constructor(readonly fate: Fate) {
    super(fate);
  }
}

const KEY_BYTES_MAX = 65_535;
const COLUMNS_MAX = 4095;
const STRING_BYTES_MAX = 1 << 20;
const TIME_MAX = 2n ** 63n - 2n;
const UNIT_NS: Readonly<Partial<Record<Precision, bigint>>> = {
  [Precision.microsecond]: 1_000n,
  [Precision.millisecond]: 1_000_000n,
  [Precision.second]: 1_000_000_000n,
};

/** Parses a body. */
export function parseReferenceV2(body: Uint8Array, options: Options): V2Body {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1");
  const tables = new Map<string, PlainRow[]>();
  const errors: V2Body["errors"][number][] = [];
  let lineCount = 0;
  for (const { offset, line } of splitLinesV2(text)) {
    lineCount++;
    try {
      const { table, ...row } = parseLine(line.replace(/^[ \t\0]+/, ""), options);
      if (!tables.has(table)) tables.set(table, []);
      tables.get(table)!.push({ lineOffset: offset, ...row });
    } catch (error) {
      if (!(error instanceof NoRow)) throw error;
      errors.push({ lineOffset: offset, lineBytes: line.length, fate: error.fate });
    }
  }
  return { lineCount, tables: [...tables].map(([name, rows]) => ({ name, rows })), errors };
}

/** Lines that are neither blank nor comments. */
function* splitLinesV2(text: string): Generator<{ readonly offset: number; readonly line: string }> {
  for (let at = 0; at < text.length; ) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end);
    if (!/^[ \t\0]*(?:#|$)/.test(line)) yield { offset: at, line };
    at = end + 1;
  }
}

function lineEnd(text: string, start: number): number {
  const seen = { quoted: false, fields: false, equals: 0, commas: 0 };
  for (let at = start; at < text.length; at++) {
    const c = text[at]!;
    if (c === "\\" && at + 2 < text.length) {
      at++;
      continue;
    }
    if (c === " ") seen.fields = true;
    if (seen.fields && !seen.quoted && (c === "=" || c === ",")) seen[c === "=" ? "equals" : "commas"]++;
    else if (seen.fields && c === '"' && seen.equals > seen.commas) seen.quoted = !seen.quoted;
    else if (c === "\n" && !seen.quoted) return at;
  }
  return text.length;
}

/** A name goes on over what a backslash stands before. */
const NAME = String.raw`(?:[^ ,]|(?<=\\)[ ,])*`;
const TAG_PART = String.raw`(?:[^ ,=]|(?<=\\)[ ,=])*`;
const KEY = new RegExp(String.raw`^([^,]${NAME})((?:(?<!\\),[^ ,=]${TAG_PART}(?<!\\)=[^ ,]${TAG_PART})*)(?<!\\) `, "s");
const TAG = new RegExp(String.raw`(?<!\\),([^ ,=]${TAG_PART})(?<!\\)=([^ ,]${TAG_PART})`, "gs");

function parseLine(line: string, { precision, receiveTimeNs }: Options): Omit<PlainRow, "lineOffset"> & { readonly table: string } {
  const key = KEY.exec(line);
  if (key === null) throw new NoRow("bad");
  const [whole, table, tagText] = key as unknown as [string, string, string];
  const keyBytes = whole.length - 1;
  if (keyBytes > KEY_BYTES_MAX || table.replace(/\\(?=[ ,])/g, "").includes("\0")) throw new NoRow("bad");
  const written = [...tagText.matchAll(TAG)].map(([, name, value]) => [name!, value!] as const);
  const names = written.map(([name]) => name);
  if (new Set(names).size < names.length || names.some((name) => ["time", "_field", "_measurement", "\0"].includes(name))) {
    throw new NoRow("bad");
  }
  const tags = written.map(([name, value]) => [unescaped(name, " ,="), unescaped(value, " ,=")] as const);
  const start = keyBytes + /^[ \t\0]*/.exec(line.slice(keyBytes))![0].length;
  const end = fieldsEnd(line, start);
  const fields = takeFields(line.slice(start, end), keyBytes, tags.length);
  const timeNs = takeTime(line.slice(end), precision, receiveTimeNs);
  return { table: unescaped(table, " ,"), tags, timeNs, fields: chosen(fields, tags).sort(byName) };
}

function unescaped(text: string, characters: string): string {
  return utf8(text.replace(new RegExp(`\\\\(?=[${characters}])`, "g"), ""));
}

function utf8(text: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(text, "latin1"));
  } catch {
    throw new NoRow("bad");
  }
}

/** Where the fields end; what stands there looks like fields. */
function fieldsEnd(line: string, start: number): number {
  let [equals, commas, isQuoted] = [0, 0, false];
  let at = start;
  for (; at < line.length && !(line[at] === " " && !isQuoted); at++) {
    if (line[at] === "\\" && at + 1 < line.length) at++;
    else if (line[at] === '"' && equals > commas) isQuoted = !isQuoted;
    else if (line[at] === "," && !isQuoted) commas++;
    else if (line[at] === "=" && !isQuoted) {
      equals++;
      const isName = at > start && !(/[ ,]/.test(line[at - 1]!) && line[at - 2] !== "\\");
      const value = /^[^ ,]*/.exec(line.slice(at + 1))![0];
      if (!isName || value === "") throw new NoRow("bad");
      if (!value.startsWith('"')) at += value.length;
    }
  }
  if (isQuoted || equals === 0 || commas !== equals - 1) throw new NoRow("bad");
  return at;
}

type Field = readonly [name: string, type: ColumnType, value: FieldValue];

function takeFields(text: string, keyBytes: number, tagCount: number): Field[] {
  const fields: Field[] = [];
  const pattern = /((?:[^=]|(?<=\\)=)*)(?<!\\)=((?:[^",\\]+|\\["\\]|\\(?!["\\])|"[^"\\]*(?:\\[\s\S][^"\\]*)*")*)(?:,|$)/gsy;
  let isLong = false;
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (match === null || match[2] === "") throw new NoRow("bad");
    const [, name, value] = match as unknown as [string, string, string];
    if (tagCount + fields.length >= COLUMNS_MAX) throw new NoRow("left out");
    if (keyBytes + 4 + name.length > KEY_BYTES_MAX) throw new NoRow("bad");
    const [type, read] = takeValue(value);
    isLong ||= typeof read === "string" && Buffer.byteLength(read) > STRING_BYTES_MAX;
    fields.push([unescaped(name, ' ,="'), type, read]);
  }
  // told when the rest of the line is known to be good
  if (isLong) fields.push(["", ColumnType.time, ""]);
  return fields;
}

function takeValue(text: string): readonly [ColumnType, FieldValue] {
  if (text.startsWith('"')) return [ColumnType.string, utf8(text.slice(1, -1).replace(/\\(["\\])/g, "$1"))];
  if (/^(?:t|T|true|True|TRUE)$/.test(text)) return [ColumnType.boolean, true];
  if (/^(?:f|F|false|False|FALSE)$/.test(text)) return [ColumnType.boolean, false];
  if (/^-?\d+i$/.test(text)) return [ColumnType.integer, within(BigInt(text.slice(0, -1)), -(2n ** 63n), 2n ** 63n - 1n)];
  if (/^\d+u$/.test(text)) return [ColumnType.unsigned, within(BigInt(text.slice(0, -1)), 0n, 2n ** 64n - 1n)];
  if (!/^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) || !Number.isFinite(Number(text))) throw new NoRow("bad");
  return [ColumnType.float, Number(text)];
}

function within(value: bigint, min: bigint, max: bigint): bigint {
  if (value < min || value > max) throw new NoRow("bad");
  return value;
}

function takeTime(text: string, precision: Precision, receiveTimeNs: bigint): bigint {
  const unit = UNIT_NS[precision] ?? 1n;
  const written = /^[ \t\0]*(.*)$/s.exec(text)![1]!;
  if (written === "") return receiveTimeNs - (receiveTimeNs % unit);
  if (!/^-?\d+ *$/.test(written)) throw new NoRow("bad");
  return within(BigInt(written.trim()) * unit, -TIME_MAX, TIME_MAX);
}

/** Without fields called time; of several of one name the last. */
function chosen(fields: readonly Field[], tags: readonly (readonly [string, string])[]): Field[] {
  const found = new Map<string, Field>();
  for (const field of fields) {
    const [name, type] = field;
    if (name === "time") continue;
    if (type === ColumnType.time || tags.some(([tag]) => tag === name) || (found.get(name)?.[1] ?? type) !== type)
      throw new NoRow("left out");
    found.set(name, field);
  }
  if (found.size === 0) throw new NoRow("left out");
  return [...found.values()];
}
