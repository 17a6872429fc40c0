// The engine's comparison of texts against that of their UTF-8.
import { expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { comparisonFor } from "./text-order.ts";

test("any texts are in the order of their bytes", () => {
  const next = prng(5);
  const units = ["", "a", "b", " ", ",", "é", "\u0800", "\ud7ff", "\ue000", "\uffee", "🐢", "\u{10ffff}"];
  for (let round = 0; round < 2000; round++) {
    const kinds = next(2) === 0 ? 8 : units.length;
    const texts = Array.from({ length: 12 }, () => Array.from({ length: next(4) }, () => units[next(kinds)]!).join(""));
    const byBytes = texts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(texts.toSorted(comparisonFor(texts))).toEqual(byBytes);
  }
});
