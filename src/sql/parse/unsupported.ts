// The error for features of SQL that the dialect lacks.
import { TsdbError } from "../../model/errors.ts";

/** @param what The feature, as the message names it. */
export function unsupported(what: string): TsdbError {
  return new TsdbError("bad_query", `This feature is not implemented: ${what}`);
}
