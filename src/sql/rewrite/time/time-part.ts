// date_part, datepart and extract: parts of times, dates, times of day, intervals and durations.
import { DAY_NS, HOUR_NS, MINUTE_NS, SECOND_NS } from "../../../model/time/time-units.ts";
import type { Typed } from "../../bind/kind.ts";
import type { Expression } from "../../parse/tree.ts";
import { bigintConstant, call, castTo, integerConstant, operator, stringConstant } from "../../parse/tree.ts";
import { argumentCount, planError, type RuleInput } from "../rule.ts";
import { unitName } from "./time-bin.ts";
import { timeMacro } from "./time-macro.ts";
import { asTime } from "./time-value.ts";
import { timesOf, toClock } from "./time-zone.ts";

/** DuckDB's part names by the dialect's. */
const PARTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...Object.fromEntries(
      "year isoyear quarter month week day doy dow isodow hour minute second millisecond microsecond decade century millennium era julian"
        .split(" ")
        .map((part) => [part, part]),
    ),
    dayofweek: "dow",
    weekday: "dow",
    dayofyear: "doy",
    weekofyear: "week",
    yr: "year",
    y: "year",
    mon: "month",
    w: "week",
    d: "day",
    h: "hour",
    hr: "hour",
    m: "minute",
    min: "minute",
    sec: "second",
    milli: "millisecond",
    msec: "millisecond",
    micro: "microsecond",
    usec: "microsecond",
    u: "microsecond",
  }),
);

/** Plural units lose their s, so `s`, `ms`, `us` and `ns` arrive here without it. */
const SHORT: ReadonlyMap<string, string> = new Map(Object.entries({ s: "second", ms: "millisecond", us: "microsecond", ns: "nanosecond" }));

/** Rewrites date_part(unit, value). @throws TsdbError bad_query */
export function datePart(input: RuleInput): Typed {
  const [unit, value] = input.args;
  if (value === undefined || input.args.length > 2) throw argumentCount("date_part", "2", input.args.length);
  if (unit?.text === undefined) throw planError("First argument of `DATE_PART` must be non-null scalar Utf8");
  const written = unit.text.trim().toLowerCase();
  const name = SHORT.get(written) ?? unitName(unit)!;
  if (value.kind === "duration") return durationPart(name, unit.text, value);
  const part = name === "epoch" || name === "nanosecond" ? name : PARTS.get(name);
  if (part === undefined) throw planError(`Date part '${unit.text}' not supported`);
  if (value.kind === "interval" || value.kind === "other") return ofDuckDb(part, value);
  return partOf(part, value, input);
}

function partOf(part: string, value: Typed, { scope }: RuleInput): Typed {
  const isWide = value.kind === "date" || value.kind === "coarse";
  const time = isWide ? null : asTime(value);
  if (part === "epoch") {
    if (time !== null) return { node: timeMacro("__epoch", time.node), kind: "float" };
    return {
      node: operator(
        "/",
        castTo(call("epoch_us", [castTo(value.node, "TIMESTAMP")]), "DOUBLE"),
        castTo(integerConstant(1_000_000), "DOUBLE"),
      ),
      kind: "float",
    };
  }
  const clock = time === null ? null : toClock(time, timesOf(time, scope));
  if (part === "nanosecond") {
    const us = (): Expression => call("date_part", [stringConstant("microsecond"), castTo(value.node, "TIMESTAMP")]);
    // a minute in nanoseconds exceeds an Int32
    return { node: clock !== null ? timeMacro("__second_ns", clock.node) : operator("*", us(), bigintConstant(1000n)), kind: "integer" };
  }
  return integer(calendarPart(part, clock === null ? castTo(value.node, "TIMESTAMP") : timeMacro("__us", clock.node)));
}

/** @param us TIMESTAMP */
function calendarPart(part: string, us: Expression): Expression {
  const value = call("date_part", [stringConstant(part), us]);
  // Monday is 0
  return part === "isodow" ? operator("-", value, bigintConstant(1n)) : value;
}

function integer(node: Expression): Typed {
  return { node, kind: "integer", arrow: "Int32" };
}

/** Parts of intervals and times of day. */
function ofDuckDb(part: string, value: Typed): Typed {
  if (part === "epoch") return { node: call("epoch", [value.node]), kind: "float" };
  const isNs = part === "nanosecond";
  const node = call("date_part", [stringConstant(isNs ? "microsecond" : part), value.node]);
  return isNs ? { node: operator("*", node, bigintConstant(1000n)), kind: "integer" } : integer(node);
}

const DURATION_NS: ReadonlyMap<string, bigint> = new Map(
  Object.entries({
    week: 7n * DAY_NS,
    day: DAY_NS,
    hour: HOUR_NS,
    minute: MINUTE_NS,
    second: SECOND_NS,
    millisecond: 1_000_000n,
    microsecond: 1_000n,
    nanosecond: 1n,
  }),
);

/** A duration has no fields: the total in a unit, truncated. */
function durationPart(part: string, written: string, value: Typed): Typed {
  if (part === "epoch") {
    return { node: operator("/", castTo(value.node, "DOUBLE"), castTo(bigintConstant(SECOND_NS), "DOUBLE")), kind: "float" };
  }
  const unitNs = DURATION_NS.get(PARTS.get(part) ?? part);
  if (unitNs === undefined) throw planError(`Date part '${written}' of a duration is not supported`);
  const node = operator("//", value.node, bigintConstant(unitNs));
  // 25 days in milliseconds exceed an Int32
  return unitNs < SECOND_NS ? { node, kind: "integer" } : integer(node);
}
