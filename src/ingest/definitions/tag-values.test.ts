// Reading tag values for deletions: whatever the pieces of the answer, and no more than there is room for.
import { expect, test } from "bun:test";
import type { QueryService } from "../../model/query/query.ts";
import { tagValuesBySql } from "./tag-values.ts";

/** Answers with the pieces. */
function answering(pieces: () => Iterable<Uint8Array>, onCancel = () => {}): QueryService {
  const source = pieces()[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = source.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: onCancel,
  });
  return { query: async () => ({ contentType: "", body }) } as unknown as QueryService;
}

const ask = (queries: QueryService) => tagValuesBySql(queries, { databaseId: 1, table: "t", tags: ["h"] }, new AbortController().signal);

test.each([1, 2, 7, 1000])("in pieces of %d bytes", async (size) => {
  const sets = [{ h: "a" }, { h: "é漢🙂" }, {}, { h: 'quote " and \n line' }];
  const bytes = Buffer.from(sets.map((set) => `${JSON.stringify(set)}\n`).join(""));
  const pieces = function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  expect(await ask(answering(pieces))).toEqual(sets);
});

test("values of gigabytes are not held: the answer is cancelled", async () => {
  let [given, isCancelled] = [0, false];
  const line = Buffer.from(`${JSON.stringify({ h: "x".repeat(1 << 20) })}\n`);
  const pieces = function* () {
    for (; given < 1000; given++) yield line;
  };
  const queries = answering(pieces, () => {
    isCancelled = true;
  });
  await expect(ask(queries)).rejects.toMatchObject({ kind: "limit_exceeded", message: expect.stringContaining("67108864 bytes") });
  expect(given).toBeLessThan(100);
  expect(isCancelled).toBe(true);
});

test("more values than a deletion takes", async () => {
  const pieces = function* () {
    for (let i = 0; i < 101; i++) yield Buffer.from(`{"h":"${i}"}\n`.repeat(1000));
  };
  await expect(ask(answering(pieces))).rejects.toMatchObject({ kind: "limit_exceeded" });
});
