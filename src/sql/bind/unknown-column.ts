// The error for an unknown column in the vendor's words: lists the existing columns, or the most similar one.

import { editDistance } from "../../model/edit-distance.ts";

/** A table of the statement. */
export interface NamedColumns {
  readonly name: string;
  readonly columns: readonly string[];
}

const BARE = /^Referenced column "([\s\S]+)" not found in FROM clause!/;
const QUALIFIED = /^(?:Table|Values list) "([\s\S]+)" does not have a column named "([\s\S]+?)"/;
/** A table's alias is interpreted as a value. */
const MEMBER = /^Cannot extract field '([\s\S]+)' from expression "([^"]+)" because it is not a struct/;
const WITHOUT_TABLE = /^Referenced table "([\s\S]+)" not found!/;
const CANDIDATES = /Candidate bindings: :?\s*([\s\S]+)$/;
/** Names that need no quotes. */
const PLAIN_NAME = /^[a-z_][a-z0-9_]*$/;
/** DataFusion's threshold for the similarity of names, relative to the longer one. */
const SIMILARITY_MIN = 0.5;

/** Limits for the columns examined, the columns listed, and the length of compared names. */
const COLUMNS_MAX = 1000;
const LISTED_MAX = 100;
const COMPARED_CHARS_MAX = 64;
/** `catalog.schema.table.column` */
const NAME_PARTS_MAX = 4;

/** Returns null if `message` (DuckDB's, with decoded names) has another cause. `tables`: all existing tables of the statement.
 *  `written`: the name at the error's position; empty if unknown. */
export function unknownColumn(message: string, tables: readonly NamedColumns[], written: readonly string[] = []): string | null {
  const qualified = QUALIFIED.exec(message);
  const member = MEMBER.exec(message);
  const found = BARE.exec(message)?.[1] ?? qualified?.[2] ?? member?.[1];
  if (found === undefined) return tables.length === 0 ? null : unknownTable(message, tables, written);
  const table = qualified?.[1] ?? member?.[2];
  const shown = table === undefined ? quoted(found) : `${quoted(table)}.${quoted(found)}`;
  return `Schema error: No field named ${shown}.${hint(found, tables, CANDIDATES.exec(message)?.[1])}`;
}

/** An unknown qualifier; the message does not contain the column. */
function unknownTable(message: string, tables: readonly NamedColumns[], written: readonly string[]): string | null {
  const table = WITHOUT_TABLE.exec(message)?.[1];
  if (table === undefined) return null;
  const isKnown = written.length > 1 && written.length <= NAME_PARTS_MAX && written[0] === table;
  const named = isKnown ? `named ${written.map(quoted).join(".")}` : `of a table named ${quoted(table)}`;
  return `Schema error: No field ${named}.${listed(tables)}`;
}

function hint(name: string, tables: readonly NamedColumns[], candidates: string | undefined): string {
  const flat = tables.flatMap((table) => table.columns.map((column) => `${table.name}.${column}`)).slice(0, COLUMNS_MAX);
  const similar = flat.find((each) => isSimilar(each, name));
  if (similar !== undefined) return ` Did you mean '${similar}'?.`;
  if (tables.length > 0) return listed(tables);
  // for a subquery: DuckDB's candidates
  return candidates === undefined ? "" : ` Valid fields are ${candidates.trim()}.`;
}

function listed(tables: readonly NamedColumns[]): string {
  const fields = tables.flatMap(({ name, columns }) => columns.toSorted().map((column) => `${quoted(name)}.${quoted(column)}`));
  const more = fields.length > LISTED_MAX ? `, and ${fields.length - LISTED_MAX} more` : "";
  return ` Valid fields are ${fields.slice(0, LISTED_MAX).join(", ")}${more}.`;
}

/** A name as a statement must write it. */
export function quoted(name: string): string {
  return PLAIN_NAME.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

function isSimilar(a: string, b: string): boolean {
  const longest = Math.max(a.length, b.length);
  return longest <= COMPARED_CHARS_MAX && 1 - editDistance(a, b) / longest >= SIMILARITY_MIN;
}
