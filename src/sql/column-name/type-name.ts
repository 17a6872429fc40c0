// Types in CAST and `::`, and their long form in names.
import type { TokenReader } from "./token-reader.ts";
import { UNNAMED } from "./token-reader.ts";

const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ tinyint: "Int8", int1: "Int8", smallint: "Int16", int2: "Int16", int: "Int32", integer: "Int32", int4: "Int32" },
    ...{ bigint: "Int64", int8: "Int64", uint8: "UInt8", uint16: "UInt16", uint32: "UInt32", uint64: "UInt64" },
    ...{ utinyint: "UInt8", usmallint: "UInt16", uinteger: "UInt32", ubigint: "UInt64" },
    ...{ float: "Float32", real: "Float32", float4: "Float32", double: "Float64", float8: "Float64", "double precision": "Float64" },
    ...{ varchar: "Utf8", "character varying": "Utf8", char: "Utf8", character: "Utf8", text: "Utf8", string: "Utf8" },
    ...{ boolean: "Boolean", bool: "Boolean", date: "Date32", time: "Time64(ns)", bytea: "Binary" },
    ...{ timestamp: "Timestamp(ns)", timestamptz: 'Timestamp(ns, "+00:00")', interval: "Interval(MonthDayNano)" },
  }),
);
const UNSIGNED: Readonly<Record<string, string>> = { Int8: "UInt8", Int16: "UInt16", Int32: "UInt32", Int64: "UInt64" };
const TIME_UNITS: Readonly<Record<string, string>> = { "0": "s", "3": "ms", "6": "µs", "9": "ns" };

/** Reads a type. Its name is used in the long form only. */
export function readType(reader: TokenReader): string {
  const first = reader.word();
  if (first === "" && reader.token?.kind !== "quoted") throw UNNAMED;
  reader.at++;
  let name = first;
  if (name === "double" && reader.takeWord("precision")) name = "double precision";
  if (name === "character" && reader.takeWord("varying")) name = "character varying";
  const sizes = readSizes(reader);
  let shown = TYPES.get(name) ?? name;
  if (name === "decimal" || name === "numeric" || name === "dec")
    shown = `Decimal128(${sizes[0] ?? "38"}, ${sizes[1] ?? (sizes.length === 0 ? "10" : "0")})`;
  if (name === "timestamp" || name === "time") {
    const hasZone = reader.takeWord("with", "time", "zone");
    if (!hasZone) reader.takeWord("without", "time", "zone");
    const unit = TIME_UNITS[sizes[0] ?? "9"] ?? "ns";
    if (name === "timestamp") shown = hasZone ? `Timestamp(${unit}, "+00:00")` : `Timestamp(${unit})`;
  }
  if (reader.takeWord("unsigned")) shown = UNSIGNED[shown] ?? shown;
  while (reader.isSymbol("[") && reader.isSymbol("]", 1)) {
    reader.at += 2;
    shown = `List(${shown})`;
  }
  return shown;
}

function readSizes(reader: TokenReader): string[] {
  if (!reader.isSymbol("(")) return [];
  const close = reader.brackets.closing(reader.at);
  const sizes = reader.tokens.slice(reader.at + 1, close).flatMap(({ kind, text }) => (kind === "number" ? [text] : []));
  reader.at = close + 1;
  return sizes;
}
