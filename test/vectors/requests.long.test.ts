// Recorded writes and definitions, each with databases of its own: status, answer and what is there afterwards are the vendor's, but for
// what the tables here name.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { dataOf, startDataServer } from "../support/servers/data-server.ts";
import type { TestServer } from "../support/servers/server.ts";
import { PlayedCase } from "./played-case.ts";
import { manageVectors, type StepsVector, writeVectors } from "./vectors.ts";

const TIMEOUT_MS = 300_000;

/** By intent. */
const DIFFERENT: readonly (readonly [id: string, reason: string])[] = [
  ["part-001", "behind a comment the vendor shows the line before the refused one"],
  ["part-004", "behind a comment the vendor shows the line before the refused one"],
  ["name-065", "a comma in the name of a field wants a backslash, as it does in that of a tag"],
  ["internal-003", "texts of all system tables are Utf8"],
];

/** Played in one go only. */
const IN_ONE_GO: ReadonlyMap<string, string> = new Map([
  ["cache-live-009", "values of a cache age while the others are played"],
  ["db-retention-001", "a longer retention brings back rows that no merge has dropped"],
]);

/** Flushes and merges happen when a state says so. */
const FLAGS = ["--gen0-duration", "1d", "--compaction-check-interval", "24h"];

/** A start takes longest, and few cases have many steps. */
const restarts = (step: number) => step < 3 || step % 4 === 0;

/** What happens to the rows between two steps of all cases: what a step wrote is in that state when the next one comes. */
const STATES: readonly (readonly [name: string, between: (server: TestServer, step: number) => Promise<void>])[] = [
  ["flushed", (server) => dataOf(server).flush()],
  [
    "compacted",
    async (server) => {
      await dataOf(server).flush();
      await dataOf(server).compact();
    },
  ],
  ["half flushed", (server, step) => (step % 2 === 0 ? dataOf(server).flush() : Promise.resolve())],
  [
    "replayed from the log",
    async (server, step) => {
      if (!restarts(step)) return;
      await server.kill();
      await server.restart();
    },
  ],
  [
    "restarted from files",
    async (server, step) => {
      await dataOf(server).flush();
      if (restarts(step)) await server.restart();
    },
  ],
];

/** All cases are played in this state, and a sixth of them in each of the others, another sixth from state to state; with
 *  ALL_STATES=1 (`npm run test:full`) all in all. */
const WHOLE_STATE = "half flushed";
const SAMPLED_EVERY = 6;
function isPlayedIn(state: string, number: number): boolean {
  const isWhole = process.env["ALL_STATES"] === "1" || state === WHOLE_STATE;
  return isWhole || (number + STATES.findIndex(([name]) => name === state)) % SAMPLED_EVERY === 0;
}

/** In a state, cases are played side by side, and so many at once. */
const LANES = 8;

const WRITES = writeVectors();
const VECTORS = [...WRITES, ...manageVectors()];

function expectKnown(cases: readonly PlayedCase[]): void {
  const played = new Set(cases.map(({ vector }) => vector.id));
  const ids = new Set(DIFFERENT.flatMap(([id]) => (played.has(id) ? [id] : [])));
  const found = cases.flatMap(({ vector: { id, class: own }, difference }) =>
    difference === null || own !== undefined ? [] : [[id, difference]],
  );
  const unknown = found.filter(([id]) => !ids.has(id!));
  const noMore = [...ids].filter((id) => !found.some(([other]) => other === id));
  expect({ unknown, noMore }).toEqual({ unknown: [], noMore: [] });
}

describe("one case after the other, all in memory", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startDataServer(FLAGS);
  }, TIMEOUT_MS);
  afterAll(() => server.dispose());

  const play = async (vectors: readonly StepsVector[]) => {
    const cases = vectors.map((vector) => new PlayedCase(vector, VECTORS.indexOf(vector)));
    for (const one of cases) for (let step = 0; step < one.stepCount; step++) await one.step(server.url, step);
    expectKnown(cases);
  };
  test("recorded write requests", () => play(VECTORS.slice(0, WRITES.length)), TIMEOUT_MS);
  test("databases, tables, caches, tokens and forms of requests", () => play(VECTORS.slice(WRITES.length)), TIMEOUT_MS);
});

// all states at once: each waits for the starts and the syncs of its own server
describe("cases step by step", () => {
  test.concurrent.each(STATES)(
    "%s",
    async (state, between) => {
      const server = await startDataServer(FLAGS);
      try {
        const cases = VECTORS.flatMap((vector, number) =>
          !IN_ONE_GO.has(vector.id) && isPlayedIn(state, number) ? [new PlayedCase(vector, number)] : [],
        );
        const last = Math.max(...cases.map(({ stepCount }) => stepCount));
        for (let step = 0; step < last; step++) {
          const rest = cases.filter(({ stepCount }) => step < stepCount).values();
          const lane = async () => {
            for (const one of rest) await one.step(server.url, step);
          };
          await Promise.all(Array.from({ length: LANES }, lane));
          await between(server, step);
        }
        expectKnown(cases);
      } finally {
        await server.dispose();
      }
    },
    TIMEOUT_MS,
  );
});

test("few differ by intent, and few are played in memory alone", () => {
  expect(IN_ONE_GO.size).toBeLessThanOrEqual(4);
  expect(DIFFERENT.length).toBeLessThanOrEqual(10);
});
