// The tests of this folder whose tables lie in one of three states each in `npm test`, in all states.
import { test } from "bun:test";
import { rerun } from "../support/rerun.ts";

test("answers, plans of templates and known texts are the same in every state of the rows", async () => {
  await rerun("test/sql", /in the states of the rows|plans of templates|a known text/, { ALL_STATES: "1" });
}, 600_000);
