// Dictionaries that start over.
import { expect, test } from "bun:test";
import { type Data, Vector } from "apache-arrow";
import { UsedStrings } from "./dictionaries.ts";

const stringsOf = (data: Data) => [...new Vector([data])] as string[];

test("a dictionary that starts over with as many strings as it had has those of its batch", () => {
  const dictionary = Array.from({ length: 3000 }, (_, i) => `text ${i}`);
  const used = new UsedStrings();
  for (const first of [0, 800, 1600, 1700, 2200]) {
    const values = Uint32Array.from({ length: 800 }, (_, i) => first + i);
    expect(stringsOf(used.data({ validity: null, values, dictionary }, 800))).toEqual(dictionary.slice(first, first + 800));
  }
});
