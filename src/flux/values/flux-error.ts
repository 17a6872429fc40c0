// Errors of a running script, worded as the vendor's.
import { type ErrorKind, TsdbError } from "../../model/errors.ts";

/** What clients get as `code` of an error. */
export type FluxCode = "invalid" | "not found" | "forbidden" | "unauthorized" | "internal error";

const KINDS: Readonly<Record<FluxCode, ErrorKind>> = {
  invalid: "bad_query",
  "not found": "not_found",
  forbidden: "forbidden",
  unauthorized: "unauthenticated",
  "internal error": "bad_query",
};

/** An error of a script, with the code that answers carry. */
export class FluxError extends TsdbError {
  constructor(
    message: string,
    readonly code: FluxCode = "invalid",
  ) {
    super(KINDS[code], message);
  }

  /** The same with what was going on in front. */
  within(context: string): FluxError {
    return new FluxError(`${context}: ${this.message}`, this.code);
  }
}

/** Points that were refused: what was answered before stays. */
export class WriteError extends FluxError {
  override within(): FluxError {
    return this;
  }
}

/** An error of a source behind tables that it has given: the operator that reads it has the place, and clients get the tables. */
export class SourceError extends FluxError {}

/** Tables that an operator hands on in pieces, which have columns of different types: who puts them together has the place. */
export class PiecesError extends SourceError {
  /** @param own the error where they are an answer as they are; null: with the operator's place */
  constructor(
    message: string,
    readonly own: FluxError | null = null,
  ) {
    super(message);
  }

  placedBy(context: string): PiecesError {
    return this.own === null ? new PiecesError(this.message, this.within(context)) : this;
  }
}

/** Text that a source cannot read, behind tables that it has given: operators that hand these on at once leave them to clients. */
export class DecodeError extends SourceError {}

/** An error of the plan, of a source, or of the end of a stream: it does not say which call it comes from. */
export class UnplacedError extends FluxError {
  override within(): FluxError {
    return this;
  }
}
