// The words of the vendor's v2 server for a line that it cannot parse: clients and people know them. Only lines that the parser has
// rejected are read here; the order of the checks decides which of several faults is named.

import { goQuoted } from "../../../model/query/go-quoted.ts";

/** Of a line in a message: an answer may name a hundred lines. */
const SHOWN_CHARACTERS = 1000;
const KEY_BYTES_MAX = 65_535;
/** Between key and field in the vendor's files. */
const KEY_SEPARATOR_BYTES = 4;
const RESERVED_TAGS: ReadonlySet<string> = new Set(["_field", "_measurement", "time", "\0"]);
const TIME_MAX = 9_223_372_036_854_775_806n;
const INT64_MAX = 2n ** 63n - 1n;
const UINT64_MAX = 2n ** 64n - 1n;
const BOOLEANS = new Set(["t", "T", "true", "True", "TRUE", "f", "F", "false", "False", "FALSE"]);

/** A fault and where it is no matter, or where the next part begins. */
type Scanned = string | { readonly end: number };

/** Null: the vendor's server can parse it. `unitNs`: the unit of its time. */
export function lineFault(original: string, unitNs: bigint): string | null {
  const line = original.replace(/^[ \t\0]+/, "");
  const key = scanKey(line);
  if (typeof key === "string") return key;
  const keyBytes = Buffer.byteLength(line.slice(0, key.end));
  if (keyBytes > KEY_BYTES_MAX) return tooLong(keyBytes);
  const start = skipBlanks(line, key.end);
  const fields = scanFields(line, start);
  if (typeof fields === "string") return fields;
  if (fields.end === start) return "missing fields";
  const fault = fieldKeyFault(line.slice(start, fields.end), keyBytes);
  return fault ?? scanTime(line, skipBlanks(line, fields.end), unitNs);
}

function tooLong(bytes: number): string {
  return `max key length exceeded: ${bytes} > ${KEY_BYTES_MAX}`;
}

/** Of the names of all fields. */
function fieldKeyFault(fields: string, keyBytes: number): string | null {
  for (let at = 0; at < fields.length; ) {
    let equals = at;
    while (equals < fields.length && !(fields[equals] === "=" && (equals === at || fields[equals - 1] !== "\\"))) equals++;
    const name = fields.slice(at, equals);
    if (equals > fields.length - 2) return `invalid value: field-key=${name}`;
    const bytes = keyBytes + KEY_SEPARATOR_BYTES + Buffer.byteLength(name);
    if (bytes > KEY_BYTES_MAX) return tooLong(bytes);
    at = valueEnd(fields, equals + 1) + 1;
  }
  return null;
}

/** The comma behind a value that is in no quotes, or the end. */
function valueEnd(fields: string, start: number): number {
  let at = start;
  for (let isQuoted = false; at < fields.length; at++) {
    if (fields[at] === "\\" && (fields[at + 1] === '"' || fields[at + 1] === "\\")) at++;
    else if (fields[at] === '"') isQuoted = !isQuoted;
    else if (fields[at] === "," && !isQuoted) break;
  }
  return Math.min(at, fields.length);
}

/** As the vendor joins them; long lines are shown without their middle. */
export function faultMessage(line: string, fault: string): string {
  const start = Math.max(0, line.search(/[^ \t\0]/));
  const isLong = line.length - start > SHOWN_CHARACTERS;
  const shown = isLong ? `${line.slice(start, start + SHOWN_CHARACTERS / 2)}…${line.slice(-SHOWN_CHARACTERS / 2)}` : line.slice(start);
  return `unable to parse '${shown}': ${fault}`;
}

/** Measurement and tags. */
function scanKey(line: string): Scanned {
  if (line.startsWith(",")) return "missing measurement";
  let at = endOf(line, 1, ", ");
  if (at >= line.length) return "missing fields";
  const tags: string[] = [];
  while (line[at] === ",") {
    const tag = scanTag(line, at + 1);
    if (typeof tag === "string") return tag;
    tags.push(tag.name);
    at = tag.end;
  }
  if (at >= line.length) return "missing fields";
  const reserved = tags.find((name) => RESERVED_TAGS.has(name));
  if (reserved !== undefined) return `cannot use reserved tag key ${goQuoted(reserved)}`;
  return new Set(tags).size < tags.length ? "duplicate tags" : { end: at };
}

function scanTag(line: string, start: number): string | { readonly end: number; readonly name: string } {
  if (start >= line.length || /[ ,=]/.test(line[start]!)) return "missing tag key";
  const equals = endOf(line, start + 1, " ,=");
  if (line[equals] !== "=") return "missing tag value";
  const first = equals + 1;
  if (first >= line.length || /[ ,]/.test(line[first]!)) return "missing tag value";
  const end = endOf(line, first + 1, " ,=");
  return line[end] === "=" ? "invalid tag format" : { end, name: line.slice(start, equals) };
}

/** The first character of `stops` from `start` on that no backslash stands before; the line's length without one. */
function endOf(line: string, start: number, stops: string): number {
  let at = start;
  while (at < line.length && !(stops.includes(line[at]!) && line[at - 1] !== "\\")) at++;
  return at;
}

function skipBlanks(line: string, start: number): number {
  let at = start;
  while (at < line.length && " \t\0".includes(line[at]!)) at++;
  return at;
}

function scanFields(line: string, start: number): Scanned {
  let [equals, commas, isQuoted] = [0, 0, false];
  let at = start;
  while (at < line.length) {
    const character = line[at]!;
    if (character === "\\" && at + 1 < line.length) {
      at += 2;
      continue;
    }
    if (character === '"' && equals > commas) isQuoted = !isQuoted;
    else if (!isQuoted && character === "=") {
      equals++;
      const value = scanValue(line, at, start);
      if (typeof value === "string") return value;
      at = value.end;
      continue;
    } else if (!isQuoted && character === ",") commas++;
    else if (!isQuoted && character === " ") break;
    at++;
  }
  if (isQuoted) return "unbalanced quotes";
  return equals === 0 || commas !== equals - 1 ? "invalid field format" : { end: at };
}

/** From the equals sign on. */
function scanValue(line: string, equals: number, start: number): Scanned {
  const before = line[equals - 1];
  if (equals === start || ((before === " " || before === ",") && line[equals - 2] !== "\\")) return "missing field key";
  const next = line[equals + 1];
  if (next === undefined || next === "," || next === " ") return "missing field value";
  if (next === '"') return { end: equals + 1 };
  let end = equals + 1;
  while (end < line.length && line[end] !== "," && line[end] !== " ") end++;
  const text = line.slice(equals + 1, end);
  const fault = /^[-0-9.nN]/.test(text) ? numberFault(text) : BOOLEANS.has(text) ? null : "invalid boolean";
  return fault ?? { end };
}

function numberFault(text: string): string | null {
  const whole = /^([-+]?)(\d+)([iu])$/.exec(text);
  if (whole !== null) {
    const [, sign, digits, kind] = whole as unknown as [string, string, string, "i" | "u"];
    if (kind === "u" && sign === "-") return "invalid number";
    const value = BigInt(digits);
    const max = kind === "u" ? UINT64_MAX : sign === "-" ? INT64_MAX + 1n : INT64_MAX;
    if (value <= max) return null;
    return `unable to parse ${kind === "u" ? "unsigned" : "integer"} ${sign}${digits}: value out of range`;
  }
  // an exponent may be incomplete: then it is a float that cannot be read
  if (!/^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+.\deE]*)?$/.test(text)) return "invalid number";
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(text) && Number.isFinite(Number(text)) ? null : "invalid float";
}

/** What follows the fields. */
function scanTime(line: string, start: number, unitNs: bigint): string | null {
  const text = /^[^ ]*/.exec(line.slice(start))![0];
  if (text === "") return null;
  if (!/^-?\d*$/.test(text)) return "bad timestamp";
  if (text === "-") return "bad timestamp";
  const value = BigInt(text) * unitNs;
  if (value > TIME_MAX || value < -TIME_MAX) return `time outside range ${-TIME_MAX} - ${TIME_MAX}`;
  return /[^ ]/.test(line.slice(start + text.length)) ? "point is invalid" : null;
}

/** The measurement of a line that can be parsed, without its escapes. */
export function measurementOf(original: string): string {
  const line = original.replace(/^[ \t\0]+/, "");
  return line.slice(0, endOf(line, 0, ", ")).replace(/\\([, ])/g, "$1");
}
