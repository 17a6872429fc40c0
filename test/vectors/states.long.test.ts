// Recorded statements in the states of their rows: each has one answer, whatever the state. That it is the vendor's is not asked here.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { SqlEngine } from "../../src/sql/execute/engine.ts";
import { isAskedIn, ROW_STATES } from "../support/rows/row-states.ts";
import { outcomeOf, StoredRows } from "../support/rows/stored-rows.ts";
import { comparable } from "../support/sql/sql-twins.ts";
import { withRoundedFloats } from "../tsdbql/differential.ts";
import { DATABASE, type StatementVector, sqlVectors, tsdbqlVectors, vectorSteps, vectorTables } from "./vectors.ts";

const TIMEOUT_MS = 300_000;

/** Statements whose answer is not decided by the rows: what they are, and how many at most. */
const OPEN: readonly (readonly [pattern: RegExp, reason: string, most: number])[] = [
  [/\bexplain\b/i, "says where the rows lie", 60],
  [/\b(system\.|show (queries|shards|shard groups|stats|diagnostics))/i, "files and statements of the server", 60],
  [/\b(now|random|uuid|current_\w+|tablesample)\b/i, "another one each time", 60],
  [/\b(corr|covar\w*|regr_\w+)\(/i, "their last digits depend on the order of the rows", 100],
  [/\bapprox_percentile_cont\b/i, "depends on the order of the rows", 60],
];

/** The same of single ones. */
const OPEN_IDS: ReadonlyMap<string, string> = new Map([
  ["gap-067", "which of the rows of the earliest time is first"],
  ["grp-046", "is sorted by what DISTINCT has left out"],
  ["err-164", "the error names the first text that is no boolean"],
  ["err-193", "the error names the first text that is no time"],
  ["near-alike-010", "the error names the first text that is no number"],
  ["err-274", "joins texts in the order of the rows"],
]);

let engine: SqlEngine;
const stored: StoredRows[] = [];
beforeAll(async () => {
  engine = await SqlEngine.open(Kernel.create(), { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  for (const state of ROW_STATES) stored.push(await StoredRows.open(engine.kernel, state, vectorSteps()));
}, TIMEOUT_MS);
afterAll(async () => {
  for (const one of stored) await one.close();
  engine.close();
});

const TABLES = vectorTables();
const readsRows = ({ request: { q } }: StatementVector) => TABLES.some((name) => q.includes(name)) || /^\s*show/i.test(q);
const isOpen = ({ id, request: { q } }: StatementVector) => OPEN_IDS.has(id) || OPEN.some(([pattern]) => pattern.test(q));

/** Statements with other answers in one state than while the rows are in memory. */
async function others(vectors: readonly StatementVector[], ask: (rows: StoredRows, vector: StatementVector) => Promise<unknown>) {
  const wrong: string[] = [];
  for (const [number, vector] of vectors.filter((one) => readsRows(one) && !isOpen(one)).entries()) {
    let first: string | undefined;
    for (const [i, rows] of stored.entries()) {
      if (!isAskedIn(ROW_STATES[i]!, number)) continue;
      const answer = JSON.stringify(await ask(rows, vector));
      first ??= answer;
      if (answer === first) continue;
      wrong.push(
        `${vector.id} ${vector.request.q}\n  ${ROW_STATES[0]}: ${first.slice(0, 600)}\n  ${ROW_STATES[i]}: ${answer.slice(0, 600)}`,
      );
      break;
    }
  }
  return wrong;
}

test("most vectors are about rows", () => {
  const all = [...sqlVectors(), ...tsdbqlVectors()];
  expect(all.filter((vector) => readsRows(vector) && !isOpen(vector)).length).toBeGreaterThan(2000);
  for (const [pattern, , most] of OPEN) expect(all.filter(({ request }) => pattern.test(request.q)).length).toBeLessThanOrEqual(most);
});

test(
  "SQL",
  async () => {
    const ask = async (rows: StoredRows, { request: { q, params = {} }, ordered }: StatementVector) => {
      const answer = await comparable(q, rows.sql(engine, q, { database: DATABASE, params }));
      return ordered ? answer : { ...answer, rows: answer.rows.toSorted() };
    };
    expect(await others(sqlVectors(), ask)).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  "the v1 language",
  async () => {
    const ask = async (rows: StoredRows, { request: { q, db } }: StatementVector) => {
      const database = db === undefined ? DATABASE : (db ?? "");
      const bigints = (_: string, value: unknown) => (typeof value === "bigint" ? `${value}n` : value);
      return withRoundedFloats(JSON.stringify(await outcomeOf(rows.tsdbql(q, { database })), bigints));
    };
    expect(await others(tsdbqlVectors(), ask)).toEqual([]);
  },
  TIMEOUT_MS,
);
