// The beginning of an answer: it waits until an error of the script could no longer be the whole answer, or until it is long.
import type { CsvPiece } from "../encode/annotated-csv.ts";

/** Bytes, or UTF-16 units, that wait. */
const HELD_MAX = 128 << 10;
/** Shorter texts are put together: each part crosses two threads. */
const TEXT_MIN = 128 << 10;

/** The parts of an answer that wait. */
export class HeldPieces {
  private pieces: CsvPiece[] = [];
  private text = "";
  private length = 0;
  /** True: a part of the answer has left, so an error is a table behind it. */
  isStarted = false;

  add(piece: CsvPiece): void {
    this.length += piece.length;
    if (typeof piece === "string") this.text += piece;
    else {
      this.closeText();
      this.pieces.push(piece);
    }
  }

  get isEmpty(): boolean {
    return this.length === 0;
  }

  /** What may leave now. */
  *ready(): Generator<CsvPiece, void> {
    if (this.length >= (this.isStarted ? TEXT_MIN : HELD_MAX)) yield* this.all();
  }

  /** All that waits; the answer has started with it. */
  *all(): Generator<CsvPiece, void> {
    this.closeText();
    const { pieces } = this;
    this.pieces = [];
    this.length = 0;
    this.isStarted = true;
    yield* pieces;
  }

  private closeText(): void {
    if (this.text !== "") this.pieces.push(this.text);
    this.text = "";
  }
}
