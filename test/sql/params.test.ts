// Placeholders: a value of every JSON type in every place of a statement where a value may stand, and nowhere else.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { query, store } from "../e2e/client.ts";
import { TestServer } from "../support/servers/server.ts";
import { type SqlCase, sqlSuite, utc } from "../support/sql/sql-suite.ts";

const KITCHEN = { room: "Kitchen" };

sqlSuite("types", [
  ["SELECT $a", [["text"]], { a: "text" }],
  ["SELECT $a", [['it\'s "quoted" -- and ; more']], { a: 'it\'s "quoted" -- and ; more' }],
  ["SELECT $a, length($a)", [["ä€😀", 3]], { a: "ä€😀" }],
  ["SELECT $a", [[""]], { a: "" }],
  ["SELECT $a, $b", [[true, false]], { a: true, b: false }],
  ["SELECT $a IS NULL, coalesce($a, 'nothing')", [[true, "nothing"]], { a: null }],
  // integers keep every digit, and a float is one even when it is whole
  ["SELECT $a, $b", [[7n, -7n]], { a: 7n, b: -7n }],
  ["SELECT $a", [[9007199254740993n]], { a: 9007199254740993n }],
  ["SELECT $least, $most", [[-(2n ** 63n), 2n ** 63n - 1n]], { least: -(2n ** 63n), most: 2n ** 63n - 1n }],
  ["SELECT $a", [[2n ** 64n - 1n]], { a: 2n ** 64n - 1n }],
  ["SELECT $a", [[2 ** 65]], { a: 2n ** 65n }],
  ["SELECT $a", [[0.1]], { a: 0.1 }],
  ["SELECT $a", [[3]], { a: 3 }],
  ["SELECT $a", [[-1.5e300]], { a: -1.5e300 }],
  ["SELECT $a, $b", [[5e-324, -0]], { a: 5e-324, b: -0 }],
  // no JSON holds them, but other encodings of parameters do
  ["SELECT $a, $b, $c", [[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]], { a: Number.NaN, b: 1 / 0, c: -1 / 0 }],
  ["SELECT 7 / $n, 7 / $x, 7 / $m", [["3.5000", 3.5, -3n]], { n: 2n, x: 2, m: -2n }],
  ["SELECT $a + 1, $a + $a, $b || 'c'", [["3", 4n, "bc"]], { a: 2n, b: "b" }],
]);

sqlSuite("places", [
  ["SELECT count(*) FROM home WHERE room = $room", [[13n]], KITCHEN],
  ["SELECT count(*) FROM home WHERE $room = room AND co > $co", [[3n]], { ...KITCHEN, co: 9n }],
  ["SELECT count(*) FROM home WHERE temp BETWEEN $low AND $high", [[3n]], { low: 23, high: 24 }],
  ["SELECT count(*) FROM home WHERE room IN ($room, $other)", [[13n]], { ...KITCHEN, other: "Cellar" }],
  ["SELECT count(*) FROM home WHERE room LIKE $like", [[13n]], { like: "K%" }],
  ["SELECT count(*) FROM home WHERE room ~ $re", [[13n]], { re: "^K.*n$" }],
  ["SELECT count(*) FROM home WHERE time >= $from AND time < $to", [[4n]], { from: "2022-01-01T10:00:00Z", to: "2022-01-01 12:00:00" }],
  ["SELECT count(*) FROM home WHERE $yes AND co > 9", [[5n]], { yes: true }],
  ["SELECT count(*) FROM home WHERE co = $none", [[0n]], { none: null }],
  ["SELECT co FROM home WHERE co > $co ORDER BY co LIMIT $limit OFFSET $offset", [[22n]], { co: 9n, limit: 1n, offset: 3n }],
  [
    "SELECT room, count(*) FROM home GROUP BY room HAVING count(*) > $n ORDER BY room",
    [
      ["Kitchen", 13n],
      ["Living Room", 13n],
    ],
    { n: 12n },
  ],
  ["SELECT max(co) FILTER (WHERE room = $room) FROM home", [[26n]], KITCHEN],
  [
    "SELECT sum(co) OVER (ORDER BY time ROWS BETWEEN $n PRECEDING AND CURRENT ROW) AS s FROM home WHERE room = 'Kitchen' ORDER BY time DESC LIMIT 1",
    [[48n]],
    { n: 1n },
  ],
  ["SELECT CASE WHEN $a > 1 THEN $b ELSE $c END", [["b"]], { a: 2n, b: "b", c: "c" }],
  ["SELECT CAST($a AS BIGINT) + 1, $b::DOUBLE", [[13n, 2.5]], { a: "12", b: "2.5" }],
  ["SELECT date_bin(INTERVAL '1 hour', $t)", [[utc("2022-01-01T10:00:00")]], { t: "2022-01-01T10:30:00Z" }],
  ["SELECT date_trunc($unit, time) FROM home LIMIT 1", [[utc("2022-01-01T00:00:00")]], { unit: "day" }],
  ["SELECT a.x + b.x FROM (SELECT $n AS x) AS a, (VALUES ($n)) AS b(x)", [[4n]], { n: 2n }],
  ["WITH c AS (SELECT $a AS v) SELECT v FROM c UNION ALL SELECT $b ORDER BY v", [[1n], [2n]], { a: 1n, b: 2n }],
  ["SELECT (SELECT max(temp) FROM home WHERE room = $room)", [[23.3]], KITCHEN],
  ["SELECT count(*) FROM home AS h WHERE EXISTS (SELECT 1 WHERE h.co > $co)", [[5n]], { co: 9n }],
  // one value at several places, several names that differ in case, numbers as names
  ["SELECT $a, $a, $a = $a", [[1n, 1n, true]], { a: 1n }],
  ["SELECT $a, $A", [["small", "large"]], { a: "small", A: "large" }],
  ["SELECT $1, $2", [["one", "two"]], { "1": "one", "2": "two" }],
  ["SELECT $größe", [[5n]], { größe: 5n }],
  // nobody asks for the others
  ["SELECT $a", [[1n]], { a: 1n, b: "not used" }],
  // the value's text is never looked at again
  ["SELECT $a", [["$b"]], { a: "$b", b: "no" }],
  ["SELECT count(*) FROM home WHERE room = $a", [[0n]], { a: "' OR '1'='1" }],
  ["SELECT count(*) FROM home WHERE room = $a", [[0n]], { a: "x'; DROP TABLE home; --" }],
  // no placeholders
  ['SELECT \'$a\', "$a" FROM (SELECT 5 AS "$a")', [["$a", 5n]], { a: "no" }],
  ["SELECT $$a$$, $q$it's$q$", [["a", "it's"]], { a: "no" }],
  ["SELECT 1 -- $a\n", [[1n]], {}],
  ["SELECT /* $a */ 1", [[1n]], {}],
]);

sqlSuite("a value is no name and no place in the select list", [
  // what would be the first column as a number in the statement
  [
    "SELECT room, co FROM home WHERE co > 20 ORDER BY co, $n",
    [
      ["Kitchen", 22n],
      ["Kitchen", 26n],
    ],
    { n: 1n },
  ],
  ["SELECT co FROM home WHERE co > 16 AND room = 'Kitchen' ORDER BY $n, co DESC", [[26n], [22n], [18n]], { n: 1n }],
  ["SELECT count(*) FROM home GROUP BY $n", [[26n]], { n: 1n }],
  ["SELECT room, count(*) FROM home GROUP BY $n", new Error('"room" must appear in the GROUP BY clause'), { n: 1n }],
  ["SELECT count(*) FROM home GROUP BY $column", [[26n]], { column: "room" }],
  ["SELECT DISTINCT ON ($n) count(*) FROM home", [[26n]], { n: 1n }],
  ["SELECT $column FROM home LIMIT 1", [["temp"]], { column: "temp" }],
  ["SELECT co FROM home WHERE co > 20 ORDER BY $column, co", [[22n], [26n]], { column: "co" }],
  ...(
    [
      "SELECT * FROM $name",
      "SELECT * FROM iox.$name",
      "SELECT * FROM home AS $name",
      "SELECT 1 AS $name",
      "SELECT home.$name FROM home",
      "SELECT $name() FROM home",
      "SELECT * EXCLUDE ($name) FROM home",
      "SELECT COLUMNS($name) FROM home",
      "SELECT room FROM home WHERE COLUMNS($name) > 1",
      "SELECT CAST(1 AS $name)",
      "SELECT INTERVAL $name",
      "SELECT count(*) FROM home WHERE time > now() - INTERVAL $name",
      "WITH $name AS (SELECT 1) SELECT 1",
      "SHOW COLUMNS FROM $name",
      "DESCRIBE $name",
      "$name",
    ] as const
  ).map((sql): SqlCase => [sql, new Error(sql.includes("COLUMNS($") ? "a placeholder in COLUMNS" : "SQL error"), { name: "home" }]),
]);

sqlSuite("a value that is not there", [
  ["SELECT $a", new Error("No value found for placeholder with name $a"), {}],
  ["SELECT $a", new Error("No value found for placeholder with name $a"), { A: 1n, b: 2n }],
  ["SELECT 1 FROM home WHERE room = $room", new Error("No value found for placeholder with name $room"), {}],
  ["SELECT 1 FROM home LIMIT $n", new Error("No value found for placeholder with name $n"), {}],
  ["SELECT 1 FROM home WHERE false AND co = $x", new Error("No value found for placeholder with name $x"), {}],
  ["EXPLAIN SELECT $a", new Error("No value found for placeholder with name $a"), {}],
  ["SELECT ?", new Error("No value found for placeholder with name $1"), {}],
  // what every object of the language has
  ...["constructor", "toString", "__proto__", "hasOwnProperty"].map(
    (name): SqlCase => [`SELECT $${name}`, new Error(`No value found for placeholder with name $${name}`), {}],
  ),
  ["SELECT $", new Error("SQL error"), {}],
  ["SELECT $a, ?", new Error("SQL error"), { a: 1n }],
]);

describe("over HTTP", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
    await store(server, "db", "t,h=a v=1.5,n=9007199254740993i,u=18446744073709551615u 1\nt,h=b v=2 2");
  });
  afterAll(() => server.dispose());

  async function both(statement: string, params: string): Promise<[number, string][]> {
    const url = `${server.url}/api/v3/query_sql`;
    const search = new URLSearchParams({ db: "db", q: statement, format: "json", params });
    const body = `{"db":"db","q":${JSON.stringify(statement)},"format":"json","params":${params}}`;
    const responses = [await fetch(`${url}?${search}`), await fetch(url, { method: "POST", body })];
    return Promise.all(responses.map(async (response): Promise<[number, string]> => [response.status, await response.text()]));
  }

  const ANSWERED: [statement: string, params: string, rows: string][] = [
    ["SELECT $a AS a", '{"a":"text"}', '[{"a":"text"}]'],
    ["SELECT $a AS a", '{"a":"\\u00e4\\n\\"\\\\"}', '[{"a":"ä\\n\\"\\\\"}]'],
    ["SELECT $a AS a, $b AS b", '{"a":true,"b":false}', '[{"a":true,"b":false}]'],
    ["SELECT 1 AS n, $a AS a", '{"a":null}', '[{"n":1}]'],
    ["SELECT $a AS a", '{"a":7}', '[{"a":7}]'],
    ["SELECT $a AS a", '{"a":-0}', '[{"a":-0.0}]'],
    ["SELECT $a AS a", '{"a":3.0}', '[{"a":3.0}]'],
    ["SELECT $a AS a", '{"a":1e2}', '[{"a":100.0}]'],
    ["SELECT 7 / $n AS n, 7 / $x AS x", '{"n":2,"x":2.0}', '[{"n":3.5000,"x":3.5}]'],
    ["SELECT $a AS a", '{"a":9007199254740993}', '[{"a":9007199254740993}]'],
    ["SELECT $a AS a", '{"a":-9223372036854775808}', '[{"a":-9223372036854775808}]'],
    ["SELECT $a AS a", '{"a":18446744073709551615}', '[{"a":18446744073709551615}]'],
    ["SELECT h FROM t WHERE n = $n", '{"n":9007199254740993}', '[{"h":"a"}]'],
    ["SELECT h FROM t WHERE n = $n", '{"n":9007199254740992}', "[]"],
    ["SELECT h FROM t WHERE u = $u", '{"u":18446744073709551615}', '[{"h":"a"}]'],
    ["SELECT h FROM t WHERE v = $v", '{"v":2}', '[{"h":"b"}]'],
    ["SELECT h FROM t WHERE h = $h AND time > $t", '{"h":"b","t":"1970-01-01T00:00:00.000000001Z"}', '[{"h":"b"}]'],
    ["SELECT $a AS a", '{"a":"first","a":"last"}', '[{"a":"last"}]'],
    ["SELECT $__proto__ AS a", '{"__proto__":"own"}', '[{"a":"own"}]'],
    ["SELECT 1 AS n", "null", '[{"n":1}]'],
    ["SELECT 1 AS n", "{}", '[{"n":1}]'],
  ];
  test.each(ANSWERED)("%s with %s", async (statement, params, rows) => {
    expect(await both(statement, params)).toEqual([
      [200, rows],
      [200, rows],
    ]);
  });

  const REFUSED: [statement: string, params: string, message: string][] = [
    ["SELECT $a", '{"a":[1]}', "parameter `a` must be a string, number, boolean or null, got an array"],
    ["SELECT $a", '{"a":{"b":1}}', "parameter `a` must be a string, number, boolean or null, got an object"],
    ["SELECT $a", "[1]", "`params` must be an object, got an array"],
    ["SELECT $a", '"a"', "`params` must be an object, got a string"],
    ["SELECT $a", "7", "`params` must be an object, got a number"],
    ["SELECT $a", '{"a":1e400}', "number out of range: 1e400"],
    ["SELECT $a", '{"a":}', "serde json error"],
    ["SELECT $a", '{"b":1}', "No value found for placeholder with name $a"],
    ["SELECT * FROM $t", '{"t":"t"}', "SQL error"],
  ];
  test.each(REFUSED)("%s with %s is 400", async (statement, params, message) => {
    for (const [status, text] of await both(statement, params)) expect([status, text]).toEqual([400, expect.stringContaining(message)]);
  });

  test("a statement without params over HTTP", async () => {
    const { status, text } = await query(server, "db", "SELECT v FROM t WHERE h = $h");
    expect([status, text]).toEqual([400, "No value found for placeholder with name $h"]);
  });
});
