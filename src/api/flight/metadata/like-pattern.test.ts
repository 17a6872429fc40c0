// Patterns against a regular expression made of the same rules, and against what would make one slow.
import { expect, test } from "bun:test";
import { prng } from "../../../../test/support/prng.ts";
import { likePattern } from "./like-pattern.ts";

const CASES: [pattern: string | undefined, yes: string[], no: string[]][] = [
  [undefined, ["", "anything"], []],
  ["", [""], ["a"]],
  ["cpu", ["cpu"], ["CPU", "cpu2", "a cpu", ""]],
  ["%", ["", "anything", "a\nb"], []],
  ["c%", ["c", "cpu"], ["acpu"]],
  ["%u", ["u", "cpu"], ["cpus"]],
  ["%p%", ["p", "cpu"], ["cu"]],
  ["c_u", ["cpu", "cxu", "c😀u"], ["cu", "cppu"]],
  ["100\\%", ["100%"], ["100x"]],
  ["a\\_b", ["a_b"], ["axb"]],
  ["a\\\\b", ["a\\b"], ["a\\\\b"]],
  ["a\\", ["a\\"], ["a"]],
  ["%.%", ["a.b"], ["ab"]],
];

test.each(CASES)("texts that match pattern %p", (pattern, yes, no) => {
  const isMatch = likePattern(pattern);
  expect(yes.filter((text) => !isMatch(text))).toEqual([]);
  expect(no.filter(isMatch)).toEqual([]);
});

const SEED = Number(process.env["SEED"] ?? 1);
test(`as a regular expression would, seed ${SEED}`, () => {
  const below = prng(SEED);
  const random = (letters: string, length: number) => Array.from({ length: below(length) }, () => letters[below(letters.length)]).join("");
  for (let round = 0; round < 20_000; round++) {
    const pattern = random("ab%_", 8);
    const text = random("ab", 10);
    const model = new RegExp(`^${pattern.replaceAll("%", ".*").replaceAll("_", ".")}$`, "s");
    expect([pattern, text, likePattern(pattern)(text)]).toEqual([pattern, text, model.test(text)]);
  }
});

test("a pattern made to be slow is not", () => {
  // 40 times "%a" against as many a: a backtracking matcher takes years
  expect(likePattern(`${"%a".repeat(40)}%b`)("a".repeat(10_000))).toBe(false);
});
