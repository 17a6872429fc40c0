// Functions in FROM whose arguments are names: `last_cache('t', 'c')` and `distinct_cache('t', 'c')` are replaced by table references,
// `tag_values('t', 'tag')` by a query of the table, before anything else processes the tree, so that everything that applies to tables
// applies to them. The names are part of the statement's shape.
import type { CacheKind, CacheReference } from "../../model/caches.ts";
import { TsdbError } from "../../model/errors.ts";
import type { EncodedText } from "../parse/encoded-text.ts";
import { encodeName } from "../parse/names.ts";
import type { BaseTable, Expression, QueryNode, SubqueryRef, TableFunctionRef } from "../parse/tree.ts";
import { unsupported } from "../parse/unsupported.ts";
import { column, select, subquery } from "../print/build-query.ts";

const CACHES: Readonly<Record<string, CacheKind>> = { last_cache: "last", distinct_cache: "distinct" };
const TAG_VALUES = "tag_values";

/** No table name in a statement starts like this: NUL is not allowed in SQL text. */
const KEY = /^\0(?:last|distinct)_cache\(/;

/** The table name that stands for a cache. */
export function cacheKey({ kind, table, name }: CacheReference): string {
  const args = [table, ...(name === null ? [] : [name])].map((text) => `'${text.replaceAll("'", "''")}'`);
  return `\0${kind}_cache(${args.join(", ")})`;
}

/** The readable name of a table or cache. */
export function shownName(name: string): string {
  return isCacheKey(name) ? name.slice(1) : name;
}

/** True if the name is that of a cache, not of a table. */
export function isCacheKey(name: string): boolean {
  return KEY.test(name);
}

/** Replaces all calls by what they name. @throws TsdbError bad_query for arguments other than names */
export function nameTables(node: QueryNode, text: EncodedText): void {
  const mayHave = text.tokens.some((token) => Object.hasOwn(CACHES, token.text) || token.text === TAG_VALUES);
  if (mayHave) visit(node as unknown as Node);
}

type Node = { [member: string]: unknown };

function visit(node: Node | unknown[]): void {
  for (const [key, value] of Object.entries(node)) {
    if (value === null || typeof value !== "object") continue;
    const reference = namedTable(value as Node);
    if (reference === null) visit(value as Node);
    else (node as Node)[key] = reference;
  }
}

/** Returns null if it is not one of the functions. */
function namedTable(node: Node): BaseTable | SubqueryRef | null {
  if (node["type"] !== "TABLE_FUNCTION") return null;
  const ref = node as unknown as TableFunctionRef;
  const { function_name: name, schema, catalog, children } = ref.function;
  const isNamed = Object.hasOwn(CACHES, name) || name === TAG_VALUES;
  if (!isNamed || schema !== "" || catalog !== "") return null;
  if (ref.with_ordinality !== "WITHOUT_ORDINALITY") throw unsupported("WITH ORDINALITY");
  if (name === TAG_VALUES) return tagValues(ref);
  return { ...tableOf(ref, name), cache: referenceOf(CACHES[name]!, name, children) };
}

function tableOf({ alias, sample, column_name_alias, query_location }: TableFunctionRef, table: string): BaseTable {
  return {
    type: "BASE_TABLE",
    alias: alias === "" ? table : alias,
    sample,
    catalog_name: "",
    // never a WITH entry
    schema_name: "iox",
    table_name: table,
    column_name_alias,
    at_clause: null,
    ...(query_location === undefined ? {} : { query_location }),
  };
}

/** `(SELECT tag FROM iox.t WHERE tag IS NOT NULL GROUP BY tag)`: the values that rows have, so that what is deleted or expired has none. */
function tagValues(ref: TableFunctionRef): SubqueryRef {
  const { alias, sample, column_name_alias } = ref;
  const args = ref.function.children;
  const [table, tag] = [stringOf(args[0]), stringOf(args[1])];
  if (table === null) throw planningError("first argument must be the table name as a string");
  if (tag === null) throw planningError("second argument must be the name of a tag as a string");
  if (args.length > 2) throw planningError(`${TAG_VALUES} takes the name of a table and that of a tag, not ${args.length} arguments`);
  const value = () => column(encodeName(tag));
  const from: BaseTable = { ...tableOf({ ...ref, alias: "", sample: null, column_name_alias: [] }, encodeName(table)), tag };
  const present: Expression = { class: "OPERATOR", type: "OPERATOR_IS_NOT_NULL", alias: "", children: [value()] };
  const node = select({ items: [value()], from, where: present, groupBy: [value()] });
  return { ...subquery(node, alias === "" ? TAG_VALUES : alias), sample, column_name_alias };
}

function referenceOf(kind: CacheKind, name: string, args: readonly Expression[]): CacheReference {
  const table = stringOf(args[0]);
  if (table === null) throw planningError("first argument must be the table name as a string");
  if (args.length > 2) throw planningError(`${name} takes the name of a table and that of a cache, not ${args.length} arguments`);
  if (args.length === 1) return { kind, table, name: null };
  const cache = stringOf(args[1]);
  if (cache === null) throw planningError("second argument, if passed, must be the cache name as a string");
  return { kind, table, name: cache };
}

function stringOf(node: Expression | undefined): string | null {
  if (node?.class !== "CONSTANT" || node.value.type.id !== "VARCHAR" || node.value.is_null) return null;
  return String(node.value.value);
}

/** The error for a column that must be a tag and is none. */
export function notTag(table: string, column: string): TsdbError {
  return planningError(`column '${column}' of table '${table}' is not a tag`);
}

/** The error for an unknown table or cache. */
export function unknownCache({ kind, table }: CacheReference, missing: "table" | "cache"): TsdbError {
  if (missing === "table") return planningError(`provided table name (${table}) is invalid`);
  return planningError(`could not find ${kind} value cache for the given arguments`);
}

function planningError(message: string): TsdbError {
  return new TsdbError("bad_query", `Error during planning: ${message}`);
}
