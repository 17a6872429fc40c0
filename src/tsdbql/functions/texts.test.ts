// Columns of texts are codes, and show the texts that a plain array would.
import { expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { finish } from "../../model/steps.ts";
import { EMPTY_TEXT, Texts, TextsBuilder, Vocabulary } from "./texts.ts";

const arrayOf = (texts: Texts) => finish(texts.toArray());
const WORDS = ["", "a", "b", "ü", "𝄞", "a long text, longer than others"];

test("rows are taken, cut and joined as those of an array", () => {
  const below = prng(7);
  for (let round = 0; round < 200; round++) {
    const array = Array.from({ length: 1 + below(40) }, () => (below(3) === 0 ? `text ${below(30)}` : WORDS[below(WORDS.length)]!));
    const texts = Texts.of(array);
    expect(arrayOf(texts)).toEqual(array);
    const rows = Int32Array.from({ length: below(60) }, () => below(array.length));
    const taken = finish(texts.take(rows));
    expect(arrayOf(taken)).toEqual(Array.from(rows, (row) => array[row]!));
    const [from, to] = [below(array.length), array.length];
    expect(arrayOf(texts.slice(from, to))).toEqual(array.slice(from, to));
    const joined = new TextsBuilder(taken.length + 3 + array.length);
    finish(joined.set(texts, taken.length + 3));
    finish(joined.set(taken, 0));
    expect(arrayOf(joined.finish())).toEqual([...arrayOf(taken), "", "", "", ...array]);
  }
});

test("few rows of many keep their texts alone, equal ones once", () => {
  const many = Texts.of(Array.from({ length: 1000 }, (_, i) => `text ${i}`));
  const few = finish(many.take(Int32Array.of(5, 900, 5)));
  expect(few.dictionary).toEqual(["text 5", "text 900"]);
  expect([...few.codes]).toEqual([0, 1, 0]);
});

test("a dictionary that parts share is taken once", () => {
  const texts = Texts.of(["x", "y"]);
  const joined = new TextsBuilder(4);
  finish(joined.set(texts, 0));
  finish(joined.set(texts.slice(1, 2), 2));
  expect(joined.finish().dictionary).toEqual(["x", "y"]);
  expect(arrayOf(joined.finish())).toEqual(["x", "y", "y", ""]);
});

test("empty texts need no dictionary", () => {
  expect(arrayOf(Texts.empty(2))).toEqual(["", ""]);
  expect([...finish(Texts.empty(2).take(Int32Array.of(1))).codes]).toEqual([EMPTY_TEXT]);
});

test("a vocabulary ends to look for equal texts behind many, and stays right", () => {
  const vocabulary = new Vocabulary();
  const texts = Array.from({ length: 10_000 }, (_, i) => `text ${i}`);
  const codes = texts.map((text) => vocabulary.code(text));
  expect(codes.map((code) => vocabulary.texts[code])).toEqual(texts);
  expect(["text 1", "text 9999"].map((text) => vocabulary.texts[vocabulary.code(text)])).toEqual(["text 1", "text 9999"]);
  const few = new Vocabulary();
  expect(Array.from({ length: 20_000 }, (_, i) => few.code(`text ${i % 3}`)).slice(-3)).toEqual([2, 0, 1]);
});
