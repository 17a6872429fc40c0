// Lines written to buckets of a real server: where they go, what is refused, and what both ports see of them.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { TestServer } from "../support/servers/server.ts";

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const JSON_HEADERS = { authorization: "Token tok", "content-type": "application/json" };

let server: TestServer;
let orgID: string;

async function post<T = Record<string, string>>(path: string, body: unknown): Promise<T> {
  const init = { method: "POST", headers: JSON_HEADERS, body: JSON.stringify(body) };
  return (await (await fetch(`${server.bucketsUrl}${path}`, init)).json()) as T;
}

async function write(query: Record<string, string>, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
  const url = `${server.bucketsUrl}/api/v2/write?${new URLSearchParams(query)}`;
  const response = await fetch(url, { method: "POST", headers: { authorization: "Token tok", ...headers }, body });
  const text = await response.text();
  return { status: response.status, message: text === "" ? "" : (JSON.parse(text) as { message: string }).message };
}

const B = { org: "o", bucket: "b" };

beforeAll(async () => {
  server = await TestServer.start({ withBuckets: true });
  orgID = (await post<{ org: { id: string } }>("/api/v2/setup", SETUP)).org.id;
});
afterAll(() => server.dispose());

describe("lines", () => {
  test("in every precision, compressed or not, are rows of the database", async () => {
    for (const [precision, time] of Object.entries({ s: "1", ms: "2000", us: "3000000", ns: "4000000000" })) {
      expect(await write({ ...B, precision }, `p,unit=${precision} v=1 ${time}`)).toEqual({ status: 204, message: "" });
    }
    const body = new Uint8Array(gzipSync("p,unit=gz v=1 5000000000"));
    for (const encoding of ["gzip", "x-gzip", "GZIP"]) {
      expect((await write(B, body, { "content-encoding": encoding })).status).toBe(204);
    }
    const rows = await server.sql("b", "SELECT unit, extract(epoch from time) AS s FROM p ORDER BY time");
    expect(rows).toEqual(["s", "ms", "us", "ns", "gz"].map((unit, i) => ({ unit, s: i + 1 })));
  });

  test("that cannot be parsed leave the whole body out; conflicting ones only themselves", async () => {
    await write(B, "kinds v=1i 1");
    const bad = await write(B, "kinds v=2i 2\nkinds v= 3\nother v=1 4");
    expect(bad).toEqual({ status: 400, message: "unable to parse 'kinds v= 3': missing field value" });
    const partial = await write(B, "kinds v=3i 5\nkinds v=1.5 6\nkinds,a=b v=4i 7");
    expect(partial).toEqual({
      status: 422,
      message:
        "failure writing points to database: partial write: field type conflict: " +
        'input field "v" on measurement "kinds" is type float, already exists as type integer dropped=1',
    });
    expect(await server.sql("b", "SELECT v FROM kinds ORDER BY time")).toEqual([{ v: 1 }, { v: 3 }, { v: 4 }]);
    expect(await server.sql("b", "SELECT count(*) AS n FROM information_schema.tables WHERE table_name = 'other'")).toEqual([{ n: 0 }]);
  });

  test("of many new names with one conflict", async () => {
    await write(B, "wide f=1i 1");
    const lines = Array.from({ length: 3000 }, (_, i) => `wide_${i},t${i}=x f${i}=1 1`);
    const { status, message } = await write(B, [...lines, "wide f=1.5 2"].join("\n"));
    expect([status, message]).toEqual([422, expect.stringContaining("dropped=1")]);
    expect(await server.sql("b", "SELECT f2999 FROM wide_2999")).toEqual([{ f2999: 1 }]);
  });
});

describe("destinations", () => {
  test("a bucket of the same name in another organization has its own rows", async () => {
    const { id: otherID } = await post("/api/v2/orgs", { name: "o2" });
    const { id: twin } = await post("/api/v2/buckets", { orgID: otherID, name: "b", retentionRules: [] });
    expect((await write({ org: "o2", bucket: "b" }, "twin v=2 1")).status).toBe(204);
    expect((await write(B, "twin v=1 1")).status).toBe(204);
    expect((await write({ org: otherID!, bucket: twin! }, "twin v=3 2")).status).toBe(204);
    // port 8181 sees the first organization alone
    expect(await server.sql("b", "SELECT v FROM twin ORDER BY time")).toEqual([{ v: 1 }]);
  });

  test("a token of one organization cannot reach another one's bucket by naming its own", async () => {
    const { id: theirs } = await post("/api/v2/orgs", { name: "o3" });
    const { id: bucket } = await post("/api/v2/buckets", { orgID: theirs, name: "theirs" });
    const permissions = ["read", "write"].map((action) => ({ action, resource: { type: "buckets", orgID } }));
    const { token } = await post("/api/v2/authorizations", { orgID, permissions });
    const headers = { authorization: `Token ${token}` };
    expect((await write(B, "mine v=1 1", headers)).status).toBe(204);
    expect(await write({ org: "o", bucket: bucket! }, "mine v=1 1", headers)).toEqual({
      status: 403,
      message: "insufficient permissions for write",
    });
  });

  test("what a token may do counts from the next body on", async () => {
    const { id: userID } = await post("/api/v2/users", { name: "writer" });
    const { id: bucket } = await post("/api/v2/buckets", { orgID, name: "watched" });
    const permissions = [{ action: "write", resource: { type: "buckets", id: bucket, orgID } }];
    const made = () => post("/api/v2/authorizations", { orgID, userID, permissions });
    const { id, token } = await made();
    const status = async (sent = token) =>
      (await write({ org: "o", bucket: "watched" }, "m v=1", { authorization: `Token ${sent}` })).status;
    const change = async (method: string, path: string, body?: object) => {
      const init = { method, headers: JSON_HEADERS, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      expect((await fetch(`${server.bucketsUrl}/api/v2/${path}`, init)).ok).toBe(true);
    };
    expect([await status(), await status()]).toEqual([204, 204]);
    await change("PATCH", `authorizations/${id}`, { status: "inactive" });
    expect([await status(), await status()]).toEqual([403, 403]);
    await change("PATCH", `authorizations/${id}`, { status: "active" });
    expect([await status(), await status(`${token} `), await status(`${token}x`)]).toEqual([204, 204, 401]);
    await change("DELETE", `authorizations/${id}`);
    expect([await status(), await status()]).toEqual([401, 401]);
    const { token: second } = await made();
    expect([await status(second), await status()]).toEqual([204, 401]);
    await change("PATCH", `users/${userID}`, { status: "inactive" });
    expect(await status(second)).toBe(403);
    await change("PATCH", `users/${userID}`, { status: "active" });
    expect(await status(second)).toBe(204);
    await change("DELETE", `users/${userID}`);
    expect(await status(second)).toBe(403);
  });

  test("an answer to stored lines has the headers of every other one, and those of its own request alone", async () => {
    const url = `${server.bucketsUrl}/api/v2/write?org=o&bucket=b`;
    const headersOf = async (body: string, headers: Record<string, string>) => {
      const answer = await fetch(url, { method: "POST", headers: { authorization: "Token tok", ...headers }, body });
      const shown = ["x-influxdb-build", "x-influxdb-version", "access-control-allow-origin", "vary"].map((name) =>
        answer.headers.get(name),
      );
      return [answer.status, ...shown];
    };
    const version = ["OSS", expect.stringMatching(/^v2\.\d+\.\d+$/)];
    for (const [body, status] of [
      ["m v=1", 204],
      ["m", 400],
    ] as const) {
      expect(await headersOf(body, {})).toEqual([status, ...version, null, null]);
      expect(await headersOf(body, { origin: "http://one" })).toEqual([status, ...version, "http://one", "Origin"]);
      expect(await headersOf(body, {})).toEqual([status, ...version, null, null]);
    }
  });

  test.each([
    [{ bucket: "b" }, 400, "Please provide either orgID or org"],
    [{ org: "o" }, 404, "bucket not found"],
    [{ org: "nope", bucket: "b" }, 404, 'organization name "nope" not found'],
    [{ org: "o", bucket: "nope" }, 404, 'bucket "nope" not found'],
    [{ orgID: "abc", bucket: "b" }, 400, "id must have a length of 16 bytes"],
    [{ ...B, precision: "h" }, 400, "invalid precision; valid precision units are ns, us, ms, and s"],
  ])("%j: %i", async (query, status, message) => {
    expect(await write(query, "m v=1")).toEqual({ status, message });
    // and makes nothing
    const names = (await (await fetch(`${server.url}/api/v3/configure/database?format=json`)).json()) as Record<string, string>[];
    expect(names.map((row) => row["iox::database"])).not.toContain("nope");
  });

  test("a deleted bucket's rows are gone when its name comes back, and a renamed one's are there", async () => {
    const { id } = await post("/api/v2/buckets", { orgID, name: "again" });
    await write({ org: "o", bucket: "again" }, "m v=1 1");
    await fetch(`${server.bucketsUrl}/api/v2/buckets/${id}`, { method: "DELETE", headers: JSON_HEADERS });
    expect((await write({ org: "o", bucket: "again" }, "m v=2 2")).status).toBe(404);
    expect((await write({ org: "o", bucket: id! }, "m v=2 2")).status).toBe(404);
    const forEver = [{ type: "expire", everySeconds: 0 }];
    const { id: second } = await post("/api/v2/buckets", { orgID, name: "again", retentionRules: forEver });
    await write({ org: "o", bucket: "again" }, "m v=3 3");
    expect(await server.sql("again", "SELECT v FROM m")).toEqual([{ v: 3 }]);
    const rename = { method: "PATCH", headers: JSON_HEADERS, body: JSON.stringify({ name: "renamed" }) };
    await fetch(`${server.bucketsUrl}/api/v2/buckets/${second}`, rename);
    await write({ org: "o", bucket: "renamed" }, "m v=4 4");
    expect(await server.sql("renamed", "SELECT v FROM m ORDER BY time")).toEqual([{ v: 3 }, { v: 4 }]);
  });

  test("rows survive kill -9, in every organization", async () => {
    await write({ org: "o2", bucket: "b" }, "kept v=9 9");
    await write(B, "kept v=1 9");
    await server.kill();
    await server.restart();
    expect(await server.sql("b", "SELECT v FROM kept")).toEqual([{ v: 1 }]);
    expect((await write({ org: "o2", bucket: "b" }, "kept v=text 10")).status).toBe(400);
    // the field's type of before counts
    const conflict = await write({ org: "o2", bucket: "b" }, "kept v=1i 10");
    expect(conflict.message).toContain("already exists as type float");
  });
});

test("/metrics counts writes, queries and resources under the names of both lines", async () => {
  const family = async (name: string) => {
    const text = await (await fetch(`${server.bucketsUrl}/metrics`)).text();
    expect(text.match(/^# EOF$/gm)).toHaveLength(1);
    const values = text.split("\n").filter((line) => line.startsWith(name));
    return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  };
  const names = [
    "http_write_request_count",
    "http_write_request_bytes",
    "qc_requests_total",
    "http_query_response_bytes",
    "influxdb_buckets_total",
  ];
  const before = await Promise.all(names.map(family));
  expect((await write(B, "metrics v=1 1")).status).toBe(204);
  const headers = { ...JSON_HEADERS, "content-type": "application/vnd.flux" };
  const body = 'import "array" array.from(rows: [{a: 1}])';
  const csv = await (await fetch(`${server.bucketsUrl}/api/v2/query?org=o`, { method: "POST", headers, body })).text();
  await fetch(`${server.bucketsUrl}/api/v2/query?org=o`, { method: "POST", headers, body: "from(" });
  await post("/api/v2/buckets", { orgID, name: "counted" });
  const after = await Promise.all(names.map(family));
  expect(after.map((value, i) => value - before[i]!)).toEqual([1, "metrics v=1 1".length, 2, csv.length, 1]);
  expect(await family("tsdb_write_lines_total")).toBeGreaterThan(0);
  expect(await family("influxdb_info")).toBe(1);
  // without a token nobody learns names
  const page = await (await fetch(`${server.bucketsUrl}/metrics`)).text();
  expect(page).not.toContain("influxdb3_write_lines_total");
  expect(page).not.toContain("db=");
});
