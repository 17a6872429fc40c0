// Port 8086 over real sockets: requests that two parsers could read differently, lengths that lie, bodies that trickle, and credentials of
// several senders on one connection.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type HttpServer, startHttpServer } from "../../src/api/server.ts";
import { type LightServer, lightServer } from "../vectors/v2/light-server.ts";
import { eventually, head, RawClient } from "./sockets.ts";
import { ask } from "./v2-ask.ts";

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const TOKEN = "Authorization: Token tok";
const WRITE = "POST /api/v2/write?org=o&bucket=b";
const USERS = "POST /api/v2/users";
const USER = '{"name":"evil"}';

let nowMs = 0;
let server: LightServer;
let http: HttpServer;
const clients: RawClient[] = [];

async function open(): Promise<RawClient> {
  const client = await RawClient.open(http.port);
  clients.push(client);
  return client;
}

const userCount = async () => (await ask(server, "GET", "/api/v2/users", "tok")).body.users.length as number;

beforeAll(async () => {
  server = await lightServer({ nowMs: () => nowMs });
  await ask(server, "POST", "/api/v2/setup", undefined, SETUP);
  http = startHttpServer(server.app, { hostname: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  for (const client of clients) client.destroy();
  await http.stop(0);
  await server.stop();
});

const HOSTILE: readonly (readonly [what: string, bytes: string, status: number | null])[] = [
  ["two lengths", `${head(USERS, TOKEN, "Content-Length: 15", "Content-Length: 3")}${USER}`, 400],
  ["two equal lengths in one", `${head(USERS, TOKEN, "Content-Length: 15, 15")}${USER}`, 400],
  ["length and chunks", `${head(USERS, TOKEN, "Content-Length: 15", "Transfer-Encoding: chunked")}f\r\n${USER}\r\n0\r\n\r\n`, 400],
  ["a negative length", head(USERS, TOKEN, "Content-Length: -1"), 400],
  ["a length of hex", head(USERS, TOKEN, "Content-Length: 0x10"), 400],
  ["a length beyond every body", head(WRITE, TOKEN, "Content-Length: 99999999999999"), 413],
  ["a length of JSON beyond its bound", head(USERS, TOKEN, "Content-Length: 99999999"), 413],
  ["a chunk that is no number", `${head(USERS, TOKEN, "Transfer-Encoding: chunked")}zz\r\n{}\r\n`, 400],
  ["a chunk larger than said", `${head(USERS, TOKEN, "Transfer-Encoding: chunked")}3\r\n${USER}\r\n0\r\n\r\n`, 400],
  ["headers of 64 KiB", head("GET /api/v2/me", TOKEN, `A: ${"a".repeat(65_536)}`), 431],
  ["a token of 12 KB", head("GET /api/v2/me", `Authorization: Token ${"a".repeat(12_000)}`), 401],
  ["a cookie of 12 KB", head("GET /api/v2/me", `Cookie: ${"influxdb-oss-session=a;".repeat(500)}`), 401],
  ["a trace of 12 KB", head("GET /api/v2/me", TOKEN, `Zap-Trace-Span: ${"a".repeat(12_000)}`), 200],
  ["two tokens", head("GET /api/v2/me", "Authorization: Token wrong", TOKEN), null],
  ["no host", "GET /api/v2/me HTTP/1.1\r\nAuthorization: Token tok\r\n\r\n", 400],
  ["a host with a path", "GET /api/v2/users HTTP/1.1\r\nHost: a/health?x\r\n\r\n", 400],
  ["an open path in the query", head("GET /api/v2/users?x=://a/health"), 401],
  ["an open path behind the fragment", head("GET /api/v2/users#/health"), 400],
  ["a path of its own host", head("GET http://elsewhere/api/v2/users"), 401],
  ["an open path that climbs", head("GET /health/../api/v2/users"), 401],
  ["an open path that climbs, encoded", head("GET /health/%2e%2e/api/v2/users"), 401],
  ["a path with two slashes", head("GET //api/v2/users"), 404],
  ["a path with a backslash", head("GET /api\\v2\\users"), null],
  ["a path in capitals", head("GET /API/V2/users"), 404],
  ["a slash at the end", head("GET /api/v2/users/"), 401],
  ["a method in small letters", head("get /api/v2/users"), null],
  ["a method of its own", head("OPTIONS /api/v2/users", "Origin: http://a"), 204],
  ["a method override", head("GET /api/v2/users", "X-HTTP-Method-Override: DELETE"), 401],
  ["CONNECT", "CONNECT /api/v2/users HTTP/1.1\r\nHost: a\r\n\r\n", null],
  ["garbage", "\u0016\u0003\u0001\u0002\u0000\u0001\r\n\r\n", 400],
];

test.each(HOSTILE)("%s", async (_what, bytes, status) => {
  const before = server.catalog.version;
  const client = await open();
  client.send(bytes);
  await eventually(() => client.received.includes("\r\n\r\n") || client.closed);
  const received = client.received;
  if (status !== null) expect(received).toStartWith(`HTTP/1.1 ${status} `);
  expect(received).not.toContain("HTTP/1.1 5");
  // no user is shown or made
  expect(received).not.toContain('"users"');
  expect(server.catalog.version).toBe(before);
  expect(server.reports).toEqual([]);
  const next = await open();
  expect(await next.send(head("GET /ping")).until("\r\n\r\n")).toStartWith("HTTP/1.1 204 ");
});

test("each request of a connection has the credentials that it brings, and no others", async () => {
  const { token } = (
    await ask(server, "POST", "/api/v2/authorizations", "tok", {
      orgID: (await ask(server, "GET", "/api/v2/orgs", "tok")).body.orgs[0].id,
      permissions: [{ action: "read", resource: { type: "views" } }],
    })
  ).body;
  const client = await open();
  const weak = `Authorization: Token ${token}`;
  const wanted: number[] = [];
  for (let round = 0; round < 10; round++) {
    for (const [credentials, status] of [
      [[TOKEN], 200],
      [[], 401],
      [[weak], 403],
      [["Authorization: Token wrong"], 401],
    ] as const) {
      wanted.push(status);
      client.send(head("GET /api/v2/config", ...credentials));
      await eventually(() => (client.received.match(/HTTP\/1\.1 \d+/g)?.length ?? 0) === wanted.length || client.closed);
    }
  }
  expect(client.received.match(/HTTP\/1\.1 (\d+)/g)?.map((line) => Number(line.slice(-3)))).toEqual(wanted);
});

test.each([
  ["lines", WRITE],
  ["JSON", USERS],
  ["a predicate", "POST /api/v2/delete?org=o&bucket=b"],
  ["a script", "POST /api/v2/query?org=o"],
])("a body of %s that trickles is given up after a time, and others are answered meanwhile", async (_, line) => {
  const slow = await Promise.all(Array.from({ length: 10 }, open));
  for (const client of slow) client.send(head(line, TOKEN, "Content-Length: 900"), "{");
  const quick = await open();
  const users = await userCount();
  const name = JSON.stringify({ name: crypto.randomUUID() });
  quick.send(head(USERS, TOKEN, `Content-Length: ${name.length}`), name);
  expect(await quick.until("\r\n\r\n")).toStartWith("HTTP/1.1 201 ");
  expect(await userCount()).toBe(users + 1);
  nowMs += 31_000;
  for (const client of slow) {
    client.send('"');
    expect(await client.untilClosed()).toStartWith("HTTP/1.1 408 ");
    expect(client.received).toContain('"code"');
  }
  expect(server.reports).toEqual([]);
});

test("who has no token is refused before the body is read", async () => {
  for (const line of [WRITE, USERS, "POST /api/v2/query?org=o", "POST /api/v2/restore/kv", "POST /write?db=b"]) {
    const client = await open();
    client.send(head(line, "Content-Length: 900"), "{");
    expect(await client.until("unauthorized")).toStartWith("HTTP/1.1 401 ");
  }
});

test("an upload that breaks off changes nothing and is nobody's bug", async () => {
  const before = server.catalog.version;
  for (const how of ["Content-Length: 15", "Transfer-Encoding: chunked"]) {
    const client = await open();
    client.send(head(USERS, TOKEN, "Expect: 100-continue", how), how.includes("chunked") ? '9\r\n{"name":"' : '{"name":"');
    await client.until("100 Continue");
    client.destroy();
  }
  const after = await open();
  expect(await after.send(head("GET /health")).until("pass")).toStartWith("HTTP/1.1 200 ");
  expect(server.catalog.version).toBe(before);
  expect(server.reports).toEqual([]);
});
