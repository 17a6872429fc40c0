// Attacks on a real server through its SQL endpoint: each is refused with 400 or stopped by a limit that is named, tells nothing, and
// leaves a server that writes, answers and has its memory back. What the parser and the allow-list refuse is also in
// src/sql/refused-statements.test.ts, what the cost limits refuse in src/sql/limits/cost-limits.long.test.ts.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { query, residentBytes, scalar, store, untilMetric } from "../e2e/client.ts";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(60_000);

const MIB = 1 << 20;
const SECRET = "the secret of another user";
const FLAGS = ["--exec-mem-pool-bytes", String(128 * MIB)];

let server: TestServer;
/** Files that statements try to read, and a file that they try to write. */
let file = "";
let target = "";
/** What the data folder has before the attacks. */
let entries: string[] = [];
let idleBytes = 0;
beforeAll(async () => {
  server = await TestServer.start({ flags: FLAGS });
  await store(server, "db", Array.from({ length: 5000 }, (_, i) => `t,h=h${i % 50} v=${i},n=${i}i,s="text of row ${i}" ${i}`).join("\n"));
  await store(server, "other", `private,h=a secret="${SECRET}" 1`);
  // a stop writes files, so that there is something to steal
  await server.restart();
  file = join(server.dataDir, "secret.csv");
  target = join(server.dataDir, "written.csv");
  writeFileSync(file, `a,b\n${SECRET},1\n`);
  expect(await scalar(server, "db", "SELECT count(*) FROM t")).toBe(5000);
  entries = readdirSync(server.dataDir).sort();
  idleBytes = await residentBytes(server);
});
afterAll(() => server.dispose());

let written = 0;
async function isWell(): Promise<void> {
  await untilMetric(server, "tsdb_queries_running", (running) => running === 0);
  await store(server, "db", `probe v=1 ${++written}`);
  await answers("SELECT count(*) FROM probe", written);
  await answers("SELECT count(*) FROM t WHERE h = 'h7'", 100);
}

/** A machine that others keep busy may take longer than the statements' limit. */
async function answers(statement: string, value: unknown): Promise<void> {
  for (;;) {
    const { status, text } = await query(server, "db", statement, { format: "json" });
    if (status === 422 && text.includes("--query-timeout")) continue;
    const values = (JSON.parse(text) as object[]).flatMap((row) => Object.values(row));
    expect([status, values]).toEqual([200, [value]]);
    return;
  }
}

/** What answers 400 in vain, by what it is after. `FILE`, `TARGET` and `DATA` stand for paths. */
const REFUSED: Readonly<Record<string, string[]>> = {
  "files by functions": [
    ..."read_csv read_csv_auto read_text read_blob read_json read_json_auto read_json_objects read_ndjson read_ndjson_objects read_parquet parquet_scan parquet_metadata parquet_schema parquet_file_metadata sniff_csv read_duckdb"
      .split(" ")
      .map((name) => `SELECT * FROM ${name}('FILE')`),
    "SELECT * FROM glob('DATA/*')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM Read_CSV('FILE')",
    "SELECT * FROM \"read_csv\"('FILE')",
    "SELECT * FROM main.read_csv('FILE')",
    "SELECT * FROM system.main.read_csv('FILE')",
    "SELECT * FROM read_csv(['FILE'])",
    "SELECT * FROM t, LATERAL read_csv('FILE')",
    "SELECT * FROM t WHERE s IN (SELECT a FROM read_csv('FILE'))",
    "SELECT (SELECT content FROM read_text('FILE'))",
    "WITH x AS (SELECT * FROM read_text('FILE')) SELECT * FROM x",
    "WITH RECURSIVE x AS (SELECT content FROM read_text('FILE') UNION ALL SELECT content FROM x) SELECT * FROM x",
    "SELECT 1 UNION ALL SELECT count(*) FROM read_text('FILE')",
    "SELECT count(*) FROM t GROUP BY (SELECT content FROM read_text('FILE'))",
    "SELECT count(*) FROM t ORDER BY (SELECT content FROM read_text('FILE'))",
    "SELECT sum(v) OVER (ORDER BY (SELECT count(*) FROM read_text('FILE'))) FROM t",
    "EXPLAIN ANALYZE SELECT * FROM read_text('FILE')",
    "DESCRIBE SELECT * FROM read_text('FILE')",
    "SELECT read_text('FILE')",
    "SELECT list_transform([1], lambda x: (SELECT count(*) FROM read_text('FILE')))",
    "SELECT CASE WHEN true THEN (SELECT content FROM read_text('FILE')) END",
  ],
  "files and objects by name": [
    "SELECT * FROM 'FILE'",
    'SELECT * FROM "FILE"',
    "FROM 'FILE'",
    "TABLE 'FILE'",
    "SELECT * FROM 'DATA/objects/node0/data/00000000000000000001.pt'",
    "SELECT * FROM 'DATA/**/*.parquet'",
    "SELECT * FROM 's3://bucket/key.parquet'",
    "SELECT * FROM 'https://example.com/x.csv'",
    "SELECT * FROM 'file:///etc/passwd'",
    "DESCRIBE 'FILE'",
  ],
  "other databases": [
    "SELECT * FROM private",
    "SELECT * FROM other.private",
    "SELECT * FROM other.iox.private",
    'SELECT * FROM "other"."iox"."private"',
    "SELECT * FROM public.other.private",
    "SELECT * FROM system.databases",
    "SELECT * FROM system.nodes",
    "SELECT * FROM _internal.system.databases",
    "SELECT * FROM memory.main.t",
    "SELECT * FROM main.t",
    "SELECT * FROM temp.main.t",
    "SHOW COLUMNS FROM other.private",
    "DESCRIBE private",
  ],
  "the engine about itself": [
    ..."duckdb_settings duckdb_functions duckdb_tables duckdb_columns duckdb_databases duckdb_secrets duckdb_logs duckdb_extensions duckdb_memory duckdb_temporary_files duckdb_types duckdb_variables duckdb_prepared_statements pragma_database_size pragma_version pragma_table_info pragma_storage_info which_secret test_all_types sql_auto_complete arrow_scan seq_scan json_execute_serialized_sql query query_table repeat_row summary checkpoint force_checkpoint"
      .split(" ")
      .map((name) => `SELECT * FROM ${name}('t')`),
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_tables",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM pg_catalog.pg_tables",
    "SELECT current_setting('threads')",
    "SELECT getenv('HOME')",
    "SELECT getenv('PATH') FROM t",
    "SELECT getvariable('x')",
    "SELECT current_user, session_user",
    "SELECT current_database()",
    "SELECT current_query()",
    "SELECT txid_current()",
    "SELECT nextval('s')",
    "SELECT pg_sleep(60)",
    "SELECT sleep_ms(60000)",
    "SELECT write_log('x')",
    "SELECT __ns(time), __digest('md5', 'x') FROM t",
    "SELECT * FROM __scan(1)",
    "SELECT * FROM __scan_by_threads(1)",
    "SELECT * FROM __scan(2), t",
  ],
  "other statements": [
    "COPY t TO 'TARGET'",
    "COPY (SELECT 1) TO 'TARGET' (FORMAT CSV)",
    "COPY t FROM 'FILE'",
    "EXPORT DATABASE 'TARGET'",
    "IMPORT DATABASE 'DATA'",
    "ATTACH 'TARGET' AS x",
    "ATTACH 'DATA/x.db'",
    "DETACH memory",
    "PRAGMA database_list",
    "PRAGMA threads = 64",
    "PRAGMA enable_external_access = true",
    "SET enable_external_access = true",
    "SET GLOBAL memory_limit = '1TB'",
    "SET lock_configuration = false",
    "RESET memory_limit",
    "INSTALL httpfs",
    "FORCE INSTALL spatial FROM community",
    "LOAD httpfs",
    "LOAD 'TARGET'",
    "CREATE TABLE x AS SELECT 1",
    "CREATE VIEW x AS SELECT 1",
    "CREATE MACRO m() AS 1",
    "CREATE SECRET s (TYPE s3)",
    "INSERT INTO t VALUES (1)",
    "UPDATE t SET v = 1",
    "DELETE FROM t",
    "DROP TABLE t",
    "ALTER TABLE t ADD COLUMN x INTEGER",
    "TRUNCATE t",
    "CALL pragma_version()",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "VACUUM",
    "CHECKPOINT",
    "BEGIN",
    "COMMIT",
    "USE memory",
    "SELECT 1 INTO x",
    "SUMMARIZE t",
    "SELECT * FROM (SUMMARIZE t)",
    "SELECT * FROM (DESCRIBE t)",
    "EXPLAIN DROP TABLE t",
    "EXPLAIN ANALYZE COPY t TO 'TARGET'",
  ],
  "several statements, comments and casing": [
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE t",
    "SELECT 1;; COPY t TO 'TARGET'",
    "SELECT 1 /* ; */ ; COPY t TO 'TARGET'",
    "SELECT ';' ; PRAGMA version",
    "-- SELECT 1\nCOPY t TO 'TARGET'",
    "/* SELECT */ CoPy t TO 'TARGET'",
    "/**/\n\tAtTaCh 'TARGET'",
    "cOpY\u00a0t TO 'TARGET'",
    "SELECT * FROM read_csv/**/('FILE')",
    "SELECT * FROM read_csv\n--\n('FILE')",
    "SELECT * FROM \"READ_CSV\"('FILE')",
    "SELECT * FROM reaD_teXt('FILE')",
    "SELECT $$; DROP TABLE t$$; DROP TABLE t",
    "SELECT E'\\'; DROP TABLE t; --'; DROP TABLE t",
    "EXPLAIN SELECT 1; DROP TABLE t",
    "SHOW TABLES; DROP TABLE t",
    "SELECT 1 /* open",
    "SELECT 'open",
    'SELECT "open',
    "SELECT $$open",
    "",
    ";",
    "-- nothing",
  ],
  "what functions would make": [
    "SELECT length(repeat('x', 2000000000))",
    "SELECT length(repeat(h, 1000000)) FROM t",
    "SELECT length(repeat('x', n * 1000000)) FROM t",
    "SELECT length(lpad('x', 2000000000, 'y'))",
    "SELECT length(rpad(h, n * 100000, '.')) FROM t",
    "SELECT len(range(1, 1000000000))",
    "SELECT len(range(0, n * 1000000)) FROM t",
    "SELECT len(generate_series(1, 1000000000))",
    "SELECT len(list_resize([1], 1000000000))",
    "SELECT len(array_repeat(h, 100000000)) FROM t",
    "SELECT length(replace(s, 't', repeat(h, 1000))) FROM t",
    `SELECT length(replace(repeat(s, 1000), 't', '${"x".repeat(5000)}')) FROM t`,
    `SELECT length(${"s".concat(" || s".repeat(390))} || ${"s".concat(" || s".repeat(390))}) FROM t`,
    `SELECT length(s) FROM ${"(SELECT s || s AS s FROM ".repeat(14)}t${")".repeat(14)}`,
    "SELECT count(*) FROM (SELECT unnest(range(0, 1000000)) AS i FROM t) WHERE i < 0",
    "SELECT len(list_transform(range(0, 1000000), lambda x: range(0, 1000000)))",
    "SELECT len(list_transform(range(0, 100000), lambda x: repeat('a', 100000)))",
    "SELECT printf('%900000000d', 1)",
    "SELECT format('{:900000000d}', 1)",
    "SELECT list_reduce(range(0, 100), lambda a, b: a || a)",
    `SELECT '${"x".repeat(500_000)}' AS x FROM t`,
    "SELECT levenshtein(repeat(h, 1000), repeat(s, 100)) FROM t",
    "SELECT jaro_similarity(s, h) FROM t",
  ],
  "how deep, wide and long a statement is": [
    `SELECT ${"(".repeat(50_000)}1${")".repeat(50_000)}`,
    `SELECT 1${" + 1".repeat(50_000)}`,
    `SELECT ${"NOT ".repeat(50_000)}true`,
    `SELECT ${"abs(".repeat(5000)}1${")".repeat(5000)}`,
    `SELECT ${"(SELECT ".repeat(40)}1${")".repeat(40)}`,
    `SELECT ${"list_transform([1], lambda x: len(".repeat(30)}[1]${"))".repeat(30)}`,
    `SELECT * FROM ${"(SELECT * FROM ".repeat(500)}t${")".repeat(500)}`,
    `WITH ${Array.from({ length: 2000 }, (_, i) => `c${i} AS (SELECT ${i})`).join(",")} SELECT * FROM c0`,
    `SELECT ${Array.from({ length: 10_000 }, (_, i) => i).join(",")}`,
    `SELECT ${"t.*,".repeat(2000)}1 FROM t`,
    `SELECT ${"9".repeat(10_000)}`,
    "SELECT 1e400",
    `SELECT '${"x".repeat(MIB)}'`,
    `SELECT * FROM t WHERE ${"h = s OR ".repeat(60_000)}false`,
    `SELECT ${"CASE WHEN true THEN ".repeat(3000)}1${" END".repeat(3000)}`,
    `SELECT ${"[".repeat(3000)}1${"]".repeat(3000)}`,
    "SELECT count(*) FROM t WHERE s ~ '((a{0,100}){0,100}){0,100}'",
    "SELECT regexp_replace(s, '(((((((((((((a{99}){99}){99})', 'x') FROM t",
  ],
};

/** Placeholders of paths filled in; what a test is called. */
const filled = (statement: string) => statement.replaceAll("FILE", file).replaceAll("TARGET", target).replaceAll("DATA", server.dataDir);
const shown = (statement: string) => (statement.length > 100 ? `${statement.slice(0, 90)}… (${statement.length})` : statement);

for (const [group, statements] of Object.entries(REFUSED)) {
  describe(group, () => {
    test.each(statements.map((statement): [string, string] => [shown(statement), statement]))("%s", async (_, statement) => {
      const { status, text } = await query(server, "db", filled(statement));
      expect([status, text.slice(0, 300)]).toEqual([status === 422 ? 422 : 400, expect.stringMatching(/./)]);
      // no secret, no path but what was sent, none of our names, no stack
      expect(text).not.toContain(SECRET);
      expect(text).not.toMatch(/\u{E000}|[^"'_\w]__[a-z]|\/src\/|node_modules|\bat .*\.ts:/u);
    });

    test("the server answers after the attacks", isWell);
  });
}

/** Looks like an attack and is none: answered. */
const HARMLESS: [statement: string, answer: string][] = [
  ["SELECT 'SELECT * FROM read_csv(''x'')' AS a", '[{"a":"SELECT * FROM read_csv(\'x\')"}]'],
  ["WITH read_csv AS (SELECT 1 AS a) SELECT a FROM read_csv", '[{"a":1}]'],
  ["SELECT 'a;b' AS a -- ; DROP TABLE t", '[{"a":"a;b"}]'],
  ["SELECT count(*) AS n FROM t WHERE (repeat('a', 100) || s) ~ '^(a+)+$'", '[{"n":0}]'],
  ["SELECT count(*) AS n FROM t WHERE (repeat('a', 100) || s) ILIKE '%a%a%a%a%a%a%a%a%a%a%b_%z'", '[{"n":0}]'],
  ["SELECT count(*) AS n FROM (SELECT s FROM t LIMIT 20) WHERE repeat('a', 200) LIKE (repeat('%a', 30) || '%' || s)", '[{"n":0}]'],
  [`SELECT ${"sqrt(".repeat(20)}1.0${")".repeat(20)} AS a`, '[{"a":1.0}]'],
  [`SELECT count(*) AS n FROM t WHERE v IN (${Array.from({ length: 4000 }, (_, i) => i * 2).join(",")})`, '[{"n":2500}]'],
];

test.each(HARMLESS.map(([statement, answer]): [string, string, string] => [shown(statement), statement, answer]))(
  "answered: %s",
  async (_, statement, answer) => {
    expect((await query(server, "db", statement, { format: "json" })).text).toBe(answer);
  },
);

/** What only a limit ends, with what the answer says. */
const STOPPED: [what: string, statement: string, reason: RegExp][] = [
  ["a recursion", "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r", /--query-timeout/],
  [
    "two in each other",
    "WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM a), b AS (SELECT n FROM a UNION ALL SELECT n FROM b) SELECT max(n) FROM b",
    /--query-timeout|Resources/,
  ],
  [
    "a text that doubles",
    "WITH RECURSIVE r AS (SELECT 'xx' AS s UNION ALL SELECT s || s FROM r) SELECT max(length(s)) FROM r",
    /Resources exhausted|--query-timeout/,
  ],
  [
    "a list that doubles",
    "WITH RECURSIVE r AS (SELECT [1] AS l UNION ALL SELECT list_concat(l, l) FROM r) SELECT max(len(l)) FROM r",
    /Resources exhausted|--query-timeout/,
  ],
  ["a long series", "SELECT count(*) FROM generate_series(1, 1000000000000) AS g(i) WHERE i < 0", /--query-timeout/],
  ["a cross join", "SELECT count(*) FROM t a, t b, t c, t d WHERE a.v + b.v + c.v + d.v < 0", /--query-timeout/],
  [
    "a wide join",
    `SELECT count(*) FROM ${Array.from({ length: 12 }, (_, i) => `t AS t${i}`).join(", ")} WHERE t0.v + t11.v < 0`,
    /--query-timeout/,
  ],
  ["a sort of everything", "SELECT a.s || b.s || c.s AS x FROM t a, t b, t c ORDER BY x LIMIT 1", /--query-timeout|Resources/],
  [
    "groups without end",
    "SELECT count(*) FROM (SELECT a.v, b.v, c.v FROM t a, t b, t c GROUP BY 1, 2, 3)",
    /Resources exhausted|--query-timeout/,
  ],
  ["one list of everything", "SELECT length(array_agg(a.s || b.s)) FROM t a, t b", /Resources exhausted|--query-timeout/],
  ["one text of everything", "SELECT length(string_agg(a.s || b.s, ',')) FROM t a, t b", /Resources exhausted|--query-timeout/],
  [
    "a window over everything",
    "SELECT max(len(l)) FROM (SELECT array_agg(s) OVER (ORDER BY v) AS l FROM t)",
    /Resources exhausted|--query-timeout/,
  ],
  ["a median of everything", "SELECT median(a.v * b.v + c.v) FROM t a, t b, t c", /Resources exhausted|--query-timeout/],
  ["distinct values of everything", "SELECT count(DISTINCT a.s || b.s) FROM t a, t b", /Resources exhausted|--query-timeout/],
  ["lists unnested", "SELECT count(*) FROM (SELECT unnest(range(0, 10000)) AS i FROM t, t AS u) WHERE i < 0", /--query-timeout|Resources/],
  [
    "alternatives",
    `SELECT count(*) FROM t a, t b WHERE ${Array.from({ length: 500 }, (_, i) => `a.v * ${i + 2} + b.v = -1`).join(" OR ")}`,
    /--query-timeout/,
  ],
  ["EXPLAIN ANALYZE of one", "EXPLAIN ANALYZE SELECT count(*) FROM t a, t b, t c WHERE a.v + b.v + c.v < 0", /--query-timeout/],
];

describe("stopped by a limit", () => {
  beforeAll(() => server.restart([...FLAGS, "--query-timeout", "500ms"]));

  test.each(STOPPED)("%s", async (_, statement, reason) => {
    const { status, text } = await query(server, "db", statement);
    expect([status, text]).toEqual([422, expect.stringMatching(reason)]);
    await isWell();
  });

  test("all endless statements at once are stopped by their limits", async () => {
    const answers = await Promise.all(STOPPED.map(([, statement]) => query(server, "db", statement)));
    for (const { status, text } of answers)
      expect([status, text]).toEqual([422, expect.stringMatching(/Resources exhausted|--query-timeout/)]);
    await isWell();
  });
});

describe("after all of them", () => {
  test("there were at least 100, and nothing was written or read", () => {
    expect(Object.values(REFUSED).flat().length + STOPPED.length).toBeGreaterThanOrEqual(200);
    expect(existsSync(target)).toBe(false);
    expect(readFileSync(file, "utf8")).toContain(SECRET);
    expect(readdirSync(server.dataDir).sort()).toEqual(entries);
    expect(server.output).not.toContain("BUG");
  });

  // What stays is some 50 MiB of the runtime's own heap and what its allocators have not filled up, however often this is done.
  // The time is for a machine that others keep busy: memory that is free goes back a second or two after the last statement.
  test("the memory of stopped statements returns to the system", async () => {
    await isWell();
    const bytesMax = idleBytes + 200 * MIB;
    const deadlineMs = performance.now() + 30_000;
    let bytes = await residentBytes(server);
    while (bytes > bytesMax && performance.now() < deadlineMs) {
      await Bun.sleep(50);
      bytes = await residentBytes(server);
    }
    expect(bytes).toBeLessThanOrEqual(bytesMax);
  });

  test("the other database is as it was", async () => {
    expect(await scalar(server, "other", "SELECT secret FROM private")).toBe(SECRET);
  });
});
