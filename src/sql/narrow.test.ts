// Which conditions reach which scans: from WHERE and ON, through subqueries and WITH, and where they must not. The narrowed table keeps to
// every hint, so a hint too many is a wrong answer.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { Twins, twinRows } from "../../test/support/sql/sql-twins.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { expressionText } from "../model/query/field-expression.ts";
import { ALL_TIME, type ScanRequest } from "../model/query/scan.ts";
import { SqlEngine } from "./execute/engine.ts";

let engine: SqlEngine;
let cpu: Twins;
beforeAll(async () => {
  const kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  cpu = new Twins(kernel, engine, "cpu", twinRows(prng(21), 120));
});
afterAll(() => engine.close());

/** `host=a,null f>3 time` */
function describeRequest({ range, tags, fields = [] }: ScanRequest): string {
  const name = (id: number) => cpu.groups.columns.find((column) => column.id === id)!.name;
  const parts = [
    ...tags.map(({ columnId, values }) => `${name(columnId)}=${values.join(",")}`),
    ...fields.map((field) => {
      if (field.operator === "true") return expressionText(field.expression, name);
      return `${name(field.columnId)}${field.operator === "in" ? `=${field.values}` : `${field.operator}${field.value}`}`;
    }),
    ...(range.minNs === ALL_TIME.minNs && range.maxNs === ALL_TIME.maxNs ? [] : ["time"]),
  ];
  return parts.sort().join(" ");
}

const ALL = "";
const CASES: [statement: string, narrowed: string[]][] = [
  // WHERE
  ["SELECT f, i FROM cpu WHERE host = 'a' AND f > 3 AND time >= '1970-01-01'", ["f>3 host=a time"]],
  ["SELECT f, i FROM cpu WHERE host = 'a' AND (f > 3 OR i > 3)", ["host=a"]],
  ["SELECT count(DISTINCT s) FROM cpu WHERE u > 2.5 AND 7 >= i AND b", ["b=true i<=7 u>=3"]],
  ["SELECT i FROM cpu WHERE s = 'x' AND 'y' = s", ["s=x s=y"]],
  ["SELECT i FROM cpu WHERE s IN ('x', 'y') AND s IN (lower('Z'), 'z')", ["s=x,y"]],
  ["SELECT i FROM cpu WHERE s = 5", ["s=5"]],
  ["SELECT i FROM cpu WHERE s IN ('x', NULL)", [ALL]],
  ["SELECT i FROM cpu WHERE s != 'x' OR s NOT IN ('y') OR s > 'z'", [ALL]],
  ["SELECT i FROM cpu WHERE NOT (s = 'x')", [ALL]],
  ["SELECT i FROM cpu WHERE NOT (host = 'a')", [ALL]],
  ['SELECT i FROM cpu WHERE host = "Region"', [ALL]],
  ["SELECT i FROM cpu WHERE f = 'NaN'::DOUBLE", [ALL]],
  ["SELECT i FROM cpu WHERE i > 1e30 OR i < 0.5", [ALL]],
  ["SELECT i FROM cpu WHERE i > 1e30", [ALL]],
  ["SELECT i FROM cpu WHERE u < -1", [ALL]],
  ["SELECT i FROM cpu WHERE i = 4.5", [ALL]],
  ["SELECT i FROM cpu WHERE i = 4.0 AND f = 4", ["f=4 i=4"]],
  ["SELECT i FROM cpu WHERE i BETWEEN -4.5 AND 10.5", ["i<=10 i>=-4"]],
  // compared as doubles, which these are not
  ["SELECT i FROM cpu WHERE i BETWEEN -9223372036854775807 AND 10.5", ["i<=10"]],
  ["SELECT i FROM cpu WHERE u BETWEEN f AND 9007199254740993", [ALL]],
  ["SELECT i FROM cpu WHERE i BETWEEN -9223372036854775807 AND 9007199254740993", ["i<=9007199254740993 i>=-9223372036854775807"]],
  ["SELECT i FROM cpu WHERE f > 18446744073709551616", ["f>18446744073709552000"]],
  // subqueries and WITH
  ["SELECT * FROM (SELECT host AS h, f + 1 AS g, i FROM cpu WHERE f > 0) WHERE h = 'a' AND i > 3", ["f>0 host=a i>3"]],
  ["SELECT * FROM (SELECT * FROM (SELECT * FROM cpu) AS x) AS y WHERE y.host = 'b' AND y.time < '1970-01-01'", ["host=b time"]],
  ["SELECT g FROM (SELECT f + 1 AS g, host FROM cpu) WHERE g > 3", [ALL]],
  ["SELECT * FROM (SELECT DISTINCT host, i % 7 AS i FROM cpu) WHERE host = 'a' ORDER BY i", ["host=a"]],
  ["SELECT * FROM (SELECT host, i FROM cpu ORDER BY i, host, time, f LIMIT 30) WHERE host = 'a'", [ALL]],
  ["SELECT * FROM (SELECT DISTINCT ON (host) host, i FROM cpu ORDER BY host, time, i, f) WHERE i > 3", [ALL]],
  ["SELECT * FROM (SELECT host, i, row_number() OVER (ORDER BY time, i, f, u, s) AS n FROM cpu) WHERE host = 'a'", [ALL]],
  ["SELECT * FROM (SELECT host, i FROM cpu QUALIFY row_number() OVER (ORDER BY time, i, f, u, s) < 40) WHERE host = 'a'", [ALL]],
  ["SELECT * FROM (SELECT host, count(DISTINCT s) n FROM cpu GROUP BY host) WHERE host = 'a'", ["host=a"]],
  ["SELECT * FROM (SELECT host, count(DISTINCT s) n FROM cpu GROUP BY ROLLUP (host)) WHERE host IS NULL", [ALL]],
  ["WITH c AS (SELECT * FROM cpu) SELECT f FROM c WHERE host = 'a'", ["host=a"]],
  ["WITH c(h, j) AS (SELECT host, i FROM cpu), d AS (SELECT h FROM c WHERE j > 3) SELECT * FROM d WHERE h = 'a'", ["host=a i>3"]],
  ["WITH c AS (SELECT * FROM cpu) SELECT x.f FROM c x, c y WHERE x.host = 'a' AND y.host = 'b' AND x.time = y.time", [ALL]],
  ["WITH c AS MATERIALIZED (SELECT host, i FROM cpu) SELECT i FROM c WHERE host = 'a'", ["host=a"]],
  ["WITH c AS (SELECT host, i FROM cpu) SELECT (SELECT count(*) FROM c WHERE host = 'a'), (SELECT count(*) FROM c)", [ALL]],
  ["SELECT * FROM (SELECT host, i FROM cpu UNION ALL SELECT host, u FROM cpu) AS u WHERE host = 'a'", [ALL, ALL]],
  ["SELECT * FROM (VALUES ('a'), ('b')) v(k), LATERAL (SELECT i FROM cpu WHERE host = k) AS l WHERE i > 3", ["i>3"]],
  ["SELECT f FROM cpu AS o WHERE EXISTS (SELECT 1 FROM cpu AS n WHERE n.host = 'a' AND n.i = o.i AND o.f > 3)", [ALL, "host=a"]],
  // joins
  ["SELECT a.i FROM cpu a JOIN cpu b ON a.time = b.time AND a.host = 'a' AND b.f > 3 WHERE b.host = 'b'", ["f>3 host=b", "host=a"]],
  ["SELECT a.i, b.i FROM cpu a LEFT JOIN cpu b ON a.time = b.time AND a.host = 'a' AND b.host = 'b'", [ALL, "host=b"]],
  ["SELECT a.i, b.i FROM cpu a RIGHT JOIN cpu b ON a.time = b.time AND a.host = 'a' AND b.host = 'b'", [ALL, "host=a"]],
  ["SELECT a.i, b.i FROM cpu a FULL JOIN cpu b ON a.time = b.time AND a.host = 'a' AND b.host = 'b'", [ALL, ALL]],
  ["SELECT a.i FROM cpu a SEMI JOIN cpu b ON a.time = b.time AND a.host = 'a' AND b.host = 'b'", ["host=a", "host=b"]],
  ["SELECT a.i FROM cpu a ANTI JOIN cpu b ON a.time = b.time AND a.host = 'a' AND b.host = 'b'", [ALL, "host=b"]],
  ["SELECT a.i, b.i FROM cpu a LEFT JOIN cpu b USING (time) WHERE a.f > 3 AND b.f > 4", ["f>3", "f>4"]],
  ["SELECT a.i FROM cpu a LEFT JOIN cpu b ON a.time = b.time AND a.host = b.host WHERE b.host IS NULL AND a.host = 'a'", [ALL, "host=a"]],
  ["SELECT b.i FROM cpu a RIGHT JOIN cpu b ON a.time = b.time AND a.host = b.host WHERE a.host IS NULL", [ALL, ALL]],
  ["SELECT a.i, b.i FROM cpu a FULL JOIN cpu b USING (time, host) WHERE host = 'a'", [ALL, "host=a"]],
  ["SELECT * FROM (SELECT b.host AS h, a.i FROM cpu a LEFT JOIN cpu b USING (time)) WHERE h IS NULL OR h = 'a'", [ALL, ALL]],
  ["SELECT a.i, b.i FROM cpu a ASOF JOIN cpu b ON a.host = b.host AND a.time >= b.time AND b.f > 3 WHERE a.i > 3", [ALL, ALL]],
  ["SELECT x.n FROM (SELECT host, count(*) n FROM cpu GROUP BY host) x JOIN cpu ON x.host = cpu.host AND cpu.host = 'a'", ["host=a"]],
];

describe("scans are narrowed by", () => {
  test.each(CASES)("%s", async (statement, narrowed) => {
    await cpu.ask(statement);
    expect(cpu.groups.requests.map(describeRequest).sort()).toEqual([...narrowed].sort());
  });

  test("a condition on keys reaches the groups that the storage makes", async () => {
    for (const statement of [
      "SELECT * FROM (SELECT host, max(i) FROM cpu GROUP BY host) WHERE host = 'a'",
      "SELECT host, max(i) FROM cpu GROUP BY host HAVING host = 'a'",
      "WITH g AS (SELECT host, max(i) m FROM cpu GROUP BY host) SELECT m FROM g WHERE host IN ('a', 'b') AND host != 'b'",
    ]) {
      expect(await cpu.ask(statement)).toMatchObject({ aggregations: 1, scans: 0 });
      expect(cpu.groups.aggregations[0]!.tags).toEqual([{ columnId: 101, values: expect.arrayContaining(["a"]) }]);
    }
    await cpu.ask("SELECT * FROM (SELECT host, max(i) m, rank() OVER (ORDER BY max(i), host) FROM cpu GROUP BY host) WHERE host = 'a'");
    expect(cpu.groups.aggregations[0]!.tags).toEqual([]);
  });
});
