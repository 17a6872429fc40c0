// Time functions, exact to the nanosecond where DuckDB's own have microseconds. The macros are in macros.ts.
import { DAY_NS } from "../../../model/time/time-units.ts";
import type { Typed } from "../../bind/kind.ts";
import { scaledUnit } from "../../parse/interval.ts";
import { floorDiv } from "../../parse/time-text.ts";
import { castTo, type Expression } from "../../parse/tree.ts";
import type { RewriteContext } from "../context.ts";
import { GAPFILL_RULES } from "../gapfill/rules.ts";
import { expectArguments, type Rule } from "../rule.ts";
import { typed } from "../typed.ts";
import { dateBin, dateBinWallclock, dateTrunc, timeBucket } from "./time-bin.ts";
import { fromUnixtime, makeDate, toDate, toTimestamp, toUnixtime } from "./time-convert.ts";
import { toCharRule } from "./time-format.ts";
import { timeMacro } from "./time-macro.ts";
import { datePart } from "./time-part.ts";
import { intervalConstant, nsOf, timeConstant, timeOfClock } from "./time-value.ts";
import { atTimeZoneRule, toLocalTimeRule, tzRule } from "./time-zone.ts";

/** `current_timestamp` and similar, written without parentheses. */
export function currentTime(name: string, context: RewriteContext): Typed | null {
  switch (name) {
    case "current_timestamp":
    case "localtimestamp":
      return currentInstant(context);
    case "current_date":
      return today(context);
    case "current_time":
    case "localtime":
      return typed(castTo(castTo(currentInstant(context).node, "TIMESTAMP"), "TIME"), "other");
    default:
      return null;
  }
}

function currentInstant({ clock }: RewriteContext): Typed {
  return timeOfClock(clock, (nowNs) => nowNs);
}

function today(context: RewriteContext): Typed {
  return typed(castTo(timeConstant(floorDiv(context.clock.now(), DAY_NS) * DAY_NS).node, "DATE"), "date");
}

/** to_days(n) …: the parsed form of `INTERVAL '1' DAY` and `INTERVAL 3 MONTH`. */
function intervalUnit(unit: string): Rule {
  return ({ node, args }) => {
    const amount = textWithin(node.children[0]) ?? args[0]?.number;
    const interval = amount === undefined || args.length !== 1 ? null : scaledUnit(String(amount), unit);
    return interval === null ? typed(node, "interval") : intervalConstant(interval);
  };
}

/** The text in trunc(CAST('1.5' AS DOUBLE)), casts around it or not: the parser cuts off fractions, the dialect does not. */
function textWithin(node: Expression | undefined): string | undefined {
  if (node?.class === "CAST") return textWithin(node.child);
  if (node?.class === "FUNCTION" && node.function_name === "trunc") return textWithin(node.children[0]);
  const value = node?.class === "CONSTANT" ? node.value.value : undefined;
  return typeof value === "string" ? value.trim() : undefined;
}

/** trunc(CAST('1' AS DOUBLE)): the number within `INTERVAL '1' DAY`; other calls are unchanged. */
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

/** Calendar functions get whole microseconds, rounded down. */
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
  date_format: toCharRule,
  current_date: ({ context }) => today(context),
  current_time: ({ context }) => currentTime("current_time", context),
  current_timestamp: ({ context }) => currentInstant(context),
  epoch: ({ args }) => (args[0]?.kind === "time" ? typed(timeMacro("__epoch", args[0].node), "float") : null),
  epoch_ns: ({ args }) => (args[0]?.kind === "time" ? typed(nsOf(args[0]), "integer") : null),
  from_unixtime: fromUnixtime,
  make_date: makeDate,
  make_timestamp_ns: ({ node }) => typed(node, "time"),
  now: (input) => {
    expectArguments(input, 0);
    return currentInstant(input.context);
  },
  time_bucket: timeBucket,
  today: ({ context }) => today(context),
  timezone: atTimeZoneRule,
  to_local_time: toLocalTimeRule,
  to_char: toCharRule,
  to_date: toDate,
  to_timestamp: toTimestamp("ns"),
  to_timestamp_nanos: toTimestamp("ns"),
  to_timestamp_micros: toTimestamp("us"),
  to_timestamp_millis: toTimestamp("ms"),
  to_timestamp_seconds: toTimestamp("s"),
  to_unixtime: toUnixtime,
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
