// Constants of times and intervals, and conversion of other values to times.
import { near, TsdbError } from "../../../model/errors.ts";
import { I64_MAX, I64_MIN } from "../../../model/rows/int64.ts";
import type { Typed } from "../../bind/kind.ts";
import { type At, noteDeferred, type PlanClock } from "../../bind/plan-clock.ts";
import { duckInterval, type Interval, isTooLarge } from "../../parse/interval.ts";
import { parseTimeText } from "../../parse/time-text.ts";
import { bigintConstant, type Constant, call, castTo, type Expression, integerConstant, stringConstant } from "../../parse/tree.ts";
import { typed } from "../typed.ts";
import { nanosecondsOf, timeMacro } from "./time-macro.ts";

const OUT_OF_RANGE = "Arithmetic overflow: a time outside of 1677-09-21 to 2262-04-11, the range of nanoseconds";

/** A constant time. DuckDB treats the two extreme values as infinite and creates them only by name. One outside of i64 can only be
 *  compared; reading its value throws. */
export function timeConstant(timeNs: bigint): Typed {
  let node: Expression;
  if (timeNs > I64_MAX || timeNs < I64_MIN) node = castTo(call("error", [stringConstant(OUT_OF_RANGE)]), "TIMESTAMP_NS");
  else if (timeNs === I64_MAX) node = castTo(stringConstant("infinity"), "TIMESTAMP_NS");
  else if (timeNs === -I64_MAX) node = castTo(stringConstant("-infinity"), "TIMESTAMP_NS");
  else node = call("make_timestamp_ns", [castTo(integerConstant(timeNs), "BIGINT")]);
  return { node, kind: "time", timeNs };
}

/** A time that follows from now(). */
export function timeOfClock(clock: PlanClock, at: At<bigint>): Typed {
  const nowNs = clock.valueOf(at);
  // those have other expressions
  if (nowNs >= I64_MAX || nowNs <= -I64_MAX) return timeConstant(at(clock.now()));
  const read = (): bigint => at(clock.now());
  const { value, ...constant } = integerConstant(nowNs);
  const { type, is_null } = value;
  const deferred: Constant = {
    ...constant,
    value: {
      ...{ type, is_null },
      get value() {
        return String(read());
      },
    },
  };
  const time: Typed = {
    node: call("make_timestamp_ns", [castTo(deferred, "BIGINT")]),
    kind: "time",
    get timeNs() {
      return read();
    },
  };
  noteDeferred(time, { clock, at });
  return time;
}

/** A constant interval. @throws TsdbError bad_query for too many months or days */
export function intervalConstant(interval: Interval): Typed {
  if (isTooLarge(interval))
    throw new TsdbError("bad_query", "Arrow error: Arithmetic overflow: an interval of more than 2147483647 months or days");
  return { node: castTo(stringConstant(duckInterval(interval)), "INTERVAL"), kind: "interval", interval };
}

/** The time of a text; in `zone` if it contains no zone. @throws TsdbError bad_query */
export function timeOfText(text: string, zone?: string): bigint {
  const ns = parseTimeText(text, zone);
  if (ns === null) throw new TsdbError("bad_query", `Parser error: Error parsing timestamp from '${near(text)}': error parsing date`);
  if (ns === "range") {
    throw new TsdbError("bad_query", `Parser error: Error parsing timestamp from '${near(text)}': outside of the range of nanoseconds`);
  }
  return ns;
}

/** `value` as a time: a text constant is parsed, in `zone` if it contains none, all other values are cast. */
export function asTime(value: Typed, zone?: string): Typed {
  if (value.kind === "time") return value;
  if (value.text !== undefined) return timeConstant(timeOfText(value.text, zone));
  if (value.kind === "coarse" && value.timeNs !== undefined) return timeConstant(value.timeNs);
  if (value.kind === "string") return { node: timeMacro("__text_time", value.node), kind: "time" };
  return { node: castTo(value.node, "TIMESTAMP_NS"), kind: "time" };
}

/** The nanoseconds of a time as BIGINT. */
export function nsOf(value: Typed): Expression {
  return value.timeNs !== undefined ? bigintConstant(value.timeNs) : nanosecondsOf(value.node);
}

/** A time from nanoseconds; outside of i64 the statement ends with DuckDB's overflow error. */
export function timeOfNs(ns: Expression): Typed {
  return typed(call("make_timestamp_ns", [ns]), "time");
}
