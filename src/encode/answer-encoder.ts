// The interface of all answer formats: bytes for head, batches and tail.
import type { ResultBatch } from "../model/query/result-batch.ts";

/** Encodes the batches of one answer in one format, in memory independent of the number of batches. Call order: begin once, batch any
 *  number of times, end once. Returned bytes belong to the caller; null means no bytes for this step. After an exception the encoder is
 *  unusable. @throws TsdbError bad_format from `batch` for a value that the format cannot represent */
export interface AnswerEncoder {
  readonly contentType: string;
  begin(): Uint8Array | null;
  /** `batch` is borrowed for the call. */
  batch(batch: ResultBatch): Uint8Array | null;
  end(): Uint8Array | null;
}
