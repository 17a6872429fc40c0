// An eighth of the recorded scripts against the in-memory source; recorded.long.test.ts plays all.
import { expect, test } from "bun:test";
import { fluxCases, notPassing } from "./cases.ts";
import { caseDifference } from "./play-case.ts";

const EVERY = 8;

test("recorded scripts", async () => {
  const known = notPassing();
  const wrong: string[] = [];
  for (const each of fluxCases().filter(({ id }, i) => i % EVERY === 0 && !known.has(id))) {
    const difference = await caseDifference(each);
    if (difference !== null) wrong.push(`${each.id}: ${difference}`);
  }
  expect(wrong).toEqual([]);
});
