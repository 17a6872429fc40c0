// Functions of time, exact to the nanosecond where DuckDB's own stop at the microsecond. The macros they call are in macros.ts.
import { DAY_NS, scaledUnit } from "../interval.ts";
import type { Typed } from "../kind.ts";
import { floorDiv } from "../time-text.ts";
import { bigintConstant, castTo, operator } from "../tree.ts";
import { nsOf, timeOfNs } from "./arithmetic.ts";
import { asTime, intervalConstant, timeConstant } from "./cast.ts";
import { GAPFILL_RULES } from "./gapfill-rules.ts";
import { type RewriteContext, typed } from "./rewriter.ts";
import { argumentCount, planError, type Rule, type RuleInput } from "./rule.ts";
import { dateBin, dateBinWallclock, dateTrunc, timeBucket, unitName } from "./time-bin.ts";
import { timeMacro } from "./time-macro.ts";
import { atTimeZoneRule, toLocalTimeRule, tzRule } from "./time-zone.ts";

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

const PART_NAMES: Readonly<Record<string, string>> = { dow: "dow", doy: "doy", isodow: "isodow", msec: "millisecond", usec: "microsecond" };

function datePart({ node, args }: RuleInput): Typed | null {
  const [unit, value] = args;
  const part = unitName(unit);
  if (value === undefined || part === null) return null;
  if (value.kind === "duration") return durationPart(part, value);
  if (value.kind !== "time" && (value.text === undefined || value.kind !== "string")) return null;
  const time = asTime(value);
  if (part === "epoch") return typed(timeMacro("__epoch", time.node), "float");
  if (part === "nanosecond" || part === "n") return typed(timeMacro("__second_ns", time.node), "integer");
  const microseconds = timeMacro("__us", time.node);
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
  return args.length === 1 && value?.kind === "time" ? typed({ ...node, children: [timeMacro("__us", value.node)] }, "unknown") : null;
};

export const TIME_RULES: Readonly<Record<string, Rule>> = {
  ...GAPFILL_RULES,
  ...Object.fromEntries(CALENDAR_PARTS.map((name) => [name, calendarRule])),
  date_bin: dateBin,
  date_bin_wallclock: dateBinWallclock,
  date_trunc: dateTrunc,
  date_part: datePart,
  epoch: ({ args }) => (args[0]?.kind === "time" ? typed(timeMacro("__epoch", args[0].node), "float") : null),
  epoch_ns: ({ args }) => (args[0]?.kind === "time" ? typed(nsOf(args[0]), "integer") : null),
  from_unixtime: epochRule(1_000_000_000n),
  make_timestamp_ns: ({ node }) => typed(node, "time"),
  now: ({ context }) => timeConstant(context.nowNs),
  time_bucket: timeBucket,
  today: ({ context }) => today(context),
  timezone: atTimeZoneRule,
  to_local_time: toLocalTimeRule,
  to_timestamp: epochRule(1n),
  to_timestamp_nanos: epochRule(1n),
  to_timestamp_micros: epochRule(1_000n),
  to_timestamp_millis: epochRule(1_000_000n),
  to_timestamp_seconds: epochRule(1_000_000_000n),
  to_unixtime: ({ args }) => (args[0] === undefined ? null : typed(timeMacro("__unixtime", asTime(args[0]).node), "integer")),
  trunc: truncRule,
  tz: tzRule,
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
