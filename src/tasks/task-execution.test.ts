// What the logs of failed runs say, as release 2.8.0.
import { expect, test } from "bun:test";
import { TsdbError } from "../model/errors.ts";
import { type ExecutionParts, failureText, type RunToMake, TaskExecution } from "./task-execution.ts";

test.each([
  "runtime error @3:29-3:70: map: failed to evaluate map function: boom",
  "unsupported input type for sum aggregate: string",
  "unsupported aggregate column type string",
  'partial write: field type conflict: input field "f" on measurement "m" is type integer, already exists as type float dropped=1',
  "cannot represent the type null as column data",
  "error in csv.from(): failed to read metadata",
  'POST "http://127.0.0.1:1/api/v2/query": connect ECONNREFUSED 127.0.0.1:1',
])("of tables: %s", (error) => expect(failureText(error)).toBe(`could not execute task run: ${error}`));

test.each([
  'error calling function "get" @4:68-4:91: secret not found',
  "cannot access element 3 of array of length 1",
  'failed to initialize execute state: could not find bucket "nope"',
  "error in building plan while starting program: found more than one call to yield() with the name",
])("of the script: %s", (error) => expect(failureText(error)).toBe(`error exhausting result iterator: ${error}`));

test("a log is short, whatever the script is and what it fails with", async () => {
  const runScript = () => Promise.reject(new TsdbError("bad_query", '"'.repeat(1_000_000)));
  const parts = { clock: { nowMs: () => 0 }, principalOf: () => null, report: () => {}, runScript } as unknown as ExecutionParts;
  const made = { id: "1", task: { flux: "x".repeat(1_000_000), ownerID: "2" }, attemptsMax: 1, scheduledFor: "1970-01-01T00:00:00Z" };
  const outcome = await new TaskExecution(parts, made as unknown as RunToMake, () => {}).run();
  const messages = outcome!.run.log.map(({ message }) => message);
  expect(messages[0]).toStartWith('Started task from script: "xxx');
  expect(messages.at(-1)).toStartWith(`${failureText("")}"""`);
  for (const message of messages) expect(message.length).toBeLessThanOrEqual(4097);
});
