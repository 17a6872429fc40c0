// Type names as the vendor's engine prints and parses them (`Timestamp(ns)`, `List(Int64)`), and the corresponding DuckDB types.
import { near, TsdbError } from "../../model/errors.ts";
import type { TimeUnit } from "../../model/query/result-batch.ts";
import { TimeZone } from "../../model/time/time-zone.ts";
import type { SqlType } from "../parse/sql-value.ts";

const NAMES: Readonly<Record<string, string>> = {
  '"NULL"': "Null",
  NULL: "Null",
  BOOLEAN: "Boolean",
  TINYINT: "Int8",
  SMALLINT: "Int16",
  INTEGER: "Int32",
  BIGINT: "Int64",
  // there is no 128-bit integer: results are narrowed to 64 bits
  HUGEINT: "Int64",
  UTINYINT: "UInt8",
  USMALLINT: "UInt16",
  UINTEGER: "UInt32",
  UBIGINT: "UInt64",
  UHUGEINT: "UInt64",
  FLOAT: "Float32",
  DOUBLE: "Float64",
  VARCHAR: "Utf8",
  UUID: "Utf8",
  JSON: "Utf8",
  BLOB: "Binary",
  DATE: "Date32",
  TIME: "Time64(ns)",
  INTERVAL: "Interval(MonthDayNano)",
  TIMESTAMP: "Timestamp(µs)",
  TIMESTAMP_NS: "Timestamp(ns)",
  TIMESTAMP_MS: "Timestamp(ms)",
  TIMESTAMP_S: "Timestamp(s)",
  "TIMESTAMP WITH TIME ZONE": 'Timestamp(µs, "UTC")',
};

/** The vendor's name of a type returned by DuckDB's typeof(), such as `STRUCT(a BIGINT, "b c" VARCHAR[])`. `decode` is applied to member
 *  names. */
export function arrowTypeName(duckType: string, decode: (name: string) => string = (name) => name): string {
  const text = duckType.trim();
  const simple = NAMES[text];
  if (simple !== undefined) return simple;
  const list = /^([\s\S]*)\[(\d*)\]$/.exec(text);
  if (list !== null) {
    const child = arrowTypeName(list[1]!, decode);
    return list[2] === "" ? `List(${child})` : `FixedSizeList(${list[2]} x ${child})`;
  }
  const decimal = /^DECIMAL\((\d+), ?(\d+)\)$/.exec(text);
  if (decimal !== null) return `Decimal128(${decimal[1]}, ${decimal[2]})`;
  const nested = /^(STRUCT|MAP)\(([\s\S]*)\)$/.exec(text);
  if (nested === null) return text;
  const parts = splitOutside(nested[2]!, ",");
  if (nested[1] === "STRUCT") return `Struct(${parts.map((part, i) => memberName(part, i, decode)).join(", ")})`;
  const [key, value] = parts.map((part) => arrowTypeName(part, decode));
  return `Map("entries": non-null Struct("key": non-null ${key}, "value": ${value}), unsorted)`;
}

/** `name TYPE`, `"quoted name" TYPE`, or, for a row, `TYPE`. */
function memberName(part: string, index: number, decode: (name: string) => string): string {
  const [, quoted, plain, type] = /^\s*(?:"((?:[^"]|"")*)"|([^\s"(]+))\s+([\s\S]*)$/.exec(part) ?? [];
  if (type === undefined) return `"c${index}": ${arrowTypeName(part, decode)}`;
  return `"${decode(quoted?.replaceAll('""', '"') ?? plain!)}": ${arrowTypeName(type, decode)}`;
}

/** Member names of a struct type as DuckDB prints it. */
export function memberNames(struct: string): string[] {
  const inner = /^Struct\(([\s\S]*)\)$/.exec(struct)?.[1];
  return inner === undefined ? [] : splitOutside(inner, ",").map((part) => /^\s*"((?:[^"]|"")*)"/.exec(part)?.[1] ?? "");
}

/** Types of a struct's members: `Struct("a": Int64, "b": Utf8)`. */
export function memberTypes(struct: string): string[] {
  const inner = /^Struct\(([\s\S]*)\)$/.exec(struct)?.[1];
  return inner === undefined ? [] : splitOutside(inner, ",").map((part) => part.replace(/^\s*"(?:[^"]|"")*":\s*/, ""));
}

/** Splits a text at `separator`s outside of quotes and parentheses. */
function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quoted = false;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (char === "(") depth++;
    else if (char === ")") depth--;
    else if (char === separator && depth === 0) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

const SIMPLE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Boolean: "BOOLEAN",
    Int8: "TINYINT",
    Int16: "SMALLINT",
    Int32: "INTEGER",
    Int64: "BIGINT",
    UInt8: "UTINYINT",
    UInt16: "USMALLINT",
    UInt32: "UINTEGER",
    UInt64: "UBIGINT",
    Float16: "FLOAT",
    Float32: "FLOAT",
    Float64: "DOUBLE",
    Utf8: "VARCHAR",
    LargeUtf8: "VARCHAR",
    Utf8View: "VARCHAR",
    Binary: "BLOB",
    LargeBinary: "BLOB",
    BinaryView: "BLOB",
    Date32: "DATE",
  }),
);

export interface ArrowType {
  readonly type: SqlType;
  /** As printed. */
  readonly name: string;
  /** For timestamps and durations: nanoseconds per unit. */
  readonly unitNs?: bigint;
  /** For timestamps. */
  readonly unit?: TimeUnit;
  readonly zone?: string;
}

const UNITS: ReadonlyMap<string, readonly [name: string, ns: bigint]> = new Map(
  Object.entries({
    Second: ["s", 1_000_000_000n],
    s: ["s", 1_000_000_000n],
    Millisecond: ["ms", 1_000_000n],
    ms: ["ms", 1_000_000n],
    Microsecond: ["µs", 1_000n],
    µs: ["µs", 1_000n],
    us: ["µs", 1_000n],
    Nanosecond: ["ns", 1n],
    ns: ["ns", 1n],
  }),
);

/** The type named in `arrow_cast`; null if unknown. @throws TsdbError bad_query for an unknown zone */
export function parseArrowType(text: string): ArrowType | null {
  const trimmed = text.trim();
  // milliseconds since 1970
  if (trimmed === "Date64") return { type: { id: "TIMESTAMP_NS", type_info: null }, name: trimmed, unitNs: 1_000_000n, unit: "ms" };
  const simple = SIMPLE.get(trimmed);
  if (simple !== undefined) return { type: { id: simple, type_info: null }, name: trimmed };
  const match = /^(\w+)\(([\s\S]*)\)$/.exec(trimmed);
  if (match === null) return null;
  const args = splitOutside(match[2]!, ",").map((part) => part.trim());
  switch (match[1]) {
    case "Timestamp":
      return timestamp(args);
    case "Duration": {
      const unit = args.length === 1 ? UNITS.get(args[0]!) : undefined;
      return unit === undefined ? null : { type: { id: "BIGINT", type_info: null }, name: `Duration(${unit[0]})`, unitNs: unit[1] };
    }
    case "Time32":
    case "Time64": {
      const unit = args.length === 1 ? UNITS.get(args[0]!) : undefined;
      return unit === undefined ? null : { type: { id: "TIME", type_info: null }, name: `${match[1]}(${unit[0]})` };
    }
    case "Interval":
      return ["YearMonth", "DayTime", "MonthDayNano"].includes(args[0]!)
        ? { type: { id: "INTERVAL", type_info: null }, name: `Interval(${args[0]})` }
        : null;
    case "Decimal128":
    case "Decimal256":
      return decimal(match[1], args);
    case "Dictionary":
      return dictionary(args);
    case "List":
    case "LargeList":
      return list(match[1], args);
    case "FixedSizeList":
      return fixedList(args);
    default:
      return null;
  }
}

/** `FixedSizeList(3, Int64)`, `FixedSizeList(3 x Int64)` */
function fixedList(args: readonly string[]): ArrowType | null {
  const [, size, item] = /^(\d{1,6})(?: x |,)([\s\S]*)$/.exec(args.join(",")) ?? [];
  const child = item === undefined ? null : parseArrowType(item);
  if (child === null || Number(size) === 0) return null;
  const type_info = { type: "ARRAY_TYPE_INFO", child_type: child.type, size: Number(size) };
  return { type: { id: "ARRAY", type_info }, name: `FixedSizeList(${size} x ${child.name})` };
}

/** `Timestamp(Nanosecond, None)`, `Timestamp(ms)`, `Timestamp(Second, Some("+02:00"))`, `Timestamp(ns, "Europe/Berlin")` */
function timestamp([unitName, zoneText, ...rest]: readonly string[]): ArrowType | null {
  const unit = UNITS.get(unitName ?? "");
  if (unit === undefined || rest.length > 0) return null;
  const units = { unitNs: unit[1], unit: unit[0] === "µs" ? "us" : (unit[0] as TimeUnit) };
  const type = { id: "TIMESTAMP_NS", type_info: null };
  if (zoneText === undefined || zoneText === "None") return { type, name: `Timestamp(${unit[0]})`, ...units };
  const zone = /^(?:Some\(\s*)?"([^"]+)"\s*\)?$/.exec(zoneText)?.[1];
  if (zone === undefined) return null;
  if (TimeZone.of(zone) === null)
    throw new TsdbError("bad_query", `Parser error: Invalid timezone "${near(zone)}": failed to parse timezone`);
  return { type, name: `Timestamp(${unit[0]}, "${zone}")`, ...units, zone };
}

function decimal(name: string, args: readonly string[]): ArrowType | null {
  const [width, scale] = args.map(Number);
  const isValid = args.length === 2 && Number.isInteger(width) && Number.isInteger(scale);
  if (!isValid || width! < 1 || width! > 38 || scale! < 0 || scale! > width!) return null;
  const type_info = { type: "DECIMAL_TYPE_INFO", width: width!, scale: scale! };
  return { type: { id: "DECIMAL", type_info }, name: `${name}(${width}, ${scale})` };
}

/** A dictionary is an encoding, not a type of its own. */
function dictionary(args: readonly string[]): ArrowType | null {
  const [key, value] = args.map(parseArrowType);
  if (args.length !== 2 || key === null || key === undefined || value === null || value === undefined) return null;
  return { ...value, name: `Dictionary(${key.name}, ${value.name})` };
}

function list(name: string, args: readonly string[]): ArrowType | null {
  const child = args.length === 1 ? parseArrowType(args[0]!) : null;
  if (child === null) return null;
  return { type: { id: "LIST", type_info: { type: "LIST_TYPE_INFO", child_type: child.type } }, name: `${name}(${child.name})` };
}
