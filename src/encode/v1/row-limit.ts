// Applies the row limit to a v1 answer like max-row-limit of version 1.x: further rows are omitted, and the answer is marked. Version 1.x
// sends answers in parts, and marks a result as partial if the limit is reached in a part after the first and further parts would follow.
import type { ResultBatch } from "../../model/query/result-batch.ts";
import type { SeriesHead } from "../../model/query/series-piece.ts";
import type { V1RowLimit } from "../../model/query/v1-answer.ts";
import type { Encoder } from "../encoder.ts";

/** How an answer ends at its row limit. */
export interface V1Cut {
  /** The last series has more rows than shown. */
  readonly series: boolean;
  /** The result has more parts. */
  readonly result: boolean;
}

/** An encoder that can be told that neither the answer nor the request continues. */
export interface V1Encoder extends Encoder<SeriesHead> {
  end(cut?: V1Cut): Uint8Array | null;
}

/** Maximum rows per part; each series starts a new part. */
const PART_ROWS = 10_000;

/** Wraps an encoder with a row limit. */
export class LimitedEncoder implements Encoder<SeriesHead> {
  readonly contentType: string;
  private rowsLeft: number;
  private seriesCount = 0;
  /** Rows of the current series, including those beyond the limit. */
  private rowsOfSeries = 0;
  /** Rows of the current series when the limit was reached; null if it was not. */
  private rowsAtLimit: number | null = null;
  private hasOtherSeries = false;

  constructor(
    private readonly encoder: V1Encoder,
    private readonly limit: V1RowLimit,
  ) {
    this.contentType = encoder.contentType;
    this.rowsLeft = limit.rows;
  }

  begin(head: SeriesHead): Uint8Array | null {
    if (this.rowsAtLimit !== null) {
      this.hasOtherSeries = true;
      return null;
    }
    this.seriesCount++;
    this.rowsOfSeries = 0;
    return this.encoder.begin(head);
  }

  rows(batch: ResultBatch): Uint8Array | null {
    // rows of a series after the limit
    if (this.hasOtherSeries) return null;
    const rows = Math.min(batch.rowCount, this.rowsLeft);
    this.rowsLeft -= rows;
    if (this.rowsLeft === 0) this.rowsAtLimit ??= this.rowsOfSeries + rows;
    this.rowsOfSeries += batch.rowCount;
    if (rows === batch.rowCount) return this.encoder.rows(batch);
    return rows === 0 ? null : this.encoder.rows({ ...batch, rowCount: rows });
  }

  get isDone(): boolean {
    if (this.rowsAtLimit === null) return false;
    return this.hasOtherSeries || (this.isFirstPart ? this.isSeriesCut : this.hasOtherParts);
  }

  end(): Uint8Array | null {
    if (this.rowsAtLimit === null) return this.encoder.end();
    return this.encoder.end({ series: this.isSeriesCut, result: !this.isFirstPart && this.hasOtherParts });
  }

  private get isSeriesCut(): boolean {
    return this.rowsOfSeries > this.rowsAtLimit!;
  }

  /** Formats without parts count as a single one. */
  private get isFirstPart(): boolean {
    return !this.limit.isInParts || (this.seriesCount === 1 && this.rowsAtLimit! <= PART_ROWS);
  }

  /** True if parts follow the one in which the limit was reached. */
  private get hasOtherParts(): boolean {
    return this.hasOtherSeries || this.rowsOfSeries > Math.ceil(this.rowsAtLimit! / PART_ROWS) * PART_ROWS;
  }
}
