// Tokens of a real server: the first one, what it opens, what survives restarts, what files bring, and how a lost one is replaced.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(60_000);

const TOKENS = "/api/v3/configure/token";

interface NewToken {
  readonly id: number;
  readonly name: string;
  readonly token: string;
  readonly hash: string;
  readonly created_at: string;
  readonly expiry: string | null;
}

const folder = mkdtempSync(join(tmpdir(), "tsdb-tokens-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

async function call(url: string, method: string, path: string, token: string | null, body?: unknown) {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(typeof body === "object" ? { "content-type": "application/json" } : {}),
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

async function made(url: string, path: string, token: string | null, body?: unknown): Promise<NewToken> {
  const { status, text } = await call(url, "POST", path, token, body);
  expect([status, text]).toEqual([201, expect.stringContaining('"token":"apiv3_')]);
  return JSON.parse(text) as NewToken;
}

const write = async (url: string, token: string | null, db = "d") =>
  (await call(url, "POST", `/api/v3/write_lp?db=${db}`, token, "cpu v=1 1")).status;
const query = (url: string, token: string | null, db: string, q: string) =>
  call(url, "GET", `/api/v3/query_sql?format=json&${new URLSearchParams({ db, q })}`, token);

let server: TestServer;
let admin: string;
beforeAll(async () => {
  server = await TestServer.start({ withAuth: true, withFlight: true });
});
afterAll(() => server.dispose());

test("the first start says how the first token is made; made it is once, without a token, and then all is closed", async () => {
  const [, url] = await server.untilOutput(/curl -X POST '(.*?)'/);
  expect(url).toBe(`${server.url}${TOKENS}/admin`);
  expect(await write(server.url, null)).toBe(401);
  const first = await made(server.url, `${TOKENS}/admin`, null);
  expect(first).toMatchObject({ id: 0, name: "_admin", expiry: null });
  expect(first.token).toMatch(/^apiv3_[A-Za-z0-9_-]{86}$/);
  expect(first.hash).toBe(createHash("sha512").update(first.token).digest("hex"));
  const shown = await query(server.url, first.token, "_internal", "SELECT name, hash FROM system.tokens");
  expect(JSON.parse(shown.text)).toEqual([{ name: "_admin", hash: first.hash.slice(0, 9) }]);
  expect((await call(server.url, "POST", `${TOKENS}/admin`, null)).status).toBe(409);
  expect((await call(server.url, "POST", `${TOKENS}/admin`, first.token)).status).toBe(409);
  expect(await write(server.url, first.token)).toBe(204);
  admin = first.token;
});

test("no file of the data folder has a token's text, and the log neither", async () => {
  const named = await made(server.url, `${TOKENS}/named_admin`, admin, { token_name: "second", expiry_secs: 3600 });
  expect(Date.parse(named.expiry!) - Date.parse(named.created_at)).toBe(3_600_000);
  for (const name of readdirSync(server.dataDir, { recursive: true }) as string[]) {
    const path = join(server.dataDir, name);
    if (!statSync(path).isFile()) continue;
    const content = readFileSync(path, "latin1");
    for (const text of [admin, named.token]) expect(content.includes(text.slice("apiv3_".length))).toBe(false);
  }
  expect(server.output).not.toContain(admin);
});

test("tokens survive a kill; replaced, deleted and expired ones are worth nothing", async () => {
  const doomed = await made(server.url, `${TOKENS}/named_admin`, admin, { token_name: "doomed" });
  const short = await made(server.url, `${TOKENS}/named_admin`, admin, { token_name: "short", expiry_secs: 1 });
  await server.kill();
  await server.restart();
  // the first start has said how the first token is made, this one does not
  await server.untilOutput(/try, with a token.*try, with a token/s);
  expect(server.output.match(/curl -X POST/g)).toHaveLength(1);
  expect(await write(server.url, doomed.token)).toBe(204);
  expect((await call(server.url, "DELETE", `${TOKENS}?token_name=doomed`, admin)).status).toBe(200);
  expect(await write(server.url, doomed.token)).toBe(401);
  expect((await call(server.url, "DELETE", `${TOKENS}?token_name=doomed`, admin)).status).toBe(404);
  const refused = await call(server.url, "DELETE", `${TOKENS}?token_name=_admin`, admin);
  expect([refused.status, refused.text]).toEqual([405, "cannot delete operator token"]);
  const regenerated = await made(server.url, `${TOKENS}/admin/regenerate`, admin);
  expect(regenerated).toMatchObject({ id: 0, name: "_admin" });
  expect(await write(server.url, admin)).toBe(401);
  admin = regenerated.token;
  while (Date.now() < Date.parse(short.expiry!)) await new Promise((resolve) => setImmediate(resolve));
  expect(await write(server.url, short.token)).toBe(401);
  await server.kill();
  await server.restart();
  for (const [token, status] of [
    [admin, 204],
    [doomed.token, 401],
    [short.token, 401],
  ] as const)
    expect(await write(server.url, token)).toBe(status);
});

const PERMISSIONS = (resource_names: string[], ...actions: string[]) => [{ resource_type: "db", resource_names, actions }];

test("a token for some databases opens these, for what it says, in lists and statements too", async () => {
  for (const db of ["one", "two"]) expect(await write(server.url, admin, db)).toBe(204);
  const token = async (name: string, permissions: unknown) =>
    (await made(server.url, "/api/v3/enterprise/configure/token", admin, { token_name: name, permissions })).token;
  const reader = await token("r", PERMISSIONS(["one"], "read"));
  const writer = await token("w", PERMISSIONS(["one", "two"], "write"));
  const pages = await token("p", [{ resource_type: "system", resource_names: ["metrics"], actions: ["read"] }]);
  expect((await query(server.url, reader, "one", "SELECT v FROM cpu")).text).toBe('[{"v":1.0}]');
  for (const [db, q] of [
    ["two", "SELECT v FROM cpu"],
    ["_internal", "SELECT * FROM system.tokens"],
    ["nowhere", "SELECT 1"],
  ] as const) {
    const refused = await query(server.url, reader, db, q);
    const error = "unauthorized to perform requested action with the token";
    expect([refused.status, JSON.parse(refused.text)]).toEqual([403, { error, code: "forbidden", message: error }]);
  }
  expect((await query(server.url, writer, "one", "SELECT 1")).status).toBe(403);
  const all = await token("all", PERMISSIONS(["*"], "read", "write"));
  expect((await query(server.url, all, "two", "SELECT v FROM cpu")).status).toBe(200);
  expect((await query(server.url, all, "_internal", "SELECT * FROM system.tokens")).status).toBe(403);
  expect([
    await write(server.url, reader, "one"),
    await write(server.url, writer, "one"),
    await write(server.url, writer, "three"),
  ]).toEqual([403, 204, 403]);
  const list = async (text: string) =>
    (await call(server.url, "GET", "/api/v3/configure/database?format=csv", text)).text.trim().split("\n").slice(1);
  expect(await list(reader)).toEqual(["one"]);
  expect(await list(writer)).toEqual(["one", "two"]);
  expect(await list(pages)).toEqual([]);
  expect(await list(admin)).toEqual(["_internal", "d", "one", "two"]);
  expect((await call(server.url, "GET", "/metrics", pages)).status).toBe(200);
  expect((await call(server.url, "GET", "/ping", pages)).status).toBe(403);
  const rows = JSON.parse(
    (await query(server.url, admin, "_internal", "SELECT name, permissions FROM system.tokens ORDER BY token_id")).text,
  );
  expect(rows.slice(-4)).toEqual([
    { name: "r", permissions: "db:one:read" },
    { name: "w", permissions: "db:one,two:write" },
    { name: "p", permissions: "system:metrics:read" },
    { name: "all", permissions: "db:*:read,write" },
  ]);
});

const BAD: [what: string, body: unknown, message: RegExp][] = [
  ["no name", { permissions: PERMISSIONS(["a"], "read") }, /missing field `token_name`/],
  ["an empty name", { token_name: "", permissions: PERMISSIONS(["a"], "read") }, /name cannot be empty/],
  ["no permissions", { token_name: "x", permissions: [] }, /`permissions`/],
  [
    "an unknown resource",
    { token_name: "x", permissions: [{ resource_type: "table", resource_names: ["a"], actions: ["read"] }] },
    /unknown resource type "table"/,
  ],
  ["an unknown action", { token_name: "x", permissions: PERMISSIONS(["a"], "peek") }, /unknown action "peek"/],
  [
    "an unknown page",
    { token_name: "x", permissions: [{ resource_type: "system", resource_names: ["a"], actions: ["read"] }] },
    /unknown system resource "a"/,
  ],
  ["no names", { token_name: "x", permissions: PERMISSIONS([], "read") }, /names nothing/],
  [
    "an expiry as text",
    { token_name: "x", permissions: PERMISSIONS(["a"], "read"), expiry_secs: "60" },
    /`expiry_secs`: expected integer or null, got "60"/,
  ],
  ["an expiry of 0", { token_name: "x", permissions: PERMISSIONS(["a"], "read"), expiry_secs: 0 }, /`expiry_secs`/],
  [
    "an expiry of a million years",
    { token_name: "x", permissions: PERMISSIONS(["a"], "read"), expiry_secs: 31_557_600_000_000 },
    /expiry_secs must be/,
  ],
];

test.each(BAD)("a token with %s is refused", async (_, body, message) => {
  const { status, text } = await call(server.url, "POST", "/api/v3/enterprise/configure/token", admin, body);
  expect([status, text]).toEqual([400, expect.stringMatching(message)]);
  expect((await query(server.url, admin, "_internal", "SELECT count(*) AS n FROM system.tokens WHERE name IN ('x', '')")).text).toBe(
    '[{"n":0}]',
  );
});

test("a server that has no token takes those of files, and no others once it has them", async () => {
  const [operator, reader] = [`apiv3_${"o".repeat(86)}`, `apiv3_${"r".repeat(86)}`];
  const flags = [
    ...["--admin-token-file", file("admin.json", { token: operator, name: "_admin" })],
    ...[
      "--permission-tokens-file",
      file("tokens.json", { create_databases: ["made"], tokens: [{ token: reader, name: "r", permissions: ["db:made:read"] }] }),
    ],
  ];
  await using given = await TestServer.start({ withAuth: true, flags });
  await given.untilOutput(/try, with a token/);
  expect(given.output).not.toContain("no token exists yet");
  expect(await write(given.url, operator, "made")).toBe(204);
  expect((await query(given.url, reader, "made", "SELECT v FROM cpu")).text).toBe('[{"v":1.0}]');
  expect(await write(given.url, reader, "made")).toBe(403);
  const other = `apiv3_${"x".repeat(86)}`;
  await given.restart(["--admin-token-file", file("other.json", { token: other, name: "late" })]);
  expect(await write(given.url, other, "made")).toBe(401);
  expect(await write(given.url, operator, "made")).toBe(204);
});

test.each([
  ["no JSON", "apiv3_secret", /it is no JSON$/],
  ["another prefix", { token: "v2_abcdefgh" }, /must begin with apiv3_/],
  ["no token", { name: "a" }, /`token` must be a text/],
  ["a bad expiry", { token: "apiv3_abcdefgh", expiry_millis: "soon" }, /`expiry_millis` must be milliseconds/],
])("a token file with %s ends the start, and its text is not shown", async (_, content, message) => {
  const path = file("bad.json", content);
  if (typeof content === "string") writeFileSync(path, content);
  const error = (await TestServer.start({ withAuth: true, flags: ["--admin-token-file", path] }).catch((reason: Error) => reason)) as Error;
  const line = error.message.split("\n").find((text) => text.startsWith("tsdb: "));
  expect(line).toMatch(message);
  expect(line).not.toContain("secret");
});

test("a lost admin token is replaced through the recovery address, once", async () => {
  await server.restart(["--admin-token-recovery-http-bind", "127.0.0.1:0"]);
  const url = (await server.untilOutput(/replace the first admin token, once.*?(http:\/\/127\.0\.0\.1:\d+)/s))[1]!;
  const path = `${TOKENS}/admin/regenerate`;
  expect((await call(url, "GET", path, null)).status).toBe(404);
  expect((await call(url, "POST", `${TOKENS}/admin`, null)).status).toBe(404);
  const recovered = await made(url, path, null);
  expect(await write(server.url, recovered.token)).toBe(204);
  expect(await write(server.url, admin)).toBe(401);
  admin = recovered.token;
  const again = await call(url, "POST", path, null).catch(() => ({ status: "closed" }));
  expect([404, "closed"]).toContain(again.status);
});
