// What a statement answers, piece by piece.
import type { SeriesPiece } from "../model/series-piece.ts";

export type { SeriesHead, SeriesPiece } from "../model/series-piece.ts";

/** The answer of one statement. */
export interface SeriesAnswer {
  /** Once. @throws TsdbError, also half way */
  readonly pieces: AsyncIterable<SeriesPiece>;
  /** Must be called, also after the last piece and after an error. Once it resolves, nothing reads the snapshot any more. */
  close(): Promise<void>;
}
