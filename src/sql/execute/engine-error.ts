// Translates DuckDB's messages to the terms and positions of the statement.
import { near, TsdbError } from "../../model/errors.ts";
import { type NamedColumns, quoted, unknownColumn } from "../bind/unknown-column.ts";
import { decodeNames, withoutInternalMarks } from "../parse/names.ts";
import type { SqlPlan } from "../plan/plan.ts";

/** Sources for looking up errors. */
export interface ErrorSources {
  readonly plan: SqlPlan;
  /** Location in the statement of a byte offset in DuckDB's text. */
  readonly sourceOf: (byteOffset: number) => number | null;
  /** Null for an unknown table. */
  readonly find: (name: string) => { readonly name: string; readonly columns: readonly { readonly name: string }[] } | null;
}

/** The error to report for DuckDB's `error`. */
export function translateError(error: TsdbError, { plan, sourceOf, find }: ErrorSources): TsdbError {
  const tables = plan.tables.flatMap((name): NamedColumns[] => {
    const table = find(name);
    return table === null ? [] : [{ name, columns: table.columns.map((column) => column.name) }];
  });
  const position = error.details["position"];
  const source = typeof position === "number" ? sourceOf(position) : null;
  const written = source === null ? [] : plan.nameAt(source);
  const message = unknownColumn(decodeNames(withoutInternalMarks(error.message)), tables, written) ?? cleanMessage(error.message);
  if (error.kind === "query_limit") return new TsdbError("query_limit", `Resources exhausted: ${message}`, {}, { cause: error });
  const engineKind = String(error.details["engineKind"]);
  const words = vendorsWords(message);
  if (words !== null) return new TsdbError(error.kind, words, {}, { cause: error });
  const isVendorsOwn = /^(?:Arrow|Execution|Parser|Schema) error: /.test(message);
  const prefix = isVendorsOwn ? "" : PLANNING.has(engineKind) ? "Error during planning: " : "Execution error: ";
  if (source === null) return new TsdbError(error.kind, `${prefix}${message}`, {}, { cause: error });
  const place = plan.placeOf(source);
  return new TsdbError(error.kind, `${prefix}${message} at Line: ${place.line}, Column: ${place.column}`, { ...place }, { cause: error });
}

/** The vendor's text for faults of a statement's structure, which it gives without a position; null for all others. */
function vendorsWords(message: string): string | null {
  if (message.startsWith("WHERE clause cannot contain aggregates")) {
    return "Error during planning: Aggregate functions are not allowed in the WHERE clause. Consider using HAVING instead";
  }
  const ambiguous = /^Ambiguous reference to column name "([^"]+)"/.exec(message)?.[1];
  return ambiguous === undefined ? null : `Schema error: Ambiguous reference to unqualified field ${quoted(ambiguous)}`;
}

const PLANNING: ReadonlySet<string> = new Set(["Binder", "Catalog", "Parser", "Not implemented", "Syntax"]);

/** Decodes names, removes our own macros and functions, and shortens DuckDB's lists of candidates. */
function cleanMessage(text: string): string {
  const message = decodeNames(withoutInternalMarks(text))
    .replace(/\s*\n\s*Candidate functions:[\s\S]*$/, "")
    .replace(/\n*Possible solutions:[\s\S]*$/, "")
    .replace(/\n+/g, " ")
    .replace(/\b__[a-z_]+/g, "function")
    .trim();
  return arrowMessage(message) ?? message;
}

/** The vendor's text, which clients match on, for messages that DuckDB words differently; null for all others. */
function arrowMessage(message: string): string | null {
  const wide = /Type INT128 with value (-?\d+) can't be cast/.exec(message);
  if (wide !== null) return `Arrow error: Arithmetic overflow: ${wide[1]} does not fit a 64-bit integer`;
  const overflow = /^Overflow (?:in \w+ of U?INT\d+ \((.*)\)!?|in division of (.*)|on (abs.*))$/.exec(message);
  if (overflow !== null) return `Arrow error: Arithmetic overflow: Overflow happened on: ${overflow[1] ?? overflow[2] ?? overflow[3]}`;
  const text = /^Could not convert string '([\s\S]*)' to (\w+)(?: when casting from source column .*)?$/.exec(message);
  if (text !== null) return `Arrow error: Cast error: Cannot cast string '${near(text[1]!)}' to value of ${typeName(text[2]!)} type`;
  const value = /^Type \w+ with value (\S+) can't be cast because .* type (\w+)(?: when casting from source column .*)?$/.exec(message);
  return value === null ? null : `Arrow error: Cast error: Can't cast value ${value[1]} to type ${typeName(value[2]!)}`;
}

/** DuckDB's type names in its messages. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  BOOL: "Boolean",
  DOUBLE: "Float64",
  FLOAT: "Float32",
  VARCHAR: "Utf8",
};

function typeName(name: string): string {
  return TYPE_NAMES[name] ?? name.replace(/^UINT/, "UInt").replace(/^INT/, "Int");
}
