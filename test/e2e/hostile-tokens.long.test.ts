// Requests that pretend another identity: headers and parameters that are odd, paths and hosts that are to lead round the check of
// tokens, many at once. On a real server, byte by byte where clients would not send it.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NodeDisk } from "../../src/disk/node-disk.ts";
import { FileObjectStore } from "../../src/object-store/file-object-store.ts";
import { Catalog } from "../../src/storage/catalog/catalog.ts";
import { eventually, RawClient } from "../api/sockets.ts";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(60_000);

const TOKENS = "/api/v3/configure/token";
const RESOURCE_TOKEN = "/api/v3/enterprise/configure/token";
const LINE = "t f=1 1";

let server: TestServer;
let admin: string;
/** May do everything in database `a`, and nothing else. */
let reader: string;
const folder = mkdtempSync(join(tmpdir(), "tsdb-tokens-"));

beforeAll(async () => {
  server = await TestServer.start({ withAuth: true });
  admin = await token(`${TOKENS}/admin`);
  expect((await call("POST", "/api/v3/write_lp?db=a&precision=ns", admin, LINE)).status).toBe(204);
  reader = await token(RESOURCE_TOKEN, permission("reader", "a", "*"));
});
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true });
});

const permission = (token_name: string, name: string, ...actions: string[]) => ({
  ...{ token_name, permissions: [{ resource_type: "db", resource_names: [name], actions }] },
});

async function call(method: string, path: string, token: string | null, body?: object | string, url = server.url) {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(typeof body === "object" ? { "content-type": "application/json" } : {}),
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

async function token(path: string, body?: object, url?: string): Promise<string> {
  const { status, text } = await call("POST", path, path === `${TOKENS}/admin` ? null : admin, body, url);
  expect([status, text]).toEqual([201, expect.stringContaining("apiv3_")]);
  return (JSON.parse(text) as { token: string }).token;
}

/** The names of all tokens. */
const names = async () => (await call("GET", `/api/v3/query_sql?format=csv&db=_internal&q=SELECT+name+FROM+system.tokens`, admin)).text;

/** Sends bytes as they are. Returns the status, or 0 when the connection is closed without one. */
async function raw(line: string, headers: readonly string[], body = "", url = server.url): Promise<number> {
  const client = await RawClient.open(Number(new URL(url).port));
  const head = [line, ...headers, "Connection: close", `Content-Length: ${body.length}`].join("\r\n");
  client.send(Buffer.from(`${head}\r\n\r\n${body}`, "latin1"));
  const text = await client.untilClosed();
  client.destroy();
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
}

const base64 = (text: string) => Buffer.from(text, "latin1").toString("base64");

describe("the header", () => {
  /** `@` stands for the admin's token. */
  const HEADERS: [what: string, headers: (text: string) => string[], status: number][] = [
    ["a name in other letters", (text) => [`aUTHORIZATION: Bearer ${text}`], 200],
    ["a blank behind it", (text) => [`Authorization: Bearer ${text} `], 200],
    ["two, the first is good", (text) => [`Authorization: Bearer ${text}`, "Authorization: Bearer x"], 400],
    ["two, the second is good", (text) => ["Authorization: Bearer x", `Authorization: Bearer ${text}`], 400],
    ["two that are the same", (text) => [`Authorization: Bearer ${text}`, `Authorization: Bearer ${text}`], 400],
    ["an empty one and a good one", (text) => ["Authorization:", `Authorization: Bearer ${text}`], 400],
    ["an empty one", () => ["Authorization:"], 400],
    ["a scheme in small letters", (text) => [`Authorization: bearer ${text}`], 400],
    ["a scheme in capitals", (text) => [`Authorization: TOKEN ${text}`], 400],
    ["no scheme", (text) => [`Authorization: ${text}`], 400],
    ["two blanks", (text) => [`Authorization: Bearer  ${text}`], 400],
    ["a tab", (text) => [`Authorization: Bearer\t${text}`], 400],
    ["two tokens", (text) => [`Authorization: Bearer ${text} ${text}`], 400],
    ["a comma", (text) => [`Authorization: Bearer ${text},`], 401],
    ["half of it", (text) => [`Authorization: Bearer ${text.slice(0, -1)}`], 401],
    ["other letters", (text) => [`Authorization: Bearer ${text.toUpperCase()}`], 401],
    ["its hash", (text) => [`Authorization: Bearer ${Bun.SHA512.hash(text, "hex")}`], 401],
    ["a byte beyond ASCII", (text) => [`Authorization: Bearer ${text}\xe9`], 401],
    ["10 kB", () => [`Authorization: Bearer ${"x".repeat(10_000)}`], 401],
    ["100 kB", () => [`Authorization: Bearer ${"x".repeat(100_000)}`], 431],
    ["a NUL in it", (text) => [`Authorization: Bearer ${text}\0`], 400],
    ["a line of its own", (text) => [`Authorization: Bearer\r\n ${text}`], 400],
    ["Basic", (text) => [`Authorization: Basic ${base64(`anybody:${text}`)}`], 200],
    ["Basic without a user", (text) => [`Authorization: Basic ${base64(`:${text}`)}`], 200],
    ["Basic with a user beyond ASCII", (text) => [`Authorization: Basic ${base64(`\xe9\xff:${text}`)}`], 200],
    ["Basic without padding", (text) => [`Authorization: Basic ${base64(`u:${text}`).replace(/=+$/, "")}`], 200],
    ["Basic, the token as the user", (text) => [`Authorization: Basic ${base64(`${text}:`)}`], 401],
    ["Basic and something behind it", (text) => [`Authorization: Basic ${base64(`u:${text}`)}!`], 400],
    ["Basic in the middle of something", (text) => [`Authorization: Basic ${base64(`u:${text}`).replace(/^(..)/, "$1$")}`], 400],
    ["Basic with a line break", (text) => [`Authorization: Basic ${base64(`u:${text}\n`)}`], 401],
    ["Basic with a NUL", (text) => [`Authorization: Basic ${base64(`u:${text}\0`)}`], 401],
    ["Basic without a colon", (text) => [`Authorization: Basic ${base64(text)}`], 400],
    ["Basic with a colon too many", (text) => [`Authorization: Basic ${base64(`u:x:${text}`)}`], 400],
    ["Basic in clear", (text) => [`Authorization: Basic u:${text}`], 400],
    ["another header", (text) => [`Proxy-Authorization: Bearer ${text}`, `X-Authorization: Bearer ${text}`, `Cookie: p=${text}`], 401],
  ];
  test.each(HEADERS)("%s", async (_, headers, status) => {
    const line = "GET /api/v3/query_sql?db=a&q=SELECT%201 HTTP/1.1";
    expect(await raw(line, ["Host: localhost", ...headers(admin)])).toBe(status);
    // it is the header alone that is refused, and the first token is made without one
    if (status !== 431 && status !== 200) expect(await raw("GET /health HTTP/1.1", ["Host: localhost"])).toBe(200);
  });
});

describe("the password in the query string", () => {
  const PASSWORDS: [query: (text: string) => string, status: number | readonly [query: number, write: number]][] = [
    [(text) => `p=${text}`, [200, 204]],
    [(text) => `u=anybody&p=${text}`, [200, 204]],
    [(text) => `p=wrong&p=${text}`, 401],
    // of the statements the first one counts, as in 1.x; of what is written none does that comes twice
    [(text) => `p=${text}&p=wrong`, [200, 400]],
    [() => "p=", 401],
    [() => "p", 401],
    [(text) => `P=${text}`, 401],
    [(text) => `p[]=${text}`, 401],
    [(text) => `q=p=${text}`, 401],
    [(text) => `p=%00${text}`, 401],
    [(text) => `p=${text}%00`, 401],
    [(text) => `p=${text}%0a`, 401],
    [(text) => `p=+${text}`, 401],
    [() => "p=%zz", 401],
    [() => "p=%ff", 401],
    [() => `p=${"x".repeat(10_000)}`, 401],
  ];
  test.each(PASSWORDS.map(([query, status]) => [query("…"), query, status] as const))("%s", async (_, query, status) => {
    const [asked, written] = typeof status === "number" ? [status, status] : status;
    expect((await call("GET", `/query?${query(admin)}&db=a&q=SELECT+f+FROM+t`, null)).status).toBe(asked);
    expect((await call("POST", `/write?${query(admin)}&db=a`, null, LINE)).status).toBe(written);
  });

  test("it is looked at before the header, and on these two paths only", async () => {
    expect((await call("GET", "/query?p=wrong&db=a&q=SELECT+f+FROM+t", admin)).status).toBe(401);
    expect((await call("GET", `/query?p=${admin}&db=a&q=SELECT+f+FROM+t`, "wrong")).status).toBe(200);
    for (const path of ["/api/v3/query_sql?db=a&q=SELECT+1", "/api/v3/configure/database?format=json", "/metrics?", "/ping?"]) {
      expect((await call("GET", `${path}&p=${admin}`, null)).status, path).toBe(401);
    }
  });
});

describe("a way round", () => {
  const TARGET = `${TOKENS}/named_admin`;
  const PATHS = [
    ...[TARGET, `${TARGET}/`, `/${TARGET}`, `${TARGET}?`, `${TARGET}#`, `${TARGET};x`, `${TARGET}%00`, `${TARGET}%20`, `${TARGET}%3f`],
    ...[TARGET.toUpperCase(), TARGET.replace("_", "%5F"), TARGET.replaceAll("/", "%2F"), TARGET.replaceAll("/", "\\")],
    ...[`${TOKENS}//named_admin`, `${TOKENS}/./named_admin`, `${TOKENS}/admin/../named_admin`, `${TOKENS}/x/../named_admin`],
    ...[`${TOKENS}/admin%2f..%2fnamed_admin`, `${TOKENS}/admin?/../named_admin`, `${TOKENS}/admin?${TARGET}`, `${TOKENS}/admin#${TARGET}`],
    ...[`http://localhost${TARGET}`, `http://x${TOKENS}/admin?${TARGET}`, `https://x${TARGET}`, "*", "", "/health/../api"],
  ];
  const HOSTS = ["", "/", "?", "#", "a?", "a#", "a/", `a${TOKENS}/admin?`, `a${TOKENS}/admin#`, "a b", "x@y/", "a\\", "[::1", "\xe9"];
  const BODY = JSON.stringify({ token_name: "made" });

  test.each([
    ["nobody", () => null],
    ["a token for one database", () => reader],
  ])("to what only an admin may, for %s", async (_, who) => {
    const before = await names();
    const authorization = who() === null ? [] : [`Authorization: Bearer ${who()}`];
    const headers = [...authorization, "Content-Type: application/json"];
    const got: string[] = [];
    for (const path of PATHS) got.push(`${await raw(`POST ${path} HTTP/1.1`, ["Host: localhost", ...headers], BODY)} ${path}`);
    for (const host of HOSTS) got.push(`${await raw(`POST ${TARGET} HTTP/1.1`, [`Host: ${host}`, ...headers], BODY)} ${host}`);
    // 409: the path of the first token, which everybody may ask for, and which is made
    expect(got.filter((line) => !/^(0|400|401|403|404|409) /.test(line))).toEqual([]);
    expect(got.filter((line) => line.startsWith("409 ")).every((line) => line.includes(`${TOKENS}/admin`))).toBe(true);
    expect(await names()).toBe(before);
  });

  test.each([["FOO"], ["post"], ["PURGE"], ["CONNECT"], ["TRACE"], ["QUERY"]])("by the method %s", async (method) => {
    const before = await names();
    for (const path of [TARGET, "/query?db=a&q=SELECT+f+FROM+t"]) {
      expect([0, 400, 401, 404, 405]).toContain(await raw(`${method} ${path} HTTP/1.1`, ["Host: localhost"], BODY));
    }
    expect(await names()).toBe(before);
  });
});

describe("many at once", () => {
  const count = (statuses: readonly number[], wanted: number) => statuses.filter((status) => status === wanted).length;
  const atOnce = (ask: () => Promise<{ status: number }>) => Promise.all(Array.from({ length: 16 }, async () => (await ask()).status));

  test("of many calls at once one makes the first token", async () => {
    await using fresh = await TestServer.start({ withAuth: true });
    const statuses = await atOnce(() => call("POST", `${TOKENS}/admin`, null, undefined, fresh.url));
    expect([count(statuses, 201), count(statuses, 409)]).toEqual([1, 15]);
  });

  test("of many calls at once one makes the token of a name, and one deletes it", async () => {
    const made = await atOnce(() => call("POST", `${TOKENS}/named_admin`, admin, { token_name: "race" }));
    expect([count(made, 201), count(made, 409)]).toEqual([1, 15]);
    const deleted = await atOnce(() => call("DELETE", `${TOKENS}?token_name=race`, admin));
    expect([count(deleted, 200), count(deleted, 404)]).toEqual([1, 15]);
  });
});

test.each([["expires"], ["is deleted"]])("a token that %s ends no answer that is under way, and begins none", async (how) => {
  const [name] = how.split(" ") as [string];
  const lines = Array.from({ length: 700 }, (_, i) => `big s="a text of some length, row ${i}" ${i}`).join("\n");
  expect((await call("POST", "/api/v3/write_lp?db=a&precision=ns", admin, lines)).status).toBe(204);
  const short = await token(RESOURCE_TOKEN, { ...permission(name, "a", "read"), ...(how === "expires" ? { expiry_secs: 1 } : {}) });
  const client = await RawClient.open(Number(new URL(server.url).port));
  const path = `/api/v3/query_sql?format=csv&db=a&q=${encodeURIComponent("SELECT x.s AS a, y.s AS b FROM big x CROSS JOIN big y")}`;
  client.socket.removeAllListeners("data");
  let [bytes, end] = [0, ""];
  client.socket.on("data", (data) => {
    bytes += String(data).length;
    end = (end + String(data)).slice(-10);
  });
  client.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${short}\r\nConnection: close\r\n\r\n`);
  await eventually(() => bytes > 1000);
  client.socket.pause();
  if (how === "is deleted") expect((await call("DELETE", `${TOKENS}?token_name=${name}`, admin)).status).toBe(200);
  while ((await call("GET", "/api/v3/query_sql?db=a&q=SELECT+1", short)).status !== 401) await Bun.sleep(10);
  expect(client.closed).toBe(false);
  client.socket.resume();
  await client.untilClosed();
  // 490,000 rows of two texts, whole: the last chunk is there
  expect(bytes).toBeGreaterThan(490_000 * 2 * 30);
  expect(end).toEndWith("\r\n0\r\n\r\n");
});

describe("names in permissions", () => {
  const REFUSED = ["a,b", "a:b", "a*", "%", "**", " a", "a b", "é", "_system", "a/b/c", "x".repeat(512)];
  test.each(REFUSED)("%p is refused: no database can be called so", async (name) => {
    const before = await names();
    const { status, text } = await call("POST", RESOURCE_TOKEN, admin, permission("refused", name, "read"));
    expect([status, text]).toEqual([400, expect.stringContaining("no database can be called")]);
    expect(await names()).toBe(before);
  });

  test("those that can be are shown as they are read", async () => {
    const text = await token(RESOURCE_TOKEN, permission("several", "a/rp", "read", "write", "read"));
    const q = "SELECT permissions FROM system.tokens WHERE name = 'several'";
    const shown = await call("GET", `/api/v3/query_sql?${new URLSearchParams({ format: "csv", db: "_internal", q })}`, admin);
    expect(shown.text).toBe('permissions\n"db:a/rp:read,write"\n');
    expect((await call("POST", "/write?db=a&rp=RP", text, LINE)).status).toBe(204);
    expect((await call("POST", "/write?db=a", text, LINE)).status).toBe(403);
  });
});

test.each(["\0", "a\nb", "\u001b[2J", "\u007f", "\u009b1m"])(
  "a token called %p is refused: lists of tokens are shown in terminals",
  async (name) => {
    const before = await names();
    for (const [path, body] of [
      [`${TOKENS}/named_admin`, { token_name: name }],
      [RESOURCE_TOKEN, permission(name, "a", "read")],
    ] as const) {
      expect(await call("POST", path, admin, body)).toEqual({ status: 400, text: "a token's name cannot have control characters" });
    }
    expect(await names()).toBe(before);
  },
);

test("half a character in a name is refused: nobody could ask for it", async () => {
  const before = await names();
  for (const [path, body] of [
    [`${TOKENS}/named_admin`, String.raw`{"token_name":"x\ud800"}`],
    [`${TOKENS}/named_admin`, String.raw`{"token_name":"\\\udc00x"}`],
    ["/api/v3/configure/table", String.raw`{"db":"a","table":"\uDBFF","tags":[],"fields":[]}`],
    ["/api/v3/configure/table", String.raw`{"db":"a","table":"half","tags":["\ud83dx"],"fields":[]}`],
  ] as const) {
    const response = await fetch(server.url + path, {
      ...{ method: "POST", body, headers: { authorization: `Bearer ${admin}`, "content-type": "application/json" } },
    });
    expect([response.status, await response.text()]).toEqual([400, "serde json error: half a surrogate pair in a string"]);
  }
  expect(await names()).toBe(before);
  // whole characters, and backslashes before what only looks like half of one
  const whole = String.raw`{"token_name":"\ud83d\ude00 \\ud800"}`;
  const headers = { authorization: `Bearer ${admin}`, "content-type": "application/json" };
  const made = await fetch(`${server.url}${TOKENS}/named_admin`, { method: "POST", body: whole, headers });
  expect([made.status, ((await made.json()) as { name: string }).name]).toEqual([201, "\u{1f600} \\ud800"]);
});

/** Where a lost token is replaced. */
const recoveryOf = ({ output }: TestServer) => /replace the first admin token, once.*?(http:\/\/127\.0\.0\.1:\d+)/s.exec(output)![1]!;

describe("tokens that come otherwise", () => {
  const [first, second] = [`apiv3_${"a".repeat(86)}`, `apiv3_${"b".repeat(86)}`];
  const file = (content: object) => {
    const path = join(folder, `${crypto.randomUUID()}.json`);
    writeFileSync(path, JSON.stringify(content));
    return path;
  };
  const reads = (name: string, text: string) => ({ token: text, name, permissions: ["db:a:read"] });

  test.each([
    ["the operator's text", [reads("r", first)], /the text given for token "r" is that of token "_admin", which exists$/],
    [
      "one text twice",
      [reads("r", second), reads("s", second)],
      /^tsdb: --permission-tokens-file: \S+: tokens\[1\]: it has the text of tokens\[0\]$/,
    ],
    ["one name twice", [reads("r", second), reads("r", `${second}x`)], /tokens\[1\]: two tokens are called "r"$/],
    ["the operator's name", [reads("_admin", second)], /^tsdb: --permission-tokens-file: \S+: tokens\[0\]: the name _admin is the first/],
  ])("%s ends the start with a line that says so", async (_, tokens, message) => {
    const flags = ["--admin-token-file", file({ token: first }), "--permission-tokens-file", file({ tokens })];
    const error = (await TestServer.start({ withAuth: true, flags }).catch((reason: Error) => reason)) as Error;
    const lines = error.message.split("\n").filter((line) => line.startsWith("tsdb: "));
    expect([lines.length, lines[0]]).toEqual([1, expect.stringMatching(message)]);
    expect(error.message).not.toContain("BUG");
    expect(error.message).toContain("exit code 2");
    expect(error.message).not.toMatch(/^ +at /m);
    for (const text of [first, second]) expect(error.message).not.toContain(text);
  });

  test("a file's admin token is the first one, whatever it is called: nobody can make another or delete the last", async () => {
    await using named = await TestServer.start({ withAuth: true, flags: ["--admin-token-file", file({ token: first, name: "ops" })] });
    const ask = (method: string, path: string, token: string | null) => call(method, path, token, undefined, named.url);
    expect((await ask("POST", `${TOKENS}/admin`, null)).status).toBe(409);
    expect((await ask("POST", `${TOKENS}/admin`, first)).status).toBe(409);
    expect((await ask("DELETE", `${TOKENS}?token_name=ops`, first)).status).toBe(405);
    expect((await ask("GET", "/ping", first)).status).toBe(200);
  });

  test("whom a file of permissions locked out in an earlier version gets an admin's token by recovery", async () => {
    await using locked = await TestServer.start({ withAuth: true });
    await locked.stop();
    const store = new FileObjectStore(new NodeDisk(), join(locked.dataDir, "objects"));
    const catalog = await Catalog.open(store, { prefix: "node0/catalog" });
    const permissions = [{ resourceType: "db" as const, names: ["a"], actions: ["read"] }];
    const hash = createHash("sha512").update(first).digest("hex");
    await catalog.apply([{ kind: "create_token", id: 0, name: "_admin", hash, createdMs: 1, expiryMs: null, permissions }]).durable;
    await catalog.close();
    await locked.restart(["--admin-token-recovery-http-bind", "127.0.0.1:0"]);
    await locked.untilOutput(/the token _admin is no admin's/);
    // what is open to a server without tokens is not open here
    expect((await call("POST", `${TOKENS}/admin`, null, undefined, locked.url)).status).toBe(409);
    expect((await call("POST", `${TOKENS}/admin/regenerate`, first, undefined, locked.url)).status).toBe(403);
    const { text } = await call("POST", `${TOKENS}/admin/regenerate`, null, undefined, recoveryOf(locked));
    const { name, token } = JSON.parse(text) as { name: string; token: string };
    expect(name).toBe("_admin");
    for (const how of ["as it runs", "after a restart"]) {
      const made = await call("POST", `${TOKENS}/named_admin`, token, { token_name: how }, locked.url);
      expect([how, made.status]).toEqual([how, 201]);
      expect((await call("GET", "/ping", first, undefined, locked.url)).status, how).toBe(401);
      if (how === "as it runs") await locked.restart([]);
    }
  });

  test("recovery gives the first token of a server that has none", async () => {
    await using fresh = await TestServer.start({ withAuth: true, flags: ["--admin-token-recovery-http-bind", "127.0.0.1:0"] });
    const { status, text } = await call("POST", `${TOKENS}/admin/regenerate`, null, undefined, recoveryOf(fresh));
    expect([status, (JSON.parse(text) as { name: string }).name]).toEqual([201, "_admin"]);
    expect((await call("POST", `${TOKENS}/admin`, null, undefined, fresh.url)).status).toBe(409);
  });

  test("the address where a lost token is replaced takes one such request at a time, beside any others", async () => {
    await using lost = await TestServer.start({ withAuth: true, flags: ["--admin-token-recovery-http-bind", "127.0.0.1:0"] });
    await token(`${TOKENS}/admin`, undefined, lost.url);
    const url = recoveryOf(lost);
    for (const host of ["", "a b", "[::1", "?", "#", "\xe9", `a${TOKENS}/admin/regenerate`]) {
      expect(await raw(`POST ${TOKENS}/admin/regenerate HTTP/1.1`, [`Host: ${host}`], "", url)).toBe(400);
    }
    for (const path of ["/", "*", `${TOKENS}/admin/regenerate/`, `/${TOKENS}/admin/regenerate`, `${TOKENS}/admin%2Fregenerate`]) {
      expect([400, 404]).toContain(await raw(`POST ${path} HTTP/1.1`, ["Host: localhost"], "", url));
    }
    const once = () => call("POST", `${TOKENS}/admin/regenerate`, null, undefined, url).then(({ status }) => status);
    // it closes behind the answer to the first
    const statuses = await Promise.all(Array.from({ length: 8 }, () => once().catch(() => 404)));
    expect(statuses.sort()).toEqual([201, ...Array.from({ length: 7 }, () => 404)]);
    expect(lost.output).not.toContain("Error");
  });

  test("an operator's token that has expired is replaced by a valid one", async () => {
    const flags = ["--admin-token-file", file({ token: first, expiry_millis: 1 }), "--admin-token-recovery-http-bind", "127.0.0.1:0"];
    await using expired = await TestServer.start({ withAuth: true, flags });
    const url = recoveryOf(expired);
    expect((await call("GET", "/ping", first, undefined, expired.url)).status).toBe(401);
    const { text } = await call("POST", `${TOKENS}/admin/regenerate`, null, undefined, url);
    const made = JSON.parse(text) as { name: string; token: string; expiry: string | null };
    expect([made.name, made.expiry]).toEqual(["_admin", null]);
    for (const how of ["as it runs", "after a kill"]) {
      expect((await call("GET", "/ping", made.token, undefined, expired.url)).status, how).toBe(200);
      expect((await call("GET", "/ping", first, undefined, expired.url)).status, how).toBe(401);
      if (how === "after a kill") break;
      await expired.kill();
      await expired.restart();
    }
  });
});
