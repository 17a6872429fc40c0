// Tests that `npm test` runs with few rounds or in few states of the rows, with all of them: each in a process of its own.
import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");
const TIMEOUT_MS = 600_000;

/** Files, which of their tests, and how they are told to do more. */
const FULL: readonly (readonly [path: string, tests: RegExp, environment: Readonly<Record<string, string>>])[] = [
  ["src/ingest/schema-steps.test.ts", /what its lines are one by one/, { ROUNDS: "6" }],
  ["src/ingest/definitions/deletions.test.ts", /./, { FAULTS_EVERY: "1" }],
  ["src/ingest/row-deletes/row-deletes.test.ts", /against a list/, { ROUNDS: "20", FAULTS_EVERY: "1" }],
  ["src/object-store", /./, { FAULTS_EVERY: "1" }],
  ["src/query/random-sql.test.ts", /random tables and statements/, { ROUNDS: "8" }],
  ["src/sql/random.test.ts", /times are unique/, { ROUNDS: "4" }],
  ["src/sql/statement-limits.test.ts", /./, { ALL_STATES: "1" }],
  ["src/storage", /whichever call fails/, { FAULTS_EVERY: "1" }],
  ["test/sql", /in the states of the rows|plans of templates|a known text/, { ALL_STATES: "1" }],
  ["test/tsdbql/row-order.test.ts", /./, { ROUNDS: "6" }],
];

async function run(path: string, tests: RegExp, environment: Readonly<Record<string, string>>): Promise<void> {
  const child = Bun.spawn(
    [process.execPath, "test", "--timeout", "300000", "--path-ignore-patterns=**/*.long.test.ts", "-t", tests.source, `./${path}`],
    { cwd: ROOT, env: { ...process.env, ...environment }, stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  );
  const [out, error, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  const passed = Number(/^ *(\d+) pass$/m.exec(out + error)?.[1] ?? 0);
  expect([code, passed > 0], (out + error).slice(-4000)).toEqual([0, true]);
}

test.each(FULL)("%s, tests %p, with %p", run, TIMEOUT_MS);
