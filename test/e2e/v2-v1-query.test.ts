// /query on port 8086: the forms of requests, and whose names are listed. The answers are those of a server of release 2.8.0.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";

const TOKEN = { authorization: "Token tok" };
let server: TestServer;

async function send(method: string, path: string, body?: string, headers: Readonly<Record<string, string>> = {}) {
  const init: RequestInit = { method, headers: { ...TOKEN, ...headers } };
  if (body !== undefined) init.body = new TextEncoder().encode(body);
  const response = await fetch(server.bucketsUrl + path, init);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

const post = async (path: string, body: object) => JSON.parse((await send("POST", path, JSON.stringify(body))).text);

beforeAll(async () => {
  server = await TestServer.start({ withBuckets: true });
  const { org } = await post("/api/v2/setup", { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" });
  for (const [bucketName, retention_policy, line] of [
    ["b1", "rp1", "m,t=one f=1 1"],
    ["b2", "rp2", "n,t=two,u=x f=2 1"],
  ]) {
    const bucket = await post("/api/v2/buckets", { orgID: org.id, name: bucketName, retentionRules: [] });
    await post("/api/v2/dbrps", {
      orgID: org.id,
      bucketID: bucket.id,
      database: "d",
      retention_policy,
      default: retention_policy === "rp1",
    });
    expect((await send("POST", `/api/v2/write?org=o&bucket=${bucketName}`, line)).status).toBe(204);
  }
});
afterAll(() => server.dispose());

async function organization(): Promise<{ readonly id: string }> {
  return JSON.parse((await send("GET", "/api/v2/orgs?org=o")).text).orgs[0];
}

async function values(query: Record<string, string>): Promise<unknown> {
  const [result] = JSON.parse((await send("GET", `/query?${new URLSearchParams(query)}`)).text).results;
  return (
    result.error ?? (result.series ?? []).flatMap((series: { name: string; values: unknown[][] }) => series.values.map((row) => row.join()))
  );
}

test.each([
  ["SHOW MEASUREMENTS", ["m"]],
  ["SHOW MEASUREMENTS ON d", ["m"]],
  ["SHOW TAG KEYS", ["t"]],
  ["SHOW TAG VALUES WITH KEY = t", ["t,one"]],
])("%s is about the default policy of the database, whichever the request names", async (q, expected) => {
  for (const rp of ["rp1", "rp2", "nosuch"]) expect([rp, await values({ db: "d", rp, q })]).toEqual([rp, expected]);
});

test("statements that read rows are about the policy that the request names", async () => {
  const q = "SELECT f FROM n";
  expect(await values({ db: "d", rp: "rp2", q })).toEqual(["1970-01-01T00:00:00.000000001Z,2"]);
  expect(await values({ db: "d", q })).toEqual([]);
  expect(await values({ db: "d", rp: "nosuch", q })).toBe("retention policy not found: nosuch");
  expect(await values({ db: "d", rp: "rp2", q: "SHOW SERIES" })).toEqual(["n,t=two,u=x"]);
});

test.each(["ns", "constructor", "toString", "other"])("epoch=%s is nanoseconds, as any that is not known", async (epoch) => {
  expect(await values({ db: "d", rp: "rp2", q: "SELECT f FROM n", epoch })).toEqual(["1,2"]);
});

test.each([
  ["SHOW MEASUREMENTS", []],
  ["SHOW TAG KEYS", "default retention policy not set for: nosuch"],
  ["SHOW TAG VALUES FROM n WITH KEY = t", "default retention policy not set for: nosuch"],
  ["SHOW SERIES", "database not found: nosuch"],
  ["DELETE FROM m", "default retention policy not set for: nosuch"],
  ["DROP MEASUREMENT m", "default retention policy not set for: nosuch"],
])("%s in an unknown database", async (q, expected) => {
  expect(await values({ db: "nosuch", rp: "x", q })).toEqual(expected);
});

const [GOOD, BAD] = ["SELECT f FROM m", "SELECT f FROM nosuch..m"];
const ROW = { name: "m", columns: ["time", "f"], values: [["1970-01-01T00:00:00.000000001Z", 1]] };
const [UNKNOWN, NOT_EXECUTED] = ["database not found: nosuch", "not executed"];
test.each<[string[], object[]]>([
  [[BAD, GOOD, GOOD], [{ statement_id: 0, error: NOT_EXECUTED }]],
  [
    [GOOD, BAD, GOOD, GOOD],
    [
      { statement_id: 0, series: [ROW] },
      { statement_id: 1, error: NOT_EXECUTED },
    ],
  ],
  [
    [GOOD, BAD],
    [
      { statement_id: 0, series: [ROW] },
      { statement_id: 1, error: UNKNOWN },
    ],
  ],
])("what is not executed has the result of the statement that failed: %j", async (statements, results) => {
  const query = new URLSearchParams({ db: "d", q: statements.join("; ") });
  expect(JSON.parse((await send("GET", `/query?${query}`)).text)).toEqual({ results });
});

test("in chunks, what is not executed has the number of the statement that failed", async () => {
  const query = new URLSearchParams({ db: "d", chunked: "true", q: [GOOD, BAD, GOOD, GOOD].join("; ") });
  const { text } = await send("GET", `/query?${query}`);
  const answers = text.trimEnd().split("\n");
  expect(answers.map((each) => JSON.parse(each).results)).toEqual([
    [{ statement_id: 0, series: [ROW] }],
    ...[UNKNOWN, NOT_EXECUTED, NOT_EXECUTED].map((error) => [{ statement_id: 1, error }]),
  ]);
});

test("lists of names are a chunk for each series, series and fields as many as asked for", async () => {
  const chunks = async (q: string, accept = "application/json") =>
    (await send("GET", `/query?${new URLSearchParams({ q, db: "chunks", chunked: "true", chunk_size: "1" })}`, undefined, { accept })).text;
  const bucket = await post("/api/v2/buckets", { orgID: (await organization()).id, name: "chunks", retentionRules: [] });
  expect(bucket.name).toBe("chunks");
  expect((await send("POST", "/api/v2/write?org=o&bucket=chunks", "m,a=x,b=y f=1,g=2 1\nn,a=z f=1 1")).status).toBe(204);
  const document = (series: object, more: object = {}) =>
    `${JSON.stringify({ results: [{ statement_id: 0, series: [series], ...more }] })}\n`;
  const named = (name: string, columns: string[], ...values: string[][]) => ({ name, columns, values });
  expect(await chunks("SHOW MEASUREMENTS")).toBe(document(named("measurements", ["name"], ["m"], ["n"])));
  expect(await chunks("SHOW TAG KEYS")).toBe(document(named("m", ["tagKey"], ["a"], ["b"])) + document(named("n", ["tagKey"], ["a"])));
  expect(await chunks("SHOW TAG VALUES WITH KEY IN (a, b)")).toBe(
    document(named("m", ["key", "value"], ["a", "x"], ["b", "y"])) + document(named("n", ["key", "value"], ["a", "z"])),
  );
  const partial = { partial: true };
  expect(await chunks("SHOW SERIES FROM m, n")).toBe(
    document({ columns: ["key"], values: [["m,a=x,b=y"]], ...partial }, partial) + document({ columns: ["key"], values: [["n,a=z"]] }),
  );
  expect(await chunks("SHOW FIELD KEYS FROM m")).toBe(
    document({ ...named("m", ["fieldKey", "fieldType"], ["f", "float"]), ...partial }, partial) +
      document(named("m", ["fieldKey", "fieldType"], ["g", "float"])),
  );
  const packed = await chunks("SHOW MEASUREMENTS", "application/x-msgpack");
  expect(packed).not.toContain("partial");
  expect(await chunks("SHOW SERIES", "application/x-msgpack")).toContain("partial");
});

test("parameters of the address count before those of a form in parts", async () => {
  const type = { "content-type": "multipart/form-data; boundary=x" };
  const part = (name: string, value: string) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const form = `${part("q", "SHOW FIELD KEYS")}${part("db", "d")}--x--\r\n`;
  const asked = async (path: string) => JSON.parse((await send("POST", path, form, type)).text).results[0].series[0].name;
  expect([await asked("/query"), await asked("/query?q=SHOW+MEASUREMENTS")]).toEqual(["m", "measurements"]);
});

test("a statement is asked for what it reads before for what it does", async () => {
  expect(await values({ db: "nosuch", q: "SELECT f INTO x FROM m" })).toBe("database not found: nosuch");
  expect(await values({ q: "EXPLAIN SELECT f FROM m" })).toBe("database name required");
  expect(await values({ db: "d", q: "SELECT f INTO x FROM d.nosuch.m" })).toBe("retention policy not found: nosuch");
});

const FORM = "application/x-www-form-urlencoded";
test.each([
  ["POST", FORM, "q=SHOW+DATABASES", true],
  ["PUT", FORM, "q=SHOW+DATABASES", true],
  ["DELETE", FORM, "q=SHOW+DATABASES", false],
  ["DELETE", "application/vnd.influxql", "SHOW DATABASES", true],
  ["POST", "application/vnd.influxql; charset=utf-8", "SHOW DATABASES", true],
  ["POST", "application/json", '{"q":"SHOW DATABASES"}', false],
  ["POST", "text/plain", "SHOW DATABASES", false],
])("%s with a body of %s", async (method, type, body, isRead) => {
  const { status, text } = await send(method, "/query?db=d", body, { "content-type": type });
  expect(status).toBe(200);
  if (isRead) expect(text).toContain('"databases"');
  else expect(text).toBe("{}\n");
});

test("no statement in chunks is nothing; without a type of the body it is a fault", async () => {
  expect((await send("POST", "/query?db=d&chunked=true", "x", { "content-type": "text/plain" })).text).toBe("");
  expect((await send("POST", "/query?db=d", "SHOW DATABASES")).text).toBe('{"code":"invalid","message":"mime: no media type"}');
  expect((await send("GET", "/query?db=d&q=")).text).toBe('{"code":"invalid","message":"mime: no media type"}');
});

test.each([
  ["Token wrong", "Unauthorized"],
  ["Token x:wrong", "Unauthorized"],
  ["Token tok x", "unauthorized access"],
  ["Token ", "unauthorized access"],
])("credentials %p", async (authorization, message) => {
  const { status, text } = await send("GET", "/query?db=d&q=SHOW+DATABASES", undefined, { authorization });
  expect([status, JSON.parse(text).message]).toEqual([401, message]);
});

test("answers that may be compressed say so", async () => {
  for (const path of ["/ping", "/query?db=d&q=SHOW+DATABASES", "/query?db=d&q=x"]) {
    expect((await send("GET", path)).headers.get("vary")).toBe("Accept-Encoding");
  }
  expect((await send("GET", "/query?q=SHOW+DATABASES", undefined, { authorization: "Token wrong" })).headers.get("vary")).toBeNull();
});

test.each([
  ["0001-01-01T00:00:00Z", "2020-01-01T00:00:00Z", "invalid start time, start time must not be before 1677-09-21T00:12:43.145224194Z"],
  ["1970-01-01T00:00:00Z", "2300-01-01T00:00:00Z", "invalid stop time, stop time must not be after 2262-04-11T23:47:16.854775806Z"],
  [
    "1970-01-01T00:00:00Z",
    "x",
    "invalid RFC3339Nano for field stop, please format your time with RFC3339Nano format, example: 2009-01-01T23:00:00Z",
  ],
])("a deletion from %s to %s is refused before its bucket is looked for", async (start, stop, message) => {
  const { status, text } = await send("POST", "/api/v2/delete?org=o&bucket=nosuch", JSON.stringify({ start, stop }));
  expect([status, JSON.parse(text).message]).toEqual([400, `error decoding json body: ${message}`]);
});

test.each(["T24:00:00Z", "T00:00:60Z"])("no day has %s", async (start) => {
  const body = JSON.stringify({ start: `2020-01-01${start}`, stop: "2020-01-02T00:00:00Z" });
  const { status, text } = await send("POST", "/api/v2/delete?org=o&bucket=b", body);
  expect([status, text]).toEqual([400, expect.stringContaining("invalid RFC3339Nano for field start")]);
});

test("a comma stands before parts of a second as well as a point", async () => {
  const body = JSON.stringify({ start: "2020-01-01T00:00:00,5Z", stop: "2020-01-02T00:00:00Z" });
  expect((await send("POST", "/api/v2/delete?org=o&bucket=b", body)).status).toBe(204);
});

test("tags of a line past the retention are told in the order of their keys", async () => {
  const { org } = JSON.parse((await send("GET", "/api/v2/orgs?org=o")).text).orgs.map((each: { id: string }) => ({ org: each.id }))[0];
  await post("/api/v2/buckets", { orgID: org, name: "short", retentionRules: [{ type: "expire", everySeconds: 3600 }] });
  const { text } = await send("POST", "/api/v2/write?org=o&bucket=short", "m\\ x,re\\ g=e\\,f,a\\=b=c\\ d f=1 1");
  expect(JSON.parse(text).message).toContain("oldest point m\\ x,a\\=b=c\\ d,re\\ g=e\\,f at 1970-01-01T00:00:00.000000001Z dropped");
});
