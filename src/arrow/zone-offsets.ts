// The distance of a time zone's clock from UTC at an instant, for timestamps that carry a zone.
import { TsdbError } from "../model/errors.ts";

const FIXED_OFFSET = /^([+-])(\d\d):?(\d\d)$/;
const UTC_NAMES = new Set(["UTC", "Z", "GMT", "Etc/UTC"]);
/** Zones change their clock only at quarters of an hour. */
const QUARTER_SECONDS = 900;
const CACHE_MAX = 4096;
/** The last second that a JavaScript date can stand for; later ones take its offset. */
const DATE_SECONDS_MAX = 8.64e12;

export interface ZoneOffsets {
  /** Seconds to add to UTC, a multiple of 60, at `epochSeconds`. */
  offsetSeconds(epochSeconds: number): number;
}

/** `zone`: `UTC`, an offset such as `+02:00`, or an IANA name. @throws TsdbError bad_format for an unknown one */
export function zoneOffsets(zone: string): ZoneOffsets {
  if (UTC_NAMES.has(zone)) return { offsetSeconds: () => 0 };
  const fixed = FIXED_OFFSET.exec(zone);
  if (fixed !== null) {
    const offset = (Number(fixed[2]) * 60 + Number(fixed[3])) * 60 * (fixed[1] === "-" ? -1 : 1);
    return { offsetSeconds: () => offset };
  }
  return new NamedZone(zone);
}

class NamedZone implements ZoneOffsets {
  private readonly format: Intl.DateTimeFormat;
  private readonly known = new Map<number, number>();
  private quarter = Number.NaN;
  private offset = 0;

  constructor(zone: string) {
    try {
      this.format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
    } catch (cause) {
      throw new TsdbError("bad_format", `unknown time zone '${zone}'`, { zone }, { cause });
    }
  }

  offsetSeconds(epochSeconds: number): number {
    const quarter = Math.floor(epochSeconds / QUARTER_SECONDS);
    if (quarter !== this.quarter) {
      this.quarter = quarter;
      this.offset = this.known.get(quarter) ?? this.learn(quarter);
    }
    return this.offset;
  }

  private learn(quarter: number): number {
    const seconds = Math.max(-DATE_SECONDS_MAX, Math.min(DATE_SECONDS_MAX, quarter * QUARTER_SECONDS));
    const part = this.format.formatToParts(seconds * 1000).find(({ type }) => type === "timeZoneName");
    // "GMT", "GMT+01:00", and "GMT-00:01:15" for local mean times, whose seconds an RFC 3339 offset has no room for.
    const match = /GMT([+-])(\d\d):(\d\d)/.exec(part?.value ?? "");
    const offset = match === null ? 0 : (Number(match[2]) * 60 + Number(match[3])) * 60 * (match[1] === "-" ? -1 : 1);
    if (this.known.size >= CACHE_MAX) this.known.clear();
    this.known.set(quarter, offset);
    return offset;
  }
}
