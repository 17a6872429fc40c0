// Texts that mean a time where one is wanted: `2020-01-02`, `2020-01-02 03:04:05.678`, RFC 3339.
import { TsdbError } from "../model/errors.ts";
import { TimeZone } from "../model/time-zone.ts";

const LOOKS_LIKE_TIME = /^\d{4}-\d{2}-\d{2}($|.+)/s;
const TIME = /^(\d{4})-(\d{2})-(\d{2})(?:([ T])(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9})\d*)?(Z|[+-]\d{2}:\d{2})?)?$/;
const MINUTE_NS = 60_000_000_000n;

/** Nanoseconds since 1970; null: the text does not look like a time at all. Texts without an offset are clocks of `timeZone`.
 *  @throws TsdbError bad_query: it looks like one, but is none */
export function toTimeNs(text: string, timeZone: string | null): bigint | null {
  if (!LOOKS_LIKE_TIME.test(text)) return null;
  const parts = TIME.exec(text);
  const [, year, month, day, separator, hour = "0", minute = "0", second = "0", fraction = "", offset] = parts ?? [];
  // with a blank there is no offset, with a T there must be one
  if (parts === null || (separator === "T") !== (offset !== undefined)) throw invalid();
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  const back = new Date(date);
  const isReal = back.getUTCMonth() === Number(month) - 1 && back.getUTCDate() === Number(day) && Number(hour) < 24;
  if (!isReal || Number(minute) > 59 || Number(second) > 59) throw invalid();
  const clockNs = BigInt(date) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
  if (offset !== undefined) return clockNs - offsetNs(offset);
  const zone = timeZone === null ? null : TimeZone.of(timeZone);
  return zone === null ? clockNs : zone.toUtc(clockNs);
}

function offsetNs(offset: string): bigint {
  if (offset === "Z") return 0n;
  const minutes = BigInt(offset.slice(1, 3)) * 60n + BigInt(offset.slice(4, 6));
  return (offset[0] === "-" ? -minutes : minutes) * MINUTE_NS;
}

function invalid(): TsdbError {
  return new TsdbError("bad_query", "invalid timestamp string");
}
