// EXPLAIN: a plan that a person can read, the pipeline that the statement itself takes, and none of our own names in it.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { ColumnType } from "../../src/model/rows/column.ts";
import { SqlEngine } from "../../src/sql/execute/engine.ts";
import type { FakeTable } from "../support/rows/fake-table.ts";
import { GroupingTable } from "../support/rows/grouping-table.ts";
import { readRows } from "../support/sql/sql-rows.ts";
import { homeTable } from "../support/sql/sql-suite.ts";

const { time, tag, float, integer } = ColumnType;
const NUMBERS = /\[\d+ rows, \d+\.\d{3} ms\]/;

let engine: SqlEngine;
let tables: (FakeTable | GroupingTable)[];
beforeAll(async () => {
  const kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  const rows = Array.from({ length: 20 }, (_, i) => ({ time: BigInt(i) * 60_000_000_000n, Host: `h${i % 4}`, v: i, n: BigInt(i) }));
  tables = [homeTable(kernel), new GroupingTable(kernel, "Cpu", { time, Host: tag, v: float, n: integer }, rows)];
});
afterAll(() => engine.close());

/** The plans by their type. */
async function explain(sql: string): Promise<Record<string, string[]>> {
  const answer = await engine.run(await engine.plan(sql), { tables, databaseTables: tables, params: { h: "h1" } });
  try {
    expect(answer.schema.fields.map(({ name }) => name)).toEqual(["plan_type", "plan"]);
    return Object.fromEntries((await readRows(answer)).map(([type, plan]) => [String(type), String(plan).split("\n")]));
  } finally {
    await answer.close();
  }
}

describe("plans", () => {
  test("operators, each inside its consumer", async () => {
    const sql = `SELECT a.room, max(b.temp) AS m FROM home AS a JOIN home AS b USING (time) WHERE a.co > 3 GROUP BY a.room HAVING max(b.temp) > 3 ORDER BY m LIMIT 3`;
    const { physical_plan: lines } = await explain(`EXPLAIN ${sql}`);
    const names = lines!.slice(0, lines!.indexOf("reads")).map((line) => /^( *)([A-Z_]+)/.exec(line)!.slice(1, 3));
    const operators = names.map(([indent, name]) => `${indent!.length / 2} ${name}`);
    expect(operators.slice(0, 5)).toEqual(["0 TOP_N", "1 FILTER", "2 HASH_GROUP_BY", "3 PROJECTION", "4 HASH_JOIN"]);
    // the sides of the join, whichever is first
    expect(operators.slice(5).sort()).toEqual(["5 PROJECTION", "5 SCAN", "6 FILTER", "7 SCAN"]);
    expect(lines!.slice(-3)).toEqual(["reads", "  rows of home: co > 3", "  rows of home"]);
    expect(lines![0]).toContain("top 3; order by max(");
  });

  test("EXPLAIN of a statement that the scan answers without DuckDB", async () => {
    const sql = `EXPLAIN SELECT v, "Host" FROM "Cpu" WHERE "Host" = $h AND time >= '1970-01-01T00:05:00Z' AND time < '1970-01-01T00:10:00Z' AND n > 2 ORDER BY time DESC LIMIT 2 OFFSET 1`;
    expect(await explain(sql)).toEqual({
      physical_plan: [
        "ANSWER_OF_SCAN: columns v, Host; order by time DESC; limit 2; offset 1",
        "reads",
        "  rows of Cpu: time >= 1970-01-01T00:05:00Z; time <= 1970-01-01T00:09:59.999999999Z; Host = 'h1'; n > 2; the latest 3",
      ],
    });
  });

  test("a scan of newest rows in EXPLAIN", async () => {
    const { physical_plan: lines } = await explain(
      'EXPLAIN SELECT DISTINCT ON ("Host") "Host", time FROM "Cpu" ORDER BY "Host", time DESC',
    );
    expect(lines).toEqual([
      "ANSWER_OF_SCAN: columns Host, time; first of each Host; order by Host, time DESC",
      "reads",
      "  rows of Cpu: the newest row of each series",
    ]);
  });

  test("groups that the storage makes", async () => {
    const sql = `SELECT "Host", date_bin(INTERVAL '10 minutes', time) AS t, avg(v), count(*) FROM "Cpu" WHERE "Host" IN ('h1', 'h2') GROUP BY 1, 2`;
    const { physical_plan: lines } = await explain(`EXPLAIN ${sql}`);
    expect(lines!.at(-1)).toBe("  groups of Cpu: by bins of 10 min, Host; mean(v), count(*); Host in ('h1', 'h2')");
  });

  test("a condition that no time satisfies, and many values", async () => {
    const never = await explain("EXPLAIN SELECT * FROM home WHERE time < '2020-01-01' AND time > '2021-01-01'");
    expect(never["physical_plan"]!.at(-1)).toBe("  rows of home: nothing, because no time is in the range");
    const many = await explain("EXPLAIN SELECT * FROM home WHERE room IN ('a', 'b', 'c', 'd', 'e', 'f', 'g')");
    expect(many["physical_plan"]!.at(-1)).toBe("  rows of home: room in ('a', 'b', 'c', 'd', 'e', and 2 more)");
  });
});

describe("ANALYZE runs the statement", () => {
  test("rows and times of each operator, and the total", async () => {
    const found = await explain("EXPLAIN ANALYZE SELECT room, avg(temp) FROM home WHERE co > 2 GROUP BY room ORDER BY room");
    const lines = found["Plan with Metrics"]!;
    expect(Object.keys(found)).toEqual(["Plan with Metrics"]);
    const end = lines.findIndex((line) => line.startsWith("total: "));
    expect(lines[end]).toMatch(/^total: \d+\.\d{3} ms, processor \d+\.\d{3} ms, memory \d+\.\d MiB$/);
    for (const line of lines.slice(0, end)) expect(line).toMatch(NUMBERS);
    // two rooms; eleven hours with more than 2: 6 in the kitchen, 5 in the living room
    expect(lines[0]).toContain("[2 rows, ");
    expect(lines.find((line) => line.includes("FILTER"))).toContain("[11 rows, ");
  });

  test("EXPLAIN ANALYZE of a statement that the scan answers without DuckDB", async () => {
    const { "Plan with Metrics": lines } = await explain('EXPLAIN ANALYZE SELECT v FROM "Cpu" WHERE n > 4');
    expect(lines![0]).toMatch(/^ANSWER_OF_SCAN: columns v \[15 rows, \d+\.\d{3} ms\]$/);
  });

  test("an error of the run is the statement's", async () => {
    await expect(explain("EXPLAIN ANALYZE SELECT CAST(room AS BIGINT) + 1 FROM home")).rejects.toThrow(/Kitchen|Living Room/);
    await expect(explain("EXPLAIN SELECT\n  nothing FROM home")).rejects.toThrow(/No field named nothing\. .* at Line: 2, Column: 3$/);
  });
});

describe("words", () => {
  test("VERBOSE adds what the engine is asked", async () => {
    for (const [words, type] of [
      ["VERBOSE", "physical_plan"],
      ["ANALYZE VERBOSE", "Plan with Metrics"],
      ["verbose analyze", "Plan with Metrics"],
    ]) {
      const found = await explain(`EXPLAIN ${words} SELECT "Host" AS "H", upper("Host") FROM "Cpu"`);
      expect(Object.keys(found)).toEqual([type!, "engine_statement"]);
      expect(found["engine_statement"]!.join("\n")).toStartWith('SELECT "Host" AS "H", ');
    }
  });

  const SHAPES = [
    "SELECT 1",
    "VALUES (1), (2)",
    "(SELECT 1)",
    "WITH c AS (SELECT room FROM home) SELECT count(*) FROM c",
    "SELECT time, row_number() OVER (PARTITION BY room ORDER BY time) FROM home",
    "SELECT room FROM home UNION ALL SELECT table_name FROM information_schema.tables",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r",
    "SELECT date_bin(INTERVAL '1 month', time), selector_last(temp, time)['value'] FROM home GROUP BY 1",
    'SELECT "Host" FROM "Cpu" WHERE lower("Host") = $h',
  ];
  test.each(SHAPES)("no name of ours in %s", async (sql) => {
    for (const words of ["", "ANALYZE", "VERBOSE"]) {
      const text = Object.values(await explain(`EXPLAIN ${words} ${sql}`))
        .flat()
        .join("\n");
      expect(text).not.toMatch(/\b__|\u{E000}/u);
      expect(text.length).toBeGreaterThan(5);
    }
  });

  const REFUSED = ["EXPLAIN", "EXPLAIN ANALYZE", "EXPLAIN EXPLAIN SELECT 1", "EXPLAIN SHOW TABLES", "EXPLAIN INSERT INTO home VALUES (1)"];
  test.each(REFUSED)("%s is refused", (sql) => expect(explain(sql)).rejects.toThrow(/EXPLAIN|not supported/));
});
