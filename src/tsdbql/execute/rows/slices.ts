// Cuts a time range into slices with about equal numbers of rows, without knowing their distribution: after a slice with few rows the next
// one is longer, and a slice with too many is retried with a shorter one.
import type { TimeRange } from "../../../model/query/scan.ts";

export interface TimeSlice {
  readonly range: TimeRange;
  /** More rows are too many; a slice of a single instant has no limit. */
  readonly rowsMax: number;
}

/** The first slice is small, so that an answer starts quickly. */
const FIRST_ROWS = 4096;
const ROWS_WANTED = 65_536;
/** Factor by which a slice may exceed its target. */
const TOO_MANY = 8;
const GROWTH_MAX = 16;

/** The slices of one range, in order of time. */
export class TimeSlices {
  private readonly range: TimeRange;
  /** Start of the next slice (or its end, if descending). */
  private at: bigint;
  private lengthNs: bigint;
  private wanted = FIRST_ROWS;
  private current: TimeRange | null = null;

  /** @param times contains the times of all rows; null: unknown */
  constructor(
    range: TimeRange,
    times: TimeRange | null,
    rowCountMax: number,
    private readonly descending: boolean,
  ) {
    const minNs = times !== null && times.minNs > range.minNs ? times.minNs : range.minNs;
    const maxNs = times !== null && times.maxNs < range.maxNs ? times.maxNs : range.maxNs;
    this.range = { minNs, maxNs };
    this.at = descending ? maxNs : minNs;
    const spanNs = times === null ? maxNs - minNs : times.maxNs - times.minNs;
    this.lengthNs = atLeast1((spanNs * BigInt(FIRST_ROWS)) / BigInt(Math.max(1, rowCountMax)));
  }

  /** The next slice; null: the range is exhausted. */
  next(): TimeSlice | null {
    const { minNs, maxNs } = this.range;
    if (this.at < minNs || this.at > maxNs) return null;
    const reach = this.lengthNs - 1n;
    this.current = this.descending
      ? { minNs: this.at - reach < minNs ? minNs : this.at - reach, maxNs: this.at }
      : { minNs: this.at, maxNs: this.at + reach > maxNs ? maxNs : this.at + reach };
    const isInstant = this.current.minNs === this.current.maxNs;
    return { range: this.current, rowsMax: isInstant ? Number.POSITIVE_INFINITY : this.wanted * TOO_MANY };
  }

  /** Reports the rows of the last slice. */
  done(rowCount: number): void {
    const { minNs, maxNs } = this.current!;
    this.at = this.descending ? minNs - 1n : maxNs + 1n;
    this.wanted = Math.min(ROWS_WANTED, this.wanted * 4);
    const growth = Math.min(GROWTH_MAX, this.wanted / Math.max(1, rowCount));
    this.lengthNs = atLeast1(BigInt(Math.trunc(Number(maxNs - minNs + 1n) * growth)));
  }

  /** The last slice had too many rows. */
  retry(): void {
    this.lengthNs = atLeast1((this.current!.maxNs - this.current!.minNs + 1n) / BigInt(TOO_MANY));
  }
}

function atLeast1(ns: bigint): bigint {
  return ns < 1n ? 1n : ns;
}
