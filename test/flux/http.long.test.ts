// The recorded scripts over HTTP, all of them: a server process with the recorded buckets.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type FluxCase, fluxCases, isOfRequests, notPassing } from "./cases.ts";
import { HttpPlayer } from "./http-player.ts";

const TIMEOUT_MS = 300_000;

let player: HttpPlayer;
beforeAll(async () => {
  player = await HttpPlayer.start();
}, TIMEOUT_MS);
afterAll(() => player.stop());

async function failing(cases: readonly FluxCase[]): Promise<string[]> {
  const found: string[] = [];
  for (const each of cases) {
    const difference = await player.difference(each);
    if (difference !== null) found.push(`${each.id}: ${difference}`);
  }
  return found;
}

test("what only requests have: dialects, preferences, lists of buckets", async () => {
  const cases = fluxCases().filter(isOfRequests);
  expect(cases.length).toBeGreaterThan(50);
  expect(await failing(cases)).toEqual([]);
});

test(
  "all recorded scripts that pass in memory",
  async () => {
    const listed = notPassing();
    expect(await failing(fluxCases().filter(({ id }) => !listed.has(id)))).toEqual([]);
  },
  TIMEOUT_MS,
);
