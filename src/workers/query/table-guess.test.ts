// Guesses: statements that look alike share one, whatever their values; what is kept stays within its bound.
import { expect, test } from "bun:test";
import { covers, TableGuess } from "./table-guess.ts";

const CPU = { tables: ["cpu"], wholeCatalog: false, systemTables: [] };
const BOTH = { tables: ["cpu", "mem"], wholeCatalog: false, systemTables: [] };
const ALL = { tables: [], wholeCatalog: true, systemTables: [] };
const SYSTEM = { ...CPU, systemTables: ["queries"] };

const LIKE: [learnt: string, asked: string, isKnown: boolean][] = [
  ["SELECT a FROM cpu WHERE b = 'x'", "SELECT a FROM cpu WHERE b = 'it''s'", false],
  ["SELECT a FROM cpu WHERE b = 'x'", "SELECT a FROM cpu WHERE b = 'long text, with (all) \"kinds\"\nof it'", true],
  ["SELECT a FROM cpu WHERE b > 1 LIMIT 5", "SELECT a FROM cpu WHERE b > 17.25 LIMIT 100", true],
  ["SELECT a FROM cpu1", "SELECT a FROM cpu2", false],
  ["SELECT a FROM cpu", "SELECT a FROM mem", false],
  ["SELECT a FROM cpu", "SELECT a  FROM cpu", false],
];

test.each(LIKE)("after %j is %j known: %p", (learnt, asked, isKnown) => {
  const guess = new TableGuess();
  guess.learn(learnt, CPU);
  expect(guess.find(asked)).toEqual(isKnown ? CPU : undefined);
});

test("the last thing learnt counts", () => {
  const guess = new TableGuess();
  guess.learn("SELECT 1", CPU);
  guess.learn("SELECT 2", BOTH);
  expect(guess.find("SELECT 3")).toEqual(BOTH);
});

test("the least recently learnt guess goes first, and long statements are ignored", () => {
  const guess = new TableGuess(1000);
  for (let i = 0; i < 50; i++) guess.learn(`SELECT c${"x".repeat(i)} FROM cpu`, CPU);
  expect(guess.find("SELECT c FROM cpu")).toBeUndefined();
  expect(guess.find(`SELECT c${"x".repeat(49)} FROM cpu`)).toEqual(CPU);
  // each takes 66 characters at most and 57 at least with its table, so 15 of them fit
  const kept = Array.from({ length: 50 }, (_, i) => guess.find(`SELECT c${"x".repeat(i)} FROM cpu`)).filter((need) => need !== undefined);
  expect(kept.length).toBeGreaterThanOrEqual(15);
  expect(kept.length).toBeLessThanOrEqual(17);
  const long = `SELECT ${"x".repeat(9000)}`;
  guess.learn(long, CPU);
  expect(guess.find(long)).toBeUndefined();
  expect(guess.find(`SELECT c${"x".repeat(49)} FROM cpu`)).toEqual(CPU);
});

test("a snapshot of more serves less", () => {
  expect([covers(BOTH, CPU), covers(CPU, BOTH), covers(ALL, CPU), covers(CPU, ALL), covers(ALL, ALL), covers(CPU, CPU)]).toEqual([
    true,
    false,
    false,
    false,
    true,
    true,
  ]);
  expect([covers(SYSTEM, CPU), covers(CPU, SYSTEM), covers(SYSTEM, SYSTEM), covers(ALL, SYSTEM)]).toEqual([true, false, true, false]);
});

test("the arguments of caches are names, not literals", () => {
  const guess = new TableGuess();
  const cache = { kind: "last", table: "cpu", name: null } as const;
  const need = { ...CPU, tables: [], caches: [cache] };
  guess.learn("SELECT * FROM last_cache('cpu') WHERE host = 'a'", need);
  expect(guess.find("SELECT * FROM last_cache('cpu') WHERE host = 'b'")).toBe(need);
  expect(guess.find("SELECT * FROM last_cache('mem') WHERE host = 'a'")).toBeUndefined();
  expect(covers(need, { ...need, caches: [{ ...cache }] })).toBe(true);
  expect(covers(need, { ...need, caches: [cache, { ...cache, kind: "distinct" }] })).toBe(false);
  expect(covers(need, { ...need, caches: [{ ...cache, name: "c" }] })).toBe(false);
  expect(covers({ ...CPU, tables: [] }, need)).toBe(false);
  expect(covers(need, { ...CPU, tables: [] })).toBe(true);
});
