// Attacks: every statement here must be refused as a bad query, before DuckDB runs any of it, and leave the engine as it was.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeTable } from "../../test/support/rows/fake-table.ts";
import { askRows } from "../../test/support/sql/sql-rows.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { TsdbError } from "../model/errors.ts";
import { ColumnType } from "../model/rows/column.ts";
import { SqlEngine } from "./execute/engine.ts";

const folder = mkdtempSync(join(tmpdir(), "tsdb-sandbox-"));
const secret = join(folder, "secret.csv");
const target = join(folder, "written.csv");
const temp = join(folder, "spill");

const ATTACKS: Readonly<Record<string, string[]>> = {
  "files by table function": [
    `SELECT * FROM read_csv('${secret}')`,
    `SELECT * FROM read_csv_auto('${secret}')`,
    `SELECT * FROM "read_csv"('${secret}')`,
    `SELECT * FROM READ_CSV('${secret}')`,
    `SELECT * FROM main.read_csv('${secret}')`,
    `SELECT * FROM system.main.read_csv('${secret}')`,
    `SELECT * FROM read_text('${secret}')`,
    `SELECT * FROM read_blob('${secret}')`,
    `SELECT * FROM read_json('${secret}')`,
    `SELECT * FROM read_ndjson_objects('${secret}')`,
    `SELECT * FROM read_parquet('${secret}')`,
    `SELECT * FROM parquet_scan('${secret}')`,
    `SELECT * FROM parquet_metadata('${secret}')`,
    `SELECT * FROM sniff_csv('${secret}')`,
    "SELECT * FROM glob('/etc/*')",
    `SELECT (SELECT content FROM read_text('${secret}'))`,
    `WITH c AS (SELECT * FROM read_text('${secret}')) SELECT * FROM c`,
    `SELECT 1 UNION ALL SELECT count(*) FROM read_text('${secret}')`,
    `SELECT * FROM cpu, LATERAL (SELECT * FROM read_text('${secret}')) AS x`,
    `SELECT * FROM cpu WHERE EXISTS (SELECT * FROM read_text('${secret}'))`,
    `SELECT 1 ORDER BY (SELECT count(*) FROM read_text('${secret}'))`,
    `SELECT 1 LIMIT (SELECT count(*) FROM read_text('${secret}'))`,
    `SELECT sum(usage) FILTER (WHERE EXISTS (FROM read_text('${secret}'))) FROM cpu`,
    `SELECT list_transform([1], lambda x: (SELECT count(*) FROM read_text('${secret}')))`,
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('cpu')",
    `SELECT * FROM sql_auto_complete('SEL')`,
  ],
  "files and objects by name": [
    `SELECT * FROM '${secret}'`,
    `SELECT * FROM "${secret}"`,
    `FROM '${secret}'`,
    "SELECT * FROM 's3://bucket/key.parquet'",
    "SELECT * FROM 'https://example.com/x.csv'",
    "SELECT * FROM memory.main.cpu",
    "SELECT * FROM main.cpu",
    "SELECT * FROM other.iox.cpu",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM duckdb_tables",
    "SELECT * FROM pg_catalog.pg_tables",
    "SELECT * FROM pg_class",
  ],
  "DuckDB about itself": [
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_functions()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM duckdb_logs()",
    "SELECT * FROM pragma_database_size()",
    "SELECT * FROM pragma_version()",
    "SELECT * FROM which_secret('x', 's3')",
    "SELECT current_setting('threads')",
    "SELECT getenv('HOME')",
    "SELECT getvariable('x')",
    "SELECT current_query()",
    "SELECT current_database()",
    "SELECT current_schemas(true)",
    "SELECT current_user",
    "SELECT pg_sleep(1)",
    "SELECT sleep_ms(1000)",
    "SELECT txid_current()",
    "SELECT pg_catalog.pg_get_viewdef(1)",
    "SELECT json_execute_serialized_sql('{}')",
    "SELECT json_deserialize_sql('{}')",
    "SELECT nextval('s')",
    "SELECT setseed(0.5)",
    "SELECT write_log('x')",
    "SELECT get_type(1)",
    "SELECT * FROM test_all_types()",
    "SELECT * FROM seq_scan('cpu')",
    "SELECT * FROM arrow_scan(0, 0, 0)",
  ],
  "our own functions": [
    "SELECT * FROM __scan(1)",
    "SELECT * FROM __scan_by_threads(1)",
    'SELECT * FROM "__scan"(1)',
    "SELECT * FROM main.__scan(1)",
    "SELECT __ns(time) FROM cpu",
    "SELECT __bounded(1, 2)",
    "SELECT __internal_compress_string_ubigint('a')",
  ],
  "statements that do something": [
    `COPY (SELECT 1) TO '${target}'`,
    `COPY cpu TO '${target}'`,
    `EXPORT DATABASE '${folder}/export'`,
    `ATTACH '${folder}/x.db' AS x`,
    "DETACH memory",
    "CREATE TABLE x (i INTEGER)",
    "CREATE TABLE x AS SELECT 1",
    "CREATE MACRO m() AS 1",
    "INSERT INTO cpu VALUES (1)",
    "DELETE FROM cpu",
    "UPDATE cpu SET usage = 1",
    "DROP TABLE cpu",
    "SET threads = 1",
    "RESET threads",
    "PRAGMA version",
    "PRAGMA database_list",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CALL pragma_version()",
    "EXECUTE p",
    "PREPARE p AS SELECT 1",
    "VACUUM",
    "CHECKPOINT",
    "BEGIN TRANSACTION",
    "USE memory",
    "EXPLAIN DROP TABLE cpu",
    "EXPLAIN ANALYZE COPY cpu TO 'x'",
    "DESCRIBE DROP TABLE cpu",
    "SUMMARIZE cpu",
    "SELECT * FROM (SUMMARIZE cpu)",
    "SELECT * FROM (DESCRIBE cpu)",
    "SELECT * FROM (SHOW TABLES)",
    "SHOW ALL TABLES",
    "SHOW DATABASES",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE cpu",
    "SELECT 1 INTO x",
    "",
    " ; ",
    "-- only a comment",
  ],
  "sizes that no memory limit sees": [
    "SELECT repeat('x', 1000000000)",
    "SELECT repeat('x', CAST(usage * 1e9 AS BIGINT)) FROM cpu",
    "SELECT lpad('x', 1000000000, 'y')",
    "SELECT range(1000000000)",
    "SELECT range(CAST(usage * 1e12 AS BIGINT) + 1000000000) FROM cpu",
    "SELECT len(generate_series(1, 1000000000))",
    "SELECT list_resize([1], 1000000000)",
    "SELECT printf('%900000000d', 1)",
    "SELECT format('{:900000000d}', 1)",
    "SELECT format('{:{}d}', 1, 900000000)",
    "SELECT printf(host, 1) FROM cpu",
    "SELECT bitstring('1', 1000000000)",
    `SELECT ${"abs(".repeat(500)}1${")".repeat(500)}`,
    `SELECT 1 ${"+ 1".repeat(3000)}`,
    `SELECT '${"x".repeat(1 << 20)}'`,
  ],
  "quotes and comments that do not end": ["SELECT 'abc", 'SELECT "abc', "SELECT 1 /* x", "SELECT $$abc", "SELECT E'abc\\'"],
};

let engine: SqlEngine;
let cpu: FakeTable;
beforeAll(async () => {
  writeFileSync(secret, "a,b\n1,2\n");
  const kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 128 << 20, threads: 1, tempDir: temp });
  cpu = new FakeTable(kernel, "cpu", { time: ColumnType.time, host: ColumnType.tag, usage: ColumnType.float }, [
    { time: 1n, host: "h", usage: 1 },
  ]);
});
afterAll(() => {
  engine.close();
  rmSync(folder, { recursive: true });
});

async function ask(sql: string): Promise<unknown[][]> {
  return askRows(engine, sql, { tables: [cpu], databaseTables: [cpu], params: {} });
}

for (const [group, statements] of Object.entries(ATTACKS)) {
  describe(group, () => {
    test.each(statements.map((sql) => [sql.length > 120 ? `${sql.slice(0, 100)}… (${sql.length})` : sql, sql]))("%s", async (_, sql) => {
      const error = await ask(sql!).then(
        (rows) => `answered ${JSON.stringify(rows, (_key, value) => (typeof value === "bigint" ? String(value) : value))}`,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(TsdbError);
      expect((error as TsdbError).kind).toBe("bad_query");
      // no secret, no name of ours
      expect((error as TsdbError).message).not.toMatch(/a,b|[^"']__|\u{E000}/u);
    });
  });
}

test("there are at least 60 of them, nothing was written, and the engine still answers", async () => {
  expect(Object.values(ATTACKS).flat().length).toBeGreaterThanOrEqual(60);
  expect(existsSync(target)).toBe(false);
  expect(await ask("SELECT host, usage FROM cpu")).toEqual([["h", 1]]);
});

// What looks like an attack and is a name
const HARMLESS: [sql: string, rows: unknown[][]][] = [
  ["WITH read_csv AS (SELECT 1 AS a) SELECT a FROM read_csv", [[1n]]],
  ["SELECT 'SELECT * FROM read_csv(''x'')'", [["SELECT * FROM read_csv('x')"]]],
  ["SELECT 'a;b' -- ; DROP TABLE cpu", [["a;b"]]],
  ["WITH cpu AS (SELECT 5 AS usage) SELECT usage FROM cpu", [[5n]]],
  ["WITH cpu AS (SELECT usage + 1 AS usage FROM cpu) SELECT usage FROM cpu", [[2]]],
  ["SELECT cpu.usage FROM (SELECT 7 AS usage) AS cpu", [[7n]]],
  ["WITH c AS (SELECT 1 AS x) SELECT x FROM (WITH cpu AS (SELECT x FROM c) SELECT x FROM cpu)", [[1n]]],
  ["SELECT iox.cpu.usage, public.iox.cpu.host FROM public.iox.cpu", [[1, "h"]]],
  ["SELECT usage FROM iox.cpu AS c WHERE c.host = 'h'", [[1]]],
];
test.each(HARMLESS)("a harmless statement is answered: %s", async (sql, rows) => expect(await ask(sql)).toEqual(rows));
