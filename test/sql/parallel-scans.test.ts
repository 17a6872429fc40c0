// Scans that several threads of DuckDB read at a time: the rows are all there once, with their texts, whatever the threads' order.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { dependsOnOrder } from "../../src/duckdb/parallel-scans.ts";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { SqlEngine } from "../../src/sql/execute/engine.ts";
import type { RowState } from "../support/rows/row-states.ts";
import { StoredRows } from "../support/rows/stored-rows.ts";
import type { SqlValue } from "../support/sql/sql-rows.ts";

let engine: SqlEngine;
beforeAll(async () => {
  const options = { memoryBytes: 256 << 20, threads: 4, tempDir: null, parallelRowsMin: 1, listedRowsMin: Number.POSITIVE_INFINITY };
  engine = await SqlEngine.open(Kernel.create(), options);
});
afterAll(() => engine.close());

// 30,000 rows: more than a dozen chunks, of which each has texts too long for their views
const HOSTS = 60;
const STEPS = 500;
const host = (i: number) => `a host with a long name, number ${i % HOSTS}`;
const state = (i: number) => `what is written in row ${i % 7} of this table, and more`;
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, k) => {
    const i = from + k;
    const tag = host(i).replaceAll(" ", "\\ ").replaceAll(",", "\\,");
    return `cpu,host=${tag} n=${i}i,f=${i / 4},s="${state(i)}" ${1_000_000_000n * BigInt(Math.floor(i / HOSTS))}`;
  }).join("\n");
const ROWS = HOSTS * STEPS;
const STATEMENTS: [statement: string, expected: SqlValue[][]][] = [
  [
    "SELECT s || '' AS t, count(*) AS c, sum(n) AS n FROM cpu GROUP BY 1 ORDER BY 1",
    Array.from({ length: 7 }, (_, k) => {
      const rows = Array.from({ length: ROWS }, (_, i) => i).filter((i) => i % 7 === k);
      return [state(k), BigInt(rows.length), rows.reduce((sum, i) => sum + BigInt(i), 0n)];
    }),
  ],
  [
    "SELECT upper(host) AS h, count(DISTINCT s) AS c, max(f + n) AS m FROM cpu GROUP BY 1 ORDER BY 1 LIMIT 2",
    [0, 1].map((k) => [host(k).toUpperCase(), 7n, ((ROWS - HOSTS + k) * 5) / 4]),
  ],
  [
    "SELECT count(*) AS c, sum(a.n - b.n) AS d FROM cpu AS a JOIN cpu AS b ON a.host = b.host AND a.time = b.time + INTERVAL '1 second'",
    [[BigInt(ROWS - HOSTS), BigInt(ROWS - HOSTS) * BigInt(HOSTS)]],
  ],
  ["SELECT count(*) AS c FROM cpu WHERE length(s) > 10 AND length(host) > 10", [[BigInt(ROWS)]]],
];

const STATES: readonly RowState[] = ["in memory", "flushed", "half flushed and written again"];

describe.each(STATES)("%s", (rowState) => {
  let stored: StoredRows;
  beforeAll(async () => {
    stored = await StoredRows.open(
      engine.kernel,
      rowState,
      [0, 1].map((half) => ({ database: "db", lines: lines((half * ROWS) / 2, ((half + 1) * ROWS) / 2) })),
    );
  });
  afterAll(() => stored.close());

  test.each(STATEMENTS)("%s", async (statement, expected) => {
    for (let again = 0; again < 3; again++) {
      const { rows } = await stored.sql(engine, statement);
      expect(rows).toEqual(expected);
    }
  });
});

const ORDERED = [
  'SELECT "first"("n") FROM t',
  "SELECT array_agg(n) FROM t",
  "SELECT string_agg(s, ',') FROM t",
  "SELECT arg_max (n, time) FROM t",
  "SELECT row_number() OVER (PARTITION BY host) FROM t",
  "SELECT DISTINCT ON (host) n FROM t",
  "SELECT approx_quantile(n, 0.5) FROM t",
];
test.each(ORDERED)("depends on the order of rows: %s", (text) => {
  expect(dependsOnOrder(text)).toBe(true);
});

test.each(['SELECT "sum"("n") FROM t GROUP BY host ORDER BY 1', 'SELECT "first" FROM t', "SELECT count(*) FROM t"])(
  "does not: %s",
  (text) => {
    expect(dependsOnOrder(text)).toBe(false);
  },
);
