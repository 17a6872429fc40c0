// Regular expressions, right and wrong, put together from what means something. What 1.x says to each is a golden.
import { prng } from "../support/prng.ts";

const REGEX_PARTS: readonly string[] = [
  ...["a", "b", "é", "a-z", "z-a", "*", "+", "?", "{2}", "{2,3}", "{,3}", "{3,2}", "{1,}", "(", ")", "(?:", "(?i)", "(?i", "(?-", "(?s-i:"],
  ...["(?P<x>", "[", "]", "[^", "-", "\\d", "\\pL", "\\p{Greek}", "\\p{Lu", "\\pX", "\\x41", "\\x{41}", "\\x4", "\\07", "\\1", "\\12"],
  ...["\\.", "\\q", "\\Q", "\\E", "\\b", "\\z", "\\Z", "\\C", "|", "^", "$", ".", "[:alpha:]", "[[:alpha:]", "[:x:]", "\\", "{", "}"],
];

/** Right and wrong ones, put together from what means something; seeded, so always the same. */
export const REGEXES: readonly string[] = (() => {
  const random = prng(3);
  const made = Array.from({ length: 400 }, () =>
    Array.from({ length: 1 + random(5) }, () => REGEX_PARTS[random(REGEX_PARTS.length)]).join(""),
  );
  return [...new Set(made)];
})();

export const REGEX_STATEMENT = "SELECT a FROM m WHERE b =~ $x";
