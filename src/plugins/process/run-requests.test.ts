// The end of a run as its process tells it: whatever that is, it is an outcome or garbage, and nothing is thrown.
import { expect, test } from "bun:test";
import { GarbageError } from "./frames.ts";
import { finished } from "./run-requests.ts";

const BLOB = Buffer.from("bodya 1\nb 2\nc 3\n");

test("an answer, and the lines behind its body", () => {
  const head = {
    response: { status: 201, headers: [["a", "b"]] },
    lines: [
      ["d", 2, 8],
      ["e", 1, 4],
    ],
  };
  const { response, lines } = finished(head, BLOB) as Exclude<ReturnType<typeof finished>, GarbageError | { failure: object }>;
  expect([response?.status, response?.headers, String(response?.body)]).toEqual([201, [["a", "b"]], "body"]);
  expect(lines.map((each) => [each.database, String(each.lines)])).toEqual([
    ["d", "a 1\nb 2\n"],
    ["e", "c 3\n"],
  ]);
});

test("failures", () => {
  const failure = { kind: "memory", message: "m", traceback: "t" };
  expect(finished({ failure }, BLOB)).toEqual({ failure: failure as never });
  const unknown = { kind: "exception", message: "", traceback: null };
  expect(finished({ failure: { kind: "other", message: { toString: 1, valueOf: 2 } } }, BLOB)).toEqual({ failure: unknown as never });
});

test.each([
  { failure: null },
  { failure: 5 },
  {},
  { lines: [null] },
  { lines: [["d", 1, 17]] },
  { lines: [["d", 1, 0.5]] },
  { lines: [["d", 1, "5"]] },
  { lines: [["d", 1, -1]] },
  { lines: [], response: {} },
  { lines: [], response: { status: "200", headers: [] } },
  { lines: [], response: { status: { valueOf: 1, toString: 1 } } },
  { lines: [], response: { status: 200, headers: "x" } },
  { lines: [], response: { status: 200, headers: [null] } },
  { lines: [], response: { status: 200, headers: [["a", { toString: 1 }]] } },
])("%j is garbage", (head) => {
  expect(finished(head, BLOB)).toBeInstanceOf(GarbageError);
});
