// Values at the edges of what formats can hold, from a real server in each of its formats: NaN and infinities, integers beyond a
// double, bytes, nested values, columns of one name, and answers without rows.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Table, tableFromIPC } from "apache-arrow";
import { readParquet } from "parquet-wasm/esm";
import { loadParquetLibrary } from "../../src/encode/parquet/library.ts";
import { post, query, store } from "../e2e/client.ts";
import { readColumn } from "../support/flight/arrow-read.ts";
import type { Plain } from "../support/rows/result-batch.ts";
import { TestServer } from "../support/servers/server.ts";

let server: TestServer;
beforeAll(async () => {
  await loadParquetLibrary();
  server = await TestServer.start();
  const lines = [
    't,h=a,g=x v=1.5,n=9007199254740993i,u=18446744073709551615u,s="q\\"x,y",b=true 1',
    "t,h=b v=-2,n=-9223372036854775808i 2",
    "u,h=a v=3,w=1 1",
  ];
  await store(server, "db", lines.join("\n"));
});
afterAll(() => server.dispose());

const NAN = "CAST('nan' AS DOUBLE)";
const INF = "CAST('inf' AS DOUBLE)";

interface Case {
  readonly sql: string;
  readonly names: readonly string[];
  /** Rows of `format=json`, without NULLs. */
  readonly json: readonly string[];
  /** Rows of the default form. */
  readonly values: readonly string[];
  /** Lines after the header; an error instead where CSV cannot hold it. */
  readonly csv: readonly string[] | Error;
  /** Rows of the table for people, cells between bars. */
  readonly pretty: readonly string[];
  /** Columns, as Arrow and Parquet hold them. */
  readonly columns: readonly (readonly Plain[])[];
  readonly tableName?: string;
}

const CASES: readonly Case[] = [
  {
    sql: `SELECT ${NAN} AS a, ${INF} AS b, -${INF} AS c, 1.0 AS d`,
    names: ["a", "b", "c", "d"],
    json: ['{"a":null,"b":null,"c":null,"d":1.0}'],
    values: ["[null,null,null,1.0]"],
    csv: ["NaN,inf,-inf,1.0"],
    pretty: ["NaN | inf | -inf | 1.0"],
    columns: [[Number.NaN], [Number.POSITIVE_INFINITY], [Number.NEGATIVE_INFINITY], [1]],
  },
  {
    sql: `SELECT CAST(${NAN} AS FLOAT) AS a, CAST(-${INF} AS FLOAT) AS b, CAST(0.1 AS FLOAT) AS c`,
    names: ["a", "b", "c"],
    json: ['{"a":null,"b":null,"c":0.1}'],
    values: ["[null,null,0.1]"],
    csv: ["NaN,-inf,0.1"],
    pretty: ["NaN | -inf | 0.1"],
    columns: [[Number.NaN], [Number.NEGATIVE_INFINITY], [Math.fround(0.1)]],
  },
  {
    sql: `SELECT [${NAN}, 1.0, NULL] AS l, {'a': ${INF}, 'b': NULL} AS s`,
    names: ["l", "s"],
    json: ['{"l":[null,1.0,null],"s":{"a":null}}'],
    values: ['[[null,1.0,null],{"a":null,"b":null}]'],
    csv: new Error("csv cannot hold column 'l' of type list"),
    pretty: ["[NaN, 1.0, ] | {a: inf, b: }"],
    columns: [[[Number.NaN, 1, null]], [{ a: Number.POSITIVE_INFINITY, b: null }]],
  },
  // i64 and u64 beyond what a double holds
  {
    sql: "SELECT n, u FROM t ORDER BY time",
    names: ["n", "u"],
    json: ['{"n":9007199254740993,"u":18446744073709551615}', '{"n":-9223372036854775808}'],
    values: ["[9007199254740993,18446744073709551615]", "[-9223372036854775808,null]"],
    csv: ["9007199254740993,18446744073709551615", "-9223372036854775808,"],
    pretty: ["9007199254740993 | 18446744073709551615", "-9223372036854775808 |"],
    columns: [
      [9007199254740993n, -(2n ** 63n)],
      [2n ** 64n - 1n, null],
    ],
    tableName: "t",
  },
  {
    sql: "SELECT sum(n) AS a, max(u) - 1 AS b, [n] AS c FROM t WHERE h = 'a' GROUP BY n",
    names: ["a", "b", "c"],
    json: ['{"a":9007199254740993,"b":18446744073709551614,"c":[9007199254740993]}'],
    values: ["[9007199254740993,18446744073709551614,[9007199254740993]]"],
    csv: new Error("csv cannot hold column 'c' of type list"),
    pretty: ["9007199254740993 | 18446744073709551614 | [9007199254740993]"],
    columns: [[9007199254740993n], [2n ** 64n - 2n], [[9007199254740993n]]],
    tableName: "t",
  },
  // bytes are hexadecimal digits in text
  {
    sql: "SELECT decode('00ff61', 'hex') AS b, decode('', 'hex') AS e, CAST(NULL AS BLOB) AS z",
    names: ["b", "e", "z"],
    json: ['{"b":"00ff61","e":""}'],
    values: ['["00ff61","",null]'],
    csv: ["00ff61,,"],
    pretty: ["00ff61 |  |"],
    columns: [[Uint8Array.of(0, 255, 97)], [new Uint8Array(0)], [null]],
  },
  // nested values, names in them with their case
  {
    sql: "SELECT [[1, 2], [], NULL] AS l, [{'a': 1, 'B': ['x']}] AS s, {'o': {'i': {'k': true}}} AS o",
    names: ["l", "s", "o"],
    json: ['{"l":[[1,2],[],null],"s":[{"a":1,"B":["x"]}],"o":{"o":{"i":{"k":true}}}}'],
    values: ['[[[1,2],[],null],[{"a":1,"B":["x"]}],{"o":{"i":{"k":true}}}]'],
    csv: new Error("csv cannot hold column 'l' of type list"),
    pretty: ["[[1, 2], [], ] | [{a: 1, B: [x]}] | {o: {i: {k: true}}}"],
    columns: [[[[1n, 2n], [], null]], [[{ a: 1n, B: ["x"] }]], [{ o: { i: { k: true } } }]],
  },
  {
    sql: "SELECT MAP {1: 'a', 2: NULL} AS m, MAP {'k\"': [1]} AS k",
    names: ["m", "k"],
    json: ['{"m":{"1":"a"},"k":{"k\\"":[1]}}'],
    values: ['[{"1":"a","2":null},{"k\\"":[1]}]'],
    csv: new Error("csv cannot hold column 'm' of type map"),
    pretty: ['{1: a, 2: } | {k": [1]}'],
    columns: [
      [
        [
          [1n, "a"],
          [2n, null],
        ],
      ],
      [[['k"', [1n]]]],
    ],
  },
  // columns of one name: all of them, in order, in every format
  {
    sql: "SELECT h, h, v AS h FROM t ORDER BY v DESC",
    names: ["h", "h", "h"],
    json: ['{"h":"a","h":"a","h":1.5}', '{"h":"b","h":"b","h":-2.0}'],
    values: ['["a","a",1.5]', '["b","b",-2.0]'],
    csv: ["a,a,1.5", "b,b,-2.0"],
    pretty: ["a | a | 1.5", "b | b | -2.0"],
    columns: [
      ["a", "b"],
      ["a", "b"],
      [1.5, -2],
    ],
    tableName: "t",
  },
  {
    sql: "SELECT t.*, u.* FROM t JOIN u ON t.h = u.h",
    names: ["b", "g", "h", "n", "s", "time", "u", "v", "h", "time", "v", "w"],
    json: [
      '{"b":true,"g":"x","h":"a","n":9007199254740993,"s":"q\\"x,y","time":"1970-01-01T00:00:00.000000001","u":18446744073709551615,"v":1.5,"h":"a","time":"1970-01-01T00:00:00.000000001","v":3.0,"w":1.0}',
    ],
    values: [
      '[true,"x","a",9007199254740993,"q\\"x,y","1970-01-01T00:00:00.000000001",18446744073709551615,1.5,"a","1970-01-01T00:00:00.000000001",3.0,1.0]',
    ],
    csv: [
      'true,x,a,9007199254740993,"q""x,y",1970-01-01T00:00:00.000000001,18446744073709551615,1.5,a,1970-01-01T00:00:00.000000001,3.0,1.0',
    ],
    pretty: [
      'true | x | a | 9007199254740993 | q"x,y | 1970-01-01T00:00:00.000000001 | 18446744073709551615 | 1.5 | a | 1970-01-01T00:00:00.000000001 | 3.0 | 1.0',
    ],
    columns: [[true], ["x"], ["a"], [9007199254740993n], ['q"x,y'], [1n], [2n ** 64n - 1n], [1.5], ["a"], [1n], [3], [1]],
  },
  // NULL alone, text that formats quote
  {
    sql: "SELECT CAST(NULL AS BIGINT) AS a FROM t",
    names: ["a"],
    json: ["{}", "{}"],
    values: ["[null]", "[null]"],
    csv: ['""', '""'],
    pretty: ["", ""],
    columns: [[null, null]],
    tableName: "t",
  },
  {
    sql: "SELECT '' AS e, chr(0) || 'a' AS z, chr(31) AS c, 'a,\"b\"' AS q, '\u2028😀' AS w",
    names: ["e", "z", "c", "q", "w"],
    json: ['{"e":"","z":"\\u0000a","c":"\\u001f","q":"a,\\"b\\"","w":"\u2028😀"}'],
    values: ['["","\\u0000a","\\u001f","a,\\"b\\"","\u2028😀"]'],
    csv: [',\0a,\x1f,"a,""b""",\u2028😀'],
    pretty: [' | \0a | \x1f | a,"b" | \u2028😀'],
    columns: [[""], ["\0a"], ["\x1f"], ['a,"b"'], ["\u2028😀"]],
  },
  {
    sql: "SELECT 1e21 AS a, 1e-7 AS b, 5e-324 AS c, 1.7976931348623157e308 AS d, 100.0 AS e",
    names: ["a", "b", "c", "d", "e"],
    json: ['{"a":1.0e21,"b":1.0e-7,"c":5.0e-324,"d":1.7976931348623157e308,"e":100.0}'],
    values: ["[1.0e21,1.0e-7,5.0e-324,1.7976931348623157e308,100.0]"],
    csv: ["1e21,1e-7,5e-324,1.7976931348623157e308,100.0"],
    pretty: ["1e21 | 1e-7 | 5e-324 | 1.7976931348623157e308 | 100.0"],
    columns: [[1e21], [1e-7], [5e-324], [Number.MAX_VALUE], [100]],
  },
];

const label = ({ sql }: Case) => sql;

describe("text", () => {
  test.each(CASES.map((found): [string, Case] => [label(found), found]))("json: %s", async (_, { sql, json }) => {
    expect((await query(server, "db", sql, { format: "json" })).text).toBe(`[${json.join(",")}]`);
    const lines = await query(server, "db", sql, { format: "jsonl" });
    expect(lines.text).toBe(json.map((row) => `${row}\n`).join(""));
    for (const line of lines.text.trimEnd().split("\n")) JSON.parse(line);
  });

  test.each(CASES.map((found): [string, Case] => [label(found), found]))(
    "default: %s",
    async (_, { sql, names, values, tableName = "" }) => {
      const head = `{"results":[{"series":[{"name":"${tableName}","columns":${JSON.stringify(names)},"values":[`;
      expect((await query(server, "db", sql)).text).toBe(`${head}${values.join(",")}]}]}]}`);
    },
  );

  test.each(CASES.map((found): [string, Case] => [label(found), found]))("csv: %s", async (_, { sql, names, csv }) => {
    const { status, text } = await query(server, "db", sql, { format: "csv" });
    if (csv instanceof Error) expect([status, text]).toEqual([400, expect.stringContaining(csv.message)]);
    else expect(text).toBe([names.join(","), ...csv, ""].join("\n"));
  });

  test.each(CASES.map((found): [string, Case] => [label(found), found]))("pretty: %s", async (_, { sql, names, pretty }) => {
    const lines = (await query(server, "db", sql, { format: "pretty" })).text.split("\n");
    const cells = (line: string) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim());
    expect(cells(lines[1]!)).toEqual([...names]);
    expect(lines.slice(3, -1).map(cells)).toEqual(
      pretty.map((row) =>
        `${row} `
          .split(" | ")
          .flatMap((cell) => cell.split(" |"))
          .map((cell) => cell.trim()),
      ),
    );
  });
});

async function binary(sql: string, format: "arrow" | "parquet"): Promise<Table> {
  const response = await post(server, "db", sql, { format });
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect([response.status, response.status === 200 ? "" : new TextDecoder().decode(bytes)]).toEqual([200, ""]);
  return tableFromIPC(format === "arrow" ? bytes : readParquet(bytes).intoIPCStream());
}

describe.each(["arrow", "parquet"] as const)("%s", (format) => {
  test.each(CASES.map((found): [string, Case] => [label(found), found]))("%s", async (_, { sql, names, columns }) => {
    const table = await binary(sql, format);
    expect(table.schema.fields.map(({ name }) => name)).toEqual([...names]);
    expect(names.map((_name, index) => readColumn(table, index))).toEqual(columns.map((column) => [...column]));
  });
});

/** Without rows, from the engine and from the scan alone. */
const EMPTY: [sql: string, names: string[], types: string[], tableName: string][] = [
  [
    "SELECT * FROM t WHERE false",
    ["b", "g", "h", "n", "s", "time", "u", "v"],
    ["Bool", "Dictionary<Int32, Utf8>", "Dictionary<Int32, Utf8>", "Int64", "Utf8", "Timestamp<NANOSECOND>", "Uint64", "Float64"],
    "t",
  ],
  ["SELECT time, v FROM t LIMIT 0", ["time", "v"], ["Timestamp<NANOSECOND>", "Float64"], "t"],
  ["SELECT v FROM t WHERE time < '1900-01-01' ORDER BY time", ["v"], ["Float64"], "t"],
  ["SELECT h, count(*) FROM t WHERE v > 100 GROUP BY h", ["h", "count(*)"], ["Dictionary<Int32, Utf8>", "Int64"], "t"],
  ["SELECT upper(s) AS s FROM t WHERE n = 5", ["s"], ["Utf8"], "t"],
  ["SELECT 1 AS a, 'x' AS b WHERE 1 = 0", ["a", "b"], ["Int64", "Utf8"], ""],
  ["SELECT table_name FROM information_schema.tables WHERE table_name = 'none'", ["table_name"], ["Utf8"], ""],
];

describe("without rows", () => {
  test.each(EMPTY)("%s", async (sql, names, types, tableName) => {
    const asText = async (format?: string) => {
      const { status, text, headers } = await query(server, "db", sql, format === undefined ? {} : { format });
      return [status, text, headers.get("content-type")];
    };
    const border = `+${names.map((name) => `${"-".repeat(name.length + 2)}+`).join("")}`;
    expect(await asText("json")).toEqual([200, "[]", "application/json"]);
    expect(await asText("jsonl")).toEqual([200, "", "application/jsonl"]);
    expect(await asText("csv")).toEqual([200, "", "text/csv"]);
    expect(await asText("pretty")).toEqual([200, `${border}\n| ${names.join(" | ")} |\n${border}\n${border}`, "text/plain; charset=utf-8"]);
    const series = `{"results":[{"series":[{"name":"${tableName}","columns":${JSON.stringify(names)},"values":[]}]}]}`;
    expect(await asText()).toEqual([200, series, "application/json"]);
    for (const format of ["arrow", "parquet"] as const) {
      const table = await binary(sql, format);
      expect([table.numRows, table.schema.fields.map(({ name }) => name)]).toEqual([0, names]);
      expect(table.schema.fields.map(({ type }) => String(type))).toEqual(types);
    }
  });

  test("nested columns cannot be CSV even then", async () => {
    expect((await query(server, "db", "SELECT [1] AS l WHERE false", { format: "csv" })).status).toBe(400);
    expect((await query(server, "db", "SELECT [1] AS l WHERE false", { format: "json" })).text).toBe("[]");
  });
});
