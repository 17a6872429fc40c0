// The interface of all formats of a SeriesAnswer: bytes for each piece and for the end.
import type { SeriesPiece } from "../model/query/series-piece.ts";

/** Encodes the pieces of one statement's answer, in constant memory unless stated otherwise. Call `piece` any number of times, then
 *  `end` once. Returned bytes belong to the caller; null means no bytes yet. After an exception the encoder is unusable. @throws
 *  TsdbError bad_format for a value that the format cannot represent */
export interface PieceEncoder {
  readonly contentType: string;
  /** The piece is borrowed for the call. */
  piece(piece: SeriesPiece): Uint8Array | null;
  /** True if further pieces have no effect and need not be computed. */
  readonly isDone?: boolean;
  end(): Uint8Array | null;
}
