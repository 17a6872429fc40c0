// What the clocks of a time zone show: UTC's seconds and an offset, which changes a few times a year. One table of offsets per zone, for
// SQL and for answers alike, so that what is binned by a clock is written with the same clock.

import type { TimeRange } from "../query/scan.ts";
import { DAY_NS, SECOND_NS } from "./time-units.ts";

/** From `fromNs` on, until the next span, `offsetNs` is added to UTC. */
export interface ZoneSpan {
  readonly fromNs: bigint;
  readonly offsetNs: bigint;
}

const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;
const UTC_NAMES: ReadonlySet<string> = new Set(["UTC", "Z", "GMT", "Etc/UTC"]);
const FIXED_OFFSET = /^([+-])(\d{1,2})(?::?(\d{2}))?$/;
/** Offsets and spellings that a client may make up; there are 600 real names. */
const KEPT_MAX = 1000;
const NAME_CHARS_MAX = 64;

export class TimeZone {
  private constructor(
    /** As it was asked for. */
    readonly name: string,
    /** In order; the first begins with i64 nanoseconds. */
    readonly spans: readonly ZoneSpan[],
  ) {}

  /** By the names that were asked for, and by the zones' own. */
  private static readonly known = new Map<string, TimeZone>();
  private static readonly spansOfZones = new Map<string, readonly ZoneSpan[]>();

  /** `UTC`, an offset such as `+02:00`, or an IANA name; null: there is none of that name. */
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

  /** Index of the span that an instant lies in. */
  indexAt(timeNs: bigint): number {
    let [low, high] = [0, this.spans.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.spans[middle]!.fromNs <= timeNs) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The spans that times of a range lie in, at least one. */
  spansWithin({ minNs, maxNs }: TimeRange): readonly ZoneSpan[] {
    const first = this.indexAt(minNs);
    return this.spans.slice(first, Math.max(first, this.indexAt(maxNs)) + 1);
  }

  offsetAt(timeNs: bigint): bigint {
    return this.spans[this.indexAt(timeNs)]!.offsetNs;
  }

  /** The instant at which a clock shows `localNs`. A time that the clock skips counts on from before the change. Of two instants that lie
   *  at least `preferred.leastNs` apart the one with the preferred offset is taken, else the earlier. */
  toUtc(localNs: bigint, preferred?: { readonly offsetNs: bigint; readonly leastNs: bigint }): bigint {
    const { spans } = this;
    // whatever the offset, the instant lies within a day: try the span before it first, so that the earlier instant wins
    const first = this.indexAt(localNs - DAY_NS);
    for (let i = first; i < spans.length; i++) {
      const span = spans[i]!;
      const next = spans[i + 1];
      const utcNs = localNs - span.offsetNs;
      if (next === undefined || utcNs < next.fromNs) {
        // the earlier instant, or one that is skipped and so past the end of the span before
        if (next === undefined || preferred?.offsetNs !== next.offsetNs) return utcNs;
        const later = localNs - next.offsetNs;
        return later >= next.fromNs && later - utcNs >= preferred.leastNs ? later : utcNs;
      }
      // skipped: past the end of this span, before the beginning of the next
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
  // names only: no annotations, no offsets in other forms
  return /^[A-Za-z]/.test(name) ? namedSpans(name, known) : null;
}

/** `known`: by the name that all spellings have in common. */
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
    // a change of the name or of the law alone is none of the clock
    if (offsetNs !== spans.at(-1)!.offsetNs) spans.push({ fromNs: at.epochNanoseconds, offsetNs });
  }
}
