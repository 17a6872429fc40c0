// Memory accounting of all series dictionaries and its limit. A dictionary grows with every new series; at a flush, dictionaries beyond the
// limit are evicted and their tables start with empty ones (live-tables.ts). This class counts and chooses.
import { TsdbError } from "../../model/errors.ts";
import type { SeriesAllowance, SeriesGrowth } from "../../model/rows/series-allowance.ts";

/** At this share of the limit a flush is due, which evicts down to EVICT_TO: the rest is for series that arrive during the flush, while
 *  the dictionaries of its rows are still needed. */
const DUE_AT = 3 / 4;
const EVICT_TO = 1 / 2;

/** A table as a candidate for eviction. */
export interface EvictionCandidate {
  readonly tableId: number;
  /** Kernel memory of its dictionary. */
  readonly bytes: number;
  /** No row has arrived since the last flush. */
  readonly isIdle: boolean;
  /** Log sequence of its newest row. */
  readonly lastSequence: number;
}

/** The account of all series dictionaries. */
export class SeriesMemory implements SeriesAllowance {
  /** Dictionaries evicted since the server started. */
  evictions = 0;
  private bytes_ = 0;
  /** Memory requested by rejected bodies. */
  private wantedBytes = 0;

  constructor(readonly bytesMax: number) {}

  /** Bytes of all dictionaries, except released dictionaries with readers. */
  get bytes(): number {
    return this.bytes_;
  }

  /** True if a flush should make room. */
  get isDue(): boolean {
    return this.bytes_ >= this.bytesMax * DUE_AT || !this.hasRoom;
  }

  /** False: bodies with new series must wait. */
  get hasRoom(): boolean {
    return this.bytes_ + this.wantedBytes <= this.bytesMax;
  }

  get roomBytes(): number {
    return this.bytesMax - this.bytes_;
  }

  note(deltaBytes: number): void {
    this.bytes_ += deltaBytes;
  }

  /** "overloaded" if a flush can make room, "too_large" if none can. */
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

  /** Chooses the dictionaries to evict at a flush. Pure, except that it resets the rejected amount. */
  choose(tables: Iterable<EvictionCandidate>): Set<number> {
    const chosen = new Set<number>();
    if (!this.isDue) return chosen;
    let leftBytes = this.bytes_;
    // the rejected body must fit afterwards, if need be because its table starts with an empty dictionary
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

/** Eviction order: idle tables first, the longest unwritten before others; then the largest, because few restarted tables are better
 *  than many. */
function byValue(a: EvictionCandidate, b: EvictionCandidate): number {
  if (a.isIdle !== b.isIdle) return a.isIdle ? -1 : 1;
  return a.isIdle ? a.lastSequence - b.lastSequence : b.bytes - a.bytes;
}
