// Names of every kind, and what SHOW, DESCRIBE, EXPLAIN and information_schema tell about tables.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { FakeTable } from "../../test/support/rows/fake-table.ts";
import { readRows } from "../../test/support/sql/sql-rows.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { ColumnType } from "../model/rows/column.ts";
import { SqlEngine } from "./execute/engine.ts";

const { time, tag, float, integer, unsigned, string, boolean } = ColumnType;

let engine: SqlEngine;
let kernel: Kernel;
let tables: FakeTable[];
beforeAll(async () => {
  kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  tables = [
    new FakeTable(kernel, "home", { time, room: tag, temp: float, n: integer, u: unsigned, s: string, ok: boolean }, [
      { time: 1n, room: "Kitchen", temp: 21.5, n: 1n, u: 2n, s: "warm", ok: true },
    ]),
    new FakeTable(kernel, "Home", { time, Room: tag }, [{ time: 2n, Room: "Attic" }]),
  ];
});
afterAll(() => engine.close());

async function ask(sql: string, given = tables): Promise<{ names: string[]; rows: unknown[][]; table: string }> {
  const plan = await engine.plan(sql);
  const used = given.filter(({ name }) => plan.tables.includes(name));
  const answer = await engine.run(plan, { tables: used, databaseTables: given, params: {} });
  try {
    return { rows: await readRows(answer), names: answer.schema.fields.map(({ name }) => name), table: answer.schema.tableName };
  } finally {
    await answer.close();
  }
}

const SYSTEM_TABLES = [
  ...["distinct_caches", "file_index", "influxdb_schema", "last_caches", "parquet_files"],
  ...["processing_engine_logs", "processing_engine_trigger_arguments", "processing_engine_triggers", "queries", "row_deletes", "tables"],
];
const INFORMATION_VIEWS = ["columns", "df_settings", "parameters", "routines", "schemata", "tables", "views"];

describe("the list of tables", () => {
  test("SHOW TABLES lists tables, system tables and views", async () => {
    const { names, rows, table } = await ask("SHOW TABLES");
    expect(names).toEqual(["table_catalog", "table_schema", "table_name", "table_type"]);
    expect(rows).toEqual([
      ["public", "iox", "Home", "BASE TABLE"],
      ["public", "iox", "home", "BASE TABLE"],
      ...SYSTEM_TABLES.map((name) => ["public", "system", name, "BASE TABLE"]),
      ...INFORMATION_VIEWS.map((view) => ["public", "information_schema", view, "VIEW"]),
    ]);
    expect(table).toBe("");
  });

  test.each(["SHOW COLUMNS FROM home", "show columns in public.iox.home", 'SHOW COLUMNS FROM "home";'])("%s", async (sql) => {
    const { names, rows } = await ask(sql);
    expect(names).toEqual(["table_catalog", "table_schema", "table_name", "column_name", "data_type", "is_nullable"]);
    expect(rows).toEqual(
      [
        ["n", "Int64", "YES"],
        ["ok", "Boolean", "YES"],
        ["room", "Dictionary(Int32, Utf8)", "YES"],
        ["s", "Utf8", "YES"],
        ["temp", "Float64", "YES"],
        ["time", "Timestamp(ns)", "NO"],
        ["u", "UInt64", "YES"],
      ].map((row) => ["public", "iox", "home", ...row]),
    );
  });

  test("DESCRIBE lists columns with types and nullability", async () => {
    const expected = [
      ["Room", "Dictionary(Int32, Utf8)", "YES"],
      ["time", "Timestamp(ns)", "NO"],
    ];
    expect(await ask('DESCRIBE "Home"')).toEqual({ names: ["column_name", "data_type", "is_nullable"], rows: expected, table: "" });
  });

  test.each(["SHOW COLUMNS FROM nothing", "DESCRIBE nothing", "DESCRIBE HOMES"])("%s: no such table", async (sql) => {
    await expect(ask(sql)).rejects.toThrow(/^Error during planning: table 'public\.iox\.\w+' not found$/);
  });

  test("information_schema joins with itself", async () => {
    const sql = `SELECT t.table_name, count(*) FROM information_schema.tables AS t JOIN information_schema.columns AS c
      USING (table_catalog, table_schema, table_name) WHERE t.table_schema = 'iox' GROUP BY 1 ORDER BY 1`;
    expect((await ask(sql)).rows).toEqual([
      ["Home", 2n],
      ["home", 7n],
    ]);
    expect((await ask("SELECT schema_name FROM information_schema.schemata ORDER BY 1")).rows.flat()).toEqual([
      "information_schema",
      "iox",
      "system",
    ]);
    expect((await ask("SELECT * FROM information_schema.tables")).names).toEqual([
      "table_catalog",
      "table_schema",
      "table_name",
      "table_type",
    ]);
  });

  test("information_schema over 5,000 tables", async () => {
    const many = Array.from({ length: 5000 }, (_, i) => ({ name: `table_${i}_with_a_name`, columns: tables[0]!.columns }));
    const plan = await engine.plan("SELECT count(*), min(column_name) FROM information_schema.columns WHERE table_name LIKE 'table_4%'");
    const answer = await engine.run(plan, { tables: [], databaseTables: many, params: {} });
    expect(await readRows(answer)).toEqual([[BigInt(1111 * 7), "n"]]);
    await answer.close();
  });
});

describe("EXPLAIN", () => {
  test.each(["EXPLAIN SELECT room FROM home WHERE temp > 20", "EXPLAIN ANALYZE SELECT room FROM home WHERE temp > 20"])(
    "%s shows the plan without our names",
    async (sql) => {
      const { names, rows } = await ask(sql);
      expect(names).toEqual(["plan_type", "plan"]);
      expect(rows.length).toBe(1);
      expect(String(rows[0]![1])).toContain("SCAN");
      expect(String(rows[0]![1])).not.toMatch(/__|\u{E000}/u);
    },
  );
});

const MISSING: [sql: string, message: RegExp][] = [
  ["SELECT * FROM nothing", /^Error during planning: table 'public\.iox\.nothing' not found$/],
  ["SELECT * FROM HOMES", /table 'public\.iox\.homes' not found/],
  ['SELECT * FROM "HOME"', /table 'public\.iox\.HOME' not found/],
  ["SELECT * FROM system.nothing", /table 'public\.system\.nothing' not found/],
  ["SELECT * FROM information_schema.nothing", /table 'public\.information_schema\.nothing' not found/],
  ['SELECT "Temp" FROM home', /No field named "Temp"\. Valid fields are home\.n, .* at Line: 1, Column: 8$/],
  ["SELECT\n  room,\n  foo FROM home", /No field named foo\. Valid fields are .* at Line: 3, Column: 3$/],
  ["SELECT x.room FROM home", /No field named x\.room\. .* at Line: 1, Column: 8$/],
  ["SELECT room FROM home WHERE", /^SQL error: syntax error .* at Line: 1, Column: \d+$/],
  ["SELEC room", /^SQL error: syntax error at or near "selec" at Line: 1, Column: 1$/],
  ["SELECT room FROM home GROUP BY temp", /"room" must appear in the GROUP BY clause/],
  ["SELECT nofunction(room) FROM home", /Invalid function 'nofunction'\.\nDid you mean '\w+'\?$/],
  ["SELECT avgg(temp) FROM home", /Invalid function 'avgg'\.\nDid you mean 'avg'\?$/],
  ["SELECT rownumber() OVER () FROM home", /Invalid function 'rownumber'\.\nDid you mean 'row_number'\?$/],
  ["SELECT room FROM home a, home b", /^Schema error: Ambiguous reference to unqualified field room$/],
  [
    "SELECT room FROM home WHERE max(temp) > 1",
    /^Error during planning: Aggregate functions are not allowed in the WHERE clause\. Consider using HAVING instead$/,
  ],
  ["SELECT room + 1 FROM home", /Cannot coerce arithmetic expression/],
];
test.each(MISSING)("a missing table is named: %s", async (sql, message) => expect(ask(sql)).rejects.toThrow(message));

describe("names", () => {
  /** What could go wrong in quoting, folding, encoding or C strings. */
  const HOSTILE = [
    ...[
      "a",
      "A",
      "select",
      "SELECT",
      "order by",
      'qu"ote',
      "qu'ote",
      "semi;colon",
      "--",
      "/*",
      "*/",
      "new\nline",
      "tab\t",
      "nul\0nul",
      "\0",
    ],
    ...[
      "ä",
      "Ä",
      "ß",
      "ẞ",
      "İ",
      "ı",
      "日本",
      "😀",
      "\u{E000}",
      "\u{E000}a",
      "\u{E000}A",
      "a\u{E000}",
      "$1",
      "$$",
      "?",
      "%",
      "\\",
      "a.b",
      ".",
      " ",
      "  ",
      "0",
      "1a",
      "rowid",
    ],
    ...[
      "x".repeat(300),
      "X".repeat(300),
      "__scan",
      "__scan_by_threads",
      "t",
      "T",
      "information_schema",
      "NULL",
      "true",
      "*",
      "(",
      ")",
      "[",
      "{",
      ":",
      "::",
      "a::b",
    ],
  ];

  test("a table with all of them as columns", async () => {
    const values = Object.fromEntries(HOSTILE.map((name, i) => [name, BigInt(i)]));
    const types = Object.fromEntries(HOSTILE.map((name) => [name, integer]));
    const table = new FakeTable(kernel, "Ta\"b'le; --", { time, ...types }, [{ time: 0n, ...values }]);
    const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
    const { names, rows } = await ask(`SELECT * FROM ${quoted(table.name)}`, [table]);
    expect(Object.fromEntries(names.map((name, i) => [name, rows[0]![i]]))).toEqual({ time: 0n, ...values });
    expect(names).toEqual([...HOSTILE, "time"].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    // A NUL cannot stand in a statement
    const writable = HOSTILE.filter((name) => !name.includes("\0"));
    const list = await ask(`SELECT ${writable.map(quoted).join(", ")} FROM ${quoted(table.name)} AS "T" WHERE "T"."A" = 1`, [table]);
    expect(list.names).toEqual(writable);
    expect(list.rows).toEqual([writable.map((name) => values[name]!)]);
    table.free();
  });

  test("tables with hostile names are found", async () => {
    const writable = HOSTILE.filter((name) => !name.includes("\0"));
    const named = writable.map((name, i) => new FakeTable(kernel, name, { time }, [{ time: BigInt(i) }]));
    for (const [i, table] of named.entries()) {
      const answer = await ask(`SELECT time FROM "${table.name.replaceAll('"', '""')}"`, named);
      expect(answer).toEqual({ names: ["time"], rows: [[BigInt(i)]], table: table.name });
    }
    for (const table of named) table.free();
  });

  test("random mixtures of case, quotes and aliases resolve like a naive reading", async () => {
    const below = prng(5);
    const pool = ["ab", "Ab", "aB", "AB"];
    const table = new FakeTable(kernel, "mix", { time, ...Object.fromEntries(pool.map((name) => [name, string])) }, [
      { time: 0n, ...Object.fromEntries(pool.map((name) => [name, name])) },
    ]);
    for (let round = 0; round < 60; round++) {
      const picked = Array.from({ length: 1 + below(3) }, () => ({
        name: pool[below(4)]!,
        isQuoted: below(2) === 0,
        isQualified: below(2) === 0,
      }));
      const written = picked.map(({ name, isQuoted, isQualified }) => `${isQualified ? "Mix." : ""}${isQuoted ? `"${name}"` : name}`);
      const { rows, names } = await ask(`SELECT ${written.join(", ")} FROM MIX`, [table]);
      const expected = picked.map(({ name, isQuoted }) => (isQuoted ? name : name.toLowerCase()));
      expect({ written, rows, names }).toEqual({ written, rows: [expected], names: expected });
    }
    table.free();
  });
});

test("names of results without an alias", async () => {
  const NAMES: [select: string, name: string][] = [
    ["count(*)", "count(*)"],
    ["COUNT( DISTINCT Room )", "count(DISTINCT home.room)"],
    ["temp+1", "home.temp + Int64(1)"],
    ["(temp + 1) * 2", "home.temp + Int64(1) * Int64(2)"],
    ["home.temp", "temp"],
    ["1", "Int64(1)"],
    ["'x'", 'Utf8("x")'],
    ["now()", "now()"],
    ["avg(temp) FILTER (WHERE n > 0)", "avg(home.temp) FILTER (WHERE home.n > Int64(0))"],
    ["CAST(n AS DOUBLE)", "home.n"],
    ["room IS NULL", "home.room IS NULL"],
    ["s || 'x'", 'home.s || Utf8("x")'],
    [
      "row_number() OVER (ORDER BY time)",
      "row_number() ORDER BY [home.time ASC NULLS LAST] RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    ],
    ["s ~ 'w.*'", 'home.s ~ Utf8("w.*")'],
  ];
  for (const [select, name] of NAMES)
    expect((await ask(`SELECT ${select} FROM home${/\(DISTINCT|avg|count/i.test(select) ? "" : " LIMIT 1"}`)).names).toEqual([name]);
});
