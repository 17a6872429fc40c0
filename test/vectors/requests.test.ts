// Recorded writes and definitions, each with databases of its own: status, answer and what is there afterwards are the vendor's, but for
// what the tables here name.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestServer } from "../support/server.ts";
import { contentDifference, type RecordedStep, stepDifference } from "./compare-steps.ts";
import { CaseNames, contentOf, playRequest } from "./played-request.ts";
import { manageVectors, type StepsVector, writeVectors } from "./vectors.ts";

const TIMEOUT_MS = 300_000;

/** By intent. */
const DIFFERENT: readonly (readonly [id: string, reason: string])[] = [
  ["part-001", "behind a comment the vendor shows the line before the one that it refuses"],
  ["part-004", "behind a comment the vendor shows the line before the one that it refuses"],
  ["name-056", "a field that comes twice is refused as that, whatever its types are"],
  ["name-065", "a comma in the name of a field wants a backslash, as it does in that of a tag"],
  ["internal-003", "texts of all system tables are Utf8"],
];

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
}, TIMEOUT_MS);
afterAll(() => server.dispose());

async function differenceOf(vector: StepsVector, number: number): Promise<string | null> {
  const names = new CaseNames(number);
  for (const request of vector.before ?? []) await playRequest(server.url, request, names);
  const { request = {}, status = 0, answer, heads } = vector;
  const single: RecordedStep = { request, status, answer, ...(heads === undefined ? {} : { heads }) };
  for (const [i, step] of (vector.steps ?? [single]).entries()) {
    const difference = stepDifference(step, await playRequest(server.url, step.request, names));
    if (difference !== null) return `step ${i}: ${difference}`;
  }
  // of a body with bad lines these two store the good ones, and the vendor none
  const isPartial = status >= 400 && request.path !== "/api/v3/write_lp";
  if (vector.after === undefined || isPartial) return null;
  return contentDifference(vector.after, await contentOf(server.url, vector.cleanup ?? names.fill("{db}")));
}

async function expectKnown(vectors: readonly StepsVector[], firstNumber: number): Promise<void> {
  const all = new Set(vectors.map(({ id }) => id));
  const known = new Set(DIFFERENT.map(([id]) => id).filter((id) => all.has(id)));
  const found = new Map<string, string>();
  for (const [i, vector] of vectors.entries()) {
    const difference = await differenceOf(vector, firstNumber + i);
    if (difference !== null && vector.class === undefined) found.set(vector.id, difference);
  }
  const unknown = [...found].filter(([id]) => !known.has(id));
  expect({ unknown, noMore: [...known].filter((id) => !found.has(id)) }).toEqual({ unknown: [], noMore: [] });
}

test("writes", () => expectKnown(writeVectors(), 1000), TIMEOUT_MS);

test("databases, tables, caches, tokens and forms of requests", () => expectKnown(manageVectors(), 5000), TIMEOUT_MS);

test("few differ by intent", () => {
  expect(DIFFERENT.length).toBeLessThanOrEqual(10);
});
