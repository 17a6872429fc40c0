// SQL over HTTP against rows that were written over HTTP: every way to ask, every way to be refused, and the statements users write.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { query, store } from "./client.ts";

setDefaultTimeout(60_000);

const START_S = 1_700_000_000;

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
  // ten minutes of three hosts, a value every ten seconds: host i has i * 100 + minute
  const lines = Array.from({ length: 180 }, (_, i) => {
    const [host, step] = [i % 3, Math.floor(i / 3)];
    return `cpu,host=h${host},region=${host === 2 ? "us" : "eu"} usage=${host * 100 + Math.floor(step / 6)},n=${step}i ${START_S + step * 10}000000000`;
  });
  await store(server, "db", `${lines.join("\n")}\nhosts,host=h0 cores=4i 0\nhosts,host=h2 cores=8i 0`);
});
afterAll(() => server.dispose());

const get = (parameters: Record<string, string>, init: RequestInit = {}) =>
  fetch(`${server.url}/api/v3/query_sql?${new URLSearchParams(parameters)}`, init);

describe("ways to ask", () => {
  const Q = "SELECT host, cores FROM hosts ORDER BY host";
  const ROWS = '[{"host":"h0","cores":4},{"host":"h2","cores":8}]';

  test("a statement by GET", async () => {
    const response = await get({ db: "db", q: Q, format: "json" });
    expect([response.status, await response.text()]).toEqual([200, ROWS]);
    expect(response.headers.get("cluster-uuid")).not.toBeNull();
  });

  test("POST, whatever the content type says", async () => {
    for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded", "application/octet-stream"]) {
      const body = JSON.stringify({ db: "db", q: Q, format: "json", unknown_member: 1 });
      const response = await fetch(`${server.url}/api/v3/query_sql`, { method: "POST", headers: { "content-type": type }, body });
      expect([type, response.status, await response.text()]).toEqual([type, 200, ROWS]);
    }
  });

  test("a statement in a gzip body", async () => {
    const body = Bun.gzipSync(Buffer.from(JSON.stringify({ db: "db", q: Q, format: "json" })));
    const response = await fetch(`${server.url}/api/v3/query_sql`, { method: "POST", headers: { "content-encoding": "gzip" }, body });
    expect([response.status, await response.text()]).toEqual([200, ROWS]);
  });

  const PARAMS: [statement: string, params: Record<string, unknown>, rows: unknown][] = [
    ["SELECT cores FROM hosts WHERE host = $h", { h: "h2" }, [{ cores: 8 }]],
    ["SELECT host FROM hosts WHERE cores > $c", { c: 4.5 }, [{ host: "h2" }]],
    ["SELECT host FROM hosts WHERE cores > $c AND $b", { c: 4, b: true }, [{ host: "h2" }]],
    ["SELECT host FROM hosts WHERE host = $h", { h: "' OR 1=1 --" }, []],
    ["SELECT host FROM hosts WHERE host = $h", { h: null }, []],
    ["SELECT count(*) AS n FROM cpu WHERE time >= $t", { t: "2023-11-14T22:23:10Z" }, [{ n: 3 }]],
    ["SELECT $x AS x, $x AS y", { x: 'quote " and \\' }, [{ x: 'quote " and \\', y: 'quote " and \\' }]],
  ];
  test.each(PARAMS)("%s with %j, in a body and in the address", async (statement, params, rows) => {
    const posted = await query(server, "db", statement, { format: "json", params });
    expect([posted.status, JSON.parse(posted.text)]).toEqual([200, rows]);
    const got = await get({ db: "db", q: statement, format: "json", params: JSON.stringify(params) });
    expect([got.status, await got.json()]).toEqual([200, rows]);
  });

  test("an integer parameter beyond 2^53 keeps its digits", async () => {
    const response = await get({ db: "db", q: "SELECT $n AS n", format: "csv", params: '{"n":9007199254740993}' });
    expect(await response.text()).toBe("n\n9007199254740993\n");
  });
});

describe("ways to be refused", () => {
  const CASES: [why: string, parameters: Record<string, string>, init: RequestInit, status: number, text: string | RegExp][] = [
    ["no parameters", {}, {}, 400, "missing query parameters 'db' and 'q'"],
    ["no statement", { db: "db" }, {}, 400, "missing field `q`"],
    ["no database", { q: "SELECT 1" }, {}, 400, "missing field `db`"],
    ["a database that is not there", { db: "nope", q: "SELECT 1" }, {}, 404, '{"error":"query error: database not found: nope"}'],
    [
      "a table that is not there",
      { db: "db", q: "SELECT * FROM nope" },
      {},
      400,
      "Error during planning: table 'public.iox.nope' not found",
    ],
    ["a column that is not there", { db: "db", q: "SELECT\n  nope FROM cpu" }, {}, 400, /nope.*at Line: 2, Column: 3/],
    ["no SQL", { db: "db", q: "SELEC 1" }, {}, 400, /^SQL error: syntax error at or near "selec" at Line: 1, Column: 1$/i],
    ["an empty statement", { db: "db", q: " " }, {}, 400, /./],
    ["two statements", { db: "db", q: "SELECT 1; SELECT 2" }, {}, 400, /./],
    ["a parameter without a value", { db: "db", q: "SELECT $x" }, {}, 400, "No value found for placeholder with name $x"],
    ["an unknown format", { db: "db", q: "SELECT 1", format: "xml" }, {}, 400, /format/],
    ["an unknown Accept", { db: "db", q: "SELECT 1" }, { headers: { accept: "image/png" } }, 400, "invalid mime type (image/png)"],
    ["params that are no JSON", { db: "db", q: "SELECT 1", params: "{" }, {}, 400, /serde json error/],
    ["a parameter that is an array", { db: "db", q: "SELECT $x", params: '{"x":[1]}' }, {}, 400, /array/],
    ["DELETE", { db: "db", q: "SELECT 1" }, { method: "DELETE" }, 405, '{"error":"method not allowed"}'],
    ["PUT", { db: "db", q: "SELECT 1" }, { method: "PUT", body: "{}" }, 405, '{"error":"method not allowed"}'],
  ];
  test.each(CASES)("%s", async (_, parameters, init, status, text) => {
    const response = await get(parameters, init);
    const answered = await response.text();
    expect([response.status, answered]).toEqual([status, expect.stringMatching(text instanceof RegExp ? text : escaped(text))]);
  });

  test("a body that is no JSON, no object, not UTF-8", async () => {
    for (const body of ["{", "[]", "null", new Uint8Array([0x7b, 0xff, 0x7d])]) {
      const response = await fetch(`${server.url}/api/v3/query_sql`, { method: "POST", body });
      expect([String(body), response.status]).toEqual([String(body), 400]);
    }
  });

  const FORBIDDEN = [
    "INSERT INTO cpu VALUES (1)",
    "DELETE FROM cpu",
    "UPDATE cpu SET n = 1",
    "DROP TABLE cpu",
    "CREATE TABLE x (a INT)",
    "CREATE VIEW v AS SELECT 1",
    "COPY cpu TO '/tmp/x.csv'",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_blob('/etc/passwd')",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM parquet_scan('x')",
    "SELECT getenv('HOME')",
    "SELECT current_setting('memory_limit')",
    "SELECT * FROM duckdb_settings()",
    "SET memory_limit = '1TB'",
    "PRAGMA database_list",
    "INSTALL httpfs",
    "LOAD httpfs",
    "ATTACH '/tmp/x.db'",
    "CALL pragma_version()",
    "EXPLAIN DELETE FROM cpu",
    "EXPLAIN ANALYZE INSERT INTO cpu VALUES (1)",
    "VACUUM",
    "CHECKPOINT",
    "EXPORT DATABASE '/tmp/x'",
    "BEGIN TRANSACTION",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
  ];
  test.each(FORBIDDEN)("%s", async (statement) => {
    expect((await query(server, "db", statement)).status).toBe(400);
  });

  test("afterwards everything is as it was", async () => {
    expect(await server.sql("db", "SELECT count(*) AS n FROM cpu")).toEqual([{ n: 180 }]);
  });
});

describe("statements users write", () => {
  const CASES: [statement: string, rows: unknown[]][] = [
    [
      "SELECT host, avg(usage) AS mean, count(*) AS n FROM cpu GROUP BY host ORDER BY host",
      [0, 1, 2].map((host) => ({ host: `h${host}`, mean: host * 100 + 4.5, n: 60 })),
    ],
    [
      "SELECT date_bin(INTERVAL '5 minutes', time, TIMESTAMP '2023-11-14T22:13:20Z') AS bin, max(usage) AS top FROM cpu WHERE host = 'h1' GROUP BY bin ORDER BY bin",
      [
        { bin: "2023-11-14T22:13:20", top: 104 },
        { bin: "2023-11-14T22:18:20", top: 109 },
      ],
    ],
    [
      "SELECT date_trunc('minute', time) AS minute, count(*) AS n FROM cpu GROUP BY 1 ORDER BY 1 LIMIT 2",
      [
        { minute: "2023-11-14T22:13:00", n: 12 },
        { minute: "2023-11-14T22:14:00", n: 18 },
      ],
    ],
    [
      "SELECT c.host, max(c.usage) AS top, h.cores FROM cpu c JOIN hosts h ON c.host = h.host GROUP BY c.host, h.cores ORDER BY 1",
      [
        { host: "h0", top: 9, cores: 4 },
        { host: "h2", top: 209, cores: 8 },
      ],
    ],
    [
      "SELECT c.host, h.cores FROM (SELECT DISTINCT host FROM cpu) c LEFT JOIN hosts h USING (host) WHERE h.cores IS NULL",
      [{ host: "h1" }],
    ],
    [
      "WITH per_host AS (SELECT host, max(n) AS n FROM cpu GROUP BY host), total AS (SELECT sum(n) AS s FROM per_host) SELECT s FROM total",
      [{ s: 177 }],
    ],
    [
      "SELECT host, n, usage - lag(usage) OVER (PARTITION BY host ORDER BY time) AS step FROM cpu WHERE host = 'h0' AND n BETWEEN 5 AND 7 ORDER BY time",
      [
        { host: "h0", n: 5 },
        { host: "h0", n: 6, step: 1 },
        { host: "h0", n: 7, step: 0 },
      ],
    ],
    [
      "SELECT host, usage FROM (SELECT *, row_number() OVER (PARTITION BY host ORDER BY time DESC) AS r FROM cpu) WHERE r = 1 ORDER BY host",
      [0, 1, 2].map((host) => ({ host: `h${host}`, usage: host * 100 + 9 })),
    ],
    ["SELECT count(*) AS n FROM cpu WHERE time > '2023-11-14T22:13:20Z' AND time <= '2023-11-14T22:14:20Z' AND region = 'eu'", [{ n: 12 }]],
    ["SELECT count(*) AS n FROM cpu WHERE host IN ('h0', 'h1') AND usage >= 100 OR region = 'us'", [{ n: 120 }]],
    ["SELECT count(*) AS n FROM cpu WHERE host ~ '^h[01]$' AND host NOT LIKE '%0'", [{ n: 60 }]],
    ["SELECT count(*) AS n FROM cpu WHERE time < now() - INTERVAL '1 day'", [{ n: 180 }]],
    ["SELECT host FROM hosts UNION SELECT 'x' EXCEPT SELECT 'h0' ORDER BY 1", [{ host: "h2" }, { host: "x" }]],
    [
      "SELECT region, host, count(*) AS n FROM cpu GROUP BY ROLLUP (region, host) HAVING count(*) > 60 ORDER BY n",
      [{ region: "eu", n: 120 }, { n: 180 }],
    ],
    ["SELECT max(time) - min(time) = INTERVAL '590 seconds' AS same FROM cpu", [{ same: true }]],
    ["SELECT host FROM cpu WHERE usage = (SELECT max(usage) FROM cpu) LIMIT 1", [{ host: "h2" }]],
    ["SELECT 7 / 2 AS whole, 7.0 / 2 AS part", [{ whole: 3, part: 3.5 }]],
  ];
  test.each(CASES)("%s", async (statement, rows) => {
    const { status, text } = await query(server, "db", statement, { format: "json" });
    expect([status, status === 200 ? JSON.parse(text) : text]).toEqual([200, rows]);
  });

  test("SELECT * has the columns by name", async () => {
    const { text } = await query(server, "db", "SELECT * FROM cpu LIMIT 0");
    expect(JSON.parse(text).results[0].series[0].columns).toEqual(["host", "n", "region", "time", "usage"]);
  });
});

describe("what there is", () => {
  const rowsOf = async (statement: string) => server.sql("db", statement);

  test("SHOW TABLES lists tables of users first", async () => {
    expect((await rowsOf("SHOW TABLES")).slice(0, 3)).toEqual([
      { table_catalog: "public", table_schema: "iox", table_name: "cpu", table_type: "BASE TABLE" },
      { table_catalog: "public", table_schema: "iox", table_name: "hosts", table_type: "BASE TABLE" },
      expect.objectContaining({ table_schema: "system" }),
    ]);
  });

  test("SHOW COLUMNS and DESCRIBE", async () => {
    const types = [
      ["host", "Dictionary(Int32, Utf8)", "YES"],
      ["n", "Int64", "YES"],
      ["region", "Dictionary(Int32, Utf8)", "YES"],
      ["time", "Timestamp(ns)", "NO"],
      ["usage", "Float64", "YES"],
    ];
    const named = types.map(([column_name, data_type, is_nullable]) => ({ column_name, data_type, is_nullable }));
    expect(await rowsOf("DESCRIBE cpu")).toEqual(named);
    expect(await rowsOf("SHOW COLUMNS FROM cpu")).toEqual(
      named.map((row) => ({ table_catalog: "public", table_schema: "iox", table_name: "cpu", ...row })),
    );
    expect((await query(server, "db", "DESCRIBE nope")).status).toBe(400);
  });

  test("information_schema.columns joins with itself", async () => {
    const statement =
      "SELECT a.column_name FROM information_schema.columns a JOIN information_schema.columns b USING (column_name) WHERE a.table_name = 'cpu' AND b.table_name = 'hosts' ORDER BY 1";
    expect(await rowsOf(statement)).toEqual([{ column_name: "host" }, { column_name: "time" }]);
  });

  test("EXPLAIN and EXPLAIN ANALYZE", async () => {
    const [plan] = await rowsOf("EXPLAIN SELECT host FROM cpu WHERE n > 3");
    expect(plan).toMatchObject({ plan_type: "physical_plan", plan: expect.stringContaining("host") });
    expect(JSON.stringify(await rowsOf("EXPLAIN ANALYZE SELECT count(*) FROM cpu"))).toContain("plan");
  });
});

function escaped(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
}
