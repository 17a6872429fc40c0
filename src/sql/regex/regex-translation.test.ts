// Translated regular expressions against JavaScript's own, which looks for the first match in the same order, on random patterns and texts;
// and sets of characters against membership, one by one.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { askRows } from "../../../test/support/sql/sql-rows.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { TsdbError } from "../../model/errors.ts";
import { SqlEngine } from "../execute/engine.ts";
import { type CharSet, charSet, complement, difference, intersection, union } from "./char-set.ts";
import { translateRegex, translateReplacement } from "./regex.ts";

const SEED = Number(process.env["SEED"] ?? 11);
const ROUNDS = Number(process.env["ROUNDS"] ?? 30);

let engine: SqlEngine;
beforeAll(async () => {
  engine = await SqlEngine.open(Kernel.create(), { memoryBytes: 256 << 20, threads: 1, tempDir: null });
});
afterAll(() => engine.close());

type Below = (n: number) => number;
/** A piece in Rust's syntax and in JavaScript's. */
type Pair = readonly [rust: string, js: string];

const ATOMS: readonly Pair[] = [
  ["a", "a"],
  ["b", "b"],
  ["é", "é"],
  ["日", "日"],
  [".", "."],
  ["\\d", "\\p{Nd}"],
  ["\\D", "\\P{Nd}"],
  ["\\w", "[\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}]"],
  ["\\W", "[^\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}]"],
  ["\\s", "[\\t-\\r\\x85\\p{Z}]"],
  ["[a-c]", "[a-c]"],
  ["[^ab]", "[^ab]"],
  ["[\\w&&[^a]]", "[[\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}]&&[^a]]"],
  ["[a-c--b]", "[[a-c]--[b]]"],
  ["[[:digit:]é]", "[0-9é]"],
  ["[^\\W\\d]", "[[\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}]--\\p{Nd}]"],
  ["\\x{e9}", "é"],
  ["\\u65e5", "日"],
  ["\\p{Letter}", "\\p{L}"],
  ["\\.", "\\."],
];
const REPEATS = ["", "", "", "+", "*", "?", "{1,2}", "+?", "*?"];

function sequence(below: Below, depth: number): Pair {
  const parts = Array.from({ length: 1 + below(3) }, () => piece(below, depth));
  return [parts.map(([rust]) => rust).join(""), parts.map(([, js]) => js).join("")];
}

function piece(below: Below, depth: number): Pair {
  const repeat = REPEATS[below(REPEATS.length)]!;
  const kind = depth > 1 ? 9 : below(10);
  let [rust, js] = ATOMS[below(ATOMS.length)]!;
  if (kind < 2) {
    const [left, right] = [sequence(below, depth + 1), sequence(below, depth + 1)];
    [rust, js] = [`(${left[0]}|${right[0]})`, `(${left[1]}|${right[1]})`];
  } else if (kind === 2) {
    const inner = sequence(below, depth + 1);
    [rust, js] = [`(?:${inner[0]})`, `(?:${inner[1]})`];
  } else if (kind === 3) {
    const inner = sequence(below, depth + 1);
    [rust, js] = [`(?P<n${depth}${below(1000)}>${inner[0]})`, `(${inner[1]})`];
  }
  // what JavaScript does with repeated nothings is its own
  const isEmpty = new RegExp(`^(?:${js})$`, "v").test("");
  return isEmpty ? [rust, js] : [rust + repeat, js + repeat];
}

const LETTERS = [..."aabbcé日5٣ _.-\n"];

describe("random patterns", () => {
  test(`find what JavaScript finds, seed ${SEED}`, async () => {
    const below = prng(SEED);
    const cases: { text: string; rust: string; js: string }[] = [];
    const seen = new Set<string>();
    while (cases.length < ROUNDS) {
      const [rust, js] = sequence(below, 0);
      // two groups of one name are an error
      const names = rust.match(/<n\d+>/g) ?? [];
      if (new Set(names).size !== names.length || seen.has(rust)) continue;
      seen.add(rust);
      cases.push({ rust, js, text: Array.from({ length: below(12) }, () => LETTERS[below(LETTERS.length)]!).join("") });
    }
    const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;
    // a constant pattern, and the same one as a value of a row
    const items = cases.map(({ text, rust }) => {
      const [s, p] = [quote(text), quote(rust)];
      return `(regexp_like(${s}, ${p}), regexp_replace(${s}, ${p}, '<$0>'), regexp_replace(${s}, concat(${p}, x), '<$0>'))`;
    });
    for (let from = 0; from < items.length; from += 20) {
      const sql = `SELECT [${items.slice(from, from + 20).join(", ")}] AS found FROM (VALUES ('')) AS v(x)`;
      const [[found]] = (await askRows(engine, sql, { tables: [], params: {} })) as [[{ c0: boolean; c1: string; c2: string }[]]];
      for (const [i, { text, rust, js }] of cases.slice(from, from + 20).entries()) {
        const regex = new RegExp(js, "v");
        const replaced = text.replace(regex, "<$&>");
        expect([rust, text, found[i]]).toEqual([rust, text, { c0: regex.test(text), c1: replaced, c2: replaced }]);
      }
    }
  });

  test(`broken ones are errors of the client's, seed ${SEED}`, () => {
    const below = prng(SEED);
    const alphabet = [..."a([{|\\^$.*+?)}]-&~<>=!:Px1u,#  d"];
    for (let round = 0; round < 200 * ROUNDS; round++) {
      const source = Array.from({ length: below(12) }, () => alphabet[below(alphabet.length)]!).join("");
      try {
        translateReplacement(source, translateRegex(source, below(2) === 0 ? "" : "x").groups);
      } catch (error) {
        expect(error).toBeInstanceOf(TsdbError);
      }
    }
  });
});

describe("sets of characters", () => {
  test(`are what membership says, seed ${SEED}`, () => {
    const below = prng(SEED);
    const random = (): CharSet =>
      charSet(
        Array.from({ length: below(5) }, () => {
          const first = below(60);
          return [first, first + below(10)] as const;
        }),
      );
    const has = (set: CharSet, code: number): boolean => set.some(([first, last]) => code >= first && code <= last);
    for (let round = 0; round < ROUNDS; round++) {
      const [a, b] = [random(), random()];
      for (let code = 0; code < 72; code++) {
        const [inA, inB] = [has(a, code), has(b, code)];
        expect(has(union(a, b), code)).toBe(inA || inB);
        expect(has(intersection(a, b), code)).toBe(inA && inB);
        expect(has(difference(a, b), code)).toBe(inA && !inB);
        expect(has(complement(a), code)).toBe(!inA);
      }
    }
  });
});
