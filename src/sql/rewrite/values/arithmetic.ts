// + - * / %: with times, durations and intervals, and division by zero and overflow of numbers.

import { ALL_TIME } from "../../../model/query/scan.ts";
import { DAY_NS } from "../../../model/time/time-units.ts";
import { isUnsigned, isUnsigned64 } from "../../bind/decimals.ts";
import type { Typed } from "../../bind/kind.ts";
import { deferredTime } from "../../bind/plan-clock.ts";
import { isNullConstant, narrowInteger, narrowNote } from "../../bind/type-notes.ts";
import type { Interval } from "../../parse/interval.ts";
import { addIntervals, intervalNs, isFine, scaleInterval as multiplied, negateInterval } from "../../parse/interval.ts";
import { addInterval } from "../../parse/time-text.ts";
import type { Expression, FunctionCall } from "../../parse/tree.ts";
import { bigintConstant, call, castTo, operator } from "../../parse/tree.ts";
import { nullConstant, planError } from "../rule.ts";
import { onClock } from "../time/time-bin.ts";
import { nanosecondsOf, timeMacro } from "../time/time-macro.ts";
import { inUnitOf } from "../time/time-unit.ts";
import { asTime, intervalConstant, nsOf, timeConstant, timeOfClock, timeOfNs } from "../time/time-value.ts";
import { inZone, zoneOf } from "../time/time-zone.ts";
import { typed } from "../typed.ts";
import { someNode } from "../walk.ts";
import { asDuration } from "./comparison.ts";
import { rewriteDecimals } from "./decimal.ts";
import { keepingNan, withLeastNan } from "./least-nan.ts";

/** Rewrites an arithmetic operator by the kinds of its operands. @throws TsdbError bad_query */
export function rewriteArithmetic(node: FunctionCall, ...operands: readonly [left: Typed, right: Typed]): Typed {
  const [left, right] = openTimes(node.function_name, ...operands);
  const special =
    node.function_name === "+" ? add(left, right) : node.function_name === "-" ? subtract(left, right) : scale(node, left, right);
  const difference = openDifference(node.function_name, ...operands);
  if (special !== null) return difference === null ? special : { ...special, difference };
  refuseTexts(node.function_name, left, right);
  if (isNullConstant(left) !== isNullConstant(right)) {
    const other = isNullConstant(left) ? right : left;
    if (isUnsigned64(other)) return { ...typed(castTo(nullConstant(), "UBIGINT"), "integer"), arrow: "UInt64" };
    if (other.kind === "integer" || other.kind === "float")
      return { ...typed(castTo(nullConstant(), other.kind === "integer" ? "BIGINT" : "DOUBLE"), other.kind) };
  }
  const decimal = rewriteDecimals(node, left, right, divisor);
  if (decimal !== null) return decimal;
  const kind = numericKind(left, right);
  if (kind === "float" && node.function_name === "/") {
    // the operator would use DuckDB's integer division, by zero to NULL; the function divides as in IEEE 754
    const quotient = typed(call("/", [left.node, right.node], node.query_location), kind);
    return isNonZero(right) ? keepingNan(quotient, operands) : withLeastNan(quotient);
  }
  const [a, b] = widened(node.function_name, left, right);
  if (kind !== "integer") {
    const value = typed({ ...node, children: [a, b] }, kind);
    return node.function_name === "%" && !isNonZero(right) ? withLeastNan(value) : keepingNan(value, operands);
  }
  const isDivided = node.function_name === "/" || node.function_name === "%";
  const value = typed({ ...node, children: isDivided ? [a, divisor(b, right, left)] : [a, b] }, kind);
  return staysUnsigned(left, right) ? { ...value, arrow: "UInt64" } : { ...value, ...narrowNote([left, right]) };
}

const isNonZero = ({ number }: Typed): boolean => number !== undefined && Number(number) !== 0;

/** True if a sum or product is unsigned. */
function staysUnsigned(left: Typed, right: Typed): boolean {
  return isUnsigned64(left) && isUnsigned64(right);
}

const NUMBERS: Partial<Record<Typed["kind"], string>> = { string: "Utf8", integer: "Int64", float: "Float64", boolean: "Boolean" };

/** Texts are not converted to numbers. @throws TsdbError bad_query */
function refuseTexts(sign: string, left: Typed, right: Typed): void {
  const [a, b] = [NUMBERS[left.kind], NUMBERS[right.kind]];
  if (a === undefined || b === undefined || (left.kind !== "string" && right.kind !== "string")) return;
  throw planError(`Cannot coerce arithmetic expression ${a} ${sign} ${b} to valid types`);
}

/** An error if it is zero, and there is something to divide: NULL by zero is NULL. Divisions within a dividend would be repeated by
 *  powers of two, so there the error is first. */
function divisor(node: Expression, { number }: Typed, dividend: Typed): Expression {
  if (number !== undefined && number !== 0n) return node;
  const isRepeatable = dividend.number === undefined && !someNode(dividend.node, isDivision);
  return isRepeatable ? call("__divisor_of", [node, dividend.node]) : call("__divisor", [node]);
}

function isDivision(node: Expression): boolean {
  return node.class === "FUNCTION" && (node.function_name.startsWith("__divisor") || node.function_name === "//");
}

function numericKind(left: Typed, right: Typed): Typed["kind"] {
  const kinds = [left.kind, right.kind];
  if (kinds.every((kind) => kind === "integer")) return "integer";
  if (kinds.includes("float") && kinds.every((kind) => kind === "float" || kind === "integer")) return "float";
  return "unknown";
}

/** Arithmetic on literals has 64 bits, rather than DuckDB's 32; numbers that are unsigned by their note alone become so, but for a
 *  difference, such as that of two row numbers. */
function widened(sign: string, left: Typed, right: Typed): [Expression, Expression] {
  if (staysUnsigned(left, right) && sign !== "-") return [asUnsigned(left), asUnsigned(right)];
  const isNarrow = narrowInteger([left, right]) !== null;
  if (!isNarrow && isSmallUnsigned(left)) return [castTo(left.node, "BIGINT"), right.node];
  if (!isNarrow && isSmallUnsigned(right)) return [left.node, castTo(right.node, "BIGINT")];
  const literals = typeof left.number === "bigint" && typeof right.number === "bigint";
  return literals ? [castTo(left.node, "BIGINT"), castTo(right.node, "BIGINT")] : [left.node, right.node];
}

/** DuckDB would take the least type of both, in which a difference may be too small. */
function isSmallUnsigned(value: Typed): boolean {
  return isUnsigned(value) && !isUnsigned64(value);
}

function asUnsigned({ node, source }: Typed): Expression {
  return source === undefined ? castTo(node, "UBIGINT") : node;
}

/** An open parameter next to an interval is a time, next to a time an interval: otherwise DuckDB could not choose the operator. */
function openTimes(sign: string, left: Typed, right: Typed): readonly [Typed, Typed] {
  if (sign !== "+" && sign !== "-") return [left, right];
  if (sign === "+") return [opened(left, isSpan(right), isDay(right)), opened(right, isSpan(left), isDay(left))];
  return [opened(left, isSpan(right) || isDay(right), false), opened(right, false, isDay(left))];
}

function opened(value: Typed, asTime: boolean, asInterval: boolean): Typed {
  if (value.node.class !== "PARAMETER") return value;
  if (asTime) return typed(castTo(value.node, "TIMESTAMP_NS"), "time");
  return asInterval ? typed(castTo(value.node, "INTERVAL"), "interval") : value;
}

/** Null: it is not a time minus an open parameter. */
function openDifference(sign: string, left: Typed, right: Typed): Typed | null {
  return sign === "-" && isTime(left) && right.node.class === "PARAMETER" ? subtract(left, opened(right, true, false)) : null;
}

function isDay(value: Typed): boolean {
  return isTime(value) || value.kind === "date";
}

function isSpan({ kind }: Typed): boolean {
  return kind === "interval" || kind === "duration";
}

function add(left: Typed, right: Typed): Typed | null {
  if (left.kind === "interval" && right.kind === "interval") return combine(left, right, 1);
  if (left.kind === "interval" && right.kind === "date") return shiftDate(right, left, 1);
  if (left.kind === "date" && right.kind === "interval") return shiftDate(left, right, 1);
  if (isSpan(left) && (isTime(right) || right.kind === "date")) return inUnitOf(shift(right, left, 1), right);
  if ((isTime(left) || left.kind === "date") && isSpan(right)) return inUnitOf(shift(left, right, 1), left);
  return durations("+", left, right);
}

function subtract(left: Typed, right: Typed): Typed | null {
  if (isTime(left) && (isTime(right) || right.text !== undefined || right.kind === "date")) {
    const difference = typed(operator("-", nsOf(asTime(left)), nsOf(asTime(right, left.zone))), "duration");
    const isOfUnit = left.kind === "coarse" && left.unit === right.unit;
    return isOfUnit ? { ...difference, arrow: `Duration(${left.unit === "us" ? "µs" : left.unit})` } : difference;
  }
  if (isTime(right) && (left.text !== undefined || left.kind === "date")) {
    return typed(operator("-", nsOf(asTime(left, right.zone)), nsOf(asTime(right))), "duration");
  }
  if (left.kind === "date" && right.kind === "date") {
    const days = castTo(operator("-", left.node, right.node), "BIGINT");
    return { ...typed(operator("*", days, bigintConstant(DAY_NS)), "duration"), arrow: "Duration(s)" };
  }
  if (left.kind === "interval" && right.kind === "interval") return combine(left, right, -1);
  if (left.kind === "date" && right.kind === "interval") return shiftDate(left, right, -1);
  if ((isTime(left) || left.kind === "date") && isSpan(right)) return inUnitOf(shift(left, right, -1), left);
  return durations("-", left, right);
}

function isTime({ kind }: Typed): boolean {
  return kind === "time" || kind === "coarse";
}

function durations(sign: "+" | "-", left: Typed, right: Typed): Typed | null {
  if (left.kind !== "duration" && right.kind !== "duration") return null;
  if (!isSpan(left) || !isSpan(right)) return null;
  return typed(operator(sign, asDuration(left).node, asDuration(right).node), "duration");
}

function combine(left: Typed, right: Typed, sign: 1 | -1): Typed {
  if (left.interval !== undefined && right.interval !== undefined) {
    return intervalConstant(addIntervals(left.interval, sign === 1 ? right.interval : negateInterval(right.interval)));
  }
  return typed(operator(sign === 1 ? "+" : "-", left.node, right.node), "interval");
}

/** A date plus an interval is a date: only whole days of its hours count. */
function shiftDate(date: Typed, by: Typed, sign: 1 | -1): Typed {
  if (by.interval === undefined) return typed(castTo(operator(sign === 1 ? "+" : "-", date.node, by.node), "DATE"), "date");
  const { months, days, ns } = sign === 1 ? by.interval : negateInterval(by.interval);
  const whole = intervalConstant({ months, days: days + Number(ns / DAY_NS), ns: 0n });
  return typed(castTo(operator("+", date.node, whole.node), "DATE"), "date");
}

/** A time plus an interval or duration. */
function shift(from: Typed, by: Typed, sign: 1 | -1): Typed {
  const time = asTime(from);
  if (by.kind === "duration") return inZone(timeOfNs(operator(sign === 1 ? "+" : "-", nsOf(time), by.node)), time.zone);
  if (by.interval === undefined) {
    const interval = sign === 1 ? by.node : { ...call("-", [by.node]), is_operator: true };
    return onClock(time, ALL_TIME, 0n, ({ node }) => typed(timeMacro("__add_interval", node, interval), "time"));
  }
  return shiftByConstant(time, sign === 1 ? by.interval : negateInterval(by.interval));
}

/** Months and days are added in local time of the time's zone, hours and smaller units in UTC. */
function shiftByConstant(time: Typed, { months, days, ns }: Interval): Typed {
  const deferred = deferredTime(time);
  if (deferred !== undefined) return timeOfClock(deferred.clock, (nowNs) => addInterval(deferred.at(nowNs), { months, days, ns }));
  if (zoneOf(time) === null && time.timeNs === undefined) return inZone(shiftNode(time, months, BigInt(days) * DAY_NS + ns), time.zone);
  const move = (local: Typed): Typed =>
    local.timeNs === undefined
      ? shiftNode(local, months, BigInt(days) * DAY_NS)
      : timeConstant(addInterval(local.timeNs, { months, days, ns: 0n }));
  const moved = months === 0 && days === 0 ? time : onClock(time, ALL_TIME, 0n, move);
  if (ns === 0n) return moved;
  const sum = moved.timeNs !== undefined ? timeConstant(moved.timeNs + ns) : timeOfNs(operator("+", nsOf(moved), bigintConstant(ns)));
  return inZone(sum, time.zone);
}

function shiftNode(time: Typed, months: number, ns: bigint): Typed {
  if (months === 0) return timeOfNs(operator("+", nsOf(time), bigintConstant(ns)));
  const moved = timeMacro("__add_months", time.node, bigintConstant(BigInt(months)));
  return ns === 0n ? typed(moved, "time") : timeOfNs(operator("+", nanosecondsOf(moved), bigintConstant(ns)));
}

/** A constant interval times a number: exact, where DuckDB has microseconds. */
function scaleInterval(node: FunctionCall, left: Typed, right: Typed): Typed | null {
  const [interval, factor] = left.interval !== undefined ? [left.interval, right] : [right.interval, left];
  if (node.function_name !== "*" || interval === undefined) return null;
  if (typeof factor.number === "bigint") return intervalConstant(multiplied(interval, factor.number));
  if (!isFine(interval) || interval.months !== 0) return null;
  return scale(node, { node: bigintConstant(intervalNs(interval)), kind: "duration" }, factor);
}

/** duration * number, duration / number, duration / duration; interval * number is left to DuckDB. */
function scale(node: FunctionCall, left: Typed, right: Typed): Typed | null {
  const isNumber = (value: Typed): boolean => value.kind === "integer" || value.kind === "float";
  if (node.function_name === "/" && left.kind === "duration" && (right.kind === "duration" || right.kind === "interval")) {
    return typed({ ...node, children: [left.node, asDuration(right).node] }, "integer");
  }
  const scaled =
    (node.function_name === "*" && left.kind === "duration" && isNumber(right)) || (left.kind === "duration" && isNumber(right));
  const mirrored = node.function_name === "*" && right.kind === "duration" && isNumber(left);
  if (["*", "/", "%"].includes(node.function_name) && (scaled || mirrored)) {
    return typed(castTo({ ...node, children: [left.node, right.node] }, "BIGINT"), "duration");
  }
  if (left.kind !== "interval" && right.kind !== "interval") return null;
  return scaleInterval(node, left, right) ?? typed({ ...node, children: [left.node, right.node] }, "interval");
}
