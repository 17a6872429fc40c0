// Functions of time, exact to the nanosecond where DuckDB's own stop at the microsecond. The macros they call are in macros.ts.
import { TsdbError } from "../../model/errors.ts";
import { DAY_NS, intervalNs, parseInterval, scaledUnit } from "../interval.ts";
import type { Typed } from "../kind.ts";
import { clampI64, dateOf, daysOf, floorDiv } from "../time-text.ts";
import { bigintConstant, call, castTo, operator } from "../tree.ts";
import { nsOf, timeOfNs } from "./arithmetic.ts";
import { asTime, intervalConstant, timeConstant } from "./cast.ts";
import { type RewriteContext, typed } from "./rewriter.ts";
import { argumentCount, type Rule, type RuleInput } from "./rule.ts";

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

const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;
/** The remainder and its shift must stay in i64: a third of it, 97 years. Longer bins are counted in months. */
const STEP_MAX = I64_MAX / 3n;

/** The start of the bin of `stepNs` from `originNs` that holds `time`; NULL where that lies before the first time there is. */
export function bin(time: Typed, stepNs: bigint, originNs: bigint): Typed {
  if (stepNs <= 0n) throw planError("DATE_BIN stride must be non-zero and positive");
  if (stepNs > STEP_MAX) throw planError("DATE_BIN stride is longer than 97 years");
  if (stepNs === 1n) return time;
  const startOf = (ns: bigint): bigint => originNs + floorDiv(ns - originNs, stepNs) * stepNs;
  if (time.timeNs !== undefined) return timeConstant(clampI64(startOf(time.timeNs)));
  const remainder = originNs - floorDiv(originNs, stepNs) * stepNs;
  const first = startOf(I64_MIN + 1n) + stepNs;
  const args = [bigintConstant(stepNs), bigintConstant(remainder === 0n ? stepNs : 2n * stepNs - remainder), time.node];
  const node = call("__bin", [...args, timeConstant(first).node, timeConstant(startOf(I64_MAX)).node]);
  const { source } = time;
  if (source === undefined) return typed(node, "time");
  return { node, kind: "time", bin: { scan: source.scan, widthNs: stepNs, originNs: remainder, firstNs: first } };
}

const MICROSECOND = 1_000n;
/** October 1677, in months since year 0: the first month that begins within i64 nanoseconds. */
const FIRST_MONTH = 1677n * 12n + 9n;

/** Bins of whole months. */
function binMonths(time: Typed, months: bigint, originNs: bigint): Typed {
  if (months <= 0n) throw planError("DATE_BIN stride must be non-zero and positive");
  const dayNumber = floorDiv(originNs, DAY_NS);
  const { year, month, day } = dateOf(Number(dayNumber));
  const rest = originNs - floorDiv(originNs, MICROSECOND) * MICROSECOND;
  const origin = castTo(timeConstant(originNs - rest).node, "TIMESTAMP");
  const n = bigintConstant(months);
  if (day === 1 && dayNumber * DAY_NS === originNs) {
    const originIndex = BigInt(year * 12 + month - 1);
    const firstIndex = originIndex - floorDiv(originIndex - FIRST_MONTH, months) * months;
    const first = BigInt(daysOf(Number(floorDiv(firstIndex, 12n)), Number(firstIndex % 12n) + 1, 1)) * DAY_NS;
    return typed(call("__bin_months", [castTo(n, "INTEGER"), time.node, origin, timeConstant(first).node]), "time");
  }
  return typed(call("__bin_months_from", [n, time.node, origin, bigintConstant(rest), bigintConstant(BigInt(year * 12 + month))]), "time");
}

function dateBin({ args }: RuleInput): Typed {
  const [stride, time, origin] = args;
  if (stride === undefined || time === undefined || args.length > 3) throw argumentCount("date_bin", "2 or 3", args.length);
  const interval = stride.interval ?? (stride.text === undefined ? null : parseInterval(stride.text));
  if (interval === null) throw planError("DATE_BIN expects the stride to be an interval literal");
  const originNs = origin === undefined ? 0n : asTime(origin).timeNs;
  if (originNs === undefined) throw planError("DATE_BIN expects the origin to be a constant");
  const value = asTime(time);
  if (interval.months === 0) return bin(value, intervalNs(interval), originNs);
  if (interval.days !== 0 || interval.ns !== 0n)
    throw planError("DATE_BIN stride does not support combination of month, day and nanosecond intervals");
  return binMonths(value, BigInt(interval.months), originNs);
}

const MONDAY_OF_2000_NS = 946_857_600_000_000_000n;
const NEW_YEAR_OF_2000_NS = 946_684_800_000_000_000n;

/** DuckDB's own name for bins, with its origins but to the nanosecond; `time_bucket(width, time, interval)` stays DuckDB's. */
function timeBucket({ args }: RuleInput): Typed | null {
  const [width, time, origin] = args;
  const interval = width?.interval;
  const originNs = origin === undefined ? undefined : origin.text === undefined ? origin.timeNs : asTime(origin).timeNs;
  if (interval === undefined || time?.kind !== "time" || args.length > 3 || (origin !== undefined && originNs === undefined)) return null;
  if (interval.months === 0) return bin(time, intervalNs(interval), originNs ?? MONDAY_OF_2000_NS);
  return interval.days === 0 && interval.ns === 0n ? binMonths(time, BigInt(interval.months), originNs ?? NEW_YEAR_OF_2000_NS) : null;
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
  return binMonths(time, rule.months, 0n);
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
  time_bucket: timeBucket,
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
