// The deterministic automaton beside the simulation and JavaScript's engine, with tables that stay, are cleared and are abandoned.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { finish } from "../../model/steps.ts";
import { Automaton } from "./automaton.ts";
import { ABANDONED, LazyDfa, MATCH, NO_MATCH, PAUSED } from "./lazy-dfa.ts";
import { compileRegex } from "./matcher.ts";
import { parseRegex } from "./parse.ts";
import { Simulation } from "./simulation.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const below = prng(SEED);
const pick = <T>(of: readonly T[]): T => of[below(of.length)]!;
const textOf = (length: number, chars: readonly string[]) => Array.from({ length }, () => pick(chars)).join("");

const CHARS = ["a", "b", "c", "A", "_", "-", "7", " ", "\n", "é", "я", "😀"];

test(`random expressions over one table for many texts: simulation, JavaScript and this agree (seed ${SEED})`, () => {
  const atom = (depth: number): string => {
    if (depth > 0 && below(3) === 0) return `(?:${expression(depth - 1)})`;
    return pick(["a", "b", "é", "😀", "[^a\\n]", "[a-cé]", "[^b]", "\\w", "\\d", "\\W", "^", "$", "\\b", "\\B", "\\p{L}", "\\P{Lu}"]);
  };
  const piece = (depth: number): string => {
    const part = atom(depth);
    return /^(\^|\$|\\[bB])$/.test(part) ? part : part + pick(["", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}"]);
  };
  const expression = (depth: number): string =>
    Array.from({ length: 1 + below(2) }, () => Array.from({ length: 1 + below(4) }, () => piece(depth)).join("")).join("|");
  for (let round = 0; round < 400; round++) {
    const isMultiline = below(2) === 0;
    const source = expression(2);
    const theirs = new RegExp(source, isMultiline ? "um" : "u");
    const flagged = isMultiline ? `(?m)${source}` : source;
    const own = compileRegex(flagged);
    const simulation = new Simulation(new Automaton(parseRegex(flagged)));
    for (let i = 0; i < 20; i++) {
      const text = textOf(below(12), CHARS);
      const wanted = theirs.test(text);
      expect([flagged, text, own.test(text), finish(own.steps(text)), finish(simulation.steps(text))]).toEqual([
        ...[flagged, text],
        ...[wanted, wanted, wanted],
      ]);
    }
  }
});

/** An `a` 11 places before the `c` at the end: 2^11 sets of states. */
const AUTOMATON = () => new Automaton(parseRegex("a[ab]{10}c$"));
const AB = ["a", "b"];
const WORK = 1000;

/** Matches texts until the table has been cleared or abandoned; true if it was abandoned. */
function fill(dfa: LazyDfa, random: string, isDone: () => boolean): boolean {
  for (let at = 0; !isDone(); at += 500) {
    expect(at).toBeLessThan(random.length);
    if (dfa.advance(random.slice(at, at + 500), dfa.start(), Number.POSITIVE_INFINITY) === ABANDONED) return true;
  }
  return false;
}

describe("a table that is full", () => {
  const random = textOf(200_000, AB);

  test("is cleared when it was used, and a search that is under way goes on", () => {
    for (const end of [`a${"b".repeat(10)}c`, `b${"a".repeat(10)}c`]) {
      const dfa = new LazyDfa(AUTOMATON());
      // 40 characters per state of 2,048 at most
      expect(dfa.advance("ab".repeat(60_000), dfa.start(), Number.POSITIVE_INFINITY)).toBe(NO_MATCH);
      const text = `${textOf(WORK - 6, AB)}${end}`;
      // its states are known, so that the second search pauses after so many characters, and what follows depends on those
      const whole = end.startsWith("a") ? MATCH : NO_MATCH;
      expect(dfa.advance(text, dfa.start(), Number.POSITIVE_INFINITY)).toBe(whole);
      const cursor = dfa.start();
      const { generation } = cursor;
      expect(dfa.advance(text, cursor, WORK)).toBe(PAUSED);
      expect(fill(dfa, random, () => dfa.start().generation > generation)).toBeFalse();
      expect([cursor.at, dfa.advance(text, cursor, WORK)]).toEqual([WORK, whole]);
    }
  });

  test("is abandoned when it was not, and the answers stay the same", () => {
    const dfa = new LazyDfa(AUTOMATON());
    expect(fill(dfa, random, () => false)).toBeTrue();
    expect(dfa.advance("", dfa.start(), WORK)).toBe(ABANDONED);
    const regex = compileRegex("a[ab]{10}c$");
    for (let i = 0; i < 400; i++) {
      const text = `${textOf(11 + below(200), AB)}${pick(["c", "c", ""])}`;
      expect([text, regex.test(text)]).toEqual([text, text.endsWith("c") && text.at(-12) === "a"]);
    }
  });
});

test("many sets are abandoned before their classes take memory", () => {
  const chars = Array.from({ length: 600 }, (_, i) => String.fromCharCode(0x4e00 + i));
  const source = `(?:${chars.join("|")})!$`;
  const dfa = new LazyDfa(new Automaton(parseRegex(source)));
  // a class for each character, which says of each set whether it is in: 65,536 are allowed
  expect(dfa.advance(chars.slice(0, 100).join(""), dfa.start(), Number.POSITIVE_INFINITY)).toBe(NO_MATCH);
  expect(dfa.advance(chars.slice(0, 120).join(""), dfa.start(), Number.POSITIVE_INFINITY)).toBe(ABANDONED);
  for (const char of [chars[0]!, chars[110]!, chars[599]!]) {
    const regex = compileRegex(source);
    expect([regex.test(`${chars.join("")}${char}!`), regex.test(`${char}!-`), regex.test(`${char}-`)]).toEqual([true, false, false]);
  }
});

test.each(["(a?){200}a{200}$", "a[ab]{9}c$"])("between two pauses not more is visited than was allowed, beside one state: %s", (source) => {
  const automaton = new Automaton(parseRegex(source));
  const dfa = new LazyDfa(automaton);
  const text = textOf(1500, AB);
  const cursor = dfa.start();
  for (let result: number = PAUSED; result === PAUSED; ) {
    const [at, visits] = [cursor.at, automaton.visits];
    result = dfa.advance(text, cursor, WORK);
    expect(cursor.at - at).toBeLessThanOrEqual(WORK);
    expect(automaton.visits - visits).toBeLessThanOrEqual(WORK + automaton.states.length + automaton.sets.length);
  }
});

test("an expression that is bound to the start of the text reads no further than it has to", () => {
  const dfa = new LazyDfa(new Automaton(parseRegex("^(web|db)-")));
  const cursor = dfa.start();
  expect(dfa.advance("x".repeat(1 << 20), cursor, 2)).toBe(NO_MATCH);
});
