// Limits of what is kept, and which result goes first.
import { expect, test } from "bun:test";
import { KnownResults } from "./known-results.ts";

/** Takes 100 bytes with its key of one character. */
const result = () => new Uint8Array(98);

test("a result is found by its key, the last one kept under it", () => {
  const known = new KnownResults();
  const [first, second] = [result(), result()];
  known.keep("a", first);
  known.keep("a", second);
  expect(known.find("a")).toBe(second);
  expect(known.find("b")).toBeNull();
  expect(known.bytes).toBe(100);
});

test("above the limit the result that was not used for the longest time goes", () => {
  const known = new KnownResults(800);
  for (const key of "abcdefgh") known.keep(key, result());
  known.find("a");
  known.keep("i", result());
  expect([..."abcdefghi"].filter((key) => known.find(key) === null)).toEqual(["b"]);
  expect(known.bytes).toBe(800);
});

test("a result above an eighth of the limit is not kept", () => {
  const known = new KnownResults(800);
  known.keep("a", new Uint32Array(25));
  known.keep("b", new Uint32Array(24));
  expect([known.find("a"), known.find("b")?.length]).toEqual([null, 24]);
});
