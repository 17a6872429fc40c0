// Counts that are numbers of groups by tags: the scan gives the number, and no rows.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { Twins, twinRows } from "../../test/support/sql/sql-twins.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { SqlEngine } from "./execute/engine.ts";

let engine: SqlEngine;
let cpu: Twins;
let empty: Twins;

beforeAll(async () => {
  const kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  cpu = new Twins(kernel, engine, "cpu", twinRows(prng(7), 300));
  empty = new Twins(kernel, engine, "cpu", []);
  // large enough that newest rows are preferred to groups over all
  cpu.groups.rowCountMax = 1e9;
});
afterAll(() => engine.close());

const NUMBERS = [
  "SELECT count(DISTINCT host) FROM cpu",
  "SELECT count(DISTINCT host) AS n, 1 AS one, count(DISTINCT c.host) * 2 + 1 FROM cpu AS c",
  "SELECT count(DISTINCT host) FROM cpu WHERE time >= '1970-01-01' AND time < '1970-01-01T00:01:00Z'",
  "SELECT count(DISTINCT \"Region\") FROM cpu WHERE host = 'a' OR host IS NULL",
  "SELECT count(DISTINCT host) FROM cpu WHERE time > '2200-01-01'",
  "SELECT n + 1 FROM (SELECT count(DISTINCT host) AS n FROM cpu) WHERE n > 0",
  "SELECT CASE WHEN count(DISTINCT host) > 2 THEN 'many' ELSE 'few' END FROM cpu",
  "SELECT count(*) FROM (SELECT DISTINCT host FROM cpu)",
  "SELECT count(*) AS n FROM (SELECT DISTINCT host, \"Region\" FROM cpu WHERE time < '1970-01-01') AS x",
  "SELECT count(1) FROM (SELECT DISTINCT ON (host) * FROM cpu ORDER BY host, time DESC)",
  "SELECT count(*) FROM (SELECT DISTINCT ON (host) i, f, time FROM cpu WHERE \"Region\" = 'eu' ORDER BY host, i)",
  'SELECT count(*) + 0 FROM (SELECT DISTINCT ON ("Region", host) time AS t, host FROM cpu)',
  "SELECT count(*) FROM (SELECT host FROM cpu GROUP BY host)",
  "SELECT count(*) FROM (SELECT upper(host) AS host FROM cpu GROUP BY host)",
  "SELECT count(*) FROM (SELECT host AS h, max(time), sum(f) FROM cpu GROUP BY h ORDER BY 2)",
  "SELECT count(*) FROM (SELECT host, \"Region\", avg(i) FROM cpu WHERE host IN ('a', 'b') GROUP BY ALL)",
  "SELECT count(*) FROM (SELECT DISTINCT host FROM cpu WHERE time > '2200-01-01')",
];

describe("one number of the scan", () => {
  test.each(NUMBERS)("%s", async (statement) => {
    const { aggregations, scans } = await cpu.ask(statement);
    expect([aggregations, scans]).toEqual([1, 0]);
    expect(cpu.groups.aggregations[0]!.counted).toBeDefined();
    await empty.ask(statement);
  });
});

const OTHERS = [
  // other rows count
  "SELECT count(DISTINCT host) FROM cpu WHERE f > 3",
  "SELECT count(DISTINCT host) FROM cpu WHERE s = 'text 1' AND host = 'a'",
  "SELECT count(DISTINCT host) FROM cpu WHERE time > '1970-01-01' OR host = 'a'",
  "SELECT count(*) FROM (SELECT DISTINCT host FROM cpu WHERE i IS NOT NULL)",
  "SELECT count(*) FROM (SELECT DISTINCT ON (host) * FROM cpu WHERE b ORDER BY host, time DESC)",
  // other values
  "SELECT count(DISTINCT s) FROM cpu",
  "SELECT count(DISTINCT time) FROM cpu",
  "SELECT count(DISTINCT upper(host)) FROM cpu",
  "SELECT count(host) FROM cpu",
  "SELECT approx_distinct(host) FROM cpu",
  "SELECT count(DISTINCT host) FILTER (WHERE host > 'a') FROM cpu",
  "SELECT count(DISTINCT host), count(*) FROM cpu",
  'SELECT count(DISTINCT host), count(DISTINCT "Region") FROM cpu',
  'SELECT "Region", count(DISTINCT host) FROM cpu GROUP BY "Region"',
  "SELECT count(DISTINCT host) FROM cpu HAVING count(DISTINCT host) > 100",
  "SELECT count(*) FROM (SELECT DISTINCT ON (s) * FROM cpu ORDER BY s, time DESC)",
  "SELECT count(*) FROM (SELECT DISTINCT host, i % 7 FROM cpu)",
  "SELECT count(*) FROM (SELECT date_bin(INTERVAL '1 minute', time) AS t, host FROM cpu GROUP BY t, host)",
  "SELECT count(*) FROM (SELECT upper(host) AS h FROM cpu GROUP BY h)",
  "SELECT count(*) FROM (SELECT DISTINCT ON (host) upper(s) AS host, time FROM cpu ORDER BY host, time)",
  // other clauses
  "SELECT count(*) FROM (SELECT DISTINCT host FROM cpu LIMIT 2)",
  "SELECT count(*) FROM (SELECT DISTINCT ON (host) * FROM cpu ORDER BY host, time DESC LIMIT 1)",
  "SELECT count(*) FROM (SELECT host FROM cpu GROUP BY host HAVING sum(f) > 10)",
  'SELECT count(*) FROM (SELECT host, count(DISTINCT "Region"), sum(f) FROM cpu GROUP BY host)',
  'SELECT count(*) FROM (SELECT host FROM cpu GROUP BY ROLLUP (host, "Region"))',
  "SELECT count(*) FROM (SELECT DISTINCT host FROM cpu) WHERE host = 'a'",
  "SELECT host, count(*) FROM (SELECT DISTINCT host FROM cpu) GROUP BY host",
  "SELECT count(host) FROM (SELECT DISTINCT host FROM cpu)",
  "SELECT count(NULL) FROM (SELECT DISTINCT host FROM cpu)",
  "SELECT count(*) FILTER (WHERE host = 'a') FROM (SELECT DISTINCT host FROM cpu)",
  "SELECT count(*), max(host) FROM (SELECT DISTINCT host FROM cpu)",
  "SELECT count(*) OVER () FROM (SELECT DISTINCT host FROM cpu)",
  "SELECT count(*) FROM (SELECT DISTINCT host FROM cpu) AS x(h), (SELECT DISTINCT host FROM cpu) AS y",
  "SELECT count(*) FROM (SELECT DISTINCT host FROM cpu UNION ALL SELECT 'z')",
  "WITH cpu AS (SELECT 'x' AS host) SELECT count(*) FROM (SELECT DISTINCT host FROM cpu)",
  "SELECT count(*) FROM (WITH r AS (SELECT host FROM cpu LIMIT 3) SELECT DISTINCT host FROM r)",
  // mistakes
  "SELECT count(*) FROM (SELECT DISTINCT ON (host) nothing FROM cpu)",
  "SELECT count(*) FROM (SELECT DISTINCT ON (host) * FROM cpu ORDER BY nothing)",
  "SELECT count(*) FROM (SELECT DISTINCT ON (host) f + s FROM cpu)",
  "SELECT count(*) FROM (SELECT nothing, host FROM cpu GROUP BY host)",
  "SELECT count(*), f FROM (SELECT DISTINCT ON (host) f FROM cpu)",
  "SELECT count(DISTINCT host), f FROM cpu",
];

describe("anything else", () => {
  test.each(OTHERS)("%s", async (statement) => {
    await cpu.ask(statement);
    expect(cpu.groups.aggregations.filter(({ counted }) => counted !== undefined)).toEqual([]);
    await empty.ask(statement);
  });
});

test("EXPLAIN says what is counted", async () => {
  const { rows } = await cpu.explain("SELECT count(DISTINCT host) FROM cpu WHERE time > '1970-01-01'");
  expect(rows.join("\n")).toContain("groups of cpu: their number by host, without NULL; time >= 1970-01-01T00:00:00.000000001Z");
});
