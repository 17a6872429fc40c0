// What one SQL statement may be made of. Every stage from its text to its plan takes time with its length alone, or the part that takes
// more is limited here: where DuckDB's planner takes time with the square or the cube of a part, the limit is about where it takes 100 ms.
// README.md lists them for users.
import { assert } from "../assert.ts";
import { TsdbError } from "../errors.ts";
import { LIMITS } from "../limits.ts";

export const STATEMENT_LIMITS = {
  /** Characters of the statement. */
  charsMax: 1 << 20,
  /** Words, names, literals and marks: what refuses a text that is no statement after a part of it. */
  tokensMax: 320_000,
  /** Parentheses, brackets and braces that are open at one place: DuckDB's parser keeps each on its stack. */
  bracketsMax: 1000,
  /** Expressions, queries and tables inside of each other. DuckDB's time grows with a power of it. */
  nestingMax: 150,
  /** DuckDB plans what is inside of these more than once, level by level. */
  nestedSubqueriesMax: 12,
  nestedLambdasMax: 6,
  /** Expressions, queries and tables of a statement; the literals of a list behind IN are none of them. To check
   *  and to rewrite so many, each in one go, takes some 50 ms. */
  nodesMax: 25_000,
  /** Literals of one list behind IN. */
  listValuesMax: 100_000,
  ctesMax: 500,
  /** SELECTs that UNION, EXCEPT and INTERSECT put together. */
  unitedQueriesMax: 2000,
  /** Tables of one FROM: DuckDB looks for the best order of its joins. */
  joinedTablesMax: 32,
  /** Conditions between columns of one SELECT with joins: DuckDB makes every condition that follows from two of them. */
  joinConditionsMax: 64,
  /** Subqueries in the expressions of one SELECT: each is a join. */
  subqueriesMax: 64,
  /** Columns of any SELECT or VALUES. */
  columnsMax: LIMITS.answerColumnsMax,
  /** Expressions of a GROUP BY, ORDER BY, PARTITION BY and DISTINCT ON: DuckDB compares each with each. */
  keysMax: 1000,
  /** Commas of a GROUP BY, those within calls too: DuckDB's parser is the first that compares each with each. */
  groupingCommasMax: 4000,
  /** Sets that GROUPING SETS, CUBE and ROLLUP come to: each is a hash table of its own. */
  groupingSetsMax: 128,
  /** Calls with OVER of one SELECT. */
  windowsMax: 500,
  /** Arguments of a function; members of a structure. Lists may have more. */
  argumentsMax: LIMITS.answerColumnsMax,
  /** Expressions that the names of a select list stand for where they are used in it again. */
  aliasedNodesMax: 100_000,
  /** Characters of a regular expression. */
  patternCharsMax: 1 << 15,
  /** Conditions of one kind on fields that a scan judges row by row. */
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

/** The error for `got` of something, for example "the statement has 501 WITH entries, more than the 500 there may be". */
export function beyondLimit(what: string, got: number, max: number): TsdbError {
  return new TsdbError("bad_query", `Error during planning: the statement has ${got} ${what}, more than the ${max} there may be`, {
    got,
    max,
  });
}

/** @throws TsdbError bad_query for more than `max` */
export function checkLimit(what: string, got: number, max: number): void {
  if (got > max) throw beyondLimit(what, got, max);
}
