// Regular expressions as values.
import { TsdbError } from "../../model/errors.ts";
import { goRegexError } from "../../tsdbql/parse/go-regex.ts";
import { compileRegex } from "../../tsdbql/regex/matcher.ts";
import { FluxError } from "./flux-error.ts";
import { RegexpSearch } from "./regexp-search.ts";
import { Regexp } from "./value.ts";

/** @param source of RE2's syntax, checked by the parser @throws FluxError: the pattern is too large */
export function compileRegexp(source: string): Regexp {
  const known = withKnownNames(source);
  const tester = testerOf(known);
  let search: RegexpSearch | null = null;
  const searched = () => {
    search ??= new RegexpSearch(known);
    return search;
  };
  return new Regexp(source, {
    test: (text) => tester.test(text),
    find: (text, from) => searched().find(text, from),
    get groupNames() {
      return searched().groupNames;
    },
  });
}

/** @throws FluxError: the pattern is too large */
function testerOf(source: string): ReturnType<typeof compileRegex> {
  try {
    return compileRegex(source);
  } catch (error) {
    throw error instanceof TsdbError ? new FluxError(error.message) : error;
  }
}

/** What is wrong with the source of a literal, or null. */
export function regexpError(source: string): string | null {
  const error = goRegexError(source);
  return error === null ? null : `regex parse error: ${source}  error: ${error}`;
}

/** The same of a text that a script makes a regular expression of. */
export function patternError(source: string): string | null {
  const error = goRegexError(withKnownNames(source));
  return error === null ? null : `error parsing regexp: ${error}`;
}

/** A text may name a group `(?<name>…)`, which a literal may not. */
function withKnownNames(source: string): string {
  if (!source.includes("(?<")) return source;
  return source.replace(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?<(?=\w+>)/gs, (part) => (part === "(?<" ? "(?P<" : part));
}
