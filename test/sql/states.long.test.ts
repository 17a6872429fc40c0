// The tests of this folder that ask rows in one state in `npm test`, in all states.
import { test } from "bun:test";
import { rerun } from "../support/rerun.ts";

test("answers are the same in every state of the rows", async () => {
  await rerun("test/sql", /in the states of the rows/, { ALL_STATES: "1" });
}, 600_000);
