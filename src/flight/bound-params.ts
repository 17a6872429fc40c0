// Which placeholder of a statement each of a client's parameters is for.
import { near, TsdbError } from "../model/errors.ts";
import type { QueryParams } from "../model/query.ts";
import { tokenize } from "../sql/tokens.ts";

/** `row`: columns of a client's batch, in their order. @throws TsdbError bad_request when they do not fit the statement */
export function bindRow(statement: string, row: readonly (readonly [name: string, value: QueryParams[string]])[]): QueryParams {
  const names = placeNames(
    row.map(([name]) => name),
    placeholdersOf(statement),
  );
  return Object.fromEntries(row.map(([, value], i) => [names[i]!, value]));
}

/** Without their dollars: numbers ascending, names in the order of their first appearance. @throws TsdbError bad_query */
export function placeholdersOf(statement: string): readonly string[] {
  const names = new Set(tokenize(statement).flatMap(({ kind, text }) => (kind === "parameter" ? [text.slice(1)] : [])));
  const found = [...names];
  return found.every((name) => /^\d+$/.test(name)) ? found.sort((a, b) => Number(a) - Number(b)) : found;
}

/** That of its name, or, when the names say nothing, that of its place. */
function placeNames(columns: readonly string[], placeholders: readonly string[]): readonly string[] {
  const names = columns.map((name) => name.replace(/^\$/, ""));
  if (names.every((name) => placeholders.includes(name)) && new Set(names).size === names.length) return names;
  if (columns.length === placeholders.length) return placeholders;
  const wanted = placeholders.map((name) => `$${name}`).join(", ");
  throw new TsdbError(
    "bad_request",
    `got ${columns.length} parameters (${near(columns.join(", "))}), want ${placeholders.length} (${near(wanted)})`,
  );
}
