// Caches in FROM, over small tables whose rows are written out here: what is true of tables is true of them, but for the order of columns.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { FakeTable } from "../../../test/support/rows/fake-table.ts";
import { readRows, type SqlValue } from "../../../test/support/sql/sql-rows.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import type { CacheReference } from "../../model/caches.ts";
import type { QueryParams } from "../../model/query/query.ts";
import type { ScanTable } from "../../model/query/scan-table.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { SqlEngine } from "../execute/engine.ts";
import { cacheKey } from "./cache-tables.ts";

const { time, tag, float, string } = ColumnType;
const T = 1_704_067_200_000_000_000n;

let kernel: Kernel;
let engine: SqlEngine;
let cpu: FakeTable;
let last: FakeTable;
let distinct: FakeTable;

beforeAll(async () => {
  kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  cpu = new FakeTable(kernel, "cpu", { time, host: tag, usage: float }, [
    { time: T - 1n, host: "a", usage: 0.25 },
    { time: T, host: "a", usage: 0.5 },
    { time: T + 1n, host: "b", usage: 1.5 },
  ]);
  // not by name, and not in the table's order
  last = new FakeTable(kernel, "cpu", { zone: tag, host: tag, usage: float, note: string, time }, [
    { zone: "z", host: "a", usage: 0.5, note: null, time: T },
    { zone: "z", host: "b", usage: 1.5, note: "n", time: T + 1n },
  ]);
  distinct = new FakeTable(kernel, "cpu", { zone: tag, host: tag }, [
    { zone: "z", host: "a" },
    { zone: "z", host: "b" },
    { zone: null, host: "b" },
  ]);
});
afterAll(() => engine.close());

const caches = (): [CacheReference, ScanTable][] => [
  [{ kind: "last", table: "cpu", name: "c" }, last],
  [{ kind: "last", table: "cpu", name: null }, last],
  [{ kind: "distinct", table: "cpu", name: "c" }, distinct],
  [{ kind: "distinct", table: "cpu", name: null }, distinct],
];

async function ask(sql: string, params: QueryParams = {}, known = caches()): Promise<{ names: string[]; rows: SqlValue[][] }> {
  const plan = await engine.plan(sql);
  const wanted = new Set(plan.caches.map(cacheKey));
  const found = known.map(([reference, table]): [string, ScanTable] => [cacheKey(reference), table]);
  const tables = plan.tables.includes("cpu") ? [cpu] : [];
  const answer = await engine.run(plan, { tables, caches: new Map(found.filter(([key]) => wanted.has(key))), params });
  try {
    const rows = await readRows(answer);
    return { names: answer.schema.fields.map(({ name }) => name), rows };
  } finally {
    await answer.close();
  }
}

const ALL = ["zone", "host", "usage", "note", "time"];
const A: SqlValue[] = ["z", "a", 0.5, null, T];
const B: SqlValue[] = ["z", "b", 1.5, "n", T + 1n];

test.each<[sql: string, names: string[], rows: SqlValue[][]]>([
  ["SELECT * FROM last_cache('cpu', 'c')", ALL, [A, B]],
  ["SELECT * FROM last_cache('cpu')", ALL, [A, B]],
  ["SELECT * FROM LAST_CACHE ( 'cpu' )", ALL, [A, B]],
  ["SELECT * FROM \"last_cache\"('cpu')", ALL, [A, B]],
  [
    "SELECT * FROM distinct_cache('cpu', 'c')",
    ["zone", "host"],
    [
      ["z", "a"],
      ["z", "b"],
      [null, "b"],
    ],
  ],
  ["SELECT host FROM distinct_cache('cpu') WHERE zone IS NULL", ["host"], [["b"]]],
  ["SELECT host, time FROM last_cache('cpu') WHERE host = 'b'", ["host", "time"], [["b", T + 1n]]],
  ["SELECT x.usage FROM last_cache('cpu') AS x WHERE x.host IN ('a', 'c')", ["usage"], [[0.5]]],
  ["SELECT last_cache.usage FROM last_cache('cpu') ORDER BY last_cache.usage DESC", ["usage"], [[1.5], [0.5]]],
  [
    "SELECT q, r FROM last_cache('cpu') AS x(q, r) ORDER BY r",
    ["q", "r"],
    [
      ["z", "a"],
      ["z", "b"],
    ],
  ],
  ["SELECT zone, count(*) AS n, max(usage) AS m FROM last_cache('cpu') GROUP BY zone", ["zone", "n", "m"], [["z", 2n, 1.5]]],
  ["SELECT count(*) AS n FROM distinct_cache('cpu', 'c')", ["n"], [[3n]]],
  // named as the vendor's server names them
  ["SELECT max(host), count(zone) FROM last_cache('cpu')", ["max(last_cache().host)", "count(last_cache().zone)"], [["b", 2n]]],
  ["SELECT max(host) FROM distinct_cache('cpu', 'c') AS x", ["max(x.host)"], [["b"]]],
  ["SELECT date_bin(INTERVAL '1 hour', time) AS b, sum(usage) AS s FROM last_cache('cpu') GROUP BY 1", ["b", "s"], [[T, 2]]],
  [
    "SELECT DISTINCT ON (host) host, usage FROM last_cache('cpu') ORDER BY host, time DESC",
    ["host", "usage"],
    [
      ["a", 0.5],
      ["b", 1.5],
    ],
  ],
  ["SELECT host FROM last_cache('cpu') ORDER BY time DESC LIMIT 1", ["host"], [["b"]]],
  ["WITH w AS (SELECT host, usage FROM last_cache('cpu', 'c')) SELECT max(usage) AS m FROM w", ["m"], [[1.5]]],
  // values of a tag
  ["SELECT * FROM tag_values('cpu', 'host') ORDER BY 1", ["host"], [["a"], ["b"]]],
  ["SELECT host AS h FROM TAG_VALUES('cpu', 'host') WHERE host > 'a'", ["h"], [["b"]]],
  ["SELECT count(*) AS n FROM tag_values('cpu', 'host')", ["n"], [[2n]]],
  ["SELECT x.v FROM tag_values('cpu', 'host') AS x(v) ORDER BY v DESC LIMIT 1", ["v"], [["b"]]],
  [
    "SELECT tag_values.host FROM tag_values('cpu', 'host') JOIN last_cache('cpu') AS l ON l.host = tag_values.host AND usage > 1",
    ["host"],
    [["b"]],
  ],
  ["SELECT (SELECT max(host) FROM tag_values('cpu', 'host')) AS m", ["m"], [["b"]]],
  // a WITH entry of the function's name is another thing
  [
    "WITH last_cache AS (SELECT 7 AS seven) SELECT seven, x.host FROM last_cache, last_cache('cpu') AS x ORDER BY 2",
    ["seven", "host"],
    [
      [7n, "a"],
      [7n, "b"],
    ],
  ],
  [
    "SELECT t.time, l.usage FROM cpu AS t JOIN last_cache('cpu') AS l USING (host) WHERE t.time < to_timestamp_nanos(1704067200000000000)",
    ["time", "usage"],
    [[T - 1n, 0.5]],
  ],
  [
    "SELECT l.host, d.zone FROM last_cache('cpu') l LEFT JOIN distinct_cache('cpu') d ON l.host = d.host AND d.zone IS NULL ORDER BY 1",
    ["host", "zone"],
    [
      ["a", null],
      ["b", null],
    ],
  ],
  ["SELECT host FROM cpu WHERE usage >= (SELECT max(usage) FROM last_cache('cpu'))", ["host"], [["b"]]],
  [
    "SELECT host FROM cpu WHERE EXISTS (SELECT 1 FROM distinct_cache('cpu') AS d WHERE d.host = cpu.host AND d.zone IS NULL)",
    ["host"],
    [["b"]],
  ],
  ["SELECT host FROM (SELECT * FROM last_cache('cpu')) UNION SELECT host FROM distinct_cache('cpu') ORDER BY 1", ["host"], [["a"], ["b"]]],
])("%s", async (sql, names, rows) => {
  expect(await ask(sql)).toEqual({ names, rows });
});

test("conditions on keys reach the scan", async () => {
  const hosts = async (sql: string, params: QueryParams = {}) => {
    last.requests.length = 0;
    const { rows } = await ask(sql, params);
    expect(rows).toEqual([["b"]]);
    return last.requests.map(({ tags }) => tags.map(({ values }) => values));
  };
  expect(await hosts("SELECT host FROM last_cache('cpu') WHERE host = 'b'")).toEqual([[["b"]]]);
  expect(await hosts("SELECT host FROM last_cache('cpu') WHERE host = $h", { h: "b" })).toEqual([[["b"]]]);
});

test("a kept plan is used again for a cache with the same columns alone", async () => {
  const sql = "SELECT * FROM last_cache('cpu', 'c') WHERE host = 'b'";
  expect((await ask(sql)).names).toEqual(ALL);
  const other = new FakeTable(kernel, "cpu", { host: tag, load: float, time }, [{ host: "b", load: 9, time: T }]);
  const known = (): [CacheReference, ScanTable][] => [[{ kind: "last", table: "cpu", name: "c" }, other]];
  expect(await ask(sql, {}, known())).toEqual({ names: ["host", "load", "time"], rows: [["b", 9, T]] });
  expect((await ask(sql)).names).toEqual(ALL);
});

test("arguments belong to the shape of a statement, literals beside them do not", async () => {
  const reads = async (sql: string) => (await engine.plan(sql)).caches;
  expect(await reads("SELECT 1 FROM last_cache('a', 'b') WHERE x = 'p'")).toEqual([{ kind: "last", table: "a", name: "b" }]);
  expect(await reads("SELECT 1 FROM last_cache('a', 'c') WHERE x = 'p'")).toEqual([{ kind: "last", table: "a", name: "c" }]);
  expect(await reads("SELECT 1 FROM last_cache('b', 'a') WHERE x = 'q'")).toEqual([{ kind: "last", table: "b", name: "a" }]);
  expect(await reads("SELECT 1 FROM last_cache('it''s'), last_cache('it''s') AS y, distinct_cache(E'it\\'s')")).toEqual([
    { kind: "last", table: "it's", name: null },
    { kind: "distinct", table: "it's", name: null },
  ]);
  expect((await engine.plan("SELECT 1 FROM last_cache('a')")).tables).toEqual([]);
});

test.each([
  ["SELECT * FROM last_cache()", "Error during planning: first argument must be the table name as a string"],
  ["SELECT * FROM last_cache(cpu)", "Error during planning: first argument must be the table name as a string"],
  ["SELECT * FROM last_cache(NULL)", "Error during planning: first argument must be the table name as a string"],
  ["SELECT * FROM last_cache($t)", "Error during planning: first argument must be the table name as a string"],
  ["SELECT * FROM last_cache('c' || 'pu')", "Error during planning: first argument must be the table name as a string"],
  ["SELECT * FROM last_cache((SELECT 'cpu'))", "Error during planning: first argument must be the table name as a string"],
  ["SELECT * FROM distinct_cache('cpu', 1)", "Error during planning: second argument, if passed, must be the cache name as a string"],
  ["SELECT * FROM distinct_cache('cpu', $1)", "Error during planning: second argument, if passed, must be the cache name as a string"],
  [
    "SELECT * FROM cpu, distinct_cache('cpu', cpu.host)",
    "Error during planning: second argument, if passed, must be the cache name as a string",
  ],
  [
    "SELECT * FROM last_cache('a', 'b', 'c')",
    "Error during planning: last_cache takes the name of a table and that of a cache, not 3 arguments",
  ],
  ["SELECT * FROM last_cache('cpu') WITH ORDINALITY", "This feature is not implemented: WITH ORDINALITY"],
  ["SELECT * FROM iox.last_cache('cpu')", "Error during planning: table function 'last_cache' not found"],
  ["SELECT * FROM \"LAST_CACHE\"('cpu')", "Error during planning: table function 'LAST_CACHE' not found"],
  ["SELECT last_cache('cpu')", "Error during planning: Invalid function 'last_cache'.\nDid you mean 'last_value'?"],
  ["SELECT * FROM last_cache('mem')", "Error during planning: could not find last value cache for the given arguments"],
  ["SELECT * FROM tag_values('cpu')", "Error during planning: second argument must be the name of a tag as a string"],
  ["SELECT * FROM tag_values('cpu', $1)", "Error during planning: second argument must be the name of a tag as a string"],
  ["SELECT * FROM tag_values(cpu, 'host')", "Error during planning: first argument must be the table name as a string"],
  [
    "SELECT * FROM tag_values('cpu', 'host', 'x')",
    "Error during planning: tag_values takes the name of a table and that of a tag, not 3 arguments",
  ],
  ["SELECT * FROM tag_values('cpu', 'usage')", "Error during planning: column 'usage' of table 'cpu' is not a tag"],
  ["SELECT * FROM tag_values('cpu', 'Host')", "Error during planning: column 'Host' of table 'cpu' is not a tag"],
  ["SELECT * FROM tag_values('mem', 'host')", "Error during planning: table 'public.iox.mem' not found"],
  ["SELECT * FROM distinct_cache('cpu', 'x')", "Error during planning: could not find distinct value cache for the given arguments"],
])("%s is refused", async (sql, message) => {
  expect(await ask(sql, { t: "cpu", "1": "c" }).catch(({ kind, message }) => ({ kind, message }))).toEqual({ kind: "bad_query", message });
});
