// Places of matches, compared with the expressions of the runtime.
import { expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { patternError } from "./regexp.ts";
import { RegexpSearch } from "./regexp-search.ts";

/** JavaScript's own expressions prefer matches in the same order. */
function reference(source: string, text: string, from: number): number[] | null {
  const regexp = new RegExp(source, "dgu");
  regexp.lastIndex = from;
  const found = regexp.exec(text);
  return found === null ? null : found.indices!.flatMap((pair) => pair ?? [-1, -1]);
}

const SOURCES = [
  ...["a", "a|ab", "(a|ab)(c|bcd)(d*)", "a*?b", "(a+)(b+)?", "x*", "(?:ab)+?", "\\bab\\b", "^a|b$", "[^b]+", "(a)|(b)", "(a*)*b?"],
  ...["a{2,3}", "a{2,3}?", "(b{1,2})a", "", "(|a)+b", "a.c", "\\d+", "(a(b)?)+"],
];

test.each(SOURCES)("%j finds the same places as the runtime's expressions", (source) => {
  const below = prng(7);
  const search = new RegexpSearch(source);
  for (let round = 0; round < 300; round++) {
    const text = Array.from({ length: below(9) }, () => "abcd1 "[below(6)]).join("");
    for (let from = 0; from <= text.length; from++) {
      const want = reference(source, text, from);
      // groups of earlier rounds of a repetition stay here, and are cleared by the runtime
      const compared = source.includes(")*") || source.includes(")+") || source === "(|a)+b" ? 2 : undefined;
      expect([text, from, search.find(text, from)?.slice(0, compared) ?? null]).toEqual([text, from, want?.slice(0, compared) ?? null]);
    }
  }
});

test("nested repetitions take linear time", () => {
  const text = "a".repeat(20_000);
  expect(new RegexpSearch("(a*)*c").find(text, 0)).toBeNull();
  expect(new RegexpSearch("(a|aa)+$").find(`${text}!`, 0)).toBeNull();
});

// recorded from release 2.8.0
test.each([
  ["(", "missing closing ): `(`"],
  ["[b-a]", "invalid character class range: `b-a`"],
  ["a**", "invalid nested repetition operator: `**`"],
  ["a{1001}", "invalid repeat count: `{1001}`"],
  ["(?=a)", "invalid or unsupported Perl syntax: `(?=`"],
])("%s: %s", (source, problem) => {
  expect(patternError(source)).toBe(`error parsing regexp: ${problem}`);
});
