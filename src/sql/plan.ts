// A statement parsed and checked: what depends on its text alone, so it can be kept for the next time.

import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import { checkQuery } from "./check.ts";
import { decodeNames } from "./names.ts";
import { parseStatement, type Statement } from "./statement.ts";
import type { EncodedText } from "./tokens.ts";
import { parseTree, type QueryNode } from "./tree.ts";

/** `tables`: the tables the statement reads, decoded, each once; those that do not exist are simply not given to run().
 *  `readsCatalog`: it also reads the list of all tables (SHOW, information_schema). */
export interface SqlPlan {
  readonly tables: readonly string[];
  readonly readsCatalog: boolean;
  readonly statement: Statement;
  /** DuckDB's tree as JSON: every run works on a tree of its own. */
  readonly json: string;
}

export const STATEMENT_CHARS_MAX = 1 << 20;

/** Parses `sql`; `serialize` is DuckDB's json_serialize_sql. @throws TsdbError bad_query */
export async function planStatement(sql: string, serialize: (sql: string) => Promise<string>): Promise<SqlPlan> {
  if (sql.length > STATEMENT_CHARS_MAX)
    throw new TsdbError("bad_query", `SQL error: the statement is longer than ${STATEMENT_CHARS_MAX} characters`);
  const statement = parseStatement(sql);
  const json = await serialize(statement.text.sql);
  const { tables, readsCatalog } = checkQuery(queryOf(json, statement.text));
  if (tables.length > LIMITS.tablesMax) throw new TsdbError("bad_query", "Error during planning: too many tables");
  return { tables, readsCatalog, statement, json };
}

/** The tree of a plan. @throws TsdbError bad_query with line and column for a syntax error */
export function queryOf(json: string, text: EncodedText): QueryNode {
  const tree = parseTree(json);
  if (tree.error) throw syntaxError(tree.error_message ?? "syntax error", tree.position, text);
  const [first, ...others] = tree.statements ?? [];
  if (first === undefined || others.length > 0) throw new TsdbError("bad_query", "SQL error: exactly one SELECT is expected");
  return first.node;
}

function syntaxError(message: string, position: string | undefined, text: EncodedText): TsdbError {
  const decoded = decodeNames(message);
  const offset = Number(position);
  if (position === undefined || !Number.isSafeInteger(offset)) return new TsdbError("bad_query", `SQL error: ${decoded}`);
  const place = text.locate(offset);
  return new TsdbError("bad_query", `SQL error: ${decoded} at Line: ${place.line}, Column: ${place.column}`, { ...place });
}
