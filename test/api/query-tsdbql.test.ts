// GET and POST /api/v3/query_tsdbql, and under the vendor's name: what reaches the query service, and how its answers and errors look.
import { expect, test } from "bun:test";
import { type ErrorKind, TsdbError } from "../../src/model/errors.ts";
import type { QueryFormat } from "../../src/model/query/query.ts";
import { answer, CLUSTER_UUID, fakes, outcome } from "./fakes.ts";
import { definitions } from "./v1-app.ts";

const PATHS = ["/api/v3/query_tsdbql", "/api/v3/query_influxql"] as const;
const PATH = PATHS[0];
const SELECT = "SELECT v FROM m";
const url = (members: Record<string, string>, path: string = PATH) => `${path}?${new URLSearchParams(members)}`;
const Q = url({ db: "d", q: SELECT });

const FORMATS: [format: string | null, accept: string | null, want: QueryFormat][] = [
  [null, null, "seed"],
  [null, "application/json", "seed"],
  [null, "text/html,application/xml;q=0.9,*/*;q=0.8", "seed"],
  [null, "application/jsonl", "jsonl"],
  [null, "text/csv", "csv"],
  [null, "text/plain", "pretty"],
  [null, "application/vnd.apache.parquet", "parquet"],
  [null, "application/vnd.apache.arrow.stream", "arrow"],
  ["json", null, "json"],
  ["jsonl", null, "jsonl"],
  ["json_lines", null, "jsonl"],
  ["csv", "application/json", "csv"],
  ["pretty", null, "pretty"],
  ["parquet", "*/*", "parquet"],
  ["arrow", null, "arrow"],
];

test.each(FORMATS)("format %p with Accept %p is %s, by GET and by POST, under both names", async (format, accept, want) => {
  const { send, queries } = fakes();
  const headers: Record<string, string> = accept === null ? {} : { accept };
  const members = { db: "d", q: SELECT, ...(format === null ? {} : { format }) };
  for (const path of PATHS) {
    await send("GET", url(members, path), { headers });
    await send("POST", path, { headers, body: JSON.stringify(members) });
  }
  const tsdbql = { retentionPolicy: null, params: null, answer: null };
  const wanted = { database: "d", statement: SELECT, format: want, params: {}, queryType: "influxql", tsdbql };
  expect(queries).toMatchObject([wanted, wanted, wanted, wanted]);
});

test.each([
  ['{"h":"a","u":0.9,"n":7,"yes":true,"none":null}', '{"h":"a","u":0.9,"n":7,"yes":true,"none":null}'],
  ['{"whole":3.0,"big":9223372036854775807,"tiny":2.5e-300}', '{"whole":3.0,"big":9223372036854775807,"tiny":2.5e-300}'],
  // a whole mantissa with an exponent is a float too
  ['{"tiny":1e-7, "large":-2E300}', '{"tiny":1.0e-7,"large":-2.0e300}'],
  ["null", null],
  ["{}", null],
])("params %s reach the language with their digits, by GET and by POST", async (text, want) => {
  const { send, queries } = fakes();
  await send("GET", url({ db: "d", q: SELECT, params: text }));
  await send("POST", PATH, { body: `{"db":"d","q":"${SELECT}","params":${text}}` });
  const [get, post] = queries.map(({ tsdbql }) => tsdbql!.params);
  expect([get, post]).toEqual([want, want]);
});

test("the body is JSON under any name; members that belong to /query alone say nothing", async () => {
  const { send, queries } = fakes();
  const more = { epoch: "ms", chunked: [true], chunk_size: {}, rp: "other", pretty: 7, more: [1] };
  for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded", "application/vnd.influxql", "x/y"]) {
    const body = JSON.stringify({ db: "d", q: SELECT, format: null, params: null, ...more });
    expect((await send("POST", PATH, { headers: { "content-type": type }, body })).status).toBe(200);
  }
  await send("GET", url({ db: "d", q: SELECT, epoch: "ms", chunked: "true", chunk_size: "1", rp: "other", pretty: "true" }));
  expect(queries).toHaveLength(6);
  for (const { format, tsdbql } of queries) expect([format, tsdbql!.retentionPolicy]).toEqual(["seed", null]);
});

const ONE = "must provide only one InfluxQl statement per query";
const NO_DB = "must specify a 'db' parameter, or provide the database in the InfluxQL query";
const two = (param: string, statement: string) =>
  `provided a database in both the parameters (${param}) and query string (${statement}) that do not match, if providing a query that ` +
  "specifies the database, you can omit the 'database' parameter from your request";
const undefinedParam = (name: string) => `Bind parameter '$${name}' was referenced in the InfluxQL statement but its value is undefined`;

const REFUSED: [how: "GET" | "POST", input: string, status: number, body: unknown, headers?: Record<string, string>][] = [
  ["GET", "", 400, "missing query parameters 'db' and 'q'"],
  ["GET", "?db=d", 400, "serde error: missing field `q`"],
  ["GET", "?db=d&q=a&q=b", 400, "serde error: duplicate field `q`"],
  ["GET", "?db=d&q=%zz", 400, 'serde error: invalid percent-encoding in the query string near "%zz"'],
  ["GET", "?db=d&q=a&format=xml", 400, "unknown format `xml`, expected one of json, jsonl, json_lines, csv, pretty, parquet, arrow"],
  ["GET", "?db=d&q=a", 400, "invalid mime type (image/png)", { accept: "image/png" }],
  ["GET", "?db=d&q=a&format=csv", 400, "invalid mime type (image/png)", { accept: "image/png" }],
  ["GET", "?db=d&q=a&params=[1]", 400, "serde json error: `params` must be an object, got an array"],
  ["GET", "?db=d&q=a&params={", 400, "serde json error: JSON Parse error: Expected '}'"],
  ["GET", "?db=d&q=a&params={%22a%22:[1]}", 400, "parameter `a` must be a string, number, boolean or null, got an array"],
  ["POST", "", 400, "serde json error: JSON Parse error: Unexpected EOF"],
  ["POST", "{", 400, "serde json error: JSON Parse error: Expected '}'"],
  ["POST", "[]", 400, "serde json error: the body must be an object with the member `q`"],
  ["POST", '"SELECT v FROM m"', 400, "serde json error: the body must be an object with the member `q`"],
  ["POST", '{"db":"d"}', 400, "serde json error: missing field `q`"],
  ["POST", '{"db":7,"q":"a"}', 400, "serde json error: `db` must be a string, got 7"],
  ["POST", '{"q":null}', 400, "serde json error: `q` must be a string, got null"],
  ["POST", '{"q":"a","format":7}', 400, "serde json error: `format` must be a string, got 7"],
  ["POST", '{"q":"a","params":"x"}', 400, "serde json error: `params` must be an object, got a string"],
  ["POST", '{"q":"a","params":{"x":{}}}', 400, "parameter `x` must be a string, number, boolean or null, got an object"],
  ["POST", `{"q":"${"x".repeat(1000)}"}`, 413, { error: "max request size (1000 bytes) exceeded" }],
  ["POST", "{}", 400, "unacceptable content-encoding: br", { "content-encoding": "br" }],
];

test.each(REFUSED)("%s %j: %d %j", async (how, input, status, body, headers = {}) => {
  const { send, queries, reports } = fakes();
  const response = await (how === "GET" ? send("GET", PATH + input, { headers }) : send("POST", PATH, { headers, body: input }));
  expect(await outcome(response)).toEqual([status, body]);
  expect(response.headers.get("cluster-uuid")).toBe(CLUSTER_UUID);
  expect([queries, reports]).toEqual([[], []]);
});

test("bytes that are not UTF-8", async () => {
  const { send } = fakes();
  expect(await outcome(await send("POST", PATH, { body: new Uint8Array([0x22, 0xff]) }))).toEqual([400, "body content is not valid utf8"]);
});

/** Unless they say otherwise, to the database `d` and without parameters. */
const STATEMENTS: [q: string, body: string, more?: { params?: string; db?: string | null }][] = [
  [
    "SELEC v FROM m",
    "error in InfluxQL statement: parsing error: found SELEC, expected SELECT, DELETE, SHOW, CREATE, DROP, EXPLAIN, GRANT, REVOKE, ALTER, SET, KILL at line 1, char 1",
  ],
  ["SELECT", "error in InfluxQL statement: parsing error: found EOF, expected identifier, string, number, bool at line 1, char 8"],
  ["", ONE],
  [";", ONE],
  ["SELECT v FROM m; SELECT v FROM m", ONE],
  ["SELECT v FROM m WHERE h = $h", undefinedParam("h")],
  ["SELECT v FROM m WHERE h = $h", undefinedParam("h"), { params: '{"g":1}' }],
  ['SELECT v FROM m WHERE h = $"a name"', undefinedParam("a name")],
  ["SELECT v FROM m WHERE h = $h", "a bind parameter is null, and the language knows no null", { params: '{"h":null}' }],
  ["SELECT v FROM m", NO_DB, { db: null }],
  ["SELECT v FROM m", NO_DB, { db: "" }],
  ["SELECT v FROM (SELECT v FROM m)", NO_DB, { db: null }],
  ["SELECT v FROM e..m, m", NO_DB, { db: null }],
  ["SHOW TAG KEYS", NO_DB, { db: null }],
  ["DROP MEASUREMENT m", NO_DB, { db: null }],
  ["EXPLAIN SELECT v FROM m", NO_DB, { db: null }],
  ["SELECT v FROM e..m", two("d", "e")],
  ["SELECT v FROM m, e.rp.m", two("d", "e")],
  ["SELECT v FROM (SELECT v FROM e..m)", two("d", "e")],
  ["SHOW TAG KEYS ON e", two("d", "e")],
  ["SHOW RETENTION POLICIES ON e", two("d", "e")],
];

test.each(STATEMENTS.map(([q, body, more = {}]) => [q, body, more] as const))("%j: 400 %s", async (q, body, { params, db = "d" }) => {
  const { send, queries } = fakes();
  const members = { q, ...(db === null ? {} : { db }), ...(params === undefined ? {} : { params }) };
  expect(await outcome(await send("GET", url(members)))).toEqual([400, body]);
  const json = JSON.stringify({ ...members, ...(params === undefined ? {} : { params: JSON.parse(params) }) });
  expect(await outcome(await send("POST", PATH, { body: json }))).toEqual([400, body]);
  expect(queries).toEqual([]);
});

test.each([
  ["SELECT v FROM d..m", null],
  ["SELECT v FROM d..m", "d"],
  ["SELECT v FROM d.rp.m, d..m", null],
  ["SELECT v FROM (SELECT v FROM d..m)", null],
  ["SHOW TAG KEYS ON d", null],
  ["SHOW FIELD KEYS ON d", "d"],
])("the database may be the statement's own: %s with db %p", async (q, db) => {
  const { send, queries } = fakes({ definitions: definitions().service });
  expect((await send("GET", url({ q, ...(db === null ? {} : { db }) }))).status).toBe(200);
  expect(queries).toMatchObject([{ database: db ?? "", statement: q }]);
});

const SERVICE_ERRORS: [kind: ErrorKind, status: number, body: unknown][] = [
  ["unknown_database", 404, { error: "query error: because" }],
  ["bad_query", 400, "because"],
  ["bad_request", 400, "because"],
  ["forbidden", 403, { error: "because", code: "forbidden", message: "because" }],
  ["query_limit", 422, { error: "because" }],
  ["overloaded", 503, { error: "because" }],
  ["cancelled", 499, { error: "because" }],
  ["corrupt_file", 500, { error: "because" }],
];

test.each(SERVICE_ERRORS)("an error of the query path: %s is %d", async (kind, status, body) => {
  const error = new TsdbError(kind, "because");
  const { send, reports } = fakes({ query: () => Promise.reject(error) });
  for (const path of PATHS) {
    expect(await outcome(await send("GET", url({ db: "d", q: SELECT }, path)))).toEqual([status, body]);
    expect(await outcome(await send("POST", path, { body: JSON.stringify({ db: "d", q: SELECT }) }))).toEqual([status, body]);
  }
  expect(reports).toEqual(
    status === 500
      ? PATHS.flatMap((where) => [
          { error, where },
          { error, where },
        ])
      : [],
  );
});

test("a bug is a bare 500 and is reported", async () => {
  const bug = new TypeError("undefined is not a function");
  const { send, reports } = fakes({ query: () => Promise.reject(bug) });
  expect(await outcome(await send("GET", Q))).toEqual([500, { error: "internal error" }]);
  expect(reports).toEqual([{ error: bug, where: PATH }]);
});

test.each(["PUT", "DELETE", "PATCH", "HEAD"])("%s is 405", async (method) => {
  const { send, queries } = fakes();
  for (const path of PATHS) {
    const response = await send(method, url({ db: "d", q: SELECT }, path));
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, POST"]);
    if (method !== "HEAD") expect(await response.json()).toEqual({ error: "method not allowed" });
  }
  expect(queries).toEqual([]);
});

test("the answer's bytes and type pass through", async () => {
  const { send } = fakes({ query: () => answer("a,b\n1,2\n", "text/csv") });
  const response = await send("GET", Q);
  expect(Object.fromEntries(response.headers)).toEqual({
    "access-control-allow-origin": "*",
    "cluster-uuid": CLUSTER_UUID,
    "content-type": "text/csv",
  });
  expect(await response.text()).toBe("a,b\n1,2\n");
});

test("an InfluxQL statement before the log is replayed is 503", async () => {
  const { send, queries } = fakes({ status: () => ({ state: "replaying" }) });
  expect(await outcome(await send("GET", Q))).toEqual([503, { error: "the server is not ready: replaying" }]);
  expect(queries).toEqual([]);
});

test("a statement that changes something runs once and answers without rows; a refusal has its reason", async () => {
  const { service, ran } = definitions();
  const { send, queries } = fakes({ definitions: service });
  expect(await outcome(await send("POST", PATH, { body: '{"q":"CREATE DATABASE x","format":"json"}' }))).toEqual([200, []]);
  expect(await outcome(await send("POST", PATH, { body: '{"db":"d","q":"DELETE FROM m","format":"csv"}' }))).toEqual([200, ""]);
  expect(await outcome(await send("POST", PATH, { body: '{"db":"d","q":"DROP MEASUREMENT m"}' }))).toEqual([
    404,
    { error: "query error: database not found: d" },
  ]);
  for (const [q, name] of Object.entries({ "DROP MEASUREMENT m": "DROP MEASUREMENT", "DELETE FROM m": "DELETE" })) {
    expect(await outcome(await send("GET", url({ db: "d", q })))).toEqual([400, `This feature is not implemented: ${name}`]);
  }
  expect(ran).toEqual([
    ["create database", ""],
    ["delete", "d"],
    ["drop measurement", "d"],
  ]);
  expect((await outcome(await send("GET", url({ q: "GRANT ALL TO u" }))))[0]).toBe(400);
  expect(queries).toEqual([]);
});
