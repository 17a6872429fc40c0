// All recorded requests (recorded-answers.ts).
import { expect, test } from "bun:test";
import { DIFFERENT } from "./different-answers.ts";
import { recordedAnswers } from "./recorded-answers.ts";
import { requestVectors, sqlVectors, tsdbqlVectors } from "./vectors.ts";

recordedAnswers(1);

test("few answers differ by intent, each from a recorded answer", () => {
  expect(DIFFERENT.length).toBeLessThanOrEqual(40);
  const recorded = new Set([...sqlVectors(), ...tsdbqlVectors(), ...requestVectors()].map(({ id }) => id));
  expect(DIFFERENT.map(([id]) => id).filter((id) => !recorded.has(id))).toEqual([]);
});
