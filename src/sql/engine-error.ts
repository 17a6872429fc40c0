// DuckDB's message in the words of the statement, with the place in it.
import { TsdbError } from "../model/errors.ts";
import { decodeNames, withoutInternalMarks } from "./names.ts";
import type { SqlPlan } from "./plan.ts";
import type { SqlWriter } from "./print.ts";

/** `writer` wrote the text that DuckDB complains of. */
export function translateError(error: TsdbError, writer: SqlWriter, plan: SqlPlan): TsdbError {
  const message = cleanMessage(error.message);
  if (error.kind === "query_limit") return new TsdbError("query_limit", `Resources exhausted: ${message}`, {}, { cause: error });
  const engineKind = String(error.details["engineKind"]);
  const prefix = PLANNING.has(engineKind) ? "Error during planning: " : "Execution error: ";
  const position = error.details["position"];
  const source = typeof position === "number" ? writer.sourceOf(position) : null;
  if (source === null) return new TsdbError(error.kind, `${prefix}${message}`, {}, { cause: error });
  const place = plan.placeOf(source);
  return new TsdbError(error.kind, `${prefix}${message} at Line: ${place.line}, Column: ${place.column}`, { ...place }, { cause: error });
}

const PLANNING: ReadonlySet<string> = new Set(["Binder", "Catalog", "Parser", "Not implemented", "Syntax"]);

/** Encoded names decoded, names of our own macros and functions left out, DuckDB's long lists of candidates cut. */
function cleanMessage(text: string): string {
  return decodeNames(withoutInternalMarks(text))
    .replace(/\s*\n\s*Candidate functions:[\s\S]*$/, "")
    .replace(/\n*Possible solutions:[\s\S]*$/, "")
    .replace(/\n+/g, " ")
    .replace(/Type INT128 with value (-?\d+) can't be cast.*/, "Arithmetic overflow: $1 does not fit a 64-bit integer")
    .replace(/\b__[a-z_]+/g, "function")
    .trim();
}
