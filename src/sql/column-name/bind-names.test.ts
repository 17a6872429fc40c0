// Names of columns as a whole statement gives them: which table stands in front of a column, and what outer queries call it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { FakeTable } from "../../../test/support/rows/fake-table.ts";
import { askSql } from "../../../test/support/sql/sql-rows.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { SqlEngine } from "../execute/engine.ts";

let engine: SqlEngine;
let tables: FakeTable[];
beforeAll(async () => {
  const kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 1, tempDir: null });
  const { time, tag, integer } = ColumnType;
  const row = { time: 0n, host: "a", x: 1n, X: 2n };
  const columns = { time, host: tag, x: integer, X: integer };
  tables = ["t", "u", "Big.T"].map((name) => new FakeTable(kernel, name, columns, [row]));
});
afterAll(() => engine.close());

async function namesOf(statement: string): Promise<string[]> {
  const { schema } = await askSql(engine, statement, { tables, params: {} });
  return schema.fields.map(({ name }) => name);
}

const MEMBER = "__unnest_placeholder";
const PAIR = 'named_struct(Utf8("a"),t.x,Utf8("B"),Int64(2))';
const SORTED = "ASC NULLS LAST] RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW";
const NAMES: readonly (readonly [statement: string, ...names: string[]])[] = [
  // tables, as the FROM calls them
  ["SELECT max(x), max(t.x) AS y FROM t", "max(t.x)", "y"],
  ["SELECT max(x) FROM t AS a", "max(a.x)"],
  ["SELECT max(x) FROM iox.t", "max(iox.t.x)"],
  ['SELECT max("X"), max(X) FROM "Big.T"', "max(Big.T.X)", "max(Big.T.x)"],
  ["SELECT a.x + b.x, host || 'x' FROM t a JOIN u b USING (host)", "a.x + b.x", 'a.host || Utf8("x")'],
  // columns keep their own names
  ["SELECT t.x, x::double, (x) FROM t", "x", "t.x", "x"],
  // derived tables: an alias covers whose columns they are, without one they stay whose they were
  ["SELECT max(x) FROM (SELECT x FROM t)", "max(t.x)"],
  ["SELECT max(x) FROM (SELECT x FROM t) AS d", "max(d.x)"],
  ["SELECT max(x) FROM (SELECT * FROM t)", "max(t.x)"],
  ["SELECT max(y) FROM (SELECT x + 1 AS y FROM t)", "max(y)"],
  ["SELECT max(b) FROM (SELECT x, host FROM t) AS d(a, b)", "max(d.b)"],
  ["WITH c AS (SELECT x FROM t) SELECT max(x) FROM c", "max(c.x)"],
  ["WITH c(y) AS (SELECT x FROM t) SELECT max(y) FROM c AS d", "max(d.y)"],
  ["SELECT sum(x) FROM (SELECT x FROM t UNION ALL SELECT x FROM u)", "sum(x)"],
  ["SELECT sum(column1) FROM (VALUES (1), (2))", "sum(column1)"],
  ["SELECT sum(a) FROM (VALUES (1), (2)) AS v(a)", "sum(v.a)"],
  // names can be asked for
  ['SELECT "max(t.x)" FROM (SELECT max(x) FROM t)', "max(t.x)"],
  ['SELECT "max(t.x)" + 1 FROM (SELECT max(x) FROM t) AS d', "d.max(t.x) + Int64(1)"],
  ['SELECT max(x), host FROM t GROUP BY host ORDER BY "max(t.x)"', "max(t.x)", "host"],
  ['WITH c AS (SELECT count(*), x + 1 FROM t GROUP BY x) SELECT "count(*)", "t.x + Int64(1)" FROM c', "count(*)", "t.x + Int64(1)"],
  ["SELECT * FROM (SELECT 1, 'a') CROSS JOIN (SELECT count(*) FROM t)", "Int64(1)", 'Utf8("a")', "count(*)"],
  ["SELECT 1 UNION ALL SELECT 2", "Int64(1)"],
  // a window sorts by keys of the grouping as by columns, by other values as by expressions
  ["SELECT rank() OVER (ORDER BY round(x, 1)) FROM t GROUP BY round(x, 1)", `rank() ORDER BY [round(t.x,Int64(1)) ${SORTED}`],
  ["SELECT abs(x) AS y, rank() OVER (ORDER BY abs(x)) FROM t GROUP BY y", "y", `rank() ORDER BY [abs(t.x) ${SORTED}`],
  ["SELECT x::text, rank() OVER (ORDER BY x::text) FROM t GROUP BY 1", "t.x", `rank() ORDER BY [t.x ${SORTED}`],
  ["SELECT rank() OVER (ORDER BY x::text) FROM t GROUP BY x", `rank() ORDER BY [CAST(t.x AS Utf8) ${SORTED}`],
  // lists as tables
  ["SELECT * FROM unnest([1, 2])", "UNNEST(make_array(Int64(1),Int64(2)))"],
  ["SELECT * FROM unnest(['a'], [[1, 2]]) AS d", 'UNNEST(make_array(Utf8("a")))', "UNNEST(make_array(make_array(Int64(1),Int64(2))))"],
  ["SELECT x, u.* FROM t CROSS JOIN unnest([1]) u", "x", "UNNEST(make_array(Int64(1)))"],
  ["SELECT * FROM unnest([1], [2]) AS d(a, b)", "a", "b"],
  ["SELECT * FROM unnest(struct(1, 2))", `${MEMBER}(struct(Int64(1),Int64(2))).c0`, `${MEMBER}(struct(Int64(1),Int64(2))).c1`],
  // queries in expressions
  ["SELECT (SELECT max(x) FROM u) + 1 FROM t", "max(u.x) + Int64(1)"],
  ["SELECT (SELECT max(u.x) AS m FROM u) FROM t", "m"],
  ["SELECT (SELECT u.x FROM u LIMIT 1) FROM t", "x"],
  ["SELECT (WITH c AS (SELECT 1 AS a) SELECT max(a) FROM c) FROM t", "max(c.a)"],
  ["SELECT (SELECT max(u.x + t.x) FROM u) FROM t", "max(u.x + outer_ref(t.x))"],
  ["SELECT x IN (SELECT x FROM u), EXISTS (SELECT 1 FROM u) FROM t", "IN", "EXISTS"],
  // structures are shown member by member
  ["SELECT unnest(struct(1, 'x')), x FROM t", `${MEMBER}(struct(Int64(1),Utf8("x"))).c0`, `${MEMBER}(struct(Int64(1),Utf8("x"))).c1`, "x"],
  ["SELECT unnest(struct(1 AS a))", `${MEMBER}(named_struct(Utf8("a"),Int64(1))).a`],
  ["SELECT unnest(named_struct('a', x, 'B', 2)) FROM t", `${MEMBER}(${PAIR}).a`, `${MEMBER}(${PAIR}).B`],
  [
    "SELECT unnest(selector_first(x, time)) FROM t",
    `${MEMBER}(selector_first(t.x,t.time)).value`,
    `${MEMBER}(selector_first(t.x,t.time)).time`,
  ],
  // names of one statement need not be different
  ["SELECT 1, 1", "Int64(1)", "Int64(1)"],
];
test.each(NAMES)("names of columns: %s", async (statement, ...names) => expect(await namesOf(statement)).toEqual(names));

test("statements that differ in literals alone have their own names", async () => {
  const LITERALS = ["1", "2", "1", "-3", "1.5", "1.25", "'a'", "'b'"];
  for (const literal of LITERALS) {
    const [plain, inner] = await namesOf(`SELECT ${literal}, (SELECT [${literal}] FROM u) FROM t`);
    expect(inner).toBe(`make_array(${plain})`);
    expect(await namesOf(`SELECT "${plain!.replaceAll('"', '""')}" FROM (SELECT ${literal} FROM t WHERE x < 5)`)).toEqual([plain!]);
  }
  for (const count of [2, 3, 2]) {
    expect(await namesOf(`SELECT x IN (${Array(count).fill(7)}) FROM t`)).toEqual([`t.x IN ${Array(count).fill("Int64(7)").join(", ")}`]);
    expect(await namesOf(`SELECT sum(x) OVER w FROM t WINDOW w AS (ORDER BY time ROWS ${count} PRECEDING)`)).toEqual([
      `sum(t.x) ORDER BY [t.time ASC NULLS LAST] ROWS BETWEEN ${count} PRECEDING AND CURRENT ROW`,
    ]);
  }
});

test("a long chain of comparisons is named as it is written", async () => {
  const chain = (join: (text: string) => string) => Array.from({ length: 20 }, (_, i) => join(String(i))).join(" OR ");
  expect(await namesOf(`SELECT ${chain((i) => `x = ${i}`)} FROM t`)).toEqual([chain((i) => `t.x = Int64(${i})`)]);
});

test("names of a statement are bounded, however often one is in another", async () => {
  const list = Array.from({ length: 2000 }, (_, i) => i).join(", ");
  const inner = `WITH c AS (SELECT [${list}]) SELECT ${Array(60).fill("(SELECT [x] FROM u)").join(", ")} FROM t`;
  expect((await namesOf(inner)).length).toBe(60);
  const [name] = await namesOf(`SELECT [${Array(12_000).fill("1").join(", ")}]`);
  expect(name!.length).toBeLessThan(100_000);
});
