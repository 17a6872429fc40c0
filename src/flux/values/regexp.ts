// Regular expressions as values.
import { goRegexError } from "../../tsdbql/parse/go-regex.ts";
import { compileRegex } from "../../tsdbql/regex/matcher.ts";
import { Regexp } from "./value.ts";

/** @param source of RE2's syntax, checked by the parser */
export function compileRegexp(source: string): Regexp {
  const tester = compileRegex(source);
  return new Regexp(source, { test: (text) => tester.test(text), find: () => null, groupNames: new Map() });
}

/** What is wrong with a source, or null. */
export function regexpError(source: string): string | null {
  const error = goRegexError(source);
  return error === null ? null : `regex parse error: ${source}  error: ${error}`;
}
