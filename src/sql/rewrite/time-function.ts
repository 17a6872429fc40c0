// Functions of time, exact to the nanosecond where DuckDB's own stop at the microsecond. The macros they call are in macros.ts.
import { TsdbError } from "../../model/errors.ts";
import { DAY_NS, intervalNs, scaledUnit } from "../interval.ts";
import type { Typed } from "../kind.ts";
import { floorDiv } from "../time-text.ts";
import { bigintConstant, call, castTo, operator } from "../tree.ts";
import { nsOf, timeOfNs } from "./arithmetic.ts";
import { asTime, intervalConstant, timeConstant } from "./cast.ts";
import { argumentCount, type Rule, type RuleInput } from "./function.ts";
import { type RewriteContext, typed } from "./rewriter.ts";

/** `current_timestamp` and its kin, which are written without parentheses. */
export function currentTime(name: string, context: RewriteContext): Typed | null {
  switch (name) {
    case "current_timestamp":
    case "localtimestamp":
      return timeConstant(context.nowNs);
    case "current_date":
      return today(context);
    case "current_time":
    case "localtime":
      return typed(castTo(castTo(timeConstant(context.nowNs).node, "TIMESTAMP"), "TIME"), "other");
    default:
      return null;
  }
}

function today(context: RewriteContext): Typed {
  return typed(castTo(timeConstant(floorDiv(context.nowNs, DAY_NS) * DAY_NS).node, "DATE"), "date");
}

/** Midnight of a Monday, which weeks are counted from. */
const MONDAY_NS = -3n * DAY_NS;

const TRUNC_UNITS: Readonly<Record<string, { ns: bigint; originNs?: bigint } | { months: bigint }>> = {
  nanosecond: { ns: 1n },
  microsecond: { ns: 1_000n },
  millisecond: { ns: 1_000_000n },
  second: { ns: 1_000_000_000n },
  minute: { ns: 60_000_000_000n },
  hour: { ns: 3_600_000_000_000n },
  day: { ns: DAY_NS },
  week: { ns: 7n * DAY_NS, originNs: MONDAY_NS },
  month: { months: 1n },
  quarter: { months: 3n },
  year: { months: 12n },
  decade: { months: 120n },
};

function bin(time: Typed, stepNs: bigint, originNs: bigint): Typed {
  if (time.timeNs !== undefined) return timeConstant(originNs + floorDiv(time.timeNs - originNs, stepNs) * stepNs);
  if (originNs === 0n) return typed(call("__bin", [bigintConstant(stepNs), time.node]), "time");
  return typed(call("__bin_from", [bigintConstant(stepNs), time.node, bigintConstant(originNs)]), "time");
}

function dateBin({ args }: RuleInput): Typed {
  const [stride, time, origin] = args;
  if (stride === undefined || time === undefined || args.length > 3) throw argumentCount("date_bin", "2 or 3", args.length);
  const interval = stride.interval ?? (stride.text === undefined ? undefined : scaledInterval(stride.text));
  if (interval === undefined) throw planError("DATE_BIN expects the stride to be an interval literal");
  const start = origin === undefined ? timeConstant(0n) : asTime(origin);
  const from = start.timeNs;
  if (from === undefined) throw planError("DATE_BIN expects the origin to be a constant");
  const value = asTime(time);
  if (interval.months !== 0) {
    if (interval.days !== 0 || interval.ns !== 0n)
      throw planError("DATE_BIN stride does not support combination of month, day and nanosecond intervals");
    if (interval.months < 0) throw planError("DATE_BIN stride must be non-zero and positive");
    return typed(call("__bin_months", [bigintConstant(BigInt(interval.months)), value.node, start.node]), "time");
  }
  const stepNs = intervalNs(interval);
  if (stepNs <= 0n) throw planError("DATE_BIN stride must be non-zero and positive");
  return bin(value, stepNs, from);
}

function scaledInterval(text: string): ReturnType<typeof scaledUnit> & object {
  throw planError(`DATE_BIN expects the stride to be an interval, not the text '${text}'`);
}

function planError(message: string): TsdbError {
  return new TsdbError("bad_query", `Error during planning: ${message}`);
}

function unitName(value: Typed | undefined): string | null {
  return value?.text === undefined ? null : value.text.trim().toLowerCase().replace(/s$/, "");
}

function dateTrunc({ args }: RuleInput): Typed | null {
  const [unit, value] = args;
  if (args.length !== 2 || value === undefined) throw argumentCount("date_trunc", "2", args.length);
  if (value.kind !== "time" && value.text === undefined && value.kind !== "date") return null;
  const rule = TRUNC_UNITS[unitName(unit) ?? ""];
  if (rule === undefined) throw planError(`Unsupported date_trunc granularity: ${unit?.text ?? "not a constant"}`);
  const time = asTime(value);
  if ("ns" in rule) return bin(time, rule.ns, rule.originNs ?? 0n);
  return typed(call("__bin_months", [bigintConstant(rule.months), time.node, timeConstant(0n).node]), "time");
}

const PART_NAMES: Readonly<Record<string, string>> = { dow: "dow", doy: "doy", isodow: "isodow", msec: "millisecond", usec: "microsecond" };

function datePart({ node, args }: RuleInput): Typed | null {
  const [unit, value] = args;
  const part = unitName(unit);
  if (value === undefined || part === null) return null;
  if (value.kind === "duration") return durationPart(part, value);
  if (value.kind !== "time" && (value.text === undefined || value.kind !== "string")) return null;
  const time = asTime(value);
  if (part === "epoch") return typed(call("__epoch", [time.node]), "float");
  if (part === "nanosecond" || part === "n") return typed(call("__second_ns", [time.node]), "integer");
  const microseconds = call("__us", [time.node]);
  return typed({ ...node, children: [{ ...unit!.node, alias: "" }, microseconds] }, PART_NAMES[part] === undefined ? "integer" : "integer");
}

/** Parts of a duration: only the whole length has a meaning of its own. */
function durationPart(part: string, value: Typed): Typed {
  if (part !== "epoch") throw planError(`date_part '${part}' of a duration; use 'epoch'`);
  return typed(operator("/", castTo(value.node, "DOUBLE"), castTo(bigintConstant(1_000_000_000n), "DOUBLE")), "float");
}

/** to_timestamp_seconds(x) and its kin: integers are `unitNs` each. */
function epochRule(unitNs: bigint): Rule {
  return ({ args }) => {
    const [value] = args;
    if (value === undefined) throw argumentCount("to_timestamp", "1", 0);
    if (args.length > 1) throw planError("to_timestamp with a format is not supported");
    if (typeof value.number === "bigint") return timeConstant(value.number * unitNs);
    if (value.kind === "integer")
      return timeOfNs(unitNs === 1n ? value.node : operator("*", castTo(value.node, "BIGINT"), bigintConstant(unitNs)));
    if (value.kind === "float") {
      const scaled = operator("*", value.node, castTo(bigintConstant(unitNs === 1n ? 1_000_000_000n : unitNs), "DOUBLE"));
      return timeOfNs(castTo(scaled, "BIGINT"));
    }
    return asTime(value);
  };
}

/** to_days(n) …: what `INTERVAL '1' DAY` and `INTERVAL 3 MONTH` are parsed as. */
function intervalUnit(unit: string): Rule {
  return ({ node, args }) => {
    const amount = args[0]?.number;
    const interval = amount === undefined || args.length !== 1 ? null : scaledUnit(String(amount), unit);
    return interval === null ? typed(node, "interval") : intervalConstant(interval);
  };
}

/** trunc(CAST('1' AS DOUBLE)): the number inside `INTERVAL '1' DAY`; other calls are left alone. */
const truncRule: Rule = ({ node, args }) => {
  const number = args[0]?.number;
  return args.length === 1 && number !== undefined
    ? { node, kind: "float", number: typeof number === "bigint" ? number : Math.trunc(number) }
    : null;
};

const CALENDAR_PARTS =
  "century dayname dayofmonth dayofweek dayofyear decade era isodow isoyear julian last_day millennium month monthname quarter week weekday weekofyear year yearweek day hour minute second millisecond microsecond".split(
    " ",
  );

/** Calendar functions see whole microseconds, rounded down. */
const calendarRule: Rule = ({ node, args }) => {
  const value = args[0];
  return args.length === 1 && value?.kind === "time" ? typed({ ...node, children: [call("__us", [value.node])] }, "unknown") : null;
};

export const TIME_RULES: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(CALENDAR_PARTS.map((name) => [name, calendarRule])),
  date_bin: dateBin,
  date_trunc: dateTrunc,
  date_part: datePart,
  epoch: ({ args }) => (args[0]?.kind === "time" ? typed(call("__epoch", [args[0].node]), "float") : null),
  epoch_ns: ({ args }) => (args[0]?.kind === "time" ? typed(nsOf(args[0]), "integer") : null),
  from_unixtime: epochRule(1_000_000_000n),
  make_timestamp_ns: ({ node }) => typed(node, "time"),
  now: ({ context }) => timeConstant(context.nowNs),
  today: ({ context }) => today(context),
  to_timestamp: epochRule(1n),
  to_timestamp_nanos: epochRule(1n),
  to_timestamp_micros: epochRule(1_000n),
  to_timestamp_millis: epochRule(1_000_000n),
  to_timestamp_seconds: epochRule(1_000_000_000n),
  to_unixtime: ({ args }) => (args[0] === undefined ? null : typed(call("__unixtime", [asTime(args[0]).node]), "integer")),
  trunc: truncRule,
  to_microseconds: intervalUnit("microsecond"),
  to_milliseconds: intervalUnit("millisecond"),
  to_seconds: intervalUnit("second"),
  to_minutes: intervalUnit("minute"),
  to_hours: intervalUnit("hour"),
  to_days: intervalUnit("day"),
  to_weeks: intervalUnit("week"),
  to_months: intervalUnit("month"),
  to_quarters: intervalUnit("quarter"),
  to_years: intervalUnit("year"),
  to_decades: intervalUnit("decade"),
  to_centuries: intervalUnit("century"),
  to_millennia: intervalUnit("millennium"),
};
