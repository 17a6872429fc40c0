// How large a piece of rows may be in memory. What a file has once, in a dictionary, a piece has in each row: nothing in a file tells
// how large its rows become.

/** Of the values of a piece. Some pieces are under way at a time. */
export const PIECE_BYTES_MAX = 32 << 20;

/** The rows have no room in a piece. */
export class PieceFull extends Error {
  override readonly name = "PieceFull";
}

/** What a piece has left for values. */
export class PieceRoom {
  private bytes = PIECE_BYTES_MAX;

  /** Call it before memory is taken. @throws PieceFull */
  take(byteCount: number): void {
    this.bytes -= byteCount;
    if (this.bytes < 0) throw new PieceFull();
  }
}
