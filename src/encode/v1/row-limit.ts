// Rows of a v1 answer up to a limit, as 1.x's max-row-limit cuts them: rows beyond it are left out, and what is cut says so. 1.x sends its
// answers in parts, and a result is called partial when the limit falls into a later part than the first and further ones would follow.
import type { SeriesHead, SeriesPiece } from "../../model/query/series-piece.ts";
import type { V1RowLimit } from "../../model/query/v1-answer.ts";
import type { PieceEncoder } from "../piece-encoder.ts";

/** How the answer to a request ends at its limit. */
export interface V1Cut {
  /** The last series has more rows than are shown. */
  readonly series: boolean;
  /** The result has more parts. */
  readonly result: boolean;
}

/** Can be told that nothing follows, of the answer nor of the request. */
export interface V1PieceEncoder extends PieceEncoder {
  end(cut?: V1Cut): Uint8Array | null;
}

/** Rows of a part at most; a series begins one of its own. */
const PART_ROWS = 10_000;

export class LimitedEncoder implements PieceEncoder {
  readonly contentType: string;
  private rowsLeft: number;
  private head: SeriesHead | null = null;
  private seriesCount = 0;
  /** Of the series that is open, with those beyond the limit. */
  private rowsOfSeries = 0;
  /** Of it when the limit was reached; null: it was not. */
  private rowsAtLimit: number | null = null;
  private hasOtherSeries = false;

  constructor(
    private readonly encoder: V1PieceEncoder,
    private readonly limit: V1RowLimit,
  ) {
    this.contentType = encoder.contentType;
    this.rowsLeft = limit.rows;
  }

  piece(piece: SeriesPiece): Uint8Array | null {
    const { head, batch } = piece;
    if (head !== this.head) {
      if (this.rowsAtLimit !== null) {
        this.hasOtherSeries = true;
        return null;
      }
      this.head = head;
      this.seriesCount++;
      this.rowsOfSeries = 0;
    }
    const rows = Math.min(batch.rowCount, this.rowsLeft);
    this.rowsLeft -= rows;
    if (this.rowsLeft === 0) this.rowsAtLimit ??= this.rowsOfSeries + rows;
    this.rowsOfSeries += batch.rowCount;
    if (rows === batch.rowCount) return this.encoder.piece(piece);
    return rows === 0 ? null : this.encoder.piece({ head, batch: { ...batch, rowCount: rows } });
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

  /** What is not told in parts is all one. */
  private get isFirstPart(): boolean {
    return !this.limit.isInParts || (this.seriesCount === 1 && this.rowsAtLimit! <= PART_ROWS);
  }

  /** Behind the one that the limit falls into. */
  private get hasOtherParts(): boolean {
    return this.hasOtherSeries || this.rowsOfSeries > Math.ceil(this.rowsAtLimit! / PART_ROWS) * PART_ROWS;
  }
}
