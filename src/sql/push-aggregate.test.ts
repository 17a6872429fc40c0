// Aggregates that the storage makes: the same answers as DuckDB makes of the rows, and really made there, or not.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { Twins, twinRows } from "../../test/support/sql/sql-twins.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { SqlEngine } from "./execute/engine.ts";

const I64_MAX = 2n ** 63n - 1n;

let kernel: Kernel;
let engine: SqlEngine;
let cpu: Twins;
beforeAll(async () => {
  kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  cpu = new Twins(kernel, engine, "cpu", twinRows(prng(7), 1000));
});
afterAll(() => engine.close());

/** Answered from groups alone: each is asked of the storage once, and no row is read. */
const PUSHED = [
  // without groups
  "SELECT count(*) FROM cpu",
  "SELECT count(*), count(1), count(f), count(time), count(i), count(b) FROM cpu",
  "SELECT sum(f), sum(i), sum(u), avg(f), mean(i), avg(u), min(f), max(i), min(u), max(b), min(time), max(time) FROM cpu WHERE f < 1000",
  "SELECT stddev(f), stddev_samp(i), stddev_pop(u), var(f), var_pop(i), avg(f) FROM cpu WHERE f < 1000",
  "SELECT stddev(f), var_pop(f), stddev(i) FROM cpu WHERE host = 'nobody'",
  "SELECT host, date_bin(INTERVAL '1 minute', time) AS m, stddev(i), var_samp(u), stddev_pop(f) FROM cpu WHERE f < 1000 GROUP BY 1, 2",
  "SELECT host FROM cpu WHERE f < 1000 GROUP BY host HAVING stddev(f) > 1 ORDER BY stddev(f), host",
  "SELECT max(f) - min(f) AS spread, 2 * count(*), CASE WHEN count(f) > 3 THEN 'many' ELSE 'few' END FROM cpu",
  "SELECT count(*), sum(i), max(f), max(time) FROM cpu WHERE host = 'nobody'",
  "SELECT selector_last(f, time) IS NULL, selector_max(i, time), selector_first(b, time)['time'] FROM cpu WHERE host = 'nobody'",
  "SELECT count(*) AS n FROM cpu HAVING count(*) > 5000",
  "SELECT 1 FROM cpu HAVING max(i) > 3",
  "SELECT max(time) FROM cpu",
  "SELECT max(c.time) AS t, max(time) FROM cpu AS c",
  // tags
  "SELECT host, count(*) FROM cpu GROUP BY host",
  'SELECT host, "Region", avg(f) FROM cpu GROUP BY host, "Region" ORDER BY host, "Region"',
  'SELECT count(*) FROM cpu GROUP BY host, host, "Region"',
  "SELECT cpu.host, max(cpu.i) FROM cpu GROUP BY cpu.host",
  "SELECT c.host AS h, max(c.i) FROM cpu AS c GROUP BY h",
  "SELECT iox.cpu.host, max(iox.cpu.i) FROM iox.cpu GROUP BY 1",
  "SELECT host || '!' AS loud, max(i), upper(host) FROM cpu GROUP BY host",
  "SELECT host FROM cpu GROUP BY host",
  "SELECT DISTINCT host FROM cpu",
  "SELECT DISTINCT host, \"Region\" FROM cpu WHERE time >= '1970-01-01' ORDER BY host DESC, 2",
  "SELECT DISTINCT date_bin(INTERVAL '1 minute', time) AS m FROM cpu ORDER BY m",
  "SELECT DISTINCT max(i) FROM cpu",
  "SELECT DISTINCT count(*) > 100 FROM cpu GROUP BY host",
  "SELECT host, count(*) FROM cpu GROUP BY ALL ORDER BY 1",
  // bins of time, with negative times
  "SELECT date_bin(INTERVAL '1 minute', time) AS minute, max(f) FROM cpu GROUP BY minute ORDER BY minute",
  "SELECT date_bin(INTERVAL '1 minute', time), max(f) FROM cpu GROUP BY 1 ORDER BY 1",
  "SELECT max(f) FROM cpu GROUP BY date_bin(INTERVAL '7 seconds', time, '1970-01-01T00:00:03Z') ORDER BY 1",
  "SELECT date_bin(INTERVAL '90 seconds', time, TIMESTAMP '2024-02-29T00:00:01.000000001Z') AS t, count(*) FROM cpu GROUP BY t ORDER BY t",
  "SELECT date_trunc('minute', time) AS m, avg(i) FROM cpu GROUP BY m ORDER BY m DESC",
  "SELECT date_trunc('hour', time) AS m, avg(i) FROM cpu GROUP BY date_trunc('hour', time) ORDER BY m DESC",
  "SELECT date_trunc('day', time), count(*) FROM cpu GROUP BY 1",
  "SELECT date_trunc('week', time) AS w, count(*) FROM cpu GROUP BY w",
  "SELECT time_bucket(INTERVAL '1 minute', time) AS m, count(*) FROM cpu GROUP BY m ORDER BY m",
  "SELECT time_bucket(INTERVAL '35 seconds', time, TIMESTAMP '2001-01-01') AS m, count(*) FROM cpu GROUP BY m ORDER BY m",
  "SELECT date_bin(INTERVAL '1 minute', time) AS time, max(f) FROM cpu GROUP BY 1 ORDER BY time",
  "SELECT date_bin(INTERVAL '1 minute', time) + INTERVAL '30 seconds' AS middle, host, min(i) FROM cpu GROUP BY date_bin(INTERVAL '1 minute', time), host ORDER BY middle, host",
  "SELECT extract(minute FROM date_bin(INTERVAL '1 minute', time)) AS m, count(*) FROM cpu GROUP BY date_bin(INTERVAL '1 minute', time)",
  "SELECT count(*) FROM cpu GROUP BY date_bin(INTERVAL '1 minute', time), date_trunc('minute', time)",
  // bins by the clock of a zone that is put forth or back by whole bins, or not at all while the rows last
  "SELECT date_bin_wallclock(INTERVAL '1 minute', tz(time, '+05:30')) AS m, count(*) FROM cpu GROUP BY m ORDER BY m",
  "SELECT date_bin_wallclock(INTERVAL '1 day', tz(time, 'Asia/Tokyo')), max(i) FROM cpu WHERE time >= '1969-01-01' AND time < '1971-01-01' GROUP BY 1",
  "SELECT date_bin_wallclock(INTERVAL '1 minute', tz(time, 'Europe/Berlin')), max(i) FROM cpu WHERE time > '1955-01-01' AND time < '2030-01-01' GROUP BY 1 ORDER BY 1",
  "SELECT date_trunc('hour', tz(time, 'Asia/Kolkata')) AS h, count(*) FROM cpu WHERE time >= '1960-01-01' GROUP BY h ORDER BY h",
  // gaps are filled between groups that the storage makes
  "SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS m, max(f) FROM cpu WHERE time >= '1970-01-01' AND time < '1970-01-01T01:00:00Z' GROUP BY m",
  `SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS m, host, locf(avg(f)), interpolate(max(i)), count(*) FROM cpu
   WHERE time >= '1970-01-01' AND time < '1970-01-01T01:00:00Z' AND f < 1000 GROUP BY 1, host HAVING count(*) > 1 OR count(*) IS NULL ORDER BY host, m`,
  `SELECT date_bin_wallclock_gapfill(INTERVAL '1 hour', tz(time, 'Asia/Tokyo')) AS h, locf(selector_last(i, time)['value']) FROM cpu
   WHERE time BETWEEN '1969-12-31' AND '1970-01-02' GROUP BY 1`,
  // what rows count
  "SELECT host, max(f) FROM cpu WHERE host IN ('a', 'b') AND time >= '1969-12-31T23:59:00Z' AND time < '1970-01-01T00:02:00Z' GROUP BY host",
  "SELECT max(i) FROM cpu WHERE host = 'a' OR host = 'b' OR host IN ('é', 'c')",
  'SELECT count(*) FROM cpu WHERE host IS NULL AND "Region" IS NULL',
  "SELECT count(*) FROM cpu WHERE (host IS NULL OR host = 'B') AND 'eu' = \"Region\"",
  "SELECT count(*) FROM cpu WHERE time BETWEEN '1970-01-01' AND '1970-01-01T00:00:30Z'",
  "SELECT count(*) FROM cpu WHERE time >= now() - INTERVAL '60 years' AND time < now()",
  "SELECT count(*) FROM cpu WHERE time = '1970-01-01T00:01:00Z'",
  "SELECT count(*) FROM cpu WHERE 1 = 1 AND TRUE AND f > 3",
  "SELECT count(*) FROM cpu WHERE f > 10.5 AND f <= 40 AND i >= -3 AND u < 50",
  "SELECT count(*), max(f) FROM cpu WHERE 10.25 < f AND 3 <> i",
  "SELECT count(*) FROM cpu WHERE f != 0",
  "SELECT count(*) FROM cpu WHERE f = 0.0 AND f >= -1e300",
  "SELECT host, count(*), sum(i) FROM cpu WHERE s = 'text 1' GROUP BY host",
  "SELECT count(*) FROM cpu WHERE s IN ('text 1', 'text 2', 'nothing')",
  "SELECT count(*) FROM cpu WHERE i > 2.5 AND i < 30.5",
  "SELECT count(*) FROM cpu WHERE i >= -2.5 AND i <= 2.0 AND i != 1.0",
  "SELECT count(*) FROM cpu WHERE u > -1 AND u < 9223372036854775807 AND i > -9223372036854775807",
  "SELECT count(*) FROM cpu WHERE u >= 2.5 AND u > -0.5",
  "SELECT count(*) FROM cpu WHERE f BETWEEN -1 AND 20.5 AND i BETWEEN 1 AND 30",
  "SELECT count(*) FROM cpu WHERE b",
  "SELECT count(*) FROM cpu WHERE NOT b AND f IS NOT NULL AND i IS NOT NULL AND u IS NOT NULL",
  "SELECT count(*) FROM cpu WHERE b = true AND false <> b",
  "SELECT count(*) FROM cpu WHERE b IS NOT NULL AND i IN (7)",
  // conditions on keys that the storage does not know are conditions on groups
  "SELECT host, count(*) FROM cpu WHERE host LIKE '%o%' GROUP BY host",
  "SELECT host, count(*) FROM cpu WHERE host != 'a' AND f > 1 AND \"Region\" = 'eu' GROUP BY host",
  'SELECT host, count(*) FROM cpu WHERE host ~ \'^[ab]\' OR "Region" IS NOT NULL GROUP BY host, "Region"',
  "SELECT host, count(*) FROM cpu WHERE host IS NOT NULL AND host > 'a' GROUP BY host",
  "SELECT date_bin(INTERVAL '1 minute', time) AS m, count(*) FROM cpu WHERE date_bin(INTERVAL '1 minute', time) != '1970-01-01' GROUP BY m",
  // around groups
  "SELECT host, max(f) AS top FROM cpu WHERE f < 1000 GROUP BY host HAVING max(f) > 1 AND count(*) > 2 ORDER BY top DESC, host LIMIT 3 OFFSET 1",
  "SELECT host, max(i) AS top FROM cpu GROUP BY host HAVING top > 5 ORDER BY top + 1, host",
  "SELECT host, max(i) AS top, top + 1 FROM cpu GROUP BY host ORDER BY host",
  "SELECT host FROM cpu GROUP BY host ORDER BY sum(u), host",
  "SELECT host, rank() OVER (ORDER BY count(*) DESC, host) AS place, sum(count(*)) OVER () FROM cpu GROUP BY host ORDER BY place",
  'SELECT host, "Region", count(*) AS n FROM cpu GROUP BY 1, 2 QUALIFY row_number() OVER (PARTITION BY host ORDER BY n DESC, "Region") = 1',
  'SELECT DISTINCT ON (host) host, "Region", count(*) AS n FROM cpu GROUP BY 1, 2 ORDER BY host, n DESC, 2',
  "SELECT host, sum(i) AS i FROM cpu GROUP BY host ORDER BY i, host",
  "SELECT max(i) AS host, host AS x FROM cpu GROUP BY cpu.host ORDER BY host, x",
  // the first and the last
  "SELECT host, arg_max(f, time), arg_min(i, time), max_by(u, time), min_by(b, time) FROM cpu GROUP BY host",
  "SELECT selector_first(f, time)['value'], selector_last(f, time)['time'], selector_min(i, time)['value'] FROM cpu WHERE host = 'é'",
  "SELECT host, selector_max(i, time)['value'] AS v FROM cpu GROUP BY host ORDER BY v, host",
  "SELECT host, selector_max(i, time)['time'] AS t, selector_min(f, time) AS least FROM cpu GROUP BY host ORDER BY t, host",
  "SELECT max(time) AS time, min(time), host FROM cpu GROUP BY host ORDER BY 3",
];

/** Statements that need rows, and errors. */
const NOT_PUSHED = [
  "SELECT count(*) FILTER (WHERE f > 3) FROM cpu",
  "SELECT count(DISTINCT host), count(host), min(host), max(s), count(s), string_agg(s, ',' ORDER BY s) IS NULL FROM cpu",
  "SELECT max(f + 1), sum(-i) FROM cpu",
  "SELECT median(i), stddev(i), approx_distinct(host) > 2 FROM cpu",
  "SELECT sum(i) FROM cpu GROUP BY i % 7",
  "SELECT length(s), count(*) FROM cpu GROUP BY 1",
  "SELECT count(*) FROM cpu GROUP BY upper(host)",
  "SELECT count(*) FROM cpu GROUP BY time",
  "SELECT date_bin(INTERVAL '1 minute', time) AS time, count(*) FROM cpu GROUP BY time",
  "SELECT date_bin(INTERVAL '1 month', time) AS t, count(*) FROM cpu GROUP BY t",
  "SELECT count(*) FROM cpu GROUP BY date_bin(INTERVAL '1 minute', time), date_bin(INTERVAL '1 hour', time)",
  "SELECT host, count(*) FROM cpu GROUP BY ROLLUP (host)",
  'SELECT host, "Region", count(*) FROM cpu GROUP BY GROUPING SETS ((host), ("Region"))',
  "SELECT host, grouping(host), count(*) FROM cpu GROUP BY host",
  "SELECT count(*) FROM cpu GROUP BY ()",
  "SELECT count(*) FROM cpu WHERE f > i",
  "SELECT count(*) FROM cpu WHERE f > 3 OR i > 3",
  "SELECT count(*) FROM cpu WHERE host != 'a'",
  'SELECT "Region", count(*) FROM cpu WHERE host LIKE \'a%\' GROUP BY "Region"',
  "SELECT host, count(*) FROM cpu WHERE s LIKE 'text 1%' GROUP BY host",
  "SELECT host, count(*) > 0 FROM cpu WHERE host = 'a' OR random() < 2 GROUP BY host",
  "SELECT host, count(*) FROM cpu WHERE $never IS NULL AND host IN (SELECT host FROM cpu) GROUP BY host",
  "SELECT count(*) FROM cpu WHERE 1 = 2",
  "SELECT count(*) FROM cpu WHERE i IN (1, 2)",
  "SELECT count(*) FROM cpu WHERE i = 1.5 OR i > 9223372036854775807",
  "SELECT count(*) FROM cpu WHERE f > CAST(0.1 AS FLOAT)",
  "SELECT count(*) FROM cpu WHERE time < '1970-01-01' OR time > '1970-01-01T00:01:00Z'",
  "SELECT count(*) FROM cpu, (SELECT 1)",
  "SELECT a, max(c) FROM cpu AS t(a, b, c) WHERE false GROUP BY a",
  "WITH cpu AS (SELECT 1 AS x) SELECT max(x) FROM cpu",
  "SELECT selector_max(b, time)['time'] FROM cpu WHERE host = 'a'",
  "SELECT list(i ORDER BY i), array_agg(host ORDER BY host, i) FROM cpu WHERE host = 'a'",
  "SELECT i FROM cpu WHERE host = 'a' ORDER BY i",
  "SELECT sum(i) OVER (ORDER BY i) FROM cpu ORDER BY i",
  // the mistakes of a statement stay its mistakes
  "SELECT f, max(i) FROM cpu",
  "SELECT host, max(i) FROM cpu",
  "SELECT max(nothing) FROM cpu",
  "SELECT max(i) FROM cpu WHERE nothing = 1",
  "SELECT max(i), max(i, f, u) FROM cpu",
  "SELECT avg(host) FROM cpu",
  "SELECT sum(time) FROM cpu",
  "SELECT max(i) FROM cpu WHERE time > 'yesterday'",
  "SELECT max(i) FROM cpu WHERE f > $f",
  "SELECT DISTINCT host FROM cpu ORDER BY max(i)",
  "SELECT max(i) FROM cpu GROUP BY 7",
  "SELECT max(i) FROM cpu WHERE max(i) > 3",
  "SELECT max(max(i)) FROM cpu",
];

test("bins by a clock need no condition where the table says its times", async () => {
  const statement = "SELECT date_bin_wallclock(INTERVAL '1 day', tz(time, 'Asia/Tokyo')) AS d, count(*) FROM cpu GROUP BY d ORDER BY d";
  const unknown = await cpu.ask(statement);
  expect(unknown).toMatchObject({ aggregations: 0, scans: 1 });
  cpu.rows.times = { minNs: -(86_400_000_000_000n * 400n), maxNs: 86_400_000_000_000n * 400n };
  cpu.groups.times = cpu.rows.times;
  const known = await cpu.ask(statement);
  expect(known.rows).toEqual(unknown.rows);
  expect([known.aggregations > 0, known.scans]).toEqual([true, 0]);
  delete cpu.rows.times;
  delete cpu.groups.times;
});

describe("made by the storage", () => {
  test.each(PUSHED)("%s", async (statement) => {
    const { aggregations, scans } = await cpu.ask(statement);
    expect({ aggregations: aggregations > 0, scans }).toEqual({ aggregations: true, scans: 0 });
  });

  /** Parts of statements: how often groups and rows are read. */
  const PARTS: [statement: string, aggregations: number, scans: number][] = [
    ["SELECT avg(top) FROM (SELECT host, max(i) AS top FROM cpu GROUP BY host)", 1, 0],
    ["WITH h AS NOT MATERIALIZED (SELECT host, max(i) m FROM cpu GROUP BY host) SELECT a.m, b.m FROM h a JOIN h b USING (host)", 1, 0],
    ["SELECT count(*) FROM cpu WHERE host = 'a' AND host = 'b'", 0, 0],
    ["SELECT count(*) + 1 FROM cpu WHERE time > '2100-01-01' AND time < '2000-01-01'", 0, 0],
    ["WITH h AS MATERIALIZED (SELECT max(i) AS m FROM cpu) SELECT a.m, b.m FROM h a, h b", 1, 0],
    ["SELECT max(i) FROM cpu UNION ALL SELECT sum(i) FROM cpu WHERE host = 'a'", 2, 0],
    ["SELECT host, f FROM cpu WHERE f = (SELECT max(f) FROM cpu WHERE f < 1000)", 1, 1],
    ["SELECT host FROM cpu WHERE host IN (SELECT host FROM cpu GROUP BY host HAVING count(*) > 200)", 1, 1],
    ["SELECT count(*) FROM cpu AS o WHERE i = (SELECT max(i) FROM cpu AS n WHERE n.host = o.host)", 0, 2],
    [
      "SELECT x.host, y.n FROM (SELECT DISTINCT host FROM cpu) x LEFT JOIN (SELECT host, count(*) n FROM cpu GROUP BY 1) y USING (host)",
      2,
      0,
    ],
    ["SELECT max(i), (SELECT min(i) FROM cpu) FROM cpu", 1, 1],
    ["WITH RECURSIVE r(k) AS (SELECT max(i) FROM cpu UNION ALL SELECT k - 7 FROM r WHERE k > 0) SELECT k FROM r", 1, 0],
    // read again in every round
    [
      `WITH RECURSIVE r(k, h) AS (SELECT 1, 'a' UNION ALL
       SELECT k + 1, x.host FROM r JOIN (SELECT host, count(*) n FROM cpu GROUP BY host) x ON k < 4 AND x.n > k AND x.host = h) SELECT k FROM r`,
      4,
      0,
    ],
  ];
  test.each(PARTS)("%s", async (statement, aggregations, scans) => {
    expect(await cpu.ask(statement)).toMatchObject({ aggregations, scans });
  });
});

describe("left to DuckDB", () => {
  test.each(NOT_PUSHED)("%s", async (statement) => {
    expect(await cpu.ask(statement)).toMatchObject({ aggregations: 0 });
  });
});

test("the aggregation request that a grouping becomes", async () => {
  await cpu.ask(`
    SELECT date_bin(INTERVAL '1 minute', time, '1970-01-01T00:00:10Z') AS m, host, max(f), count(*), avg(f) + max(f) FROM cpu
    WHERE time >= '1970-01-01' AND time < '1970-01-01T00:02:00Z' AND host IN ('b', 'a', 'b') AND f > 5 AND 0 <= i GROUP BY host, m`);
  const id = (name: string) => cpu.groups.columns.find((column) => column.name === name)!.id;
  const f = cpu.groups.columns.find(({ name }) => name === "f")!;
  expect(cpu.groups.aggregations).toEqual([
    {
      range: { minNs: 0n, maxNs: 119_999_999_999n },
      tags: [{ columnId: id("host"), values: ["b", "a"] }],
      fields: [
        { columnId: id("f"), operator: ">", value: 5 },
        { columnId: id("i"), operator: ">=", value: 0n },
      ],
      bins: { originNs: 10_000_000_000n, widthNs: 60_000_000_000n },
      groupBy: [cpu.groups.columns.find(({ name }) => name === "host")!],
      aggregates: [
        { fn: "max", column: f },
        { fn: "count", column: null },
        { fn: "mean", column: f },
      ],
    },
  ]);
});

describe("the storage cannot", () => {
  test("one of several groupings is made of rows, the others are not", async () => {
    cpu.groups.refuses = ({ groupBy }) => groupBy.length === 2;
    try {
      const statement = `
        SELECT * FROM (SELECT host, max(i) FROM cpu GROUP BY host) AS a, (SELECT count(*) FROM cpu GROUP BY host, "Region") AS b, (
        SELECT min(i) FROM cpu) AS c`;
      expect(await cpu.ask(statement)).toMatchObject({ aggregations: 5, scans: 1 });
    } finally {
      cpu.groups.refuses = () => false;
    }
  });

  test("sums that do not fit are DuckDB's error", async () => {
    const big = new Twins(
      kernel,
      engine,
      "big",
      [1n, 2n].map((time) => ({ time, host: "a", i: I64_MAX, u: 2n ** 64n - 1n })),
    );
    for (const column of ["i", "u"]) {
      const { rows, aggregations, scans } = await big.ask(`SELECT sum(${column}) FROM big`);
      expect({ rows, aggregations, scans }).toEqual({
        rows: [expect.stringContaining("bad_query: Arrow error: Arithmetic overflow")],
        aggregations: 1,
        scans: 1,
      });
    }
    expect(await big.ask("SELECT avg(i), avg(u), min(u) FROM big")).toMatchObject({ aggregations: 1, scans: 0 });
  });

  const FIRST = -I64_MAX - 1n;
  const EDGES: [statement: string, aggregations: number, scans: number][] = [
    ["SELECT min(time), max(time), count(*) FROM edge", 1, 0],
    // the bins of the first two times begin before there is time: asked for, then made of rows
    ["SELECT date_bin(INTERVAL '1 hour', time) AS h, count(*) FROM edge GROUP BY h", 1, 1],
    ["SELECT date_bin(INTERVAL '1 hour', time) AS h, count(*) FROM edge WHERE host = 'last' GROUP BY h", 2, 0],
    ["SELECT date_bin(INTERVAL '30000 days', time) AS h, count(*) FROM edge WHERE time > '1700-01-01' GROUP BY h", 2, 0],
    ["SELECT date_bin(INTERVAL '90 days', time) AS h, count(*) FROM edge WHERE time > '1970-01-01' GROUP BY h", 1, 0],
    ["SELECT count(*) FROM edge WHERE time > '2262-04-11T23:47:16.854775807Z'", 0, 0],
    ["SELECT count(*) FROM edge WHERE time <= '2262-04-11T23:47:16.854775807Z'", 1, 0],
  ];
  test.each(EDGES)("%s", async (statement, aggregations, scans) => {
    const edge = new Twins(kernel, engine, "edge", [
      { time: FIRST, host: "first" },
      { time: FIRST + 1n, host: "second" },
      { time: 0n, host: "zero" },
      { time: I64_MAX - 1n, host: "last" },
      { time: I64_MAX, host: "last" },
    ]);
    expect(await edge.ask(statement)).toMatchObject({ aggregations, scans });
  });
});

describe("hostile aggregates", () => {
  test("500 aggregates, 500 times the same one, and 10,000 values of a tag", async () => {
    const functions = ["sum", "min", "max", "avg", "count"].flatMap((fn) => ["f", "i", "u"].map((column) => `${fn}(${column})`));
    const list = Array.from({ length: 500 }, (_, k) => `${functions[k % functions.length]} + ${k} AS c${k}`);
    expect(await cpu.ask(`SELECT ${list.join(", ")} FROM cpu WHERE f < 1000`)).toMatchObject({ aggregations: 1, scans: 0 });
    expect(cpu.groups.aggregations[0]!.aggregates.length).toBe(functions.length);
    const values = Array.from({ length: 10_000 }, (_, k) => `'h${k}'`).join(", ");
    expect(await cpu.ask(`SELECT count(*) FROM cpu WHERE host IN (${values}, 'a')`)).toMatchObject({ aggregations: 1, scans: 0 });
  });

  test("deep expressions around and instead of aggregates", async () => {
    const deep = (inner: string) => `${"(".repeat(140)}${inner}${" + 1)".repeat(140)}`;
    expect(await cpu.ask(`SELECT ${deep("max(i)")} AS m, host FROM cpu GROUP BY host`)).toMatchObject({ aggregations: 1, scans: 0 });
    expect(await cpu.ask(`SELECT max(${deep("i")}) AS m, host FROM cpu GROUP BY host`)).toMatchObject({ aggregations: 0 });
    const or = Array.from({ length: 200 }, (_, k) => `host = 'h${k}'`).join(" OR ");
    expect(await cpu.ask(`SELECT count(*) FROM cpu WHERE ${or} OR host = 'a'`)).toMatchObject({ aggregations: 1, scans: 0 });
  });

  test("aliases that look like columns of the groups", async () => {
    await cpu.ask('SELECT min(i) AS "max(i)", "max(i)" + 1 AS x, max(i) AS y FROM cpu GROUP BY host ORDER BY "max(i)", x, y');
    await cpu.ask('SELECT min(i) AS "max(i)\u{E000}1.1", max(i) AS "time bin" FROM cpu');
  });
});
