// Text answers: one document in each format, every kind of cell, and what each format does without rows.
import { describe, expect, test } from "bun:test";
import { batchOf, Dictionaries, type Plain, schemaOf } from "../../test/support/rows/result-batch.ts";
import { TsdbError } from "../model/errors.ts";
import type { QueryFormat } from "../model/query/query.ts";
import type { ResultField, ResultType } from "../model/query/result-batch.ts";
import { createEncoder } from "./encode.ts";
import { PrettyEncoder } from "./text/pretty-encoder.ts";

const TIME: ResultField = { name: "time", type: { kind: "timestamp", unit: "ns", zone: null } };
const HOST: ResultField = { name: "host", type: { kind: "dictionary" } };
const USAGE: ResultField = { name: "usage", type: { kind: "float", bits: 64 } };
const OK: ResultField = { name: "ok", type: { kind: "bool" } };
const N: ResultField = { name: "n", type: { kind: "int", bits: 64, signed: true } };
const TEXT: ResultField = { name: "text", type: { kind: "utf8" } };

const LIST: ResultType = { kind: "list", child: { name: "item", type: { kind: "int", bits: 32, signed: true } } };
const STRUCT: ResultType = {
  kind: "struct",
  children: [
    { name: "a", type: { kind: "float", bits: 64 } },
    { name: 'b"', type: LIST },
  ],
};

type Rows = readonly (readonly Plain[])[];

/** The whole answer as text, from `batches`; every call's bytes must be the caller's own. */
async function answer(format: QueryFormat, fields: readonly ResultField[], batches: readonly Rows[], tableName = "cpu"): Promise<string> {
  const encoder = await createEncoder(format);
  const dictionaries = new Dictionaries();
  const parts = [encoder.begin(schemaOf(tableName, fields))];
  for (const rows of batches) {
    const before = parts.map((part) => part?.slice() ?? null);
    parts.push(encoder.rows(batchOf(fields, rows, dictionaries)));
    expect(parts.slice(0, -1)).toEqual(before);
  }
  parts.push(encoder.end());
  return new TextDecoder().decode(Buffer.concat(parts.filter((part) => part !== null)));
}

const ROWS: Rows = [
  [2998574931000000000n, "a", 1, null, null],
  [2998574931000690067n, "b", 0.5, true, 7n],
];
const COLUMNS = [TIME, HOST, USAGE, OK, N];

const JSON_ROWS = [
  '{"time":"2065-01-07T17:28:51","host":"a","usage":1.0}',
  '{"time":"2065-01-07T17:28:51.000690067","host":"b","usage":0.5,"ok":true,"n":7}',
];
const SEED_HEAD = '{"results":[{"series":[{"name":"cpu","columns":["time","host","usage","ok","n"],"values":[';
const SEED_ROWS = ['["2065-01-07T17:28:51","a",1.0,null,null]', '["2065-01-07T17:28:51.000690067","b",0.5,true,7]'];

const DOCUMENTS: [format: QueryFormat, text: string][] = [
  ["json", `[${JSON_ROWS.join(",")}]`],
  ["jsonl", `${JSON_ROWS.join("\n")}\n`],
  ["seed", `${SEED_HEAD}${SEED_ROWS.join(",")}]}]}]}`],
  ["plugin", `${SEED_HEAD}[2998574931000000000,"a",1.0,null,null],[2998574931000690067,"b",0.5,true,7]]}]}]}`],
  ["csv", "time,host,usage,ok,n\n2065-01-07T17:28:51,a,1.0,,\n2065-01-07T17:28:51.000690067,b,0.5,true,7\n"],
  [
    "pretty",
    `+-------------------------------+------+-------+------+---+
| time                          | host | usage | ok   | n |
+-------------------------------+------+-------+------+---+
| 2065-01-07T17:28:51           | a    | 1.0   |      |   |
| 2065-01-07T17:28:51.000690067 | b    | 0.5   | true | 7 |
+-------------------------------+------+-------+------+---+`,
  ],
];

describe("one answer in each format", () => {
  test.each(DOCUMENTS)("%s", async (format, text) => expect(await answer(format, COLUMNS, [ROWS])).toBe(text));

  test.each(DOCUMENTS)("%s is the same however the rows are cut into batches", async (format, text) => {
    expect(await answer(format, COLUMNS, [[], [ROWS[0]!], [], [ROWS[1]!], []])).toBe(text);
  });
});

const EMPTY: [format: QueryFormat, text: string][] = [
  ["json", "[]"],
  ["jsonl", ""],
  ["csv", ""],
  ["seed", '{"results":[{"series":[{"name":"cpu","columns":["a"],"values":[]}]}]}'],
  ["pretty", "+---+\n| a |\n+---+\n+---+"],
];

describe("an answer without rows", () => {
  const fields: ResultField[] = [{ name: "a", type: { kind: "utf8" } }];
  test.each(EMPTY)("%s without batches", async (format, text) => expect(await answer(format, fields, [])).toBe(text));
  test.each(EMPTY)("%s with an empty batch", async (format, text) => expect(await answer(format, fields, [[]])).toBe(text));
});

const CELLS: [name: string, type: ResultType, value: Plain, json: string, plain: string][] = [
  ["null", { kind: "null" }, null, "null", ""],
  ["false", { kind: "bool" }, false, "false", "false"],
  ["i8", { kind: "int", bits: 8, signed: true }, -128, "-128", "-128"],
  ["u8", { kind: "int", bits: 8, signed: false }, 255, "255", "255"],
  ["i16", { kind: "int", bits: 16, signed: true }, -32768, "-32768", "-32768"],
  ["u32", { kind: "int", bits: 32, signed: false }, 4294967295, "4294967295", "4294967295"],
  ["i32", { kind: "int", bits: 32, signed: true }, -2147483648, "-2147483648", "-2147483648"],
  ["i64 min", { kind: "int", bits: 64, signed: true }, -(2n ** 63n), "-9223372036854775808", "-9223372036854775808"],
  ["u64 max", { kind: "int", bits: 64, signed: false }, 2n ** 64n - 1n, "18446744073709551615", "18446744073709551615"],
  ["hugeint min", { kind: "hugeint", signed: true }, -(2n ** 127n), String(-(2n ** 127n)), String(-(2n ** 127n))],
  ["uhugeint max", { kind: "hugeint", signed: false }, 2n ** 128n - 1n, String(2n ** 128n - 1n), String(2n ** 128n - 1n)],
  ["decimal", { kind: "decimal", precision: 5, scale: 2 }, -1250n, "-12.50", "-12.50"],
  ["f32", { kind: "float", bits: 32 }, 0.1, "0.1", "0.1"],
  ["NaN", { kind: "float", bits: 64 }, Number.NaN, "null", "NaN"],
  ["infinity", { kind: "float", bits: 64 }, Number.NEGATIVE_INFINITY, "null", "-inf"],
  ["f32 infinity", { kind: "float", bits: 32 }, Number.POSITIVE_INFINITY, "null", "inf"],
  ["text", { kind: "utf8" }, "Zürich 🏔", '"Zürich 🏔"', "Zürich 🏔"],
  [
    "escapes",
    { kind: "utf8" },
    '"\\\b\t\n\f\r\u0001\u001f\u007f/',
    '"\\"\\\\\\b\\t\\n\\f\\r\\u0001\\u001f\u007f/"',
    '"\\\b\t\n\f\r\u0001\u001f\u007f/',
  ],
  ["empty text", { kind: "utf8" }, "", '""', ""],
  ["tag", { kind: "dictionary" }, 'a "b"', '"a \\"b\\""', 'a "b"'],
  ["binary", { kind: "binary" }, Uint8Array.of(0, 1, 171, 255), '"0001abff"', "0001abff"],
  [
    "zoned",
    { kind: "timestamp", unit: "us", zone: "+02:00" },
    1n,
    '"1970-01-01T02:00:00.000001+02:00"',
    "1970-01-01T02:00:00.000001+02:00",
  ],
  ["date", { kind: "date" }, 18_000, '"2019-04-14"', "2019-04-14"],
  ["time", { kind: "time", unit: "us" }, 1n, '"00:00:00.000001"', "00:00:00.000001"],
  ["duration", { kind: "duration", unit: "ns" }, -32_689_000n, '"-PT0.032689S"', "-PT0.032689S"],
  ["duration of milliseconds", { kind: "duration", unit: "ms" }, 1_500n, '"PT1.5S"', "PT1.5S"],
  ["interval", { kind: "interval" }, [0, 0, 32_689n], '"0.032689000 secs"', "0.032689000 secs"],
  ["list", LIST, [1, null, -3], "[1,null,-3]", "[1, , -3]"],
  ["empty list", LIST, [], "[]", "[]"],
  ["struct", STRUCT, { a: 1, 'b"': [2] }, '{"a":1.0,"b\\"":[2]}', '{a: 1.0, b": [2]}'],
  [
    "map",
    { kind: "map", key: { name: "key", type: { kind: "timestamp", unit: "s", zone: null } }, value: { name: "value", type: LIST } },
    [
      [0n, [1]],
      [60n, []],
    ],
    '{"1970-01-01T00:00:00":[1],"1970-01-01T00:01:00":[]}',
    "{1970-01-01T00:00:00: [1], 1970-01-01T00:01:00: []}",
  ],
];

describe("cells", () => {
  // Around each value stand nulls and other rows, so that a wrong row or validity bit shows.
  test.each(CELLS)("%s", async (_name, type, value, json, plain) => {
    const fields: ResultField[] = [{ name: "v", type }];
    const rows: Rows = [[null], [value], [null], [value]];
    expect(await answer("seed", fields, [rows], "t")).toBe(
      `{"results":[{"series":[{"name":"t","columns":["v"],"values":[[null],[${json}],[null],[${json}]]}]}]}`,
    );
    const member = value === null ? "" : `"v":${json}`;
    expect(await answer("json", fields, [rows])).toBe(`[{},{${member}},{},{${member}}]`);
    if (!plain.includes("\n")) {
      const lines = (await answer("pretty", fields, [rows])).split("\n");
      expect(lines[4]).toBe(`| ${plain}${" ".repeat(Math.max(0, 1 - plain.length))} |`);
    }
  });

  test("null members of a struct: left out in json, kept in the default answer", async () => {
    const fields: ResultField[] = [{ name: "v", type: STRUCT }];
    const rows: Rows = [[{ a: null, 'b"': null }], [{ a: null, 'b"': [null] }]];
    expect(await answer("json", fields, [rows])).toBe('[{"v":{}},{"v":{"b\\"":[null]}}]');
    expect(await answer("seed", fields, [rows])).toContain('[[{"a":null,"b\\"":null}],[{"a":null,"b\\"":[null]}]]');
  });

  test("null values of a map: left out in json, kept in the default answer", async () => {
    const key: ResultField = { name: "key", type: { kind: "utf8" } };
    const fields: ResultField[] = [{ name: "v", type: { kind: "map", key, value: { name: "value", type: LIST } } }];
    const entries = [
      ["a", null],
      ["b", [null]],
      ["c", null],
    ];
    const rows: Rows = [[entries]];
    expect(await answer("json", fields, [rows])).toBe('[{"v":{"b":[null]}}]');
    expect(await answer("seed", fields, [rows])).toContain('[[{"a":null,"b":[null],"c":null}]]');
    expect(await answer("pretty", fields, [rows])).toContain("| {a: , b: [], c: } |");
  });

  test("names are escaped", async () => {
    const fields: ResultField[] = [{ name: 'a"\n,', type: { kind: "bool" } }];
    expect(JSON.parse(await answer("json", fields, [[[true]]]))).toEqual([{ 'a"\n,': true }]);
    expect(JSON.parse(await answer("seed", fields, [], 't"'))).toEqual({
      results: [{ series: [{ name: 't"', columns: ['a"\n,'], values: [] }] }],
    });
    expect(await answer("csv", fields, [[[true]]])).toBe('"a""\n,"\ntrue\n');
  });

  test("a long text grows the buffer", async () => {
    const text = `${"é\u0000".repeat(200_000)}"`;
    expect(JSON.parse(await answer("json", [TEXT], [[[text]], [["b"]]]))).toEqual([{ text }, { text: "b" }]);
  });
});

const QUOTED: [value: string, cell: string][] = [
  ["plain text", "plain text"],
  ["a,b", '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ["two\nlines", '"two\nlines"'],
  ["two\rlines", '"two\rlines"'],
  ["semi;colon", "semi;colon"],
];

describe("csv", () => {
  test.each(QUOTED)("%j is %j", async (value, cell) => {
    expect(await answer("csv", [TEXT, HOST], [[[value, value]]])).toBe(`text,host\n${cell},${cell}\n`);
  });

  test("a line of one empty cell is still a record", async () => {
    expect(await answer("csv", [TEXT], [[[""], ["x"], [null]]])).toBe('text\n""\nx\n""\n');
    expect(await answer("csv", [TEXT, HOST], [[["", null]]])).toBe("text,host\n,\n");
  });

  test("nested columns are refused before the first byte", async () => {
    const nested = schemaOf("t", [{ name: "tags", type: LIST }]);
    const begin = async () => (await createEncoder("csv")).begin(nested);
    await expect(begin()).rejects.toThrow(TsdbError);
    await expect(begin()).rejects.toThrow("csv cannot hold column 'tags' of type list");
  });
});

describe("pretty", () => {
  test("lines within a cell, wide and combining characters", async () => {
    const fields = [TEXT, { name: "Größe", type: N.type }];
    expect(
      await answer("pretty", fields, [
        [
          ["PLAN\n  scan", 1n],
          ["日本", -22n],
        ],
      ]),
    ).toBe(
      `+--------+-------+
| text   | Größe |
+--------+-------+
| PLAN   | 1     |
|   scan |       |
| 日本   | -22   |
+--------+-------+`,
    );
  });

  test("control characters are as wide as in the vendor's tables, marks that show nothing are not", async () => {
    const texts = ["abcdef", "a\tb", "a\u0001b", "a\u007fb", "a\u0085b", "\u001b[31m", "a\u200bb", "\ufeffa"];
    const drawn = await answer("pretty", [TEXT], [texts.map((text) => [text])]);
    const pads = drawn
      .split("\n")
      .slice(3, -1)
      .map((line) => / *\|$/.exec(line)![0].length - 2);
    expect(pads).toEqual([0, 3, 3, 3, 3, 1, 4, 5]);
  });

  test("past the held text, widths stay as they are", () => {
    const encoder = new PrettyEncoder(4);
    const parts = [
      encoder.begin(schemaOf("t", [TEXT])),
      encoder.rows(batchOf([TEXT], [["abc"], ["abcdef"]])),
      encoder.rows(batchOf([TEXT], [["abcdefgh"], ["z"]])),
      encoder.end(),
    ];
    expect(new TextDecoder().decode(Buffer.concat(parts.filter((part) => part !== null)))).toBe(
      `+--------+
| text   |
+--------+
| abc    |
| abcdef |
| abcdefgh |
| z      |
+--------+`,
    );
    expect(parts[1]).not.toBeNull();
  });
});

test("an answer for plugins has NaN and infinite numbers behind the rows, by row and column", async () => {
  const fields = [USAGE, N, USAGE];
  const batches: Rows[] = [
    [
      [Number.NaN, 1n, 2],
      [null, 2n, Number.POSITIVE_INFINITY],
    ],
    [[1, null, Number.NEGATIVE_INFINITY]],
  ];
  const rows = `[[null,1,2.0],[null,2,null],[1.0,null,null]]`;
  const behind = `"non_finite":[[0,0,"NaN"],[1,2,"Infinity"],[2,2,"-Infinity"]]`;
  expect(await answer("plugin", fields, batches)).toBe(
    `{"results":[{"series":[{"name":"cpu","columns":["usage","n","usage"],"values":${rows}}]}],${behind}}`,
  );
  expect(await answer("plugin", fields, [[[1, 1n, 2]]])).not.toContain("non_finite");
});

test("each format has its content type", async () => {
  const types: Record<QueryFormat, string> = {
    seed: "application/json",
    plugin: "application/json",
    json: "application/json",
    jsonl: "application/jsonl",
    csv: "text/csv",
    pretty: "text/plain; charset=utf-8",
    arrow: "application/vnd.apache.arrow.stream",
    flight: "application/vnd.apache.arrow.stream",
    parquet: "application/vnd.apache.parquet",
  };
  for (const [format, type] of Object.entries(types)) {
    expect((await createEncoder(format as QueryFormat)).contentType).toBe(type);
  }
});
