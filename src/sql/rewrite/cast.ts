// Casts. The dialect's timestamps are nanoseconds without a zone, whatever the type was called; a constant is taken at its text.
import { near, TsdbError } from "../../model/errors.ts";
import type { Interval } from "../interval.ts";
import { duckInterval, parseInterval } from "../interval.ts";
import { type Kind, kindOfType, type Typed } from "../kind.ts";
import { parseTimeText } from "../time-text.ts";
import type { Cast, Expression } from "../tree.ts";
import { call, castTo, integerConstant, stringConstant } from "../tree.ts";
import { bin } from "./time-function.ts";

const I64_MAX = 2n ** 63n - 1n;

/** A constant time. DuckDB calls the two outermost values infinite and makes them only from their names. */
export function timeConstant(timeNs: bigint): Typed {
  let node: Expression;
  if (timeNs === I64_MAX) node = castTo(stringConstant("infinity"), "TIMESTAMP_NS");
  else if (timeNs === -I64_MAX) node = castTo(stringConstant("-infinity"), "TIMESTAMP_NS");
  else node = call("make_timestamp_ns", [castTo(integerConstant(timeNs), "BIGINT")]);
  return { node, kind: "time", timeNs };
}

export function intervalConstant(interval: Interval): Typed {
  return { node: castTo(stringConstant(duckInterval(interval)), "INTERVAL"), kind: "interval", interval };
}

/** The time a text stands for. @throws TsdbError bad_query */
export function timeOfText(text: string): bigint {
  const ns = parseTimeText(text);
  if (ns === null) throw new TsdbError("bad_query", `Parser error: Error parsing timestamp from '${near(text)}': error parsing date`);
  if (ns === "range") {
    throw new TsdbError("bad_query", `Parser error: Error parsing timestamp from '${near(text)}': outside of the range of nanoseconds`);
  }
  return ns;
}

/** `value` as a time: a text constant is parsed, anything else cast. */
export function asTime(value: Typed): Typed {
  if (value.kind === "time") return value;
  if (value.text !== undefined) return timeConstant(timeOfText(value.text));
  return { node: castTo(value.node, "TIMESTAMP_NS"), kind: "time" };
}

export function rewriteCast(node: Cast, child: Typed): Typed {
  const kind = kindOfType(node.cast_type);
  const same: Cast = { ...node, child: child.node };
  if (kind === "time") return castToTime(same, child);
  if (kind === "interval") {
    if (child.text === undefined) return { node: same, kind };
    const interval = parseInterval(child.text);
    if (interval === null) throw new TsdbError("bad_query", `Parser error: Invalid input syntax for type interval: '${near(child.text)}'`);
    return intervalConstant(interval);
  }
  if (child.kind === "time") return castFromTime(same, child);
  // TRUE is parsed as a cast of 't'
  if (kind === "boolean" && (child.text === "t" || child.text === "f")) return { node: same, kind, boolean: child.text === "t" };
  const number = castNumber(kind, child);
  return { node: same, kind, ...(number === undefined ? {} : { number }) };
}

/** The number a constant becomes: `INTERVAL '1' DAY` is parsed as to_days(CAST(trunc(CAST('1' AS DOUBLE)) AS INTEGER)). */
function castNumber(kind: Kind, child: Typed): number | bigint | undefined {
  if (kind === "float") {
    if (child.number !== undefined) return Number(child.number);
    return child.text !== undefined && /^\s*-?\d+(\.\d+)?\s*$/.test(child.text) ? Number(child.text) : undefined;
  }
  if (kind !== "integer") return undefined;
  if (typeof child.number === "bigint") return child.number;
  return child.number !== undefined && Number.isSafeInteger(child.number) ? BigInt(child.number) : undefined;
}

/** Nanoseconds of the types that are coarser than a nanosecond and say so. */
const COARSE: Readonly<Record<string, bigint>> = { TIMESTAMP_S: 1_000_000_000n, TIMESTAMP_MS: 1_000_000n };

function castToTime(node: Cast, child: Typed): Typed {
  const unitNs = COARSE[node.cast_type.id];
  if (unitNs !== undefined) return bin(castToTime({ ...node, cast_type: { id: "TIMESTAMP", type_info: null } }, child), unitNs, 0n);
  if (child.kind === "time") return child;
  if (child.text !== undefined && !node.try_cast) return timeConstant(timeOfText(child.text));
  // An integer is nanoseconds since 1970
  if (child.kind === "integer" || child.kind === "duration")
    return { node: call("make_timestamp_ns", [castTo(child.node, "BIGINT")]), kind: "time" };
  return { node: { ...node, cast_type: { id: "TIMESTAMP_NS", type_info: null } }, kind: "time" };
}

function castFromTime(node: Cast, child: Typed): Typed {
  const kind = kindOfType(node.cast_type);
  if (kind === "integer") return { node: { ...node, child: call("__ns", [child.node]) }, kind };
  if (kind === "string") {
    const text = call("replace", [node, stringConstant(" "), stringConstant("T")]);
    return { node: text, kind };
  }
  // DuckDB cuts to microseconds towards 1970, which is the wrong day just before midnight
  if (kind === "date") return { node: { ...node, child: call("__us", [child.node]) }, kind };
  return { node, kind };
}
