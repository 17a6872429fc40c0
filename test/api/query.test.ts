// GET and POST /api/v3/query_sql: what reaches the query service, and how its answers and errors look.
import { expect, test } from "bun:test";
import { type ErrorKind, TsdbError } from "../../src/model/errors.ts";
import type { QueryFormat } from "../../src/model/query/query.ts";
import { answer, CLUSTER_UUID, fakes, outcome } from "./fakes.ts";

const PATH = "/api/v3/query_sql";
const Q = `${PATH}?db=d&q=SELECT+1`;
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

const FORMATS: [format: string | null, accept: string | null, want: QueryFormat][] = [
  [null, null, "seed"],
  [null, "", "seed"],
  [null, "application/json", "seed"],
  [null, "*/*", "seed"],
  [null, BROWSER, "seed"],
  [null, "application/jsonl", "jsonl"],
  [null, "text/csv", "csv"],
  [null, "text/plain", "pretty"],
  [null, "Text/Plain; charset=utf-8", "pretty"],
  [null, "application/vnd.apache.parquet", "parquet"],
  [null, "application/vnd.apache.arrow.stream", "arrow"],
  [null, "text/csv;q=0.5, application/jsonl", "jsonl"],
  [null, "image/png, text/csv;q=0.1", "csv"],
  ["json", null, "json"],
  ["jsonl", null, "jsonl"],
  ["json_lines", null, "jsonl"],
  ["csv", "application/json", "csv"],
  ["pretty", null, "pretty"],
  ["parquet", "*/*", "parquet"],
  ["arrow", null, "arrow"],
];

test.each(FORMATS)("format %p with Accept %p is %s, by GET and by POST", async (format, accept, want) => {
  const { send, queries } = fakes();
  const headers: Record<string, string> = accept === null ? {} : { accept };
  await send("GET", format === null ? Q : `${Q}&format=${format}`, { headers });
  await send("POST", PATH, { headers, body: JSON.stringify({ db: "d", q: "SELECT 1", ...(format === null ? {} : { format }) }) });
  const wanted = { database: "d", statement: "SELECT 1", format: want, params: {} };
  expect(queries).toMatchObject([wanted, wanted]);
});

test.each([
  ['{"h":"a","u":0.9,"n":7,"yes":true,"none":null}', { h: "a", u: 0.9, n: 7n, yes: true, none: null }],
  [
    '{"big":9007199254740993,"least":-9223372036854775808,"most":18446744073709551615}',
    { big: 9007199254740993n, least: -9223372036854775808n, most: 18446744073709551615n },
  ],
  ['{"safe":9007199254740991,"float":1e300,"whole":3.0}', { safe: 9007199254740991n, float: 1e300, whole: 3 }],
  ["null", {}],
])("params %s", async (text, want) => {
  const { send, queries } = fakes();
  await send("GET", `${Q}&params=${encodeURIComponent(text)}`);
  await send("POST", PATH, { body: `{"db":"d","q":"SELECT 1","params":${text}}` });
  expect(queries.map(({ params }) => params)).toEqual([want, want]);
});

test("the body is JSON under any name, and unknown members are ignored", async () => {
  const { send, queries } = fakes();
  for (const type of [
    "application/json",
    "application/vnd.api+json; charset=utf-8",
    "text/plain",
    "application/x-www-form-urlencoded",
    "x/y",
  ]) {
    await send("POST", PATH, {
      headers: { "content-type": type },
      body: '{"db":"d","q":"SELECT 1","format":null,"params":null,"more":[1]}',
    });
  }
  expect(queries).toHaveLength(5);
});

const REFUSED: [how: "GET" | "POST", input: string, status: number, body: unknown, headers?: Record<string, string>][] = [
  ["GET", "", 400, "missing query parameters 'db' and 'q'"],
  ["GET", "?db=d", 400, "serde error: missing field `q`"],
  ["GET", "?q=SELECT+1", 400, "serde error: missing field `db`"],
  ["GET", "?db=d&q=a&q=b", 400, "serde error: duplicate field `q`"],
  ["GET", "?db=d&q=%zz", 400, 'serde error: invalid percent-encoding in the query string near "%zz"'],
  ["GET", "?db=d&q=a&format=xml", 400, "unknown format `xml`, expected one of json, jsonl, json_lines, csv, pretty, parquet, arrow"],
  ["GET", "?db=d&q=a", 400, "invalid mime type (image/png)", { accept: "image/png" }],
  ["GET", "?db=d&q=a", 400, "invalid mime type (text/csv;q=0)", { accept: "text/csv;q=0" }],
  ["GET", "?db=d&q=a&format=csv", 400, "invalid mime type (image/png)", { accept: "image/png" }],
  ["GET", "?db=d&q=a&params=[1]", 400, "serde json error: `params` must be an object, got an array"],
  ["GET", "?db=d&q=a&params={%22a%22:[1]}", 400, "parameter `a` must be a string, number, boolean or null, got an array"],
  ["POST", "", 400, "serde json error: JSON Parse error: Unexpected EOF"],
  ["POST", "{", 400, "serde json error: JSON Parse error: Expected '}'"],
  ["POST", "[]", 400, "serde json error: the body must be an object with the members `db` and `q`"],
  ["POST", '{"q":"a"}', 400, "serde json error: missing field `db`"],
  ["POST", '{"db":"d"}', 400, "serde json error: missing field `q`"],
  ["POST", '{"db":7,"q":"a"}', 400, "serde json error: `db` must be a string, got 7"],
  ["POST", '{"db":"d","q":null}', 400, "serde json error: `q` must be a string, got null"],
  ["POST", '{"db":"d","q":"a","params":{"x":{}}}', 400, "parameter `x` must be a string, number, boolean or null, got an object"],
  ["POST", `{"db":"d","q":"${"x".repeat(1000)}"}`, 413, { error: "max request size (1000 bytes) exceeded" }],
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
  const response = await send("POST", PATH, { body: new Uint8Array([0x22, 0xff, 0x22]) });
  expect(await outcome(response)).toEqual([400, "body content is not valid utf8"]);
});

const SERVICE_ERRORS: [kind: ErrorKind, status: number, body: unknown][] = [
  ["unknown_database", 404, { error: "query error: database not found: d" }],
  ["bad_query", 400, "because"],
  ["query_limit", 422, { error: "because" }],
  ["overloaded", 503, { error: "because" }],
  ["cancelled", 499, { error: "because" }],
  ["corrupt_file", 500, { error: "because" }],
];

test.each(SERVICE_ERRORS)("an error of the query path: %s is %d", async (kind, status, body) => {
  const error = new TsdbError(kind, "because");
  const { send, reports } = fakes({ query: () => Promise.reject(error) });
  expect(await outcome(await send("GET", Q))).toEqual([status, body]);
  expect(reports).toEqual(status === 500 ? [{ error, where: PATH }] : []);
});

test("a bug is a bare 500 and is reported", async () => {
  const bug = new TypeError("undefined is not a function");
  const { send, reports } = fakes({ query: () => Promise.reject(bug) });
  expect(await outcome(await send("POST", PATH, { body: '{"db":"d","q":"a"}' }))).toEqual([500, { error: "internal error" }]);
  expect(reports).toEqual([{ error: bug, where: PATH }]);
});

test.each(["PUT", "DELETE", "PATCH", "HEAD"])("%s is 405", async (method) => {
  const { send, queries } = fakes();
  const response = await send(method, Q);
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe("GET, POST");
  if (method !== "HEAD") expect(await response.json()).toEqual({ error: "method not allowed" });
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

test("a short answer comes whole and is counted", async () => {
  const body = new TextEncoder().encode("a,b\n1,2\n");
  const { send, services } = fakes({ query: () => ({ contentType: "text/csv", body }) });
  const response = await send("GET", Q);
  expect(Object.fromEntries(response.headers)).toEqual({
    "access-control-allow-origin": "*",
    "cluster-uuid": CLUSTER_UUID,
    "content-type": "text/csv",
  });
  expect(await response.text()).toBe("a,b\n1,2\n");
  const page = (await services.metrics.render({ withDatabases: true })).text;
  expect(page).toContain('tsdb_queries_total{outcome="answered"} 1');
  expect(page).toContain("tsdb_queries_running 0");
});

test("a statement before the log is replayed is 503", async () => {
  const { send, queries } = fakes({ status: () => ({ state: "replaying" }) });
  expect(await outcome(await send("GET", Q))).toEqual([503, { error: "the server is not ready: replaying" }]);
  expect(queries).toEqual([]);
});

test("an answer that breaks half way is reported and counted", async () => {
  const error = new TsdbError("corrupt_file", "bad block");
  const body = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(error) }, { highWaterMark: 0 });
  const { send, reports, services } = fakes({ query: () => ({ contentType: "text/csv", body }) });
  const response = await send("GET", Q);
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow("bad block");
  expect(reports).toEqual([{ error, where: `${PATH}, half way` }]);
  const page = (await services.metrics.render({ withDatabases: true })).text;
  expect(page).toContain('tsdb_queries_total{outcome="failed"} 1');
  expect(page).toContain("tsdb_queries_running 0");
});
