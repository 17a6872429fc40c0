// Regular expressions against JavaScript's where both mean the same, and what only Go has by its documentation; hostile ones end at once.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { compileRegex } from "./matcher.ts";

const SEED = Number(process.env["SEED"] ?? 1);

describe("as Go's documentation says", () => {
  const CASES: [source: string, matching: string[], others: string[]][] = [
    ["^$", [""], ["a"]],
    ["", ["", "a"], []],
    ["^server0[1-3]$", ["server01", "server03"], ["server04", "xserver01", "server011"]],
    ["(?i)HOST", ["my-host-1", "Host"], ["hst"]],
    ["a|^b$|c+d", ["xa", "b", "ccd"], ["bb", "c"]],
    ["(?P<name>x)y", ["xy"], ["x"]],
    ["(?:ab){2,3}$", ["abab", "zababab"], ["ab"]],
    ["^(ab|c)*$", ["", "abcab"], ["abca"]],
    ["[[:alpha:]_][^\\d]", ["ab", "_x"], ["a1", "1"]],
    ["\\pL\\p{Greek}", ["aα"], ["ab", "1α"]],
    ["^.$", ["x", "😀"], ["", "xy", "\n"]],
    ["(?s)^.$", ["\n"], ["xy"]],
    ["(?m)^b$", ["a\nb\nc"], ["ab"]],
    ["\\bcpu\\b", ["my cpu x", "cpu"], ["cpus"]],
    ["\\Qa.b\\E+", ["a.bb"], ["axb"]],
    ["\\x41\\x{1F600}\\101", ["A😀A"], ["AA"]],
    ["a{,2}", ["a{,2}"], ["aa"]],
    ["[]a-]", ["]", "a", "-"], ["b"]],
    ["a(?i)b|c", ["aB", "C"], ["Ab"]],
    ["(?i:a)b", ["Ab"], ["aB"]],
  ];
  test.each(CASES)("%s", (source, matching, others) => {
    const regex = compileRegex(source);
    for (const text of matching) expect([text, regex.test(text)]).toEqual([text, true]);
    for (const text of others) expect([text, regex.test(text)]).toEqual([text, false]);
  });
});

test(`random expressions match what JavaScript's match (seed ${SEED})`, () => {
  const below = prng(SEED);
  const pick = <T>(of: readonly T[]): T => of[below(of.length)]!;
  const atom = (depth: number): string => {
    if (depth > 0 && below(3) === 0) return `(${expression(depth - 1)})`;
    return pick(["a", "b", "c", ".", "[ab]", "[^a]", "\\w", "^", "$", "\\b"]);
  };
  const piece = (depth: number): string => {
    const part = atom(depth);
    return /[$^]$|\\b$/.test(part) ? part : part + pick(["", "", "*", "+", "?", "{2}", "{1,2}", "*?"]);
  };
  const expression = (depth: number): string =>
    Array.from({ length: 1 + below(2) }, () => Array.from({ length: below(4) }, () => piece(depth)).join("")).join("|");
  for (let round = 0; round < 2000; round++) {
    const source = expression(2);
    const own = compileRegex(source);
    const theirs = new RegExp(source);
    const text = Array.from({ length: below(7) }, () => pick(["a", "b", "c", "-"])).join("");
    expect([source, text, own.test(text)]).toEqual([source, text, theirs.test(text)]);
  }
});

test("compiled expressions are cached up to 64, and up to 65,536 states", () => {
  const few = (i: number) => `a.${i}`;
  const kept = compileRegex(few(0));
  expect(compileRegex(few(0))).toBe(kept);
  for (let i = 1; i <= 64; i++) compileRegex(few(i));
  expect(compileRegex(few(0))).not.toBe(kept);
  const many = (i: number) => `[ab]{9000}${i}`;
  const large = compileRegex(many(0));
  for (let i = 1; i < 7; i++) compileRegex(many(i));
  expect(compileRegex(many(0))).toBe(large);
  compileRegex(many(7));
  expect(compileRegex(many(0))).not.toBe(large);
});

describe("hostile expressions", () => {
  test("nested repetitions of a long text end", () => expect(compileRegex("^(a+)+$").test(`${"a".repeat(100_000)}b`)).toBeFalse());
  test("too many states are refused", () => expect(() => compileRegex("((a{100}){100}){100}")).toThrow("too large"));
});
