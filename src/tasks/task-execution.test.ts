// What the logs of failed runs say, as release 2.8.0.
import { expect, test } from "bun:test";
import { failureText } from "./task-execution.ts";

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
