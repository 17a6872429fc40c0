// Limits on the statements of a request: with these, no stage from text to plan blocks its thread for long. docs/configuration.md
// lists them for users.
import { LIMITS } from "../../model/limits.ts";
import { STATEMENT_LIMITS } from "../../model/query/statement-limits.ts";

export const TSDBQL_LIMITS = {
  /** Characters of a request's whole text. It is parsed without a pause: this many take about 50 ms. */
  charsMax: 128 * 1024,
  /** Statements of a request. */
  statementsMax: 1000,
  /** Fields of a SELECT, before wildcards are expanded. */
  fieldsMax: LIMITS.answerColumnsMax,
  /** Measurements, patterns and subqueries of one FROM, and names in any other list. */
  listMax: 1000,
  dimensionsMax: 1000,
  /** Characters of a regular expression. */
  patternCharsMax: STATEMENT_LIMITS.patternCharsMax,
  /** States of a regular expression, with repetitions expanded. */
  patternStatesMax: 10_000,
  /** Nested parentheses, calls, signs and subqueries. */
  nestingMax: 200,
  /** Nested operators; chains of AND and OR do not count. */
  heightMax: 1000,
  /** Nested subqueries. */
  subqueriesMax: 100,
} as const;
