// Statements that show nothing but the newest row of each series: the table here then gives no other, so any that is needed is missed.
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import type { FakeRow } from "../../test/support/rows/fake-table.ts";
import { Twins, twinRows } from "../../test/support/sql/sql-twins.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { SqlEngine } from "./execute/engine.ts";

let engine: SqlEngine;
/** Values may be missing anywhere. */
let cpu: Twins;
/** All newest rows have a value of `f`. */
let full: Twins;

beforeAll(async () => {
  const kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  // no two rows of one time: which of them is the first would be anybody's choice
  const rows = twinRows(prng(31), 400).map((row, i): FakeRow => ({ ...row, time: BigInt(((i * 7919) % 400) - 200) * 1_000_000_000n }));
  cpu = new Twins(kernel, engine, "cpu", rows);
  full = new Twins(
    kernel,
    engine,
    "cpu",
    rows.map((row, i) => ({ ...row, f: (row["time"] as bigint) > 0n ? i / 4 : (row["f"] ?? null) })),
  );
  // large enough that newest rows are preferred to groups over all
  cpu.groups.rowCountMax = 1e9;
  full.groups.rowCountMax = 1e9;
});
afterAll(() => engine.close());

const NEWEST = [
  // DISTINCT ON
  'SELECT DISTINCT ON (host, "Region") * FROM cpu ORDER BY host, "Region", time DESC',
  "SELECT DISTINCT ON (host) * FROM cpu ORDER BY host, time DESC",
  "SELECT DISTINCT ON (host) host AS h, f + 1, s FROM cpu ORDER BY h DESC NULLS LAST, time DESC LIMIT 3",
  'SELECT DISTINCT ON (upper("Region")) * FROM cpu ORDER BY upper("Region"), time DESC',
  "SELECT DISTINCT ON (host) time, host FROM cpu WHERE time < '1970-01-01' AND \"Region\" = 'eu' ORDER BY 2, 1 DESC",
  "SELECT DISTINCT ON (1) host, i FROM cpu WHERE host LIKE '%a%' OR \"Region\" IS NULL ORDER BY host, time DESC, i",
  // LIMIT 1
  "SELECT * FROM cpu WHERE host = 'a' ORDER BY time DESC LIMIT 1",
  'SELECT f FROM cpu ORDER BY "Region", host DESC, time DESC LIMIT 1',
  // numbers
  "SELECT * FROM cpu QUALIFY row_number() OVER (PARTITION BY host ORDER BY time DESC) = 1",
  "SELECT *, rank() OVER (PARTITION BY host, \"Region\" ORDER BY time DESC) AS r FROM cpu WHERE host != 'b' QUALIFY 1 = r AND f > 3",
  "SELECT host, f FROM cpu QUALIFY dense_rank() OVER (PARTITION BY upper(host) ORDER BY host, time DESC, f) = 1 ORDER BY 1, 2 LIMIT 3",
  "SELECT * EXCLUDE (nth) FROM (SELECT *, row_number() OVER (PARTITION BY host ORDER BY time DESC) AS nth FROM cpu) WHERE nth = 1",
  "SELECT host, f FROM (SELECT *, row_number() OVER (ORDER BY time DESC) nth FROM cpu WHERE time < '1970-01-01') WHERE nth = 1 AND f < 1000",
  "WITH r AS (SELECT host, i, rank() OVER (PARTITION BY host ORDER BY time DESC) AS k FROM cpu) SELECT * FROM r WHERE k = 1 ORDER BY host",
  "SELECT x.h FROM (SELECT host AS h, k FROM (SELECT *, row_number() OVER (PARTITION BY host ORDER BY time DESC) k FROM cpu)) x WHERE x.k = 1",
  "SELECT a.k, b.m FROM (SELECT host, row_number() OVER (PARTITION BY host ORDER BY time DESC) k FROM cpu) a JOIN (SELECT 'a' m) b ON a.k = 1",
  // aggregates
  "SELECT host, max(time) FROM cpu GROUP BY host",
  'SELECT host, last_value(f ORDER BY time), last(s ORDER BY time), max(time), first_value(i ORDER BY time DESC) FROM cpu GROUP BY host, "Region"',
  "SELECT max(time), last_value(f + i ORDER BY time) FROM cpu WHERE host = 'a'",
  "SELECT upper(host) AS h, last_value(\"Region\" ORDER BY time) FROM cpu GROUP BY h HAVING max(time) > '1970-01-01' ORDER BY max(time) DESC",
  'SELECT host, selector_last("Region", time)[\'value\'], arg_max(upper("Region"), time) FROM cpu GROUP BY host',
  'SELECT count(DISTINCT host), min("Region"), max(upper(host)), approx_distinct(host) FROM cpu',
  "SELECT last_value(f ORDER BY time) FILTER (WHERE host > 'a') FROM cpu GROUP BY \"Region\"",
  'SELECT host, "Region", max(time) FROM cpu GROUP BY ROLLUP (host, "Region")',
  "SELECT host, rank() OVER (ORDER BY max(time)) FROM cpu GROUP BY host",
  "SELECT host FROM cpu GROUP BY host",
  "SELECT host, last_value(s ORDER BY time) FROM cpu GROUP BY ALL",
];

const NOT_NEWEST = [
  // other keys, other orders
  "SELECT DISTINCT ON (host) * FROM cpu ORDER BY host, time",
  "SELECT DISTINCT ON (host) * FROM cpu ORDER BY host, f, time DESC",
  "SELECT DISTINCT ON (s) * FROM cpu ORDER BY s, time DESC",
  "SELECT DISTINCT ON (host, f) host, f, i FROM cpu ORDER BY host, f, time DESC",
  "SELECT DISTINCT ON (host) time AS host, i FROM cpu ORDER BY host, cpu.time DESC",
  "SELECT DISTINCT ON (host) i AS time, host FROM cpu ORDER BY host, time DESC, f, i, u, s",
  "SELECT DISTINCT ON (host) *, sum(i) OVER (PARTITION BY host) FROM cpu ORDER BY host, time DESC",
  "SELECT DISTINCT ON (host) unnest(CASE WHEN f > 0 THEN [1] ELSE [] END), host FROM cpu ORDER BY host, time DESC",
  "SELECT DISTINCT host, i % 7 AS i FROM cpu ORDER BY host, i DESC LIMIT 1",
  // conditions that choose among the rows of a series
  "SELECT DISTINCT ON (host) * FROM cpu WHERE f > 3 ORDER BY host, time DESC",
  "SELECT DISTINCT ON (host) * FROM cpu WHERE s = 'text 1' ORDER BY host, time DESC",
  "SELECT DISTINCT ON (host) * FROM cpu WHERE f IS NULL OR host = 'a' ORDER BY host, time DESC",
  "SELECT DISTINCT ON (host) * FROM cpu WHERE time < '1970-01-01' OR time > '1970-01-01T00:01:00Z' ORDER BY host, time DESC",
  "SELECT DISTINCT ON (host) * FROM cpu WHERE date_part('second', time) = 7 ORDER BY host, time DESC",
  "SELECT max(time) FROM cpu WHERE f IS NOT NULL AND s IS NOT NULL",
  // blocks know their newest time
  "SELECT max(time) FROM cpu",
  // limits
  "SELECT * FROM cpu ORDER BY time DESC LIMIT 2",
  "SELECT * FROM cpu ORDER BY time DESC LIMIT 1 OFFSET 1",
  "SELECT * FROM cpu ORDER BY time LIMIT 1",
  "SELECT * FROM cpu WHERE i > 3 ORDER BY time DESC LIMIT 1",
  // numbers
  "SELECT * FROM cpu QUALIFY row_number() OVER (PARTITION BY host ORDER BY time DESC) = 2",
  "SELECT * FROM cpu QUALIFY row_number() OVER (PARTITION BY host ORDER BY time DESC) <= 2",
  "SELECT * FROM cpu QUALIFY row_number() OVER (PARTITION BY host ORDER BY time DESC) = 1 OR i = 3",
  "SELECT * FROM cpu QUALIFY row_number() OVER (PARTITION BY host ORDER BY time) = 1",
  "SELECT * FROM cpu QUALIFY row_number() OVER (PARTITION BY s ORDER BY time DESC) = 1",
  "SELECT *, count(*) OVER (PARTITION BY host) FROM cpu QUALIFY row_number() OVER (PARTITION BY host ORDER BY time DESC) = 1",
  "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY host ORDER BY time DESC) k FROM cpu) WHERE k = 2 OR k = 1",
  "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY host ORDER BY time DESC) k FROM cpu ORDER BY time, i LIMIT 30) WHERE k = 1",
  "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY host ORDER BY time DESC) k FROM cpu) LEFT JOIN (SELECT 'a' AS m) ON k = 1",
  "SELECT m, k FROM (SELECT 'a' AS m) LEFT JOIN (SELECT *, row_number() OVER (ORDER BY time DESC) k FROM cpu) ON true WHERE k = 1 OR k = 3",
  "WITH r AS (SELECT host, rank() OVER (PARTITION BY host ORDER BY time DESC) k FROM cpu) SELECT a.k, (SELECT count(*) FROM r) FROM r a WHERE k = 1",
  "SELECT max(k) FROM (SELECT *, row_number() OVER (PARTITION BY host ORDER BY time DESC) k FROM cpu) HAVING max(k) > 0",
  // aggregates
  "SELECT host, min(time), max(s) FROM cpu GROUP BY host",
  "SELECT host, max(time), count(s) FROM cpu GROUP BY host",
  "SELECT length(s), max(time) FROM cpu GROUP BY 1",
  "SELECT date_bin(INTERVAL '1 minute', time) AS m, last_value(s ORDER BY time) FROM cpu GROUP BY m",
  "SELECT host, last_value(s ORDER BY i, time) FROM cpu GROUP BY host",
  "SELECT host, last_value(s ORDER BY time DESC) FROM cpu GROUP BY host",
  "SELECT host, first_value(s ORDER BY time) FROM cpu GROUP BY host",
  "SELECT max(time) FILTER (WHERE s > 'text 2') FROM cpu",
  "SELECT count(DISTINCT s) FROM cpu",
  "SELECT count(host), sum(DISTINCT i) FROM cpu",
];

describe("newest rows are enough", () => {
  test.each(NEWEST)("%s", async (statement) => {
    expect(await cpu.ask(statement)).toMatchObject({ scans: 1, aggregations: 0 });
    expect(cpu.groups.requests.map(({ newestOnly }) => newestOnly)).toEqual([true]);
  });
});

describe("other rows show", () => {
  test.each(NOT_NEWEST)("%s", async (statement) => {
    await cpu.ask(statement);
    expect(cpu.groups.requests.some(({ newestOnly }) => newestOnly === true)).toBe(false);
  });
});

describe("the last value that is there", () => {
  const STATEMENTS = [
    "SELECT host, selector_last(f, time)['value'], selector_last(f, time)['time'], last_value(s ORDER BY time) FROM cpu GROUP BY host",
    'SELECT "Region", arg_max(f, time), arg_max("Region", time) FROM cpu GROUP BY "Region"',
    "SELECT selector_last(f, time), count(DISTINCT host) FROM cpu WHERE time > '1970-01-01'",
  ];
  test.each(STATEMENTS)("%s", async (statement) => {
    // looked whether all newest rows have one: they have, and are read
    await full.ask(statement);
    const looks = full.groups.requests.map(({ newestOnly }) => newestOnly);
    expect([looks.length > 1, looks.every((isNewest) => isNewest === true)]).toEqual([true, true]);
    // they have not: all rows are read
    await cpu.ask(statement);
    expect(cpu.groups.requests[0]).toMatchObject({ newestOnly: true });
    expect(cpu.groups.requests.at(-1)).toMatchObject({ newestOnly: false });
  });
});

describe("a row number of 1 without DuckDB", () => {
  const OVER = "row_number() OVER (PARTITION BY host ORDER BY time DESC)";
  const DIRECT = [
    `SELECT * FROM cpu QUALIFY ${OVER} = 1`,
    `SELECT host, f AS x FROM cpu AS c WHERE "Region" = 'eu' QUALIFY 1 = ${OVER}`,
    `SELECT * FROM (SELECT *, ${OVER} AS nth FROM cpu) WHERE nth = 1`,
    `SELECT * EXCLUDE (nth) FROM (SELECT *, ${OVER} AS nth FROM cpu) WHERE nth = 1`,
    `SELECT x.* EXCLUDE (nth, f), x.i AS j, nth AS n, x.nth FROM (SELECT *, ${OVER} AS nth FROM cpu) AS x WHERE x.nth = 1`,
    `SELECT * FROM (SELECT host AS h, time, ${OVER} AS nth FROM cpu AS c WHERE c.host IN ('a', 'b')) WHERE 1 = nth`,
    `SELECT * EXCLUDE (h) FROM (SELECT ${OVER} AS nth, host AS h, s FROM cpu) WHERE nth = 1`,
  ];
  test.each(DIRECT)("%s", async (statement) => {
    const lease = spyOn(engine, "lease");
    await cpu.ask(statement);
    // the twin that has only rows finds the newest ones too, but must look at the condition again
    expect([cpu.groups.requests.map(({ newestOnly }) => newestOnly), lease.mock.calls.length <= 1]).toEqual([[true], true]);
    lease.mockRestore();
  });

  const WITH_DUCKDB = [
    `SELECT * FROM (SELECT *, ${OVER} AS f FROM cpu) WHERE f = 1`,
    `SELECT * FROM (SELECT *, f AS host2, ${OVER} AS nth FROM cpu) WHERE nth = 1`,
    `SELECT f AS host, i FROM cpu QUALIFY ${OVER} = 1`,
    `SELECT *, ${OVER} AS nth FROM cpu QUALIFY nth = 1`,
    `SELECT * FROM (SELECT *, ${OVER} AS nth FROM cpu) WHERE nth = 1 ORDER BY time`,
    `SELECT nth + 1 FROM (SELECT *, ${OVER} AS nth FROM cpu) WHERE nth = 1`,
    `SELECT count(*) FROM (SELECT *, ${OVER} AS nth FROM cpu) WHERE nth = 1`,
    `SELECT * EXCLUDE (nothing) FROM (SELECT host, ${OVER} AS nth FROM cpu) WHERE nth = 1`,
    `SELECT * FROM (SELECT *, ${OVER} AS nth FROM cpu) AS x(a, b) WHERE nth = 1`,
    `SELECT * FROM (SELECT *, ${OVER} AS nth FROM cpu QUALIFY rank() OVER (ORDER BY i, time) > 3) WHERE nth = 1`,
    `SELECT * FROM (SELECT DISTINCT host, i, ${OVER} AS nth FROM cpu) WHERE nth = 1`,
    `SELECT * FROM (SELECT host, max(time) AS m, row_number() OVER (PARTITION BY host ORDER BY max(time) DESC) AS nth FROM cpu GROUP BY host) WHERE nth = 1`,
  ];
  test.each(WITH_DUCKDB)("%s", async (statement) => {
    await cpu.ask(statement);
  });
});

describe("last rows of groups without DuckDB", () => {
  const LAST: [statement: string, isDirect: boolean][] = [
    ["SELECT host, last_value(f ORDER BY time), last(s ORDER BY time) AS s, max(time) FROM cpu GROUP BY host", true],
    ['SELECT max(time) AS time, host AS h, first_value("Region" ORDER BY time DESC) FROM cpu AS c GROUP BY c.host ORDER BY h DESC', true],
    ['SELECT host, "Region", max(time) AS t FROM cpu GROUP BY ALL ORDER BY 2, host LIMIT 4 OFFSET 1', true],
    ["SELECT host, selector_last(f, time)['value'] AS f, selector_last(f, time)['time'], arg_max(f, time) FROM cpu GROUP BY 1", true],
    [
      "SELECT last_value(i ORDER BY time) AS host, last_value(u ORDER BY time) AS u FROM cpu WHERE \"Region\" = 'eu' GROUP BY cpu.host",
      true,
    ],
    ["SELECT host, max(time) FROM (SELECT * FROM cpu) GROUP BY host", false],
    ["SELECT host, last_value(f ORDER BY time) FROM cpu GROUP BY host ORDER BY last_value(f ORDER BY time), host", false],
    ["SELECT host, last_value(f ORDER BY time) AS v FROM cpu GROUP BY host ORDER BY v, host", false],
    ["SELECT host, last_value(f ORDER BY time) FROM cpu GROUP BY host HAVING max(time) > '1970-01-01'", false],
    ["SELECT host, last_value(f ORDER BY time) FROM cpu WHERE i > 3 GROUP BY host", false],
    ["SELECT host, last_value(f + 1 ORDER BY time) FROM cpu GROUP BY host", false],
    ["SELECT last_value(f ORDER BY time) FROM cpu", false],
    ["SELECT host, last_value(f ORDER BY time), rank() OVER (ORDER BY host) FROM cpu GROUP BY host", false],
    ["SELECT DISTINCT last_value(b ORDER BY time), max(time) < '1970-01-01' FROM cpu GROUP BY host", false],
    ['SELECT host, last_value(f ORDER BY time) FROM cpu GROUP BY GROUPING SETS ((host), ("Region", host))', false],
    ['SELECT host, "Region", last_value(f ORDER BY time) FROM cpu GROUP BY host', false],
  ];
  test.each(LAST)("%s", async (statement, isDirect) => {
    const lease = spyOn(engine, "lease");
    await full.ask(statement);
    // one is the plain twin's
    expect(lease.mock.calls.length === 1).toBe(isDirect);
    await cpu.ask(statement);
    lease.mockRestore();
  });

  test("a condition on keys reaches their scan", async () => {
    await full.ask("SELECT * FROM (SELECT host, last_value(f ORDER BY time) AS f FROM cpu GROUP BY host) WHERE host = 'a' AND f > -1000");
    expect(full.groups.requests).toMatchObject([{ newestOnly: true, tags: [{ values: ["a"] }], fields: [] }]);
  });
});

test("a small table's groups are made of all its rows", async () => {
  cpu.groups.rowCountMax = 400;
  expect(await cpu.ask("SELECT upper(host), max(time), last_value(f ORDER BY time) FROM cpu GROUP BY host")).toMatchObject({
    aggregations: 1,
    scans: 0,
  });
  expect(await cpu.ask("SELECT upper(host), max(time), last_value(s ORDER BY time) FROM cpu GROUP BY host")).toMatchObject({ scans: 1 });
  expect(cpu.groups.requests[0]).toMatchObject({ newestOnly: true });
  cpu.groups.rowCountMax = 1e9;
});
