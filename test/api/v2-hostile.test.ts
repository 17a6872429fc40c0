// What hostile clients of port 8086 send: bodies, ids, credentials, floods. Nothing of it is a fault of the server's, or changes anything.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { SecretBox } from "../../src/metadata/access/secret-box.ts";
import { MemoryObjectStore } from "../../src/object-store/memory-object-store.ts";
import { type LightServer, lightServer } from "../vectors/v2/light-server.ts";
import { ask } from "./v2-ask.ts";
import { V2_ROUTES } from "./v2-routes.ts";

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString("base64")}` });

const deep = (depth: number) => `${'{"type":"constant","values":'.repeat(depth)}1${"}".repeat(depth)}`;

async function setUp(options: Parameters<typeof lightServer>[0] = {}): Promise<LightServer> {
  const server = await lightServer(options);
  expect((await ask(server, "POST", "/api/v2/setup", undefined, SETUP)).status).toBe(201);
  return server;
}

async function signIn(server: LightServer, credentials: string): Promise<string | null> {
  const answer = await ask(server, "POST", "/api/v2/signin", undefined, undefined, basic(credentials));
  return answer.status === 204 ? answer.headers.get("set-cookie")!.split(";")[0]! : null;
}

const me = async (server: LightServer, cookie: string) => (await ask(server, "GET", "/api/v2/me", undefined, undefined, { cookie })).status;

describe("bodies", () => {
  let server: LightServer;
  beforeAll(async () => {
    server = await setUp();
  });
  afterAll(() => server.stop());

  const withBody = V2_ROUTES.filter(({ body }) => body !== undefined);
  const BODIES: readonly (readonly [name: string, body: string | Uint8Array<ArrayBuffer>])[] = [
    ["nothing", ""],
    ["an open brace", "{"],
    ["a text", '"text"'],
    ["a list", "[]"],
    ["a number", "1e400"],
    ["no UTF-8", new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])],
    ["a NUL", "{\0}"],
    ["lists in lists", "[".repeat(200_000)],
    ["objects in objects", '{"name":'.repeat(100_000)],
    [
      "members of lists in lists",
      `{${["name", "arguments", "properties", "values", "query", "cells"].map((name) => `"${name}":${deep(5000)}`).join()}}`,
    ],
    ["members of other types", '{"name":{},"status":[],"id":7,"permissions":"x","password":false,"orgID":{},"secrets":{},"k":[]}'],
    ["too much", `{"name":"${"x".repeat(1 << 20)}"}`],
  ];

  test.each(withBody.map((row) => [`${row.method} ${row.route}`, row] as const))("%s", async (_, { method, route }) => {
    const { orgs } = (await ask(server, "GET", "/api/v2/orgs", "tok")).body;
    const path = route.replace(":orgID", orgs[0].id).replace(/:\w+/g, "1234567890abcdef");
    for (const [name, body] of BODIES) {
      const headers = { authorization: "Token tok", "content-type": "application/json" };
      const response = await server.send(new Request(`${server.base}${path}`, { method, headers, body }));
      const answer = (await response.json()) as { code: string; message: string };
      // a body that asks for nothing is understood
      expect([400, 404, 413, ...(route.endsWith("/export") ? [422] : [])], `${name}: ${response.status} ${answer.message}`).toContain(
        response.status,
      );
      expect(Object.keys(answer)).toEqual(["code", "message"]);
      expect(answer.message.length).toBeLessThan(1000);
    }
    expect(server.reports).toEqual([]);
  });

  test("a compressed body that expands beyond the limit", async () => {
    const body = new Uint8Array(gzipSync(`{"name":"${"x".repeat(50 << 20)}"}`));
    const headers = { authorization: "Token tok", "content-encoding": "gzip" };
    const response = await server.send(new Request(`${server.base}/api/v2/users`, { method: "POST", headers, body }));
    expect(response.status).toBe(413);
    expect(((await response.json()) as { code: string }).code).toBe("request too large");
  });

  test("a secret of an odd name is kept under it", async () => {
    const { orgs } = (await ask(server, "GET", "/api/v2/orgs", "tok")).body;
    const path = `/api/v2/orgs/${orgs[0].id}/secrets`;
    expect((await ask(server, "PATCH", path, "tok", '{"__proto__":"x","a/b":"y"}')).status).toBe(204);
    expect((await ask(server, "GET", path, "tok")).body.secrets).toEqual(["__proto__", "a/b"]);
    expect((await ask(server, "DELETE", `${path}/a%2Fb`, "tok")).status).toBe(204);
    expect((await ask(server, "GET", path, "tok")).body.secrets).toEqual(["__proto__"]);
  });
});

describe("targets", () => {
  let server: LightServer;
  beforeAll(async () => {
    server = await setUp();
  });
  afterAll(() => server.stop());

  test.each([
    ["/api/v2/users/%zz", 400],
    ["/api/v2/users/..%2f..%2fhealth", 400],
    ["/api/v2/users/1234567890abcdef%00", 400],
    ["/api/v2/users?limit=1e3", 400],
    ["/api/v2/users?limit=9999999999999999999", 400],
    ["/api/v2/users?%ff=1", 400],
    ["/api/v2/users?name=%00", 404],
    ["/api/v2/orgs?org=%27%20or%201%3D1--", 404],
    ["/api/v2//users", 404],
    ["/api/v2/USERS", 404],
    [`/api/v2/users/${"a".repeat(8000)}`, 400],
  ])("%s: %i", async (path, status) => {
    expect((await ask(server, "GET", path, "tok")).status).toBe(status);
    expect((await ask(server, "GET", path)).status).toBe(401);
    expect(server.reports).toEqual([]);
  });
});

describe("sessions and passwords", () => {
  test("a new password ends the other sessions of its user, and the old one is worth nothing", async () => {
    const server = await setUp();
    const [mine, other] = [await signIn(server, "admin:password12"), await signIn(server, "admin:password12")];
    const path = "/api/v2/me/password";
    const headers = { ...basic("admin:password12"), cookie: mine! };
    expect((await ask(server, "PUT", path, undefined, { password: "password34" }, headers)).status).toBe(204);
    expect([await me(server, mine!), await me(server, other!)]).toEqual([200, 401]);
    expect(await signIn(server, "admin:password12")).toBeNull();
    expect(await signIn(server, "admin:password34")).not.toBeNull();
    // set by an operator it ends all of them
    const { id } = (await ask(server, "GET", "/api/v2/me", "tok")).body;
    expect((await ask(server, "POST", `/api/v2/users/${id}/password`, "tok", { password: "password56" })).status).toBe(204);
    expect(await me(server, mine!)).toBe(401);
  });

  test("a session ends with its time, and requests move its end", async () => {
    let nowMs = Date.parse("2026-01-01T00:00:00Z");
    const server = await setUp({ clockMs: () => nowMs });
    const cookie = (await signIn(server, "admin:password12"))!;
    nowMs += 58 * 60_000;
    expect(await me(server, cookie)).toBe(200);
    nowMs += 4 * 60_000; // past the hour, within five minutes of the last request
    expect(await me(server, cookie)).toBe(200);
    nowMs += 6 * 60_000;
    expect(await me(server, cookie)).toBe(401);
  });

  test("a session that requests do not prolong ends with its time", async () => {
    let nowMs = Date.parse("2026-01-01T00:00:00Z");
    const server = await setUp({ clockMs: () => nowMs, sessions: { lengthMs: 10 * 60_000, renewMs: null } });
    const cookie = (await signIn(server, "admin:password12"))!;
    nowMs += 9 * 60_000;
    expect(await me(server, cookie)).toBe(200);
    nowMs += 61_000;
    expect(await me(server, cookie)).toBe(401);
  });

  test("a deleted user's token and session are refused at once", async () => {
    const server = await setUp();
    const { id } = (await ask(server, "POST", "/api/v2/users", "tok", { name: "ann" })).body;
    await ask(server, "POST", `/api/v2/users/${id}/password`, "tok", { password: "password12" });
    const { orgs } = (await ask(server, "GET", "/api/v2/orgs", "tok")).body;
    const permissions = [{ action: "read", resource: { type: "buckets", orgID: orgs[0].id } }];
    const { token } = (await ask(server, "POST", "/api/v2/authorizations", "tok", { orgID: orgs[0].id, userID: id, permissions })).body;
    const cookie = (await signIn(server, "ann:password12"))!;
    expect([(await ask(server, "GET", "/api/v2/buckets", token)).status, await me(server, cookie)]).toEqual([200, 200]);
    await ask(server, "DELETE", `/api/v2/users/${id}`, "tok");
    expect([(await ask(server, "GET", "/api/v2/buckets", token)).status, await me(server, cookie)]).toEqual([403, 403]);
    expect(await signIn(server, "ann:password12")).toBeNull();
  });

  test("a flood of sign-ins waits, then is refused, and the loop goes on meanwhile", async () => {
    const server = await setUp({ hashCost: { memoryCost: 4096, timeCost: 2 } });
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const flood = Array.from({ length: 200 }, () =>
      ask(server, "POST", "/api/v2/signin", undefined, undefined, basic("nobody:password12")),
    );
    const health = await ask(server, "GET", "/health");
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    clearInterval(timer);
    expect(health.status).toBe(200);
    // two run and 64 wait
    expect(statuses.filter((status) => status === 401)).toHaveLength(66);
    expect(statuses.filter((status) => status === 429)).toHaveLength(134);
    expect(turns).toBeGreaterThan(3);
  });

  test("an unknown user costs as much as a known one: one hash", async () => {
    const server = await setUp();
    const before = server.line.passwords.verify;
    const hashes: (string | null)[] = [];
    server.line.passwords.verify = (password, hash) => {
      hashes.push(hash);
      return before.call(server.line.passwords, password, hash);
    };
    await signIn(server, "nobody:password12");
    await signIn(server, "admin:wrong-one");
    expect(hashes).toEqual([null, expect.stringContaining("$argon2id$")]);
  });
});

describe("at rest", () => {
  test("the log holds no password, token or secret in clear text", async () => {
    const store = new MemoryObjectStore();
    const server = await setUp({ store });
    const { orgs } = (await ask(server, "GET", "/api/v2/orgs", "tok")).body;
    await ask(server, "PATCH", `/api/v2/orgs/${orgs[0].id}/secrets`, "tok", { k: "a very secret value" });
    const permissions = [{ action: "read", resource: { type: "buckets", orgID: orgs[0].id } }];
    const { token } = (await ask(server, "POST", "/api/v2/authorizations", "tok", { orgID: orgs[0].id, permissions })).body;
    const keys = await store.list("node0/catalog/");
    const texts = await Promise.all(keys.map(async ({ key }) => new TextDecoder().decode(await store.get(key))));
    const log = texts.join("\n");
    expect(log).toContain("put_record");
    for (const secret of ["a very secret value", token, "password12"]) expect(log).not.toContain(secret);
  });

  test("with another key tokens work and are not shown", async () => {
    const store = new MemoryObjectStore();
    await (await setUp({ store, box: SecretBox.random() })).stop();
    const again = await lightServer({ store, box: SecretBox.random() });
    const { status, body } = await ask(again, "GET", "/api/v2/authorizations", "tok");
    expect([status, body.authorizations[0].token]).toEqual([200, ""]);
  });

  test("the log grows by what changes, and by nothing that is asked", async () => {
    const server = await setUp();
    const { version } = server.catalog;
    const cookie = (await signIn(server, "admin:password12"))!;
    for (let i = 0; i < 50; i++) await me(server, cookie);
    await ask(server, "GET", "/api/v2/buckets", "tok");
    await ask(server, "POST", "/api/v2/users", "tok", { name: "admin" });
    expect(server.catalog.version).toBe(version);
    await ask(server, "POST", "/api/v2/users", "tok", { name: "ann" });
    expect(server.catalog.version).toBe(version + 1);
  });
});

test("two setups at a time: one wins, the other changes nothing", async () => {
  const server = await lightServer();
  const answers = await Promise.all(
    ["a", "b", "c"].map((username) => ask(server, "POST", "/api/v2/setup", undefined, { ...SETUP, username })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422]);
  expect(server.line.users.count).toBe(1);
});

test("what is kept as it comes has at most 1000 lists and objects within each other", async () => {
  const server = await setUp();
  const { orgs } = (await ask(server, "GET", "/api/v2/orgs", "tok")).body;
  const body = (depth: number) =>
    `{"orgID":"${orgs[0].id}","name":"v${depth}","arguments":{"type":"constant","values":["[\\"[",${"[".repeat(depth)}${"]".repeat(depth)}]}}`;
  const send = (depth: number) => {
    const headers = { authorization: "Token tok" };
    return server.send(new Request(`${server.base}/api/v2/variables`, { method: "POST", headers, body: body(depth) }));
  };
  expect((await send(997)).status).not.toBe(500);
  const refused = await send(998);
  expect([refused.status, ((await refused.json()) as { message: string }).message]).toEqual([400, "exceeded max depth"]);
  expect(server.reports).toEqual([]);
  await server.stop();
});
