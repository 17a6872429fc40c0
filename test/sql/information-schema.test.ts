// SHOW, DESCRIBE and information_schema: the list of everything that a database has, as statements and as tables that join with others.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { ColumnType } from "../../src/model/rows/column.ts";
import { SqlEngine } from "../../src/sql/execute/engine.ts";
import { FakeTable } from "../support/rows/fake-table.ts";
import { readRows, type SqlValue } from "../support/sql/sql-rows.ts";
import { homeTable } from "../support/sql/sql-suite.ts";

const { time, tag, float, unsigned, string, boolean } = ColumnType;

let engine: SqlEngine;
let tables: FakeTable[];
beforeAll(async () => {
  const kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  tables = [
    homeTable(kernel),
    new FakeTable(kernel, "Wind", { time, Site: tag, speed: float, n: unsigned, note: string, ok: boolean }, []),
  ];
});
afterAll(() => engine.close());

interface Answer {
  readonly names: readonly string[];
  readonly rows: readonly (readonly SqlValue[])[];
}

async function ask(sql: string, isInternal = false): Promise<Answer> {
  const plan = await engine.plan(sql);
  const databaseTables = isInternal ? [] : tables;
  const answer = await engine.run(plan, { tables: databaseTables, databaseTables, isInternal, params: {} });
  try {
    return { names: answer.schema.fields.map(({ name }) => name), rows: await readRows(answer) };
  } finally {
    await answer.close();
  }
}

/** The vendor's list of views, by name. */
const VIEWS = ["columns", "df_settings", "parameters", "routines", "schemata", "tables", "views"];
const SYSTEM = [
  ...["distinct_caches", "file_index", "influxdb_schema", "last_caches", "parquet_files"],
  ...["processing_engine_logs", "processing_engine_trigger_arguments", "processing_engine_triggers", "queries", "row_deletes", "tables"],
];
const INTERNAL = [...SYSTEM, "audit_log", "databases", "generation_durations", "nodes", "plugin_files", "tokens"].sort();

const HOME_COLUMNS = [
  ["co", "Int64", "YES"],
  ["hum", "Float64", "YES"],
  ["room", "Dictionary(Int32, Utf8)", "YES"],
  ["temp", "Float64", "YES"],
  ["time", "Timestamp(ns)", "NO"],
];
const WIND_COLUMNS = [
  ["Site", "Dictionary(Int32, Utf8)", "YES"],
  ["n", "UInt64", "YES"],
  ["note", "Utf8", "YES"],
  ["ok", "Boolean", "YES"],
  ["speed", "Float64", "YES"],
  ["time", "Timestamp(ns)", "NO"],
];

describe("SHOW TABLES", () => {
  test("tables by name, then system, then the views", async () => {
    expect(await ask("SHOW TABLES")).toEqual({
      names: ["table_catalog", "table_schema", "table_name", "table_type"],
      rows: [
        ["public", "iox", "Wind", "BASE TABLE"],
        ["public", "iox", "home", "BASE TABLE"],
        ...SYSTEM.map((name) => ["public", "system", name, "BASE TABLE"]),
        ...VIEWS.map((name) => ["public", "information_schema", name, "VIEW"]),
      ],
    });
  });

  test("the database _internal has tables about all databases", async () => {
    const { rows } = await ask("SHOW TABLES", true);
    expect(rows.map(([, schema, name]) => [schema, name])).toEqual([
      ...INTERNAL.map((name) => ["system", name]),
      ...VIEWS.map((name) => ["information_schema", name]),
    ]);
  });

  test.each(["show tables", "Show Tables;", " SHOW /* all */ TABLES -- here"])("%s", async (sql) => {
    expect((await ask(sql)).rows.length).toBe(2 + SYSTEM.length + VIEWS.length);
  });
});

describe("SHOW COLUMNS and DESCRIBE", () => {
  const SHOWN: [sql: string, schema: string, table: string, columns: string[][]][] = [
    ["SHOW COLUMNS FROM home", "iox", "home", HOME_COLUMNS],
    ["SHOW COLUMNS IN home", "iox", "home", HOME_COLUMNS],
    ["SHOW FIELDS FROM HOME", "iox", "home", HOME_COLUMNS],
    ["SHOW COLUMNS FROM public.iox.home", "iox", "home", HOME_COLUMNS],
    ['SHOW COLUMNS FROM iox."Wind"', "iox", "Wind", WIND_COLUMNS],
    [
      "SHOW COLUMNS FROM system.parquet_files",
      "system",
      "parquet_files",
      [
        ["table_name", "Utf8View", "NO"],
        ["path", "Utf8View", "NO"],
        ["size_bytes", "UInt64", "NO"],
        ["row_count", "UInt64", "NO"],
        ["min_time", "Int64", "NO"],
        ["max_time", "Int64", "NO"],
      ],
    ],
    [
      "SHOW COLUMNS FROM information_schema.tables",
      "information_schema",
      "tables",
      ["table_catalog", "table_schema", "table_name", "table_type"].map((name) => [name, "Utf8", "NO"]),
    ],
  ];
  test.each(SHOWN)("%s", async (sql, schema, table, columns) => {
    expect(await ask(sql)).toEqual({
      names: ["table_catalog", "table_schema", "table_name", "column_name", "data_type", "is_nullable"],
      rows: columns.map((column) => ["public", schema, table, ...column]),
    });
    const described = await ask(`DESCRIBE ${schema}."${table}"`);
    expect(described).toEqual({ names: ["column_name", "data_type", "is_nullable"], rows: columns });
  });

  test.each([
    ["DESCRIBE SELECT * FROM home", HOME_COLUMNS],
    [
      "DESC SELECT room AS r, count(*) AS n, max(time) AS t FROM home GROUP BY room",
      [
        ["r", "Dictionary(Int32, Utf8)", "YES"],
        ["n", "Int64", "NO"],
        ["t", "Timestamp(ns)", "YES"],
      ],
    ],
    [
      "DESCRIBE WITH a AS (SELECT [1.5] AS list, 7 AS n) SELECT list, n, 'x' AS s, arrow_cast(n, 'Int32') AS i FROM a LIMIT 0",
      [
        ["list", "List(Float64)", "YES"],
        ["n", "Int64", "YES"],
        ["s", "Utf8", "NO"],
        ["i", "Int32", "YES"],
      ],
    ],
  ])("%s", async (sql, rows) => {
    expect(await ask(sql)).toEqual({ names: ["column_name", "data_type", "is_nullable"], rows });
  });

  // those of the facts, in their order
  test("the columns of system.queries", async () => {
    const { rows } = await ask("DESCRIBE system.queries");
    expect(rows.map(([name]) => name)).toEqual(
      `id phase issue_time query_type query_text partitions parquet_files plan_duration permit_duration execute_duration end2end_duration
       compute_duration max_memory success running cancelled trace_id`.split(/\s+/),
    );
    expect(rows.filter(([name]) => String(name).endsWith("_duration")).map(([, type]) => type)).toEqual(Array(5).fill("Duration(ns)"));
  });

  const MISSING = [
    ["SHOW COLUMNS FROM nothing", "table 'public.iox.nothing' not found"],
    ["DESCRIBE wind", "table 'public.iox.wind' not found"],
    ["DESCRIBE system.nothing", "table 'public.system.nothing' not found"],
    ["DESCRIBE system.databases", "table 'public.system.databases' not found"],
    ["DESCRIBE information_schema.nothing", "table 'public.information_schema.nothing' not found"],
    ["DESCRIBE other.home", "table 'public.other.home' not found"],
    ["SELECT * FROM system.nodes", "table 'public.system.nodes' not found"],
    ["SELECT * FROM system.constructor", "table 'public.system.constructor' not found"],
    ["SELECT * FROM information_schema.toString", "table 'public.information_schema.tostring' not found"],
    ["SHOW DATABASES", "SHOW DATABASES is not supported"],
    ["SHOW TABLES FROM iox", "SHOW TABLES FROM IOX is not supported"],
    ["SHOW COLUMNS FROM home; DROP TABLE home", "single SQL statement"],
    ["SHOW COLUMNS FROM home WHERE 1 = 1", "a table name is expected"],
    ["SHOW COLUMNS FROM 'home'", "a table name is expected"],
    ["SHOW COLUMNS FROM $t", "a table name is expected"],
    ["DESCRIBE DESCRIBE SELECT 1", "a table name is expected, found 'DESCRIBE SELECT 1'"],
  ];
  test.each(MISSING)("%s", (sql, message) => expect(ask(sql!)).rejects.toThrow(message!));
});

describe("as tables", () => {
  const CASES: [sql: string, rows: SqlValue[][]][] = [
    ["SELECT count(*) FROM information_schema.tables", [[BigInt(2 + SYSTEM.length + VIEWS.length)]]],
    ["SELECT count(*) FROM information_schema.columns WHERE table_schema = 'iox'", [[11n]]],
    ["SELECT table_name FROM information_schema.tables WHERE table_schema = 'iox' ORDER BY table_name DESC", [["home"], ["Wind"]]],
    ["SELECT table_name FROM public.information_schema.tables WHERE table_type = 'VIEW' AND table_name LIKE 'r%'", [["routines"]]],
    [
      "SELECT table_schema, count(*) AS n FROM information_schema.tables GROUP BY table_schema ORDER BY n, table_schema",
      [
        ["iox", 2n],
        ["information_schema", BigInt(VIEWS.length)],
        ["system", BigInt(SYSTEM.length)],
      ],
    ],
    [
      `SELECT t.table_name, count(*) FROM information_schema.tables AS t JOIN information_schema.columns AS c
       USING (table_catalog, table_schema, table_name) WHERE t.table_schema = 'iox' GROUP BY 1 ORDER BY 2 DESC`,
      [
        ["Wind", 6n],
        ["home", 5n],
      ],
    ],
    // beside data
    [
      "SELECT h.room, t.table_type FROM home AS h, information_schema.tables AS t WHERE t.table_name = 'home' AND h.co = 26",
      [["Kitchen", "BASE TABLE"]],
    ],
    ["SELECT (SELECT count(*) FROM information_schema.tables WHERE table_schema = 'iox') + count(*) FROM home", [[28n]]],
    ["WITH t AS (SELECT table_name AS n FROM information_schema.tables) SELECT n FROM t WHERE n = 'home'", [["home"]]],
    ["SELECT max(ordinal_position), min(ordinal_position) FROM information_schema.columns WHERE table_name = 'home'", [[4n, 0n]]],
    ["SELECT column_name FROM information_schema.columns WHERE table_name = 'home' AND is_nullable = 'NO'", [["time"]]],
    [
      "SELECT column_name, numeric_precision, numeric_precision_radix, character_octet_length FROM information_schema.columns WHERE table_name = 'Wind' AND column_name IN ('speed', 'note') ORDER BY 1",
      [
        ["note", null, null, 2147483647n],
        ["speed", 24n, 2n, null],
      ],
    ],
    ["SELECT schema_name FROM information_schema.schemata ORDER BY 1", [["information_schema"], ["iox"], ["system"]]],
    ["SELECT count(*) FROM information_schema.views", [[0n]]],
    ["SELECT count(*) FROM information_schema.parameters", [[0n]]],
    [
      "SELECT value FROM information_schema.df_settings WHERE name IN ('datafusion.catalog.default_catalog', 'datafusion.catalog.default_schema') ORDER BY name",
      [["public"], ["iox"]],
    ],
    [
      "SELECT routine_name, function_type, is_deterministic FROM information_schema.routines WHERE routine_name IN ('date_bin', 'avg', 'row_number', 'random') ORDER BY 1",
      [
        ["avg", "AGGREGATE", true],
        ["date_bin", "SCALAR", true],
        ["random", "SCALAR", false],
        ["row_number", "WINDOW", true],
      ],
    ],
    ["SELECT count(*) FROM information_schema.routines WHERE routine_name LIKE '\\_\\_%' ESCAPE '\\'", [[0n]]],
  ];
  test.each(CASES)("%s", async (sql, rows) => expect((await ask(sql)).rows).toEqual(rows));

  test("columns may be named anew", async () => {
    expect((await ask("SELECT c, d FROM information_schema.tables AS t(a, b, c, d) WHERE c = 'home'")).rows).toEqual([
      ["home", "BASE TABLE"],
    ]);
  });

  test("SHOW ALL lists settings", async () => {
    const { names, rows } = await ask("SHOW ALL");
    expect(names).toEqual(["name", "value"]);
    expect(rows).toContainEqual(["datafusion.execution.time_zone", null]);
  });

  test("a system table without rows has its columns", async () => {
    const { names, rows } = await ask("SELECT * FROM system.tables");
    expect(names).toEqual(
      "database_name table_name column_count series_key_columns last_cache_count distinct_cache_count deleted hard_deletion_time".split(
        " ",
      ),
    );
    expect(rows).toEqual([]);
  });
});
