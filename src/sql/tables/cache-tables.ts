// Caches in FROM: `last_cache('t', 'c')` and `distinct_cache('t', 'c')` are replaced by table references before anything else processes the
// tree, so that everything that applies to tables applies to them. Their arguments are names: they are part of the statement's shape.
import type { CacheKind, CacheReference } from "../../model/caches.ts";
import { TsdbError } from "../../model/errors.ts";
import type { EncodedText } from "../parse/encoded-text.ts";
import type { BaseTable, Expression, QueryNode, TableFunctionRef } from "../parse/tree.ts";
import { unsupported } from "../parse/unsupported.ts";

const FUNCTIONS: Readonly<Record<string, CacheKind>> = { last_cache: "last", distinct_cache: "distinct" };

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

/** Replaces all calls by references. @throws TsdbError bad_query for arguments other than names */
export function nameCaches(node: QueryNode, text: EncodedText): void {
  const mayHave = text.tokens.some((token) => Object.hasOwn(FUNCTIONS, token.text));
  if (mayHave) visit(node as unknown as Node);
}

type Node = { [member: string]: unknown };

function visit(node: Node | unknown[]): void {
  for (const [key, value] of Object.entries(node)) {
    if (value === null || typeof value !== "object") continue;
    const reference = cacheTable(value as Node);
    if (reference === null) visit(value as Node);
    else (node as Node)[key] = reference;
  }
}

/** Returns null if it is not a cache. */
function cacheTable(node: Node): BaseTable | null {
  if (node["type"] !== "TABLE_FUNCTION") return null;
  const ref = node as unknown as TableFunctionRef;
  const { function_name: name, schema, catalog, children } = ref.function;
  if (!Object.hasOwn(FUNCTIONS, name) || schema !== "" || catalog !== "") return null;
  if (ref.with_ordinality !== "WITHOUT_ORDINALITY") throw unsupported("WITH ORDINALITY");
  const { alias, sample, column_name_alias, query_location } = ref;
  return {
    type: "BASE_TABLE",
    alias: alias === "" ? name : alias,
    sample,
    catalog_name: "",
    // never a WITH entry
    schema_name: "iox",
    table_name: name,
    column_name_alias,
    at_clause: null,
    ...(query_location === undefined ? {} : { query_location }),
    cache: referenceOf(FUNCTIONS[name]!, name, children),
  };
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

/** The error for an unknown table or cache. */
export function unknownCache({ kind, table }: CacheReference, missing: "table" | "cache"): TsdbError {
  if (missing === "table") return planningError(`provided table name (${table}) is invalid`);
  return planningError(`could not find ${kind} value cache for the given arguments`);
}

function planningError(message: string): TsdbError {
  return new TsdbError("bad_query", `Error during planning: ${message}`);
}
