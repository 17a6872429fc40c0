// The last statement of each token, of a bounded number of tokens.
import { expect, test } from "bun:test";
import { LatestTelemetry } from "./latest-telemetry.ts";
import { telemetryOf } from "./query-telemetry.ts";

const statement = (id: string) => telemetryOf(id, 1, []);

test("each has its own; those whose statements ended first are forgotten", () => {
  const latest = new LatestTelemetry(3);
  for (const [caller, id] of [[1, "a"], ["user", "b"], [null, "c"], [1, "d"]] as const) latest.set(caller, statement(id)); // biome-ignore format: a row
  expect([1, "user", null, 2].map((caller) => latest.of(caller)?.queryId)).toEqual(["d", "b", "c", undefined]);
  latest.set(2, statement("e"));
  expect([1, "user", null, 2].map((caller) => latest.of(caller)?.queryId)).toEqual(["d", undefined, "c", "e"]);
});
