// Conversions of numbers and texts to times and dates, and back: to_timestamp and similar, from_unixtime, to_unixtime, to_date, make_date.

import { TsdbError } from "../../../model/errors.ts";
import { SECOND_NS } from "../../../model/time/time-units.ts";
import type { Clock, Typed } from "../../bind/kind.ts";
import { isNullConstant } from "../../bind/type-notes.ts";
import type { Expression } from "../../parse/tree.ts";
import { bigintConstant, call, castTo, operator, stringConstant } from "../../parse/tree.ts";
import { argumentCount, nullOf, planError, type Rule, type RuleInput, whenThen } from "../rule.ts";
import { dashedDate } from "./date-text.ts";
import { timeByFormats } from "./time-parse.ts";
import { inUnit, timeOfUnits } from "./time-unit.ts";
import { asTime, nsOf, timeConstant, timeOfNs } from "./time-value.ts";
import { inZone, tzRule } from "./time-zone.ts";

/** to_timestamp_seconds(x[, format …]) and similar return times of their unit; to_timestamp and _nanos of nanoseconds. */
export function toTimestamp(unit: NonNullable<Clock["unit"]> | "ns"): Rule {
  const name = `to_timestamp${{ s: "_seconds", ms: "_millis", us: "_micros", ns: "" }[unit]}`;
  return ({ args }) => {
    const [value, ...formats] = args;
    if (value === undefined) throw argumentCount(name, "at least 1", 0);
    if (formats.length > 0) return inUnit(timeByFormats(name, value, formats), unit);
    if (value.kind === "boolean") throw planError(`${name} does not support Boolean`);
    const number = wholeNumber(value, unit === "ns" ? SECOND_NS : 1n);
    return number === null ? { ...inUnit(inZone(asTime(value), undefined), unit), mark: null } : timeOfUnits(number, unit);
  };
}

/** A number of units as BIGINT, or as a constant; null: the value is not a number. Fractions are converted by `scale`, or truncated. */
function wholeNumber(value: Typed, scale: bigint): bigint | Expression | null {
  if (typeof value.number === "bigint") return value.number;
  if (value.number !== undefined) return Number.isFinite(value.number) ? fractionOf(value.number, scale) : notFinite(value.number);
  if (value.kind === "integer") return castTo(value.node, "BIGINT");
  if (value.kind !== "float") return null;
  const double = castTo(value.node, "DOUBLE");
  const scaled = scale === 1n ? double : operator("*", double, castTo(bigintConstant(scale), "DOUBLE"));
  return castTo(call("trunc", [scaled]), "BIGINT");
}

/** `12.345` seconds to the nanosecond, from its decimal digits. */
function fractionOf(number: number, scale: bigint): bigint {
  if (scale === 1n || Number.isInteger(number)) return BigInt(Math.trunc(number)) * scale;
  const whole = Math.floor(number);
  return BigInt(whole) * scale + BigInt(Math.round((number - whole) * Number(scale)));
}

function notFinite(number: number): never {
  throw new TsdbError("bad_query", `Execution error: ${number} is no time`);
}

/** The documentation says nanoseconds, the engine takes seconds: values too large for seconds are taken as nanoseconds. */
const SECONDS_MAX = 9_223_372_036n;

/** from_unixtime(x[, zone]) */
export function fromUnixtime(input: RuleInput): Typed {
  const [value, zone] = input.args;
  if (value === undefined || input.args.length > 2) throw argumentCount("from_unixtime", "1 or 2", input.args.length);
  const time = unixTime(value);
  return zone === undefined ? time : tzRule({ ...input, args: [time, zone] });
}

function unixTime(value: Typed): Typed {
  if (isNullConstant(value)) return { node: nullOf("TIMESTAMP_NS"), kind: "time" };
  const number = wholeNumber(value, 1n);
  if (number === null) throw planError(`from_unixtime function unsupported data type: ${value.kind}`);
  if (typeof number === "bigint") return timeConstant(number > SECONDS_MAX || number < -SECONDS_MAX ? number : number * SECOND_NS);
  const isSeconds: Expression = {
    class: "BETWEEN",
    type: "COMPARE_BETWEEN",
    alias: "",
    input: number,
    lower: bigintConstant(-SECONDS_MAX),
    upper: bigintConstant(SECONDS_MAX),
  };
  return timeOfNs(whenThen([[isSeconds, operator("*", number, bigintConstant(SECOND_NS))]], number));
}

/** to_unixtime(x[, format …]): whole seconds, truncated towards 1970. */
export function toUnixtime({ args }: RuleInput): Typed {
  const [value, ...formats] = args;
  if (value === undefined) throw argumentCount("to_unixtime", "at least 1", 0);
  if (formats.length === 0) {
    const number = wholeNumber(value, 1n);
    if (number !== null) return integer(typeof number === "bigint" ? bigintConstant(number) : number);
  }
  if (formats.length === 0 && value.kind === "date") return integer(call("__floor_div", [usOf(value), bigintConstant(1_000_000n)]));
  const time = formats.length === 0 ? asTime(value) : timeByFormats("to_unixtime", value, formats);
  return integer(operator("//", nsOf(time), bigintConstant(SECOND_NS)));
}

function integer(node: Expression): Typed {
  return { node, kind: "integer" };
}

function usOf(date: Typed): Expression {
  return call("epoch_us", [castTo(date.node, "TIMESTAMP")]);
}

const PLAIN_DATE = /^\s*[+-]?\d{4,6}-\d{1,2}-\d{1,2}\s*$/;

/** to_date(x[, format …]): numbers are days since 1970. */
export function toDate({ args }: RuleInput): Typed {
  const [value, ...formats] = args;
  if (value === undefined) throw argumentCount("to_date", "at least 1", 0);
  if (formats.length > 0) return dateOfTime(timeByFormats("to_date", value, formats));
  if (value.kind === "date") return value;
  const days = wholeNumber(value, 1n);
  if (days !== null) {
    const epoch = castTo(stringConstant("1970-01-01"), "DATE");
    return { node: operator("+", epoch, castTo(typeof days === "bigint" ? bigintConstant(days) : days, "INTEGER")), kind: "date" };
  }
  const dashed = dashedDate(value);
  // dates have a larger range than times
  if (dashed.text !== undefined && PLAIN_DATE.test(dashed.text)) return { node: castTo(dashed.node, "DATE"), kind: "date" };
  return dateOfTime(asTime(dashed));
}

function dateOfTime(time: Typed): Typed {
  return { node: castTo(time.timeNs === undefined ? call("__us", [time.node]) : time.node, "DATE"), kind: "date" };
}

/** make_date(year, month, day) */
export function makeDate({ node, args }: RuleInput): Typed {
  if (args.length !== 3) throw argumentCount("make_date", "3", args.length);
  return { node: { ...node, children: args.map(({ node: part }) => castTo(part, "BIGINT")) }, kind: "date" };
}
