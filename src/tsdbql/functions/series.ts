// The answer of a statement, in pieces.
import type { SeriesHead, SeriesPiece } from "../../model/query/series-piece.ts";

export type { SeriesHead, SeriesPiece } from "../../model/query/series-piece.ts";

/** The answer of one statement. */
export interface SeriesAnswer {
  /** May be iterated once. @throws TsdbError, also in the middle */
  readonly pieces: AsyncIterable<SeriesPiece>;
  /** The form of its series, for answers that may have none. */
  readonly emptyHead?: SeriesHead;
  /** Must be called, also after the last piece and after an error. When it resolves, nothing reads the snapshot any more. */
  close(): Promise<void>;
}
