// Errors of a running script, worded as the vendor's.
import { TsdbError } from "../../model/errors.ts";

/** What clients get as `code` of an error. */
export type FluxCode = "invalid" | "not found" | "forbidden" | "unauthorized" | "internal error";

export class FluxError extends TsdbError {
  constructor(
    message: string,
    readonly code: FluxCode = "invalid",
  ) {
    super(code === "not found" ? "not_found" : "bad_query", message);
  }

  /** The same with what was going on in front. */
  within(context: string): FluxError {
    return new FluxError(`${context}: ${this.message}`, this.code);
  }
}
