// Answers without rows to scripts that fail: statuses and texts as of a server of release 2.8.0.
import { expect, test } from "bun:test";
import { withoutContent } from "../../src/api/v2/no-content.ts";
import { TsdbError } from "../../src/model/errors.ts";
import type { FluxDialect } from "../../src/model/query/flux.ts";

const DIALECT: FluxDialect = { header: true, delimiter: ",", annotations: [] };
const SYNTAX = "compilation failed: error @1:1-1:6: expected RPAREN, got EOF";
const NAME = "error @1:1-1:2: undefined identifier x";

const failed = (message: string) => () => Promise.reject(new TsdbError("bad_query", message));

test("a script that cannot be parsed is refused where errors are asked for", async () => {
  await expect(withoutContent("return-no-content-with-error", DIALECT, failed(SYNTAX))).rejects.toThrow(SYNTAX);
  expect((await withoutContent("return-no-content", DIALECT, failed(SYNTAX))).status).toBe(204);
});

test("another error is the table of the answer", async () => {
  const answer = await withoutContent("return-no-content-with-error", DIALECT, failed(NAME));
  expect([answer.status, await answer.text()]).toEqual([200, `,error,reference\r\n,${NAME},\r\n`]);
  expect((await withoutContent("return-no-content", DIALECT, failed(NAME))).status).toBe(204);
});
