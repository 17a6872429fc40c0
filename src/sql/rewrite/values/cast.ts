// Casts. The dialect's timestamps are nanoseconds without a zone, whatever the type's name; a constant is converted from its text.
import { near, TsdbError } from "../../../model/errors.ts";
import type { TimeUnit } from "../../../model/query/result-batch.ts";
import { I64_MAX } from "../../../model/rows/int64.ts";
import { SECOND_NS } from "../../../model/time/time-units.ts";
import { arrowTypeName } from "../../bind/arrow-type.ts";
import { decimalNote, decimalOf, isUnsigned64 } from "../../bind/decimals.ts";
import { type Kind, kindOfType, type Typed, type TypeNote } from "../../bind/kind.ts";
import type { Scope } from "../../bind/scope.ts";
import { isNullConstant, narrowType, typeName } from "../../bind/type-notes.ts";
import { parseInterval } from "../../parse/interval.ts";
import type { SqlType } from "../../parse/sql-value.ts";
import type { Cast, Expression } from "../../parse/tree.ts";
import { bigintConstant, call, castTo, operator, stringConstant } from "../../parse/tree.ts";
import { typeText } from "../../print/type-text.ts";
import { nullOf, planError, wide } from "../rule.ts";
import { nanosecondsOf, timeMacro } from "../time/time-macro.ts";
import { inUnit, timeOfUnits } from "../time/time-unit.ts";
import { asTime, intervalConstant, timeConstant, timeOfText } from "../time/time-value.ts";
import { inZone, timesOf, toClock, zonedText } from "../time/time-zone.ts";
import { readText, tryTime } from "./text-cast.ts";

/** Rewrites CAST and TRY_CAST. @throws TsdbError bad_query for an invalid constant */
export function rewriteCast(node: Cast, child: Typed, scope: Scope): Typed {
  const kind = kindOfType(node.cast_type);
  const same: Cast = { ...node, child: child.node };
  expectCastable(node, kind, child);
  if (kind === "time") return castToTime(same, child, node.child.class === "PARAMETER");
  if (kind === "interval") {
    if (child.text === undefined) return { node: same, kind };
    const interval = parseInterval(child.text);
    if (interval === null && node.try_cast) return { node: nullOf("INTERVAL"), kind };
    if (interval === null) throw new TsdbError("bad_query", `Parser error: Invalid input syntax for type interval: '${near(child.text)}'`);
    return intervalConstant(interval);
  }
  if (child.kind === "time") return castFromTime(same, child, scope);
  if (child.kind === "coarse") return castFromCoarse(same, child);
  const days = castOfDays(same, child);
  if (days !== null) return days;
  if (kind === "boolean" && child.text !== undefined) return castToBoolean(same, child.text);
  if (kind === "string" && child.kind !== "string") return { node: { ...same, child: textOf(child) }, kind };
  if (kind === "binary" && child.kind === "string") return { node: call("encode", [child.node]), kind };
  const of = { ...depthOf(node.cast_type), ...noteOf(node.cast_type), ...crossingOf(node, child) };
  return withNumber({ node: { ...same, child: readable(same, kind, child) }, kind, ...of }, child);
}

const GREATEST: Readonly<Record<string, bigint>> = {
  ...{ TINYINT: 127n, SMALLINT: 32_767n, INTEGER: 2n ** 31n - 1n, BIGINT: I64_MAX },
  ...{ UTINYINT: 255n, USMALLINT: 65_535n, UINTEGER: 2n ** 32n - 1n, UBIGINT: I64_MAX },
};

/** Casts between signed and unsigned integers, which have the numbers from 0 to the lesser maximum in common. */
function crossingOf({ cast_type: { id } }: Cast, child: Typed): Pick<Typed, "crossing"> {
  const most = GREATEST[id];
  const isCrossing = child.kind === "integer" && (isUnsigned64(child) || UNSIGNED[id] !== undefined);
  return most !== undefined && isCrossing ? { crossing: { value: child, most } } : {};
}

/** The value as DuckDB reads it. */
function readable(node: Cast, kind: Kind, child: Typed): Expression {
  if (child.kind === "string") return readText(node, kind, child, typeOf(node));
  if (node.cast_type.id === "FLOAT" && child.kind === "float" && narrowType(child) !== "Float32") return call("__single", [child.node]);
  return kind === "integer" ? wholeOf(node, child) : child.node;
}

/** Kinds of which nothing is made but themselves, texts, and what is listed here. */
const CASTS: Partial<Record<Kind, ReadonlySet<Kind>>> = {
  binary: new Set(["binary", "string"]),
  date: new Set(["date", "integer", "string", "time"]),
  boolean: new Set(["boolean", "binary", "float", "integer", "string"]),
  duration: new Set(["duration", "float", "integer", "interval", "string"]),
  float: new Set(["boolean", "float", "integer", "string", "time"]),
  integer: new Set(["binary", "boolean", "date", "float", "integer", "other", "string", "time"]),
  interval: new Set(["duration", "interval", "string"]),
  list: new Set(["list", "string"]),
  map: new Set(["map"]),
  struct: new Set(["struct"]),
  time: new Set(["boolean", "date", "float", "integer", "other", "string", "time"]),
};

/** TRY_CAST gives NULL where a value has no counterpart, not where a type has none. @throws TsdbError bad_query */
function expectCastable(node: Cast, kind: Kind, child: Typed): void {
  const { id } = node.cast_type;
  const isNone =
    (child.kind === "boolean" && id === "DECIMAL") ||
    (child.kind === "date" && kind === "integer" && id !== "INTEGER" && id !== "BIGINT") ||
    (kind === "boolean" && decimalOf(child) !== null);
  const takes = CASTS[child.kind];
  if ((takes === undefined || takes.has(kind)) && !isNone) return;
  const [from, to] = [typeName(child) ?? child.kind, arrowTypeName(typeText(node.cast_type))];
  const call = node.try_cast ? "TRY_CAST" : "CAST";
  throw new TsdbError("bad_query", `This feature is not implemented: Unsupported ${call} from ${from} to ${to}`);
}

function noteOf({ id, type_info }: SqlType): TypeNote {
  if (id === "DECIMAL" && type_info?.width !== undefined) return decimalNote({ width: type_info.width, scale: type_info.scale ?? 0 });
  const unsigned = UNSIGNED[id];
  return unsigned === undefined ? {} : { arrow: unsigned };
}

const UNSIGNED: Readonly<Record<string, string>> = { UTINYINT: "UInt8", USMALLINT: "UInt16", UINTEGER: "UInt32", UBIGINT: "UInt64" };

const EPOCH = castTo(stringConstant("1970-01-01"), "DATE");
const MIDNIGHT = castTo(stringConstant("00:00:00"), "TIME");

/** Numbers as dates (days since 1970) and times of day (nanoseconds), and back; null: none of these. */
function castOfDays(node: Cast, child: Typed): Typed | null {
  const { id } = node.cast_type;
  if (child.kind === "date" && (id === "INTEGER" || id === "BIGINT")) {
    return { node: { ...node, child: operator("-", child.node, EPOCH) }, kind: "integer" };
  }
  if (child.kind !== "integer") return null;
  if (id === "DATE") return { node: operator("+", EPOCH, { ...castTo(child.node, "INTEGER"), try_cast: node.try_cast }), kind: "date" };
  if (id === "TIME") {
    const us = operator("//", castTo(child.node, "BIGINT"), bigintConstant(1000n));
    return { node: castTo(operator("+", MIDNIGHT, call("to_microseconds", [us])), "TIME"), kind: "other" };
  }
  // its eight bytes, least significant first
  if (id === "BLOB")
    return { node: call("__integer_bytes", [castTo(child.node, isUnsigned64(child) ? "UBIGINT" : "BIGINT")]), kind: "binary" };
  return null;
}

/** `cast` with the number of a converted constant. */
function withNumber(cast: Typed, child: Typed): Typed {
  if ((cast.kind !== "integer" && cast.kind !== "float") || (child.number === undefined && child.text === undefined)) return cast;
  const number = castNumber(cast.kind, child);
  return number === undefined ? cast : { ...cast, number };
}

/** TRUE is parsed as a cast of 't'. */
function castToBoolean(node: Cast, text: string): Typed {
  const boolean = BOOLEAN_TEXTS.get(text.trim().toLowerCase());
  return boolean === undefined
    ? { node, kind: "boolean" }
    : { node: { ...node, child: stringConstant(boolean ? "t" : "f") }, kind: "boolean", boolean };
}

/** Texts accepted by Arrow; DuckDB accepts some of them. */
const BOOLEAN_TEXTS: ReadonlyMap<string, boolean> = new Map([
  ..."t tr tru true y ye yes on 1".split(" ").map((text) => [text, true] as const),
  ..."f fa fal fals false n no of off 0".split(" ").map((text) => [text, false] as const),
]);

/** A value cast to text in the dialect's format. */
export function textOf(value: Typed): Expression {
  if (value.kind === "float" && decimalOf(value) === null)
    return call(narrowType(value) === "Float32" ? "__single_text" : "__float_text", [value.node]);
  if (value.kind === "interval") return call("__interval_text", [value.node]);
  if (value.kind === "duration") return durationText(value);
  if (value.kind === "list" && (value.depth ?? 1) === 1) return call("__list_text", [value.node]);
  if (isOfDuckDb(value)) return call("__member_text", [value.node]);
  return value.kind === "binary" ? call("decode", [value.node]) : value.node;
}

/** Whole seconds have no fraction. */
function durationText({ node, arrow }: Typed): Expression {
  const text = timeMacro("__duration_pretty", node);
  return arrow === "Duration(s)" ? call("replace", [text, stringConstant(".000000000"), stringConstant("")]) : text;
}

/** A value where the dialect casts it to text by itself: an argument of a function of texts, an operand of ||. Texts stay as they are.
 *  @throws TsdbError bad_query for a struct */
export function implicitText(value: Typed, scope: Scope): Expression {
  if (value.kind === "struct") throw planError(`Cannot automatically convert ${typeName(value) ?? "a struct"} to Utf8`);
  if (value.kind === "time" || value.kind === "coarse") return rewriteCast(castTo(value.node, "VARCHAR"), value, scope).node;
  const isNull = value.node.class === "CONSTANT" && value.node.value.is_null;
  if (isNull || value.kind === "integer" || value.kind === "boolean" || value.kind === "date") return castTo(value.node, "VARCHAR");
  return textOf(value);
}

/** A value cast to an integer as in the dialect: floats are truncated, where DuckDB would round. */
function wholeOf(node: Cast, child: Typed): Expression {
  if (child.kind === "float") return call("trunc", [child.node]);
  if (isOfDuckDb(child)) {
    return node.try_cast ? call("__try_whole_element", [child.node]) : call("__whole_element", [child.node, typeOf(node)]);
  }
  return child.node;
}

/** True for a value whose type is only known to DuckDB: an element of a list, a column of UNNEST. */
function isOfDuckDb(value: Typed): boolean {
  return value.kind === "unknown" && !isNullConstant(value) && value.node.class !== "PARAMETER";
}

/** The name of a cast's type, for messages. */
function typeOf(node: Cast): Expression {
  return stringConstant(arrowTypeName(typeText(node.cast_type)));
}

function depthOf(type: SqlType): { depth?: number } {
  let depth = 0;
  for (let inner: SqlType | undefined = type; inner?.id === "LIST"; inner = inner.type_info?.child_type) depth++;
  return depth === 0 ? {} : { depth };
}

/** The number of a converted constant: `INTERVAL '1' DAY` is parsed as to_days(CAST(trunc(CAST('1' AS DOUBLE)) AS INTEGER)). */
function castNumber(kind: Kind, child: Typed): number | bigint | undefined {
  if (kind === "float") {
    if (child.number !== undefined) return Number(child.number);
    return child.text !== undefined && /^-?\d+(\.\d+)?$/.test(child.text) ? Number(child.text) : undefined;
  }
  if (kind !== "integer") return undefined;
  if (typeof child.number === "bigint") return child.number;
  return child.number !== undefined && Number.isSafeInteger(child.number) ? BigInt(child.number) : undefined;
}

const NUMBERS: ReadonlySet<Kind> = new Set(["integer", "float"]);

/** A timestamp of a whole number of units since 1970; fractions of a unit are cut off. */
export function ofUnits(count: Typed, unit: TimeUnit): Typed {
  if (typeof count.number === "bigint") return timeOfUnits(count.number, unit);
  const whole = count.kind === "integer" ? wide(count) : call("trunc", [castTo(wide(count), "DOUBLE")]);
  return timeOfUnits(castTo(whole, "BIGINT"), unit);
}

/** Units of coarser types. */
const COARSE: Readonly<Record<string, "s" | "ms">> = { TIMESTAMP_S: "s", TIMESTAMP_MS: "ms" };

function castToTime(node: Cast, child: Typed, isParameter = false): Typed {
  const unit = COARSE[node.cast_type.id];
  if (unit !== undefined) {
    if (NUMBERS.has(child.kind)) return ofUnits(child, unit);
    const time = castToTime({ ...node, cast_type: { id: "TIMESTAMP", type_info: null } }, child, isParameter);
    return child.kind === "coarse" && child.unit === unit ? child : inUnit(time, unit);
  }
  if (child.kind === "time" || child.kind === "coarse") {
    return inZone(asTime(child), undefined);
  }
  if (child.kind === "string" && node.try_cast) return tryTime(child, node.cast_type);
  if (child.text !== undefined) return timeConstant(timeOfText(child.text));
  // an integer is seconds since 1970; to TRY_CAST, as a parameter, and of another type than Int64, nanoseconds
  const isFine = node.try_cast || isParameter || isUnsigned64(child) || narrowType(child) !== null;
  if (typeof child.number === "bigint" && !node.try_cast) return timeConstant(isFine ? child.number : child.number * SECOND_NS);
  if (isFine && child.kind === "integer") return { node: call("make_timestamp_ns", [castTo(child.node, "BIGINT")]), kind: "time" };
  if (child.kind === "duration") return { node: call("make_timestamp_ns", [child.node]), kind: "time" };
  if (child.kind === "integer")
    return { node: call("make_timestamp_ns", [operator("*", castTo(child.node, "BIGINT"), bigintConstant(SECOND_NS))]), kind: "time" };
  // a float is nanoseconds
  if (child.kind === "float")
    return { node: call("make_timestamp_ns", [castTo(call("trunc", [castTo(child.node, "DOUBLE")]), "BIGINT")]), kind: "time" };
  if (child.kind === "string") return { node: timeMacro("__text_time", child.node), kind: "time" };
  return { node: { ...node, cast_type: { id: "TIMESTAMP_NS", type_info: null } }, kind: "time" };
}

/** Microseconds of the units that a timestamp may have. */
const UNIT_US: Readonly<Record<"s" | "ms" | "us", bigint>> = { s: 1_000_000n, ms: 1_000n, us: 1n };

/** Timestamps of coarser units have a larger range than times. */
function castFromCoarse(node: Cast, { node: value, unit = "us" }: Typed): Typed {
  const kind = kindOfType(node.cast_type);
  const us = castTo(value, "TIMESTAMP");
  if (kind === "integer") return { node: { ...node, child: operator("//", call("epoch_us", [us]), bigintConstant(UNIT_US[unit])) }, kind };
  if (kind === "string") return { node: { ...node, child: timeMacro("__us_text", us) }, kind };
  return { node: { ...node, child: us }, kind };
}

function castFromTime(node: Cast, time: Typed, scope: Scope): Typed {
  const kind = kindOfType(node.cast_type);
  if (kind === "integer" || kind === "float") return { node: { ...node, child: nanosecondsOf(time.node) }, kind };
  const child = kind === "string" ? time : toClock(time, timesOf(time, scope));
  if (kind === "string") {
    return { node: { ...node, child: zonedText(child, scope) ?? timeMacro("__time_text", child.node) }, kind };
  }
  // DuckDB truncates towards 1970, which gives the wrong day just before midnight
  if (kind === "date") return { node: { ...node, child: timeMacro("__us", child.node) }, kind };
  return { node: { ...node, child: child.node }, kind };
}
