// A range of time cut into slices of about as many rows each, though nobody knows where the rows are: a slice that held few is followed by
// a longer one, one that held too many is tried again shorter.
import type { TimeRange } from "../../../model/query/scan.ts";

export interface TimeSlice {
  readonly range: TimeRange;
  /** More are too many; a slice of one instant takes all. */
  readonly rowsMax: number;
}

/** The first slice is small, so that an answer begins at once. */
const FIRST_ROWS = 4096;
const ROWS_WANTED = 65_536;
/** Times what was wanted. */
const TOO_MANY = 8;
const GROWTH_MAX = 16;

export class TimeSlices {
  private readonly range: TimeRange;
  /** The next slice begins (or ends, if descending) here. */
  private at: bigint;
  private lengthNs: bigint;
  private wanted = FIRST_ROWS;
  private current: TimeRange | null = null;

  /** @param times no row has another time; null: unknown */
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

  /** Null: all of the range has been handed out. */
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

  /** The slice held so many rows. */
  done(rowCount: number): void {
    const { minNs, maxNs } = this.current!;
    this.at = this.descending ? minNs - 1n : maxNs + 1n;
    this.wanted = Math.min(ROWS_WANTED, this.wanted * 4);
    const growth = Math.min(GROWTH_MAX, this.wanted / Math.max(1, rowCount));
    this.lengthNs = atLeast1(BigInt(Math.trunc(Number(maxNs - minNs + 1n) * growth)));
  }

  /** The slice held too many. */
  retry(): void {
    this.lengthNs = atLeast1((this.current!.maxNs - this.current!.minNs + 1n) / BigInt(TOO_MANY));
  }
}

function atLeast1(ns: bigint): bigint {
  return ns < 1n ? 1n : ns;
}
