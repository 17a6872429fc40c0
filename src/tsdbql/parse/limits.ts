// What the statements of a request may be made of: with these, no stage from the text to the plan holds its thread for long. README.md
// lists them for users.
import { LIMITS } from "../../model/limits.ts";
import { STATEMENT_LIMITS } from "../../model/query/statement-limits.ts";

export const TSDBQL_LIMITS = {
  /** Characters of a request's whole text. It is parsed at once: so many take some 50 ms. */
  charsMax: 128 * 1024,
  /** Statements of a request. */
  statementsMax: 1000,
  /** What a SELECT shows, before wildcards are replaced. */
  fieldsMax: LIMITS.answerColumnsMax,
  /** Measurements, patterns and subqueries of one FROM, and names of any other list. */
  listMax: 1000,
  dimensionsMax: 1000,
  /** Characters of a regular expression. */
  patternCharsMax: STATEMENT_LIMITS.patternCharsMax,
  /** States that a regular expression comes to, its repetitions written out. */
  patternStatesMax: 10_000,
  /** Parentheses, calls, signs and subqueries that are open at one place. */
  nestingMax: 200,
  /** Operators above each other; chains of AND and OR do not count. */
  heightMax: 1000,
  /** Subqueries in each other. */
  subqueriesMax: 100,
} as const;
