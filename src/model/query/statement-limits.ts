// Limits on the parts of an SQL statement. Every stage from text to plan takes time linear in the statement's length; parts that take more
// are limited here. Where DuckDB's planner takes quadratic or cubic time, the limit is near 100 ms. docs/configuration.md
// lists the limits for users.
import { assert } from "../assert.ts";
import { TsdbError } from "../errors.ts";
import { LIMITS } from "../limits.ts";

export const STATEMENT_LIMITS = {
  /** Characters of the text. */
  charsMax: 1 << 20,
  /** Tokens: rejects a text that is no statement before it is read to its end. */
  tokensMax: 320_000,
  /** Nested parentheses, brackets and braces: DuckDB's parser keeps each on its stack. */
  bracketsMax: 1000,
  /** Nested expressions, queries and tables. DuckDB's planning time grows polynomially with the depth. */
  nestingMax: 150,
  /** Nested constructs that DuckDB plans more than once per level. */
  nestedSubqueriesMax: 12,
  nestedLambdasMax: 6,
  /** Expressions, queries and tables of a statement, without the literals of IN lists. Checking and rewriting this many takes about 50
   *  ms, without a pause. */
  nodesMax: 25_000,
  /** Literals of one IN list. */
  listValuesMax: 100_000,
  ctesMax: 500,
  /** SELECTs combined by UNION, EXCEPT and INTERSECT. */
  unitedQueriesMax: 2000,
  /** Tables of one FROM: DuckDB searches for the best join order. */
  joinedTablesMax: 32,
  /** Conditions between columns in one SELECT with joins: DuckDB derives all conditions implied by pairs of them. */
  joinConditionsMax: 64,
  /** Subqueries in the expressions of one SELECT: each becomes a join. */
  subqueriesMax: 64,
  /** Columns of a SELECT or VALUES. */
  columnsMax: LIMITS.answerColumnsMax,
  /** Expressions of a GROUP BY, ORDER BY, PARTITION BY or DISTINCT ON: DuckDB compares all pairs. */
  keysMax: 1000,
  /** Commas within a GROUP BY, including those in calls: DuckDB's parser already compares all pairs. */
  groupingCommasMax: 4000,
  /** Sets resulting from GROUPING SETS, CUBE and ROLLUP: each gets a hash table. */
  groupingSetsMax: 128,
  /** Window function calls of one SELECT. */
  windowsMax: 500,
  /** Arguments of a function, members of a struct. Lists may be longer. */
  argumentsMax: LIMITS.answerColumnsMax,
  /** Expressions that result from replacing aliases of a select list within the same list. */
  aliasedNodesMax: 100_000,
  /** Characters of a regular expression. */
  patternCharsMax: 1 << 15,
  /** Pushed-down field conditions of one kind, which a scan evaluates row by row. */
  scanConditionsMax: 64,
  /** Characters of a name. */
  nameCharsMax: LIMITS.tableNameBytesMax,
} as const;

assert(STATEMENT_LIMITS.nestingMax < STATEMENT_LIMITS.bracketsMax, "an expression in as many parentheses as it may be deep is understood");
assert(STATEMENT_LIMITS.nestedSubqueriesMax < STATEMENT_LIMITS.nestingMax, "a subquery is a level");
assert(STATEMENT_LIMITS.joinedTablesMax < STATEMENT_LIMITS.nestingMax, "each join is a level");
assert(STATEMENT_LIMITS.groupingCommasMax > 2 * STATEMENT_LIMITS.keysMax, "as many keys as there may be can be calls");
assert(STATEMENT_LIMITS.nodesMax > 6 * STATEMENT_LIMITS.columnsMax, "a statement of so many columns may do something with each");
assert(STATEMENT_LIMITS.charsMax > 8 * STATEMENT_LIMITS.listValuesMax, "a list of so many short values fits a statement");
assert(STATEMENT_LIMITS.tokensMax > 3 * STATEMENT_LIMITS.listValuesMax, "a list of so many negative numbers fits a statement");
assert(STATEMENT_LIMITS.tokensMax > 10 * STATEMENT_LIMITS.nodesMax, "so many expressions fit a statement");
assert(STATEMENT_LIMITS.unitedQueriesMax * 10 < STATEMENT_LIMITS.nodesMax, "so many small queries fit a statement");
assert(STATEMENT_LIMITS.nameCharsMax < STATEMENT_LIMITS.charsMax, "a name fits a statement");

/** The error for exceeding a limit, for example "the statement has 501 WITH entries, more than the 500 there may be". */
function beyondLimit(what: string, got: number, max: number): TsdbError {
  return new TsdbError("bad_query", `Error during planning: the statement has ${got} ${what}, more than the ${max} there may be`, {
    got,
    max,
  });
}

/** @throws TsdbError bad_query if `got` exceeds `max` */
export function checkLimit(what: string, got: number, max: number): void {
  if (got > max) throw beyondLimit(what, got, max);
}
