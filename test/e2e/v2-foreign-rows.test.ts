// Rows and secrets of one organization, asked for and written by a token of another one: by scripts, statements, lines and deletions.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const ROW = 'import "array" array.from(rows: [{_time: now(), _measurement: "x", _field: "f", _value: 1.0}])';
const SECRET = 'import "influxdata/influxdb/secrets" import "array" array.from(rows: [{k: secrets.get(key: "K")}])';
const ALL_TIME = { start: "1970-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };

let server: TestServer;
/** Everything with buckets and secrets of o2. */
let token: string;
/** Ids of organization and bucket that are not the token's. */
let ids: { readonly org: string; readonly bucket: string };

async function send(method: string, path: string, as: string, body?: unknown, type = "application/json") {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const headers = { authorization: `Token ${as}`, "content-type": type };
  const response = await fetch(server.bucketsUrl + path, { method, headers, ...(body === undefined ? {} : { body: text }) });
  return { status: response.status, text: await response.text() };
}

const script = (org: string, text: string, as = token) => send("POST", `/api/v2/query?org=${org}`, as, text, "application/vnd.flux");
const rows = () => script("o", 'from(bucket: "b") |> range(start: 0) |> keep(columns: ["_measurement", "_value"])', "tok");
const filled = (text: string) => text.replaceAll("BUCKET", ids.bucket).replaceAll("ORG", ids.org);

beforeAll(async () => {
  server = await TestServer.start({ withBuckets: true });
  const made = JSON.parse((await send("POST", "/api/v2/setup", "", SETUP)).text);
  ids = { org: made.org.id, bucket: made.bucket.id };
  await send("POST", "/api/v2/write?org=o&bucket=b", "tok", "m v=1 1000000000");
  await send("PATCH", `/api/v2/orgs/${ids.org}/secrets`, "tok", { K: "hidden" });
  const orgID = JSON.parse((await send("POST", "/api/v2/orgs", "tok", { name: "o2" })).text).id as string;
  const permissions = ["buckets", "secrets"].flatMap((type) => ["read", "write"].map((action) => ({ action, resource: { type, orgID } })));
  token = JSON.parse((await send("POST", "/api/v2/authorizations", "tok", { orgID, permissions })).text).token;
  await send("POST", "/api/v2/buckets", token, { orgID, name: "mine", retentionRules: [] });
  await send("POST", "/api/v2/write?org=o2&bucket=mine", token, "m v=7 1000000000");
});
afterAll(() => server.dispose());

describe("a script", () => {
  test.each<[string, string, number]>([
    ["o2", 'from(bucketID: "BUCKET") |> range(start: 0)', 404],
    ["o", 'from(bucketID: "BUCKET") |> range(start: 0)', 404],
    ["o", 'from(bucket: "b") |> range(start: 0)', 404],
    ["o2", 'from(bucket: "b", org: "o") |> range(start: 0)', 400],
    ["o2", 'from(bucket: "b", orgID: "ORG") |> range(start: 0)', 400],
    ["o", "buckets()", 404],
    ["o2", 'buckets(org: "o")', 400],
    // as for any other id
    ["o2", `${ROW} |> to(bucketID: "BUCKET", orgID: "ORG")`, 400],
    ["o2", `${ROW} |> to(bucketID: "BUCKET", orgID: "00000000000000aa")`, 400],
    ["o2", `${ROW} |> to(bucketID: "BUCKET")`, 404],
    ["o2", `${ROW} |> to(bucket: "b", org: "o")`, 404],
    ["o", `${ROW} |> to(bucket: "b")`, 404],
    ["o", SECRET, 403],
    ["o2", SECRET, 404],
    ["o2", 'import "influxdata/influxdb/schema" schema.measurements(bucket: "b")', 404],
    ["o2", 'import "influxdata/influxdb/v1" v1.measurements(bucket: "b")', 404],
  ])("for %s: %s", async (org, text, status) => {
    const answer = await script(org, filled(text));
    expect([answer.status, answer.text]).toEqual([status, expect.not.stringContaining("hidden")]);
    expect((await rows()).text).toBe(",result,table,_value,_measurement\r\n,_result,0,1,m\r\n\r\n");
  });
});

describe("a statement", () => {
  test.each([
    "SELECT * FROM m",
    "SELECT * FROM b..m",
    'SELECT * FROM "BUCKET"..m',
    "SHOW MEASUREMENTS ON b",
    "SHOW SERIES ON b",
    "SHOW FIELD KEYS ON b",
    "DROP MEASUREMENT m",
    "DELETE FROM m",
    "SELECT * INTO mine..x FROM b..m",
    "SELECT * INTO b..x FROM mine..m",
  ])("%s", async (statement) => {
    const q = encodeURIComponent(filled(statement));
    for (const path of [`/query?db=b&q=${q}`, `/query?db=b&org=o&q=${q}`, `/query?db=BUCKET&q=${q}`].map(filled)) {
      const { status, text } = await send("POST", path, token);
      expect([path, status, text]).toEqual([path, status, expect.not.stringMatching(/"values"|"series"/)]);
    }
    for (const [org, bucket] of [
      ["o", "b"],
      ["o2", "BUCKET"],
    ] as const) {
      const body = { type: "influxql", query: filled(statement), bucket: filled(bucket) };
      expect((await send("POST", `/api/v2/query?org=${org}`, token, body)).status).toBe(404);
    }
    expect((await rows()).text).toContain(",_result,0,1,m\r\n");
  });

  test("lists what is the sender's, and nothing else", async () => {
    const { text } = await send("GET", `/query?q=${encodeURIComponent("SHOW DATABASES")}`, token);
    expect(JSON.parse(text).results[0].series[0].values).toEqual([["mine"]]);
  });
});

test.each<[string, unknown]>([
  ["/write?db=b", "m v=2"],
  ["/write?db=b&org=o", "m v=2"],
  ["/write?db=b&rp=autogen&orgID=ORG", "m v=2"],
  ["/api/v2/write?org=o&bucket=b", "m v=2"],
  ["/api/v2/write?org=o2&bucket=BUCKET", "m v=2"],
  ["/api/v2/write?orgID=ORG&bucket=BUCKET", "m v=2"],
  ["/api/v2/delete?org=o&bucket=b", ALL_TIME],
  ["/api/v2/delete?org=o2&bucketID=BUCKET", ALL_TIME],
  ["/api/v2/delete?orgID=ORG&bucketID=BUCKET", ALL_TIME],
])("%s changes nothing", async (path, body) => {
  const { status, text } = await send("POST", filled(path), token, body);
  expect([403, 404], text).toContain(status);
  expect((await rows()).text).toBe(",result,table,_value,_measurement\r\n,_result,0,1,m\r\n\r\n");
});
