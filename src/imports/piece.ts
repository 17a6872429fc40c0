// Rows of a file between two threads: typed arrays of their own, whose buffers are handed over.

/** Values of fixed width, 0 where absent. `validity`: LSB-first, 1 = present, a multiple of 8 bytes; null: all rows have a value. */
export interface ValuePiece {
  readonly kind: "values";
  readonly values: Uint8Array<ArrayBuffer>;
  readonly validity: Uint8Array<ArrayBuffer> | null;
}

/** Texts one behind the other; absent ones have no bytes. */
export interface TextPiece {
  readonly kind: "texts";
  /** One more than rows. */
  readonly offsets: Uint32Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly validity: Uint8Array<ArrayBuffer> | null;
}

/** A tag: for each row the number of its value, from 1; 0 = absent. */
export interface TagPiece {
  readonly kind: "tags";
  readonly codes: Uint32Array<ArrayBuffer>;
  /** One more than values; value `code` lies between offsets code - 1 and code. */
  readonly offsets: Uint32Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type ColumnPiece = ValuePiece | TextPiece | TagPiece;

export interface RowPiece {
  readonly rowCount: number;
  /** i64, nanoseconds since 1970. */
  readonly times: BigInt64Array<ArrayBuffer>;
  /** In the plan's order. */
  readonly columns: readonly ColumnPiece[];
}

/** A row of a file. */
export interface RowPlace {
  readonly group: number;
  /** Within its row group. */
  readonly row: number;
}

/** All buffers of a piece, to be transferred with it. */
export function buffersOf({ times, columns }: RowPiece): ArrayBuffer[] {
  const buffers: ArrayBuffer[] = [times.buffer];
  for (const column of columns) {
    if (column.kind === "values") buffers.push(column.values.buffer);
    else buffers.push(column.offsets.buffer, column.bytes.buffer);
    if (column.kind === "tags") buffers.push(column.codes.buffer);
    else if (column.validity !== null) buffers.push(column.validity.buffer);
  }
  return buffers;
}
