// Time zones: the local clock at a time, and the time of a local clock.
import { floorDiv, SECOND_NS } from "./duration.ts";
import { FluxError } from "./flux-error.ts";
import { Duration, type FluxRecord } from "./value.ts";

export interface Location {
  /** True: its clock never changes. */
  readonly isFixed: boolean;
  toLocal(ns: bigint): bigint;
  toUtc(localNs: bigint): bigint;
}

class FixedLocation implements Location {
  readonly isFixed = true;

  constructor(private readonly offsetNs: bigint) {}

  toLocal(ns: bigint): bigint {
    return ns + this.offsetNs;
  }

  toUtc(localNs: bigint): bigint {
    return localNs - this.offsetNs;
  }
}

const DAY_QUARTERS = 96;
/** Offsets that one zone keeps: those of all days that a time can have are 213,000. */
const OFFSETS_MAX = 20_000;

/** A zone of the time zone database, with a further offset. */
class ZoneLocation implements Location {
  readonly isFixed = false;
  private readonly offsets = new Map<number, bigint>();

  constructor(
    private readonly format: Intl.DateTimeFormat,
    private readonly extraNs: bigint,
  ) {}

  toLocal(ns: bigint): bigint {
    return ns + this.offsetAt(ns);
  }

  /** A clock time skipped by a change counts on from before it; of a repeated one the earlier is meant. */
  toUtc(localNs: bigint): bigint {
    const before = this.offsetAt(localNs - 86_400n * SECOND_NS);
    const after = this.offsetAt(localNs + 86_400n * SECOND_NS);
    if (before === after) return localNs - before;
    const early = localNs - before;
    if (this.offsetAt(early) === before) return early;
    const late = localNs - after;
    return this.offsetAt(late) === after ? late : early;
  }

  private offsetAt(ns: bigint): bigint {
    // offsets change at full quarters of an hour, once in a day at most
    const quarter = Number(floorDiv(ns, 900n * SECOND_NS));
    const first = Math.floor(quarter / DAY_QUARTERS) * DAY_QUARTERS;
    const offset = this.atQuarter(first);
    return quarter === first || this.atQuarter(first + DAY_QUARTERS) === offset ? offset : this.atQuarter(quarter);
  }

  private atQuarter(quarter: number): bigint {
    let offset = this.offsets.get(quarter);
    if (offset === undefined) {
      offset = this.findOffset(quarter * 900_000) + this.extraNs;
      if (this.offsets.size >= OFFSETS_MAX) this.offsets.clear();
      this.offsets.set(quarter, offset);
    }
    return offset;
  }

  private findOffset(ms: number): bigint {
    const parts = Object.fromEntries(this.format.formatToParts(ms).map(({ type, value }) => [type, value]));
    const [year, month, day] = [parts["year"], parts["month"], parts["day"]].map(Number);
    const local = Date.UTC(year!, month! - 1, day, Number(parts["hour"]) % 24, Number(parts["minute"]), Number(parts["second"]));
    return BigInt(local - ms) * 1_000_000n;
  }
}

const ZONES_MAX = 64;
const zones = new Map<string, Location>();

/** @param record `{zone, offset}` @throws FluxError: there is no such zone */
export function locationOf(record: FluxRecord): Location {
  const zone = record.get("zone");
  const offset = record.get("offset");
  const offsetNs = offset instanceof Duration ? offset.ns : 0n;
  if (zone === "UTC" || zone === "" || zone === undefined) return new FixedLocation(offsetNs);
  if (typeof zone !== "string") throw new FluxError("invalid location");
  const name = `${zone} ${offsetNs}`;
  let found = zones.get(name);
  if (found === undefined) {
    found = new ZoneLocation(formatOf(zone), offsetNs);
    if (zones.size >= ZONES_MAX) zones.clear();
    zones.set(name, found);
  }
  return found;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const parts = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" } as const;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", era: undefined, ...parts });
  } catch {
    throw new FluxError("invalid location");
  }
}
