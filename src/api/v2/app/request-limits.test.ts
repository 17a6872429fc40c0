// Limits on requests, by a clock of the test.
import { expect, test } from "bun:test";
import { TsdbError } from "../../../model/errors.ts";
import { RequestLimits } from "./request-limits.ts";

const NONE = { concurrentMax: null, perMinuteMax: null };
const errorOf = (run: () => unknown): TsdbError | null => {
  try {
    run();
    return null;
  } catch (error) {
    return error as TsdbError;
  }
};

test("without limits everything is let in", () => {
  const limits = new RequestLimits(NONE, () => 0);
  for (let i = 0; i < 1000; i++) {
    limits.begin("/query");
    limits.spend({ orgID: "o", userID: "u" });
  }
});

test("as many at a time; those that are answered make room", () => {
  const limits = new RequestLimits({ ...NONE, concurrentMax: 2 }, () => 0);
  const first = limits.begin("/query");
  limits.begin("/api/v2/write");
  expect(errorOf(() => limits.begin("/query"))?.kind).toBe("overloaded");
  for (const path of ["/health", "/ready", "/ping", "/metrics"]) limits.begin(path)();
  first();
  limits.begin("/query");
  expect(errorOf(() => limits.begin("/query"))).toBeInstanceOf(TsdbError);
});

test("as many a minute of each organization, and of a user without one", () => {
  let nowMs = 1000;
  const limits = new RequestLimits({ ...NONE, perMinuteMax: 3 }, () => nowMs);
  const spend = (orgID: string | null, userID = "u") => errorOf(() => limits.spend({ orgID, userID }));
  expect([spend("o"), spend("o"), spend("o")]).toEqual([null, null, null]);
  const refused = spend("o")!;
  expect([refused.kind, refused.details["retryAfterSeconds"]]).toEqual(["too_many_requests", 20]);
  expect([spend("p"), spend(null), spend(null, "v")]).toEqual([null, null, null]);
  // a third of a minute gives one
  nowMs += 19_999;
  expect(spend("o")?.details["retryAfterSeconds"]).toBe(1);
  nowMs += 1;
  expect([spend("o"), spend("o")?.kind]).toEqual([null, "too_many_requests"]);
  // what is not used is kept for a minute
  nowMs += 3_600_000;
  expect([spend("o"), spend("o"), spend("o"), spend("o")?.kind]).toEqual([null, null, null, "too_many_requests"]);
});

test("organizations beyond those that are remembered begin anew", () => {
  const limits = new RequestLimits({ ...NONE, perMinuteMax: 1 }, () => 0);
  for (let i = 0; i < 20_001; i++) limits.spend({ orgID: String(i), userID: "u" });
});
