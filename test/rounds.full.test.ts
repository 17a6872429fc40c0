// Seeded tests, tests of every failing call and of every limit, of which `npm test` takes a sample: all rounds. `npm run test:full`.
import { test } from "bun:test";
import { rerun } from "./support/rerun.ts";

/** Files, which of their tests, and how they are told to do more. */
const FULL: readonly (readonly [path: string, tests: RegExp, environment: Readonly<Record<string, string>>])[] = [
  ["src/ingest/schema-steps.test.ts", /what its lines are one by one/, { ROUNDS: "6" }],
  ["src/ingest/definitions/deletions.test.ts", /./, { FAULTS_EVERY: "1" }],
  ["src/ingest/row-deletes/row-deletes.test.ts", /against a list/, { ROUNDS: "20", FAULTS_EVERY: "1" }],
  ["src/ingest/series-eviction.test.ts", /many times/, { ROUNDS: "6" }],
  ["src/kernel/scan/row-selection.test.ts", /seed/, { ROUNDS: "8" }],
  ["src/object-store", /./, { FAULTS_EVERY: "1" }],
  ["src/query/random-sql.test.ts", /random tables and statements/, { ROUNDS: "8" }],
  ["src/sql/gap-scan.long.test.ts", /random statements/, { ROUNDS: "200" }],
  ["src/sql/random.test.ts", /times are unique/, { ROUNDS: "4" }],
  ["src/sql/statement-limits.long.test.ts", /./, { ALL_STATES: "1" }],
  ["src/storage", /whichever call fails/, { FAULTS_EVERY: "1" }],
  ["test/crash/database-backups.long.test.ts", /kills in the middle/, { ROUNDS: "24" }],
  ["test/crash/deletions.long.test.ts", /./, { ROUNDS: "16" }],
  ["test/crash/kill.long.test.ts", /./, { ROUNDS: "42" }],
  ["test/crash/templates.long.test.ts", /./, { KILLS: "16" }],
  ["test/e2e/cache-life.long.test.ts", /with (one|three)/, { ROUNDS: "15" }],
  ["test/e2e/engine-attacks.long.test.ts", /kill -9|hundreds/, { ROUNDS: "4", TRIGGERS: "2000" }],
  ["test/e2e/import-faults.long.test.ts", /cut or changed/, { ROUNDS: "16" }],
  ["test/flux/format.test.ts", /recorded scripts|trees of JSON/, { ALL_STATES: "1" }],
  ["test/flux/row-functions.test.ts", /./, { ROUNDS: "4000" }],
  ["test/sql/gapfill-random.test.ts", /random statements/, { ROUNDS: "200" }],
  ["test/sql/tag-conditions.long.test.ts", /./, { ALL_STATES: "1" }],
  ["test/tsdbql/row-order.test.ts", /./, { ROUNDS: "6" }],
];

test.each(FULL)("%s, tests %p, with %p", rerun, 600_000);
