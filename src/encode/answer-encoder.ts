// What every answer format offers: bytes for the head, for each batch and for the tail.
import type { ResultBatch } from "../model/query/result-batch.ts";

/** Turns the batches of one answer into the bytes of one format. Memory does not grow with the number of batches.
 *  Calls come in order: begin once, batch any number of times, end once. Returned bytes belong to the caller; null means
 *  that this step adds nothing. After a throw the encoder is spent.
 *  @throws TsdbError bad_format from `batch` for a value that the format cannot hold */
export interface AnswerEncoder {
  readonly contentType: string;
  begin(): Uint8Array | null;
  /** `batch` is borrowed for the length of the call. */
  batch(batch: ResultBatch): Uint8Array | null;
  end(): Uint8Array | null;
}
