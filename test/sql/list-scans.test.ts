// Scans of many rows reach DuckDB as lists of values, which it unnests: the answers are those of scans that are read value by value.
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { SqlEngine } from "../../src/sql/execute/engine.ts";
import type { RowState } from "../support/rows/row-states.ts";
import { StoredRows } from "../support/rows/stored-rows.ts";

const kernel = Kernel.create();
const OPTIONS = { memoryBytes: 256 << 20, threads: 4, tempDir: null };
let lists: SqlEngine;
let values: SqlEngine;
beforeAll(async () => {
  lists = await SqlEngine.open(kernel, { ...OPTIONS, parallelRowsMin: 0, listedRowsMin: 0 });
  values = await SqlEngine.open(kernel, {
    ...OPTIONS,
    ...{ parallelRowsMin: Number.POSITIVE_INFINITY, listedRowsMin: Number.POSITIVE_INFINITY },
  });
});
afterAll(() => {
  lists.close();
  values.close();
});

const ROWS = 40_000;
/** Of 7 hosts; each field is missing in other rows, "rare" in nearly all, and texts have 3 to 60 bytes. */
const line = (i: number): string => {
  const fields = [
    ...(i % 3 === 0 ? [] : [`f=${i / 8}`]),
    ...(i % 5 === 0 ? [] : [`n=${i}i`]),
    ...(i % 4 === 0 ? [] : [`s="${"x".repeat(i % 58)}end"`]),
    ...(i % 2 === 0 ? [`b=${i % 6 === 0}`] : []),
    ...(i % 9_999 === 0 ? ["rare=1i"] : []),
    `always=${i % 11}i`,
  ];
  return `cpu,host=h${i % 7},site=only ${fields.join(",")} ${1_700_000_000_000_000_000n + BigInt(i) * 1_000_000n}`;
};
/** Texts of which few fit the bytes that a function gets at a time. */
const long = (i: number) => `long,host=a s="${String(i % 10).repeat(200_000 + i)}" ${i}`;
const TABLES = [
  ...Array.from({ length: ROWS }, (_, i) => line(i)),
  ...Array.from({ length: 30 }, (_, i) => long(i)),
  "one v=1.5 1",
  ...Array.from({ length: 5_000 }, (_, i) => `wide,t=${i % 3} ${Array.from({ length: 40 }, (_, k) => `c${k}=${i + k}i`).join(",")} ${i}`),
  ...Array.from({ length: 100 }, (_, i) => `short,host=h${i % 3} f=${i / 2},n=${i}i ${i}`),
  ...Array.from({ length: 100 }, (_, i) => `short_too,host=h${i % 3} short=${i}i,n=${i}i ${i}`),
  // names that need quotes
  ...Array.from({ length: 3_000 }, (_, i) => `odd,Tag"x=${i % 3} Up=${i}i,"q=${i + 1}i,a\\ b=2i ${i}`),
];

const STATEMENTS = [
  "SELECT sum(greatest(f, n)) AS p, sum(always % 7 + n) AS s, count(nullif(f, 5)) AS c FROM cpu",
  "SELECT count(*) AS c FROM cpu WHERE f IS NULL AND n % 2 = 1",
  "SELECT upper(s) AS t, count(*) AS c, sum(greatest(n, 0)) AS n FROM cpu GROUP BY 1 ORDER BY 1",
  "SELECT b, host || 'x' AS h, max(f - n) AS m, min(time) AS t FROM cpu GROUP BY 1, 2 ORDER BY 1, 2",
  "SELECT rare + 1 AS r, count(*) AS c FROM cpu GROUP BY 1 ORDER BY 1",
  "SELECT * FROM cpu WHERE n % 1000 = 7 OR rare = 1 ORDER BY time",
  "SELECT * FROM (SELECT *, n + 1 AS m FROM cpu) WHERE m % 997 = 0 ORDER BY time",
  "SELECT t.* FROM cpu AS t WHERE greatest(t.always, t.n) = 49 ORDER BY time",
  "SELECT count(*) AS c, sum(a.n) AS n FROM cpu AS a JOIN cpu AS b USING (time, host) WHERE a.f < b.n",
  "SELECT count(*) AS c FROM cpu AS a NATURAL JOIN (SELECT time, host, always FROM cpu WHERE n % 3 = 1) AS b",
  "SELECT count(*) AS c FROM cpu WHERE n IN (SELECT always * 7 FROM cpu)",
  "SELECT string_agg(s, ',' ORDER BY time) AS t FROM cpu WHERE n % 5000 < 20",
  "SELECT host, sum(d) AS d FROM (SELECT host, n - lag(n) OVER (PARTITION BY host ORDER BY time) AS d FROM cpu) GROUP BY host ORDER BY host",
  "SELECT time, row_number() OVER (ORDER BY always, time DESC) AS k FROM cpu ORDER BY k LIMIT 5 OFFSET 20000",
  "SELECT count(*) AS c FROM (SELECT always + 1 AS a FROM cpu LIMIT 12345)",
  "WITH x AS (SELECT host, avg(greatest(f, 2)) AS a FROM cpu GROUP BY host) SELECT * FROM x ORDER BY host",
  "SELECT count(*) AS c FROM cpu AS a WHERE EXISTS (SELECT * FROM cpu AS b WHERE b.n = a.always AND b.host = a.host)",
  "SELECT 'a' AS k, sum(greatest(n, 1)) AS n FROM cpu UNION ALL SELECT 'b', sum(least(f, 1)) FROM cpu ORDER BY k",
  "SELECT site, count(DISTINCT s) AS c FROM cpu GROUP BY site",
  "SELECT reverse(s) AS r, length(s) AS l FROM long ORDER BY l",
  "SELECT max(length(concat(s, host))) AS l, sum(length(s)) AS n FROM long",
  "SELECT v + 1 AS v, time FROM one",
  `SELECT sum(greatest(${Array.from({ length: 40 }, (_, k) => `c${k}`).join(", ")})) AS n FROM wide`,
  "SELECT sum(greatest(c3, c39)) AS n, t || '' AS t FROM wide GROUP BY 2 ORDER BY 2",
  'SELECT "Tag""x" AS t, sum(greatest("Up", """q", "a b")) AS n FROM odd GROUP BY 1 ORDER BY 1',
  'SELECT max(least(x."Up", 10)) AS n FROM (SELECT * FROM odd) AS x',
  // rows as values
  "SELECT length(x::VARCHAR) AS l, n + 1 AS n FROM short AS x ORDER BY n",
  "SELECT max(SHORT) AS m, sum(greatest(n, 1)) AS n FROM short",
  "SELECT (x).f + x.n AS s FROM short AS x ORDER BY s",
  "SELECT n + 1 AS n, y.r FROM short AS x, LATERAL (SELECT x AS r) AS y ORDER BY n",
  "SELECT sum(greatest(short, n)) AS s FROM short_too",
];

const STATES: readonly RowState[] = ["in memory", "flushed", "half flushed and written again"];

describe.each(STATES)("%s", (rowState) => {
  let stored: StoredRows;
  beforeAll(async () => {
    const half = TABLES.length / 2;
    // every other line comes later, some of them twice
    const parts = [0, 1].map((k) => TABLES.filter((_, i) => i % 2 === k || i < half / 8).join("\n"));
    stored = await StoredRows.open(
      kernel,
      rowState,
      parts.map((lines) => ({ database: "db", lines })),
    );
  });
  afterAll(() => stored.close());

  test.each(STATEMENTS)("%s", async (statement) => {
    const { rows } = await stored.sql(lists, statement);
    expect(rows).toEqual((await stored.sql(values, statement)).rows);
    expect(rows.length).toBeGreaterThan(0);
  });

  test("sums and counts of missing values", async () => {
    const { rows } = await stored.sql(
      lists,
      "SELECT sum(n % 1000000) AS n, count(nullif(f, -1)) AS f, count(s || '') AS s, sum(rare % 1000) AS r FROM cpu",
    );
    const all = Array.from({ length: ROWS }, (_, i) => i);
    const count = (is: (i: number) => boolean) => BigInt(all.filter(is).length);
    const sum = all.reduce((n, i) => (i % 5 === 0 ? n : n + BigInt(i)), 0n);
    expect(rows).toEqual([[sum, count((i) => i % 3 !== 0), count((i) => i % 4 !== 0), count((i) => i % 9_999 === 0)]]);
  });
});

test("a statement that needs few rows reads few", async () => {
  const stored = await StoredRows.open(kernel, "in memory", [{ database: "db", lines: TABLES.join("\n") }]);
  const { rows } = await stored.sql(lists, "SELECT length(s) AS l FROM long LIMIT 1");
  expect(rows.length).toBe(1);
  await stored.close();
});

test("EXPLAIN ANALYZE names the columns that are unnested", async () => {
  const stored = await StoredRows.open(kernel, "in memory", [{ database: "db", lines: TABLES.join("\n") }]);
  const { rows } = await stored.sql(lists, "EXPLAIN ANALYZE VERBOSE SELECT sum(greatest(c3, c39)) AS n FROM wide");
  const text = rows.map((row) => row.join("\n")).join("\n");
  expect(text).toContain('unnest("c3") AS "c3", unnest("c39") AS "c39"');
  expect(text).not.toContain("c4");
  await stored.close();
});

test("a thread that is interrupted before its first list does not take the scan for ended", async () => {
  const lines = Array.from({ length: ROWS }, (_, i) => `cpu n=${i}i ${i}`).join("\n");
  const stored = await StoredRows.open(kernel, "in memory", [{ database: "db", lines }]);
  // what happens between two looks at the clock takes 5 ms
  let nowMs = performance.now();
  const clock = spyOn(performance, "now").mockImplementation(() => (nowMs += 5));
  try {
    const { rows } = await stored.sql(lists, "SELECT count(n) AS c, sum(greatest(n, 0)) AS s FROM cpu");
    expect(rows).toEqual([[BigInt(ROWS), (BigInt(ROWS) * BigInt(ROWS - 1)) / 2n]]);
  } finally {
    clock.mockRestore();
    await stored.close();
  }
});
