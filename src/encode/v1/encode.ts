// Entry point of the v1 formats: encoding of a statement's pieces in the worker, and of everything else on the main thread.
import { TsdbError } from "../../model/errors.ts";
import type { RowTextMaker } from "../../model/query/row-text.ts";
import type { SeriesHead, SeriesPiece } from "../../model/query/series-piece.ts";
import type { V1Answer, V1Message, V1Shape } from "../../model/query/v1-answer.ts";
import { type Encoder, joinParts, pieceBytes } from "../encoder.ts";
import { V1CsvEncoder, v1CsvRefusal } from "./csv.ts";
import { brokenV1Json, V1JsonEncoder, v1JsonFailure, v1JsonRefusal } from "./json.ts";
import { V1MsgpackEncoder, v1MsgpackFailure, v1MsgpackRefusal } from "./msgpack.ts";
import { LimitedEncoder, type V1Encoder } from "./row-limit.ts";

export { v1MsgpackStart } from "./msgpack.ts";

const utf8 = new TextEncoder();
const NOTHING = new Uint8Array(0);

/** Creates the encoder for the answer of one statement. */
export function createV1Encoder(answer: V1Answer, kernel?: RowTextMaker, messages: readonly V1Message[] = []): Encoder<SeriesHead> {
  const encoder = formEncoder(answer, kernel, messages);
  return answer.rowLimit === null ? encoder : new LimitedEncoder(encoder, answer.rowLimit);
}

function formEncoder(answer: V1Answer, kernel: RowTextMaker | undefined, messages: readonly V1Message[]): V1Encoder {
  switch (answer.form) {
    case "json":
      return new V1JsonEncoder(answer, kernel, messages);
    case "csv":
      return new V1CsvEncoder(answer, kernel);
    case "msgpack":
      return new V1MsgpackEncoder(answer, messages);
  }
}

/** A complete small answer. */
export function v1Bytes(answer: V1Answer, pieces: readonly SeriesPiece[], messages: readonly V1Message[] = []): Uint8Array {
  const encoder = createV1Encoder(answer, undefined, messages);
  return joinParts([...pieces.map(pieceBytes(encoder)), encoder.end()]);
}

/** The result of a statement that failed before its first byte. CSV does not report errors. */
export function v1Failure(answer: V1Answer, message: string): Uint8Array {
  if (answer.form === "csv") return NOTHING;
  return answer.form === "msgpack" ? v1MsgpackFailure(answer, message) : utf8.encode(v1JsonFailure(answer, message));
}

/** Ends the answer of a statement that failed after its first bytes. @throws TsdbError if the format cannot be ended: the connection
 *  must be closed */
export function v1Broken(answer: V1Answer, message: string): Uint8Array {
  if (answer.form === "json") return utf8.encode(brokenV1Json(answer, message));
  if (answer.form === "msgpack" && answer.chunkRows !== null) return v1MsgpackFailure(answer, message);
  throw new TsdbError("bad_format", message);
}

/** The answer to a rejected request; `message` null: a request without statements. */
export function v1Refusal({ form, isPretty }: V1Shape, message: string | null): Uint8Array {
  if (form === "csv") return message === null ? NOTHING : utf8.encode(v1CsvRefusal(message));
  return form === "msgpack" ? v1MsgpackRefusal(message) : utf8.encode(v1JsonRefusal(isPretty, message));
}
