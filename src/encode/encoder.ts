// The interface of all answer formats: bytes for the head of a table, for each batch of its rows, and for the end of the answer.
import type { ResultBatch, ResultSchema } from "../model/query/result-batch.ts";
import type { SeriesHead, SeriesPiece } from "../model/query/series-piece.ts";

/** Encodes one answer in one format, in memory independent of the number of batches unless stated otherwise. Call order: `begin` before
 *  the rows of each table, which is the whole answer (`Head` = ResultSchema) or a series of it (SeriesHead); `rows` any number of times;
 *  `end` once. Returned bytes belong to the caller; null means no bytes for this step. After an exception the encoder is unusable.
 *  @throws TsdbError bad_format if the format cannot represent a column's type (`begin`) or a value (`rows`) */
export interface Encoder<Head = ResultSchema> {
  readonly contentType: string;
  /** True if further rows have no effect and need not be computed. */
  readonly isDone?: boolean;
  begin(head: Head): Uint8Array | null;
  /** `batch` is borrowed for the call. */
  rows(batch: ResultBatch): Uint8Array | null;
  end(): Uint8Array | null;
}

/** Encodes an answer of one table as a whole. @throws TsdbError bad_format */
export function wholeTable(encoder: Encoder, schema: ResultSchema, batches: readonly ResultBatch[]): Uint8Array<ArrayBuffer> {
  return joinParts([encoder.begin(schema), ...batches.map((batch) => encoder.rows(batch)), encoder.end()]);
}

/** Returns a function that encodes one piece after the other: a piece with another head begins a series. */
export function pieceBytes(encoder: Encoder<SeriesHead>): (piece: SeriesPiece) => Uint8Array | null {
  let known: SeriesHead | null = null;
  return ({ head, batch }) => {
    const begun = head === known ? null : encoder.begin(head);
    known = head;
    const rows = encoder.rows(batch);
    return begun === null ? rows : joinParts([begun, rows]);
  };
}

/** Returns the parts joined in newly allocated memory. */
export function joinParts(parts: readonly (Uint8Array | null)[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + (part?.length ?? 0), 0));
  let at = 0;
  for (const part of parts) {
    if (part === null) continue;
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
