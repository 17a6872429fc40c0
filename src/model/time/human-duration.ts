// Human-readable durations of retention periods: `30d`, `1h 30m`, `1year`, with the vendor's units and lengths.
import { TsdbError } from "../errors.ts";
import { I64_MAX, U64_MAX } from "../rows/int64.ts";
import { DAY_NS, HOUR_NS, MINUTE_NS, SECOND_NS } from "./time-units.ts";

const UNITS: ReadonlyMap<string, bigint> = new Map(
  (
    [
      [["ns", "nsec", "nanos"], 1n],
      [["us", "usec", "µs"], 1_000n],
      [["ms", "msec", "millis"], 1_000_000n],
      [["s", "sec", "secs", "second", "seconds"], SECOND_NS],
      [["m", "min", "mins", "minute", "minutes"], MINUTE_NS],
      [["h", "hr", "hrs", "hour", "hours"], HOUR_NS],
      [["d", "day", "days"], DAY_NS],
      [["w", "wk", "wks", "week", "weeks"], 7n * DAY_NS],
      // 30.44 and 365.25 days
      [["M", "month", "months"], 2_630_016n * SECOND_NS],
      [["y", "yr", "yrs", "year", "years"], 31_557_600n * SECOND_NS],
    ] as const
  ).flatMap(([names, ns]) => names.map((name): [string, bigint] => [name, ns])),
);

/** A fraction is exact to the nanosecond. */
const PART = /\s*(\d+)(?:\.(\d+))?\s*([A-Za-zµ]+)\s*/y;
const NS_MAX = I64_MAX;

/** Parses a duration to nanoseconds, at most 292 years. @throws TsdbError bad_request describing the fault in `text` */
export function parseHumanDuration(text: string): bigint {
  if (text.trim() === "") throw invalid(text, "it is empty");
  if (text.trim() === "0") return 0n;
  let total = 0n;
  for (let at = 0; at < text.length; ) {
    PART.lastIndex = at;
    const part = PART.exec(text);
    if (part === null) throw invalid(text, `a number and a unit are wanted at ${JSON.stringify(text.slice(at, at + 20))}`);
    const [, whole, fraction = "", name] = part as unknown as [string, string, string | undefined, string];
    const unit = UNITS.get(name);
    if (unit === undefined) {
      throw invalid(text, `unknown time unit "${name.slice(0, 20)}", supported units: ns, us, ms, s, m, h, d, w, month, y`);
    }
    if (whole.length > 20 || fraction.length > 20) throw invalid(text, "the number is too large");
    total += BigInt(whole) * unit + (BigInt(`0${fraction}`) * unit) / 10n ** BigInt(fraction.length);
    if (total > U64_MAX * SECOND_NS) throw invalid(text, "the number is too large");
    at = PART.lastIndex;
  }
  return total > NS_MAX ? NS_MAX : total;
}

function invalid(text: string, why: string): TsdbError {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  return new TsdbError("bad_request", `invalid duration '${shown}': ${why}; write it as 30d, 24h, 1h 30m or 1y`, { text: shown });
}
