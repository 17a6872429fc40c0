// Values of tags counted beside other aggregates: the scan groups by these tags as well, and DuckDB aggregates its groups. Each statement
// answers as DuckDB does on all rows, and as the same scan without groups, in all states of the rows.
import { describe, expect, test } from "bun:test";
import { pick, prng } from "../support/prng.ts";
import type { RowStep } from "../support/rows/row-states.ts";
import { SCAN_VIEWS } from "../support/rows/scan-views.ts";
import type { SqlAsk, StoredRows } from "../support/rows/stored-rows.ts";
import { sqlStates } from "../support/sql/sql-states.ts";
import { comparable } from "../support/sql/sql-twins.ts";

const NOW_NS = 1_700_000_000_000_000_000n;
const BY_ROWS = SCAN_VIEWS.find(([leftOut]) => leftOut === "groups")![1];

/** Hosts with and without a region, fields with and without values, one host without a float, a table of one row, and a constant tag. */
function steps(): RowStep[] {
  const below = prng(23);
  const lines = Array.from({ length: 600 }, (_, i) => {
    const host = below(40);
    const tags = [`host=h${host}`, ...(below(4) === 0 ? [] : [`region=${pick(below, ["eu", "us", "ap"])}`]), "site=x"];
    const fields = [`i=${below(200) - 100}i`, ...(host === 7 || below(3) === 0 ? [] : [`f=${below(100) / 4}`]), `u=${below(50)}u`];
    return `cpu,${tags.join(",")} ${fields.join(",")} ${1_000_000_000 * i}`;
  });
  const large = [1, 2, 3].map((i) => `large,host=h${i} i=9223372036854775000i,f=1 ${i}`);
  return [lines.slice(0, 400), [...lines.slice(300), "one,host=a i=1i 5", ...large]].map((part) => ({
    database: "db",
    lines: part.join("\n"),
  })) as RowStep[];
}

const states = sqlStates(steps);
const { stored } = states;

const ask = (one: StoredRows, statement: string, options: SqlAsk = {}) =>
  comparable(statement, one.sql(states.engine, statement, { nowNs: NOW_NS, ...options }));

async function check(statement: string, ofScan: boolean): Promise<void> {
  const expected = await ask(stored[0]![1], statement, { isPlain: true });
  for (const [state, one] of stored) {
    expect([state, await ask(one, statement)]).toEqual([state, expected]);
    expect([state, (await ask(one, statement, { view: BY_ROWS })).rows]).toEqual([state, expected.rows]);
  }
  const { rows } = await stored[0]![1].sql(states.engine, `EXPLAIN ${statement}`, { nowNs: NOW_NS });
  expect(/groups of /.test(rows.flat().join("\n"))).toBe(ofScan);
}

const OF_SCAN: readonly string[] = [
  "SELECT count(*), count(DISTINCT host) FROM cpu",
  "SELECT count(DISTINCT host) AS hosts, count(DISTINCT region) AS regions, count(f) AS n, min(f), max(i), min(time) FROM cpu",
  "SELECT count(*) AS n, approx_distinct(host) AS hosts, sum(i), sum(u), sum(f), avg(f) FROM cpu",
  "SELECT region, count(*), count(DISTINCT host), avg(f), max(u) FROM cpu GROUP BY region ORDER BY region",
  "SELECT region AS r, count(DISTINCT host) * 2 + count(*) AS x FROM cpu GROUP BY 1 HAVING count(*) > 3 AND count(DISTINCT host) > 1 ORDER BY x DESC",
  "SELECT left(host, 2) AS k, count(*), count(DISTINCT host) FROM cpu GROUP BY k ORDER BY k",
  "SELECT upper(region), count(*), count(DISTINCT site) FROM cpu WHERE region IS NOT NULL GROUP BY upper(region)",
  "SELECT host, count(DISTINCT region), sum(i) FROM cpu WHERE i > 0 AND time < '1970-01-01T00:05:00Z' GROUP BY ALL ORDER BY host",
  "SELECT count(*), count(DISTINCT host) FROM cpu WHERE host = 'none'",
  "SELECT region, count(*), count(DISTINCT host) FROM cpu WHERE host = 'none' GROUP BY region",
  "SELECT avg(i), avg(u), avg(f), count(DISTINCT host) FROM cpu",
  "SELECT avg(i), count(DISTINCT host) FROM large",
  "SELECT region, avg(f), avg(i), count(DISTINCT host) FROM cpu WHERE i > 5 GROUP BY region ORDER BY avg(i)",
  "SELECT count(DISTINCT host), avg(f) FROM cpu WHERE host = 'h7'",
  "SELECT count(*), count(DISTINCT host) FROM one",
  "SELECT count(DISTINCT host) FROM cpu HAVING count(*) > 1000000",
  "SELECT * FROM (SELECT region, count(*) AS n, count(DISTINCT host) AS h FROM cpu GROUP BY region) WHERE region = 'eu' AND n > 1",
  "SELECT region, count(*) AS n, count(DISTINCT host), rank() OVER (ORDER BY count(*)) FROM cpu GROUP BY region",
];

/** The number alone. */
const NUMBERS: readonly string[] = [
  "SELECT count(DISTINCT host) FROM cpu",
  "SELECT count(DISTINCT region) AS n FROM cpu WHERE time >= '1970-01-01T00:05:00Z' AND time < '1970-01-01T00:07:00Z'",
  "SELECT count(DISTINCT host) FROM cpu WHERE region IS NULL",
  "SELECT count(DISTINCT host) FROM cpu WHERE region LIKE 'e%' OR upper(host) = 'H7'",
  "SELECT count(DISTINCT host) FROM cpu WHERE time > '1970-01-01T00:09:50Z'",
  "SELECT count(DISTINCT site) FROM cpu WHERE site = 'x'",
  "SELECT count(DISTINCT host) FROM cpu WHERE host = 'none'",
  "SELECT count(DISTINCT host) FROM one",
  "SELECT count(*) FROM (SELECT DISTINCT host, region, site FROM cpu)",
  "SELECT count(*) FROM (SELECT DISTINCT region FROM cpu WHERE host < 'h2')",
  "SELECT count(*) FROM (SELECT DISTINCT ON (region, host) * FROM cpu ORDER BY region, host, time DESC)",
  "SELECT count(*) FROM (SELECT DISTINCT ON (host) i FROM cpu WHERE time < '1970-01-01T00:00:10Z' ORDER BY host)",
  "SELECT count(*) FROM (SELECT site, region, max(i) FROM cpu WHERE host != 'h7' GROUP BY site, region)",
  "SELECT count(*) FROM (SELECT host FROM one GROUP BY host)",
];

const OF_ROWS: readonly string[] = [
  "SELECT count(*), count(DISTINCT i) FROM cpu",
  "SELECT count(*), count(DISTINCT host) FILTER (WHERE i > 0) FROM cpu",
  "SELECT count(DISTINCT host), last_value(f ORDER BY time) FROM cpu",
  "SELECT count(DISTINCT host), approx_median(f) FROM cpu",
  "SELECT count(DISTINCT host), count(DISTINCT concat(host, region)), count(*) FROM cpu",
  "SELECT date_bin(INTERVAL '1 minute', time) AS t, count(*), count(DISTINCT host) FROM cpu GROUP BY t",
];

describe("of the scan's groups", () => {
  test.each(OF_SCAN)("%s", (statement) => check(statement, true));

  test.each(NUMBERS)("%s", (statement) => check(statement, true));

  test("a sum beyond 64 bits is an error", async () => {
    for (const [, one] of stored) {
      const asked = one.sql(states.engine, "SELECT count(DISTINCT host), sum(i) FROM large", { nowNs: NOW_NS });
      expect(asked).rejects.toThrow("Arithmetic overflow: 27670116110564325000 does not fit a 64-bit integer");
      await asked.catch(() => {});
    }
  });
});

describe("of rows", () => {
  test.each(OF_ROWS)("%s", (statement) => check(statement, false));
});
