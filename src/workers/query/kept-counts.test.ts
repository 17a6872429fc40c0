// Kept counts: found again for the same text, database and format while the table's state is the same, and within their bound.
import { describe, expect, test } from "bun:test";
import type { QueryRequest } from "../../model/query/query.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import type { TableDef } from "../../model/rows/column.ts";
import type { TableSnapshot, TableState } from "../../scan/snapshot.ts";
import { KeptCounts } from "./kept-counts.ts";

const TABLE = { id: 1, databaseId: 1, name: "cpu", columns: [] } as unknown as TableDef;
const STATE: TableState = { table: TABLE, sequence: 7, lastDeletion: 0 };
const SNAPSHOT: TableSnapshot = { ...STATE, retentionMinNs: ALL_TIME.minNs, tombstones: [], runs: [], blocks: [] };
const REQUEST: QueryRequest = {
  ...{ database: "d", statement: "SELECT count(*) FROM cpu", format: "json", params: {} },
  signal: new AbortController().signal,
};
const ANSWER = { contentType: "application/json", bytes: new TextEncoder().encode("[]"), rowCount: 1 };

function kept(state: TableState | null = STATE, request = REQUEST, snapshot = SNAPSHOT, answer = ANSWER): KeptCounts {
  const counts = new KeptCounts(() => state);
  counts.keep(request, snapshot, answer);
  return counts;
}

describe("a kept answer", () => {
  test("is found for the same text, and is a copy", () => {
    const found = kept().find({ ...REQUEST });
    expect(found).toEqual(ANSWER);
    expect(found!.bytes).not.toBe(ANSWER.bytes);
  });

  test.each([
    ["text", { statement: "SELECT count(*) FROM cpu " }],
    ["database", { database: "e" }],
    ["format", { format: "csv" }],
    ["parameters", { params: { a: 1 } }],
    ["scope", { scope: { databaseId: () => 1 } }],
    ["description", { describe: true }],
    ["rows", { rows: { table: "cpu", range: ALL_TIME } }],
  ] as const)("is not found for another %s, and what has such is not kept as this", (_, other) => {
    expect(kept().find({ ...REQUEST, ...other })).toBeUndefined();
    expect(kept(STATE, { ...REQUEST, ...other }).find(REQUEST)).toBeUndefined();
  });

  test.each([
    ["rows came", { ...STATE, sequence: 8 }],
    ["rows were deleted", { ...STATE, lastDeletion: 1 }],
    ["it is another table", { ...STATE, table: { ...TABLE } }],
    ["there is no such table", null],
  ] as const)("is forgotten once %s", (_, state) => {
    let now: TableState | null = state;
    const counts = new KeptCounts(() => now);
    counts.keep(REQUEST, SNAPSHOT, ANSWER);
    expect(counts.find(REQUEST)).toBeUndefined();
    now = STATE;
    expect(counts.find(REQUEST)).toBeUndefined();
  });
});

test.each([
  ["a table whose rows leave", REQUEST, { ...SNAPSHOT, retentionMinNs: 0n }, ANSWER],
  ["a long text", { ...REQUEST, statement: `SELECT count(*) FROM cpu -- ${"x".repeat(1000)}` }, SNAPSHOT, ANSWER],
  ["a long answer", REQUEST, SNAPSHOT, { ...ANSWER, bytes: new Uint8Array(9000) }],
])("%s is not kept", (_, request, snapshot, answer) => {
  expect(kept(STATE, request, snapshot, answer).find(request)).toBeUndefined();
});

test("the least recently kept of 257 is dropped", () => {
  const counts = kept();
  const of = (i: number) => ({ ...REQUEST, statement: `SELECT count(*) FROM cpu -- ${i}` });
  for (let i = 1; i < 256; i++) counts.keep(of(i), SNAPSHOT, ANSWER);
  // again: now of(1) is the oldest
  counts.keep(REQUEST, SNAPSHOT, ANSWER);
  counts.keep(of(256), SNAPSHOT, ANSWER);
  const found = [counts.find(of(1)), counts.find(of(2)), counts.find(REQUEST), counts.find(of(256))];
  expect(found.map((each) => each !== undefined)).toEqual([false, true, true, true]);
});
