// Parses the first words of a statement: EXPLAIN, SHOW and DESCRIBE are handled here, the rest is a query for DuckDB's parser.
import { near, TsdbError } from "../../model/errors.ts";
import { unnestedTables } from "../column-name/from-unnest.ts";
import { type ItemNames, nameItems } from "../column-name/select-items.ts";
import { checkTokens } from "./brackets.ts";
import { EncodedText } from "./encoded-text.ts";
import { stringLiteral } from "./names.ts";
import { applyTokenRules } from "./token-rules.ts";
import { type Token, tokenize } from "./tokens.ts";

export type Statement = StatementKind & {
  /** Names of unnamed columns. */
  readonly names: ItemNames;
};

type StatementKind =
  | { readonly kind: "query"; readonly text: EncodedText }
  | { readonly kind: "explain"; readonly analyze: boolean; readonly verbose: boolean; readonly text: EncodedText }
  /** The columns of a query. */
  | { readonly kind: "describe"; readonly text: EncodedText }
  /** Our own query on information_schema; `table` must exist for it. */
  | { readonly kind: "show"; readonly text: EncodedText; readonly table: DescribedTable | null };

export interface DescribedTable {
  readonly schema: string;
  readonly table: string;
}

const SHOW_TABLES = `
  SELECT table_catalog, table_schema, table_name, table_type FROM information_schema.tables
  ORDER BY CASE table_schema WHEN 'iox' THEN 0 WHEN 'system' THEN 1 ELSE 2 END, table_name`;

const SHOW_ALL = "SELECT name, value FROM information_schema.df_settings ORDER BY name";

const SHOW_COLUMNS = `
  SELECT table_catalog, table_schema, table_name, column_name, data_type, is_nullable FROM information_schema.columns WHERE `;

const SHOW_DEFINITION = `
  SELECT table_catalog, table_schema, table_name, CAST(NULL AS VARCHAR) AS definition FROM information_schema.tables WHERE `;

/** Includes functions with arguments. */
const SHOW_FUNCTIONS = `
  SELECT routine_name AS function_name, data_type AS return_type, function_type, description, syntax_example FROM information_schema.routines
  WHERE routine_name NOT IN ('current_date', 'current_time', 'current_timestamp', 'now', 'pi', 'random', 'today', 'uuid', 'version')`;

const SETTING = /^(timezone|datafusion(\.[a-z_]+)+)$/;

const DESCRIBE = "SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE ";

/** Parses one statement. @throws TsdbError bad_query for none, several, or a kind that does not only read */
export function parseStatement(sql: string): Statement {
  const written = withoutEnd(tokenize(sql));
  checkTokens(written);
  const named = nameItems(unnestedTables(written));
  return { ...kindOf(sql, applyTokenRules(named.tokens)), names: named.names };
}

function kindOf(sql: string, tokens: readonly Token[]): StatementKind {
  if (tokens.length === 0) throw new TsdbError("bad_query", "Error during planning: No SQL statements were provided in the query string");
  const second = tokens.findIndex((token) => isSymbol(token, ";"));
  if (second >= 0) {
    const message = "This feature is not implemented: The context currently only supports a single SQL statement";
    throw new TsdbError("bad_query", message, { position: tokens[second]!.start });
  }
  const head = wordOf(tokens[0]);
  if (head === "explain") return parseExplain(sql, tokens);
  if (head === "show") return parseShow(sql, tokens);
  if (head === "describe" || head === "desc") return parseDescribe(sql, tokens);
  if (OTHER_STATEMENTS.has(head)) throw notAQuery(tokens[0]!);
  // DuckDB's parser reports errors; only a SELECT comes back as a tree
  return { kind: "query", text: new EncodedText(sql, tokens) };
}

const EXPLAIN_FORMATS: ReadonlySet<string> = new Set(["indent", "tree", "pgjson", "graphviz"]);
const EXPLAIN_WORDS: ReadonlySet<string> = new Set(["analyze", "verbose"]);

/** Keywords that may start a query, after EXPLAIN and DESCRIBE. */
const QUERY_WORDS: ReadonlySet<string> = new Set(["select", "with", "values", "from", "table"]);
const OTHER_STATEMENTS: ReadonlySet<string> = new Set(
  `alter analyze attach begin call checkpoint commit comment copy create deallocate delete detach drop execute export force grant import insert
   install load merge pivot pragma prepare refresh release reset rollback savepoint set start summarize truncate unpivot update use vacuum`.split(
    /\s+/,
  ),
);
const DDL: ReadonlySet<string> = new Set(["create", "drop", "alter", "truncate"]);
const DML: ReadonlySet<string> = new Set(["insert", "update", "delete", "merge", "copy"]);

function notAQuery(token: Token): TsdbError {
  const what = DDL.has(token.text) ? "DDL" : DML.has(token.text) ? "DML" : "Statement";
  return new TsdbError("bad_query", `Error during planning: ${what} not supported: ${near(token.text.toUpperCase())}`, {
    position: token.start,
  });
}

/** Removes semicolons at the end. */
function withoutEnd(tokens: readonly Token[]): readonly Token[] {
  let count = tokens.length;
  while (isSymbol(tokens[count - 1], ";")) count--;
  return count === tokens.length ? tokens : tokens.slice(0, count);
}

function isSymbol(token: Token | undefined, text: string): boolean {
  return token?.kind === "symbol" && token.text === text;
}

function wordOf(token: Token | undefined): string {
  return token?.kind === "word" ? token.text : "";
}

function ownText(sql: string): EncodedText {
  return new EncodedText(sql, tokenize(sql));
}

function parseExplain(sql: string, tokens: readonly Token[]): StatementKind {
  let at = 1;
  const words = new Set<string>();
  for (; EXPLAIN_WORDS.has(wordOf(tokens[at])); at++) words.add(wordOf(tokens[at]));
  // all formats give the same plan
  if (wordOf(tokens[at]) === "format" && EXPLAIN_FORMATS.has(wordOf(tokens[at + 1]))) at += 2;
  const rest = tokens.slice(at);
  if (!isSymbol(rest[0], "(") && !QUERY_WORDS.has(wordOf(rest[0]))) {
    throw rest[0] === undefined ? new TsdbError("bad_query", "SQL error: EXPLAIN of nothing") : notAQuery(rest[0]);
  }
  return { kind: "explain", analyze: words.has("analyze"), verbose: words.has("verbose"), text: new EncodedText(sql, rest) };
}

function parseShow(sql: string, tokens: readonly Token[]): StatementKind {
  const what = wordOf(tokens[1]);
  if (what === "tables" && tokens.length === 2) return { kind: "show", text: ownText(SHOW_TABLES), table: null };
  if (what === "all" && tokens.length === 2) return { kind: "show", text: ownText(SHOW_ALL), table: null };
  const from = wordOf(tokens[2]);
  if (what === "full" && (from === "columns" || from === "fields") && ["from", "in"].includes(wordOf(tokens[3]))) {
    return showColumns("SELECT * FROM information_schema.columns WHERE ", describedTable(sql, tokens.slice(4)));
  }
  if (what === "create" && from === "table") return showColumns(SHOW_DEFINITION, describedTable(sql, tokens.slice(3)), "table_name");
  if (what === "functions" && (tokens.length === 2 || (from === "like" && tokens[3]?.kind === "string" && tokens.length === 4))) {
    return {
      kind: "show",
      text: ownText(tokens.length === 2 ? SHOW_FUNCTIONS : `${SHOW_FUNCTIONS} AND routine_name LIKE ${tokens[3]!.text}`),
      table: null,
    };
  }
  const setting = tokens
    .slice(1)
    .map(({ text }) => text)
    .join("");
  if (SETTING.test(setting)) {
    const name = setting === "timezone" ? "datafusion.execution.time_zone" : setting;
    return { kind: "show", text: ownText(`SELECT name, value FROM information_schema.df_settings WHERE name = '${name}'`), table: null };
  }
  if ((what === "columns" || what === "fields") && (from === "from" || from === "in")) {
    return showColumns(SHOW_COLUMNS, describedTable(sql, tokens.slice(3)));
  }
  throw new TsdbError(
    "bad_query",
    `Error during planning: SHOW ${near(
      tokens
        .slice(1)
        .map(({ text }) => text.toUpperCase())
        .join(" "),
    )} is not supported`,
  );
}

/** DESCRIBE of a table shows its columns; of a query, the columns of its result. */
function parseDescribe(sql: string, tokens: readonly Token[]): StatementKind {
  const rest = wordOf(tokens[1]) === "table" ? tokens.slice(2) : tokens.slice(1);
  if (QUERY_WORDS.has(wordOf(rest[0])) || isSymbol(rest[0], "(")) return { kind: "describe", text: new EncodedText(sql, rest) };
  return showColumns(DESCRIBE, describedTable(sql, rest));
}

function showColumns(query: string, table: DescribedTable, order = "ordinal_position"): StatementKind {
  const condition = `table_schema = ${stringLiteral(table.schema)} AND table_name = ${stringLiteral(table.table)}`;
  return { kind: "show", text: ownText(`${query}${condition} ORDER BY ${order}`), table };
}

/** `[[public.]schema.]table` */
function describedTable(sql: string, tokens: readonly Token[]): DescribedTable {
  const names = tokens.filter((_, i) => i % 2 === 0);
  const dots = tokens.filter((_, i) => i % 2 === 1);
  const isName =
    tokens.length > 0 &&
    names.length <= 3 &&
    names.length === dots.length + 1 &&
    dots.every((token) => isSymbol(token, ".")) &&
    names.every(({ kind }) => kind === "word" || kind === "quoted");
  if (!isName)
    // in the user's text: unnamed items have aliases among the tokens
    throw new TsdbError(
      "bad_query",
      `SQL error: a table name is expected, found '${near(tokens.length === 0 ? "" : sql.slice(tokens[0]!.start))}'`,
    );
  const [table, schema] = names.map(({ text }) => text).reverse();
  return { schema: schema ?? "iox", table: table! };
}
