// Local times of a time zone: UTC plus an offset that changes a few times a year. SQL and the encoders share one table of offsets per zone,
// so that bins and their printed times use the same clock.

import type { TimeRange } from "../query/scan.ts";
import { I64_MAX, I64_MIN } from "../rows/int64.ts";
import { DAY_NS, SECOND_NS } from "./time-units.ts";

/** From `fromNs` until the next span, local time is UTC plus `offsetNs`. */
export interface ZoneSpan {
  readonly fromNs: bigint;
  readonly offsetNs: bigint;
}

const UTC_NAMES: ReadonlySet<string> = new Set(["UTC", "Z", "GMT", "Etc/UTC"]);
const FIXED_OFFSET = /^([+-])(\d{1,2})(?::?(\d{2}))?$/;
/** Limit of the cache; there are 600 real names, but clients may send any offset or spelling. */
const KEPT_MAX = 1000;
const NAME_CHARS_MAX = 64;

/** A time zone. Immutable; obtained by `TimeZone.of`. */
export class TimeZone {
  private constructor(
    /** The requested name. */
    readonly name: string,
    /** Ascending; the first begins at the least i64. */
    readonly spans: readonly ZoneSpan[],
  ) {}

  /** By requested names and by the zones' own. */
  private static readonly known = new Map<string, TimeZone>();
  private static readonly spansOfZones = new Map<string, readonly ZoneSpan[]>();

  /** Accepts `UTC`, an offset such as `+02:00`, or an IANA name; returns null for an unknown name. */
  static of(name: string): TimeZone | null {
    const known = TimeZone.known.get(name);
    if (known !== undefined) return known;
    const spans = name.length > NAME_CHARS_MAX ? null : spansOf(name, TimeZone.spansOfZones);
    if (spans === null) return null;
    const zone = new TimeZone(name, spans);
    if (TimeZone.known.size >= KEPT_MAX) TimeZone.known.clear();
    TimeZone.known.set(name, zone);
    return zone;
  }

  /** Index of the span that contains an instant. */
  indexAt(timeNs: bigint): number {
    let [low, high] = [0, this.spans.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.spans[middle]!.fromNs <= timeNs) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The spans that overlap a range, at least one. */
  spansWithin({ minNs, maxNs }: TimeRange): readonly ZoneSpan[] {
    const first = this.indexAt(minNs);
    return this.spans.slice(first, Math.max(first, this.indexAt(maxNs)) + 1);
  }

  offsetAt(timeNs: bigint): bigint {
    return this.spans[this.indexAt(timeNs)]!.offsetNs;
  }

  /** The instant at which a local clock shows `localNs`. A skipped local time is interpreted with the offset before the change. Of two
   *  instants that are at least `preferred.leastNs` apart, the one with the preferred offset is returned, otherwise the earlier. */
  toUtc(localNs: bigint, preferred?: { readonly offsetNs: bigint; readonly leastNs: bigint }): bigint {
    const { spans } = this;
    // for any offset, the instant is within a day: try the earlier span first, so that the earlier instant wins
    const first = this.indexAt(localNs - DAY_NS);
    for (let i = first; i < spans.length; i++) {
      const span = spans[i]!;
      const next = spans[i + 1];
      const utcNs = localNs - span.offsetNs;
      if (next === undefined || utcNs < next.fromNs) {
        // the earlier instant, or a skipped time, which lies after the end of the earlier span
        if (next === undefined || preferred?.offsetNs !== next.offsetNs) return utcNs;
        const later = localNs - next.offsetNs;
        return later >= next.fromNs && later - utcNs >= preferred.leastNs ? later : utcNs;
      }
      // skipped: after the end of this span, before the start of the next
      if (localNs - next.offsetNs < next.fromNs) return utcNs;
    }
    throw new Error("BUG: the last span has no end");
  }
}

function spansOf(name: string, known: Map<string, readonly ZoneSpan[]>): readonly ZoneSpan[] | null {
  if (UTC_NAMES.has(name)) return [{ fromNs: I64_MIN, offsetNs: 0n }];
  const fixed = FIXED_OFFSET.exec(name);
  if (fixed !== null) {
    const [hours, minutes] = [Number(fixed[2]), Number(fixed[3] ?? 0)];
    if (hours > 23 || minutes > 59) return null;
    const seconds = (hours * 60 + minutes) * 60 * (fixed[1] === "-" ? -1 : 1);
    return [{ fromNs: I64_MIN, offsetNs: BigInt(seconds) * SECOND_NS }];
  }
  // accepts plain names only: no annotations, no other offset formats
  return /^[A-Za-z]/.test(name) ? namedSpans(name, known) : null;
}

/** @param known zones by the canonical name of all spellings */
function namedSpans(name: string, known: Map<string, readonly ZoneSpan[]>): readonly ZoneSpan[] | null {
  let at: Temporal.ZonedDateTime | null;
  try {
    at = Temporal.Instant.fromEpochNanoseconds(I64_MIN).toZonedDateTimeISO(name);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
  const kept = known.get(at.timeZoneId);
  if (kept !== undefined) return kept;
  const zone = at.timeZoneId;
  const spans: ZoneSpan[] = [{ fromNs: I64_MIN, offsetNs: BigInt(at.offsetNanoseconds) }];
  for (;;) {
    at = at.getTimeZoneTransition("next");
    if (at === null || at.epochNanoseconds > I64_MAX) {
      known.set(zone, spans);
      return spans;
    }
    const offsetNs = BigInt(at.offsetNanoseconds);
    // a change of the zone's name or law without a change of its offset does not affect the clock
    if (offsetNs !== spans.at(-1)!.offsetNs) spans.push({ fromNs: at.epochNanoseconds, offsetNs });
  }
}
