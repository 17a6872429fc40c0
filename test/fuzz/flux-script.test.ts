// Any script gives an answer or an error of the language: short runs with fixed seeds, and those that have failed once.
import { expect, test } from "bun:test";
import { callRounds, onceFailed, scriptRounds, treeRounds } from "./flux-script-rounds.ts";

const SEED = Number(process.env["SEED"] ?? 20_261_122);
const ROUNDS = Number(process.env["ROUNDS"] ?? 800);

test(`any script ends in an answer or an error, seed ${SEED}`, () => scriptRounds(SEED, ROUNDS), 60_000);
test(`so does any call of the library, seed ${SEED}`, () => callRounds(SEED, ROUNDS), 60_000);
test(`so does any tree, seed ${SEED}`, () => treeRounds(SEED, ROUNDS), 60_000);

const FOUND: readonly (readonly [script: string, answer: RegExp])[] = [
  ['array.from(rows: [{_value: 1.0}]) |> fill(column: "by", value: 1mo1d)', /value type for fill must be a valid primitive type/],
  ['array.from(rows: [{_value: 1.0}]) |> fill(column: "by", value: {a: 1})', /value type for fill must be a valid primitive type/],
  ['import "experimental"\narray.from(rows: [{_value: 1.0}]) |> experimental.set(o: {a: [1]})', /values of type array are no cells/],
  ['array.from(rows: [{_value: 1.0, tag: "a"}]) |> group(columns: ["tag"]) |> histogram(bins: [0.0], upperBoundColumn: "tag")', /tag/],
  ["array.from(rows: [{a: 1.0}, {a: 2.0}]) |> reduce(fn: (accumulator, r) => r, identity: {a: 5.0})", /,,0,2\r\n/],
];

test.each(FOUND)("%s", async (script, answer) => expect(await onceFailed(script)).toMatch(answer));
