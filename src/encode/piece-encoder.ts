// What every form of a SeriesAnswer offers: bytes for each piece and for the end.
import type { SeriesPiece } from "../model/query/series-piece.ts";

/** Turns the pieces of one statement's answer into bytes, in constant memory unless the form says otherwise. `piece` any number of times,
 *  then `end` once. Returned bytes belong to the caller; null means that this step adds nothing yet. After a throw the encoder is spent.
 *  @throws TsdbError bad_format for a value that the form cannot hold */
export interface PieceEncoder {
  readonly contentType: string;
  /** The piece is borrowed for the length of the call. */
  piece(piece: SeriesPiece): Uint8Array | null;
  /** True: further pieces change nothing, and need not be made. */
  readonly isDone?: boolean;
  end(): Uint8Array | null;
}
