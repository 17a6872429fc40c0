// What the series dictionaries of all tables take together, and what they may take. A dictionary grows with every series that its table
// meets; at a flush those that are too much are evicted: their tables begin anew (live-tables.ts). This is the counting and the deciding.
import { TsdbError } from "../../model/errors.ts";
import type { SeriesAllowance, SeriesGrowth } from "../../model/rows/series-allowance.ts";

/** From this share of the limit on a flush is due, which evicts until no more than EVICT_TO is left: what lies above is for the series that
 *  come while the flush runs, because it still needs the dictionaries of its rows. */
const DUE_AT = 3 / 4;
const EVICT_TO = 1 / 2;

/** A table as eviction sees it. */
export interface EvictionCandidate {
  readonly tableId: number;
  /** Kernel memory of its dictionary. */
  readonly bytes: number;
  /** No row has come since the last flush. */
  readonly isIdle: boolean;
  /** Log sequence of its newest row. */
  readonly lastSequence: number;
}

export class SeriesMemory implements SeriesAllowance {
  /** Dictionaries evicted since the start. */
  evictions = 0;
  private bytes_ = 0;
  /** What a body that was refused would have needed. */
  private wantedBytes = 0;

  constructor(readonly bytesMax: number) {}

  /** Of all dictionaries, those apart that are released and wait for their readers. */
  get bytes(): number {
    return this.bytes_;
  }

  /** A flush should make room. */
  get isDue(): boolean {
    return this.bytes_ >= this.bytesMax * DUE_AT || !this.hasRoom;
  }

  /** False: a body that brings series has to wait. */
  get hasRoom(): boolean {
    return this.bytes_ + this.wantedBytes <= this.bytesMax;
  }

  get roomBytes(): number {
    return this.bytesMax - this.bytes_;
  }

  note(deltaBytes: number): void {
    this.bytes_ += deltaBytes;
  }

  /** Overloaded: when a flush has made room it may. Too large: never. */
  refuse({ bytes, fromEmptyBytes }: SeriesGrowth): TsdbError {
    const { bytesMax } = this;
    if (fromEmptyBytes > bytesMax * EVICT_TO) {
      const message =
        `the new series of a body would take ${Math.round(fromEmptyBytes)} bytes of the ${bytesMax} that there are for all series: ` +
        "send it as several smaller ones";
      return new TsdbError("too_large", message, { got: fromEmptyBytes, seriesBytesMax: bytesMax });
    }
    this.wantedBytes = Math.max(this.wantedBytes, bytes);
    return this.full();
  }

  full(): TsdbError {
    const { bytes, bytesMax } = this;
    const message = `the memory for series is full: ${bytes} of ${bytesMax} bytes; try again in a few seconds`;
    return new TsdbError("overloaded", message, { seriesBytes: bytes, seriesBytesMax: bytesMax });
  }

  /** Of all tables those whose dictionaries should go, at a flush. Pure, but that what was refused is forgotten. */
  choose(tables: Iterable<EvictionCandidate>): Set<number> {
    const chosen = new Set<number>();
    if (!this.isDue) return chosen;
    let leftBytes = this.bytes_;
    // what was refused finds room afterwards, if need be because its table begins anew, too
    const targetBytes = Math.min(this.bytesMax * EVICT_TO, this.bytesMax - this.wantedBytes);
    this.wantedBytes = 0;
    for (const { tableId, bytes } of [...tables].sort(byValue)) {
      if (leftBytes <= targetBytes) break;
      chosen.add(tableId);
      leftBytes -= bytes;
    }
    return chosen;
  }
}

/** What is missed least comes first: tables nobody writes to, the longest unwritten before others; then the largest, because few tables
 *  that begin anew are better than many. */
function byValue(a: EvictionCandidate, b: EvictionCandidate): number {
  if (a.isIdle !== b.isIdle) return a.isIdle ? -1 : 1;
  return a.isIdle ? a.lastSequence - b.lastSequence : b.bytes - a.bytes;
}
