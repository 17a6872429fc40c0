// Parses times in all formats of 1.x: a date, a date with a time of day, RFC 3339.
import { TsdbError } from "../../model/errors.ts";
import { SECOND_NS } from "../../model/time/time-units.ts";
import type { TimeZone } from "../../model/time/time-zone.ts";

const TIME_LIKE = /^\d{4}-\d{2}-\d{2}/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const CLOCK = /^(\d{4})-(\d{2})-(\d{2}) (\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?$/;
const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/;

/** True if 1.x would try to parse it as a time: it starts like a date. */
export function looksLikeTime(text: string): boolean {
  return TIME_LIKE.test(text) && !text.slice(10).startsWith("\n");
}

/** Nanoseconds, possibly beyond 64 bits; null: not a time. Local times are in `zone`, null being UTC. */
export function parseTime(text: string, zone: TimeZone | null): bigint | null {
  const local = readParts(DATE.exec(text) ?? CLOCK.exec(text));
  if (local !== null) return zone === null ? local : zone.toUtc(local);
  const found = RFC_3339.exec(text);
  const ns = readParts(found);
  return ns === null ? null : ns - offsetNs(found![8]!);
}

/** The time of a text where a time is expected; null: it does not look like one. @throws TsdbError bad_query: it looks like one, but is
 *  invalid */
export function expectTime(text: string, zone: TimeZone | null): bigint | null {
  if (!looksLikeTime(text)) return null;
  const ns = parseTime(text, zone);
  if (ns === null) throw new TsdbError("bad_query", "invalid timestamp string");
  return ns;
}

/** From the match groups year to second and fraction; null if one is out of range. */
function readParts(found: RegExpExecArray | null): bigint | null {
  if (found === null) return null;
  const [year, month, day, hour = 0, minute = 0, second = 0] = found.slice(1, 7).map((part) => Number(part ?? 0));
  const date = new Date(0);
  date.setUTCFullYear(year!, month! - 1, day!);
  if (date.getUTCMonth() !== month! - 1 || date.getUTCDate() !== day || hour > 23 || minute > 59 || second > 59) return null;
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second;
  return BigInt(seconds) * SECOND_NS + BigInt((found[7] ?? "").slice(0, 9).padEnd(9, "0"));
}

function offsetNs(text: string): bigint {
  if (text === "Z") return 0n;
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(4));
  return BigInt(text.startsWith("-") ? -minutes : minutes) * 60n * SECOND_NS;
}
