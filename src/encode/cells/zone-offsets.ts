// UTC offsets of a time zone, for timestamps with a zone.
import { TsdbError } from "../../model/errors.ts";
import { SECOND_NS } from "../../model/time/time-units.ts";
import { TimeZone } from "../../model/time/time-zone.ts";

/** Timestamps of coarser units exceed i64 nanoseconds; beyond the range the outermost offset applies. */
const SECONDS_MAX = 9_223_372_036;

export interface ZoneOffsets {
  /** Seconds to add to UTC at `epochSeconds`. Local mean times have odd ones, which offsets leave out when they are written. */
  offsetSeconds(epochSeconds: number): number;
}

/** @param zone `UTC`, an offset such as `+02:00`, or an IANA name @throws TsdbError bad_format for an unknown one */
export function zoneOffsets(zone: string): ZoneOffsets {
  const found = TimeZone.of(zone);
  if (found === null) throw new TsdbError("bad_format", `unknown time zone '${zone}'`, { zone });
  return new SpanOffsets(found);
}

/** Caches the span of the last timestamp: consecutive values mostly share it. */
class SpanOffsets implements ZoneOffsets {
  private from = 0;
  /** Exclusive; initially empty. */
  private end = 0;
  private offset = 0;

  constructor(private readonly zone: TimeZone) {}

  offsetSeconds(epochSeconds: number): number {
    if (epochSeconds < this.from || epochSeconds >= this.end) this.find(epochSeconds);
    return this.offset;
  }

  private find(epochSeconds: number): void {
    const { spans } = this.zone;
    const seconds = Math.floor(Math.max(-SECONDS_MAX, Math.min(SECONDS_MAX, epochSeconds)));
    const index = this.zone.indexAt(BigInt(seconds) * SECOND_NS);
    const next = spans[index + 1];
    this.from = index === 0 ? Number.NEGATIVE_INFINITY : Number(spans[index]!.fromNs / SECOND_NS);
    this.end = next === undefined ? Number.POSITIVE_INFINITY : Number(next.fromNs / SECOND_NS);
    this.offset = Number(spans[index]!.offsetNs / SECOND_NS);
  }
}
