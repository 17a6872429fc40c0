// What a statement answers, piece by piece.
import type { SeriesHead, SeriesPiece } from "../../model/query/series-piece.ts";

export type { SeriesHead, SeriesPiece } from "../../model/query/series-piece.ts";

/** The answer of one statement. */
export interface SeriesAnswer {
  /** Once. @throws TsdbError, also half way */
  readonly pieces: AsyncIterable<SeriesPiece>;
  /** What series would be like, of an answer that may have none. */
  readonly emptyHead?: SeriesHead;
  /** Must be called, also after the last piece and after an error. Once it resolves, nothing reads the snapshot any more. */
  close(): Promise<void>;
}
