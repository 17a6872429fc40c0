// Every route × every kind of credential: who gets in, who is told 400, 401 or 403. A route that is not in the table fails, so each new one
// has to say here, and in the code, who may ask it.
import { beforeEach, describe, expect, test } from "bun:test";
import { credentialsOf } from "../../src/auth/credentials.ts";
import { isAllowed } from "../../src/auth/permissions.ts";
import { Tokens } from "../../src/auth/tokens.ts";
import { Catalog } from "../../src/catalog/catalog.ts";
import { AccessControl } from "../../src/http/access.ts";
import type { Permission, SystemPage } from "../../src/model/access.ts";
import { MemoryObjectStore } from "../../src/object-store/memory-object-store.ts";
import { type Fakes, fakes } from "./fakes.ts";

/** What a token needs for a route. `page:` of system pages, `db:` of the database `d`. */
type Need = "nothing" | "any token" | "admin" | `page:${SystemPage}` | `db:${"read" | "write" | "create" | "delete"}`;

const JSON_BODY = { headers: { "content-type": "application/json" } };
const body = (value: unknown) => ({ ...JSON_BODY, body: JSON.stringify(value) });
const LINE = { body: "cpu v=1 1" };

const ROUTES: [method: string, path: string, need: Need, query?: string, init?: { body?: string; headers?: Record<string, string> }][] = [
  ["POST", "/api/v3/write_lp", "db:write", "?db=d", LINE],
  ["POST", "/api/v2/write", "db:write", "?bucket=d", LINE],
  ["POST", "/write", "db:write", "?db=d", LINE],
  ["GET", "/api/v3/query_sql", "db:read", "?db=d&q=SELECT%201"],
  ["POST", "/api/v3/query_sql", "db:read", "", body({ db: "d", q: "SELECT 1" })],
  ["GET", "/query", "db:read", "?db=d&q=SELECT%20v%20FROM%20m"],
  ["POST", "/query", "db:read", "?db=d&q=SELECT%20v%20FROM%20m"],
  ["ALL", "/query", "any token"],
  ["HEAD", "/query", "any token"],
  ["GET", "/api/v3/query_tsdbql", "db:read", "?db=d&q=SELECT%20v%20FROM%20m"],
  ["POST", "/api/v3/query_tsdbql", "db:read", "", body({ db: "d", q: "SELECT v FROM m" })],
  ["ALL", "/api/v3/query_tsdbql", "any token"],
  ["HEAD", "/api/v3/query_tsdbql", "any token"],
  ["GET", "/api/v3/query_influxql", "db:read", "?db=d&q=SELECT%20v%20FROM%20m"],
  ["POST", "/api/v3/query_influxql", "db:read", "", body({ db: "d", q: "SELECT v FROM m" })],
  ["ALL", "/api/v3/query_influxql", "any token"],
  ["HEAD", "/api/v3/query_influxql", "any token"],
  ["ALL", "/api/v3/query_sql", "any token"],
  ["HEAD", "/api/v3/query_sql", "any token"],
  ["GET", "/api/v3/configure/database", "any token", "?format=json"],
  ["POST", "/api/v3/configure/database", "db:create", "", body({ db: "d" })],
  ["PUT", "/api/v3/configure/database", "db:create", "", body({ db: "d" })],
  ["DELETE", "/api/v3/configure/database", "db:delete", "?db=d"],
  ["POST", "/api/v3/configure/database/restore", "db:create", "", body({ db: "d" })],
  ["POST", "/api/v3/configure/database/retention_period", "db:create", "?db=d&duration=1d"],
  ["DELETE", "/api/v3/configure/database/retention_period", "db:create", "?db=d"],
  ["POST", "/api/v3/configure/table", "db:create", "", body({ db: "d", table: "t", tags: [], fields: [] })],
  ["PUT", "/api/v3/configure/table", "db:create", "", body({ db: "d", table: "t" })],
  ["DELETE", "/api/v3/configure/table", "db:delete", "?db=d&table=t"],
  ["POST", "/api/v3/configure/table/restore", "db:create", "", body({ db: "d", table: "t" })],
  ["POST", "/api/v3/enterprise/configure/table/retention_period", "db:create", "?db=d&table=t&duration=1d"],
  ["DELETE", "/api/v3/enterprise/configure/table/retention_period", "db:create", "?db=d&table=t"],
  ["POST", "/api/v3/configure/token/admin", "nothing"],
  ["POST", "/api/v3/configure/token/admin/regenerate", "admin"],
  ["POST", "/api/v3/configure/token/named_admin", "admin", "", body({ token_name: "n" })],
  ["DELETE", "/api/v3/configure/token", "admin", "?token_name=nobody"],
  [
    "POST",
    "/api/v3/enterprise/configure/token",
    "admin",
    "",
    body({ token_name: "n", permissions: [{ resource_type: "db", resource_names: ["d"], actions: ["read"] }] }),
  ],
  ["POST", "/api/v3/configure/distinct_cache", "db:create", "", body({ db: "d", table: "t", columns: ["c"] })],
  ["DELETE", "/api/v3/configure/distinct_cache", "db:create", "?db=d&table=t&name=n"],
  ["POST", "/api/v3/configure/last_cache", "db:create", "", body({ db: "d", table: "t" })],
  ["DELETE", "/api/v3/configure/last_cache", "db:create", "", body({ db: "d", table: "t", name: "n" })],
  ["POST", "/api/v3/enterprise/configure/file_index", "db:create", "", body({ db: "d", table: "t", columns: ["c"] })],
  ["DELETE", "/api/v3/enterprise/configure/file_index", "db:create", "", body({ db: "d" })],
  ["POST", "/api/v3/enterprise/configure/node/stop", "admin", "", body({ node_id: "node0" })],
  ["GET", "/ready", "page:ready"],
  ["GET", "/health", "page:health"],
  ["GET", "/api/v1/health", "page:health"],
  ["GET", "/ping", "page:ping"],
  ["POST", "/ping", "page:ping"],
  ["HEAD", "/ping", "page:ping", "", { headers: { "user-agent": "InfluxDBClient" } }],
  ["GET", "/metrics", "page:metrics"],
  ["GET", "/openapi.json", "nothing"],
  ["GET", "/docs", "nothing"],
];

const permission = (resourceType: "db" | "system", name: string, ...actions: string[]): Permission[] => [
  { resourceType, names: [name], actions },
];

/** What the tokens may do; null = everything. */
const TOKENS: Readonly<Record<string, readonly Permission[] | null>> = {
  admin: null,
  reader: permission("db", "d", "read"),
  writer: permission("db", "d", "write"),
  creator: permission("db", "d", "create"),
  deleter: permission("db", "d", "delete"),
  "reader of all": permission("db", "*", "read"),
  "everything of d": permission("db", "d", "*"),
  "everything of another": permission("db", "other", "*"),
  "a page": permission("system", "health", "read"),
  "all pages": permission("system", "*", "read"),
};

async function app(openPages: SystemPage[] = []) {
  let nowMs = 1_000_000;
  const catalog = await Catalog.open(new MemoryObjectStore(), { prefix: "catalog" });
  const tokens = new Tokens({ catalog, nowMs: () => nowMs });
  const texts: Record<string, string> = {};
  texts["operator"] = (await tokens.createOperatorToken()).token;
  for (const [name, permissions] of Object.entries(TOKENS)) {
    texts[name] = (await tokens.createToken({ name, expirySeconds: null, permissions })).token;
  }
  texts["expired"] = (await tokens.createToken({ name: "expired", expirySeconds: 10, permissions: null })).token;
  texts["deleted"] = (await tokens.createToken({ name: "deleted", expirySeconds: null, permissions: null })).token;
  await tokens.deleteToken("deleted");
  nowMs += 10_000;
  const fake = fakes({ access: new AccessControl(tokens, new Set(openPages)), tokens });
  return { fake, texts };
}

const { fake, texts } = await app();

function send(target: Fakes, [method, path, , query = "", init = {}]: (typeof ROUTES)[number], authorization?: string) {
  const headers = { ...init.headers, ...(authorization === undefined ? {} : { authorization }) };
  return target.send(method === "ALL" ? "PATCH" : method, path + query, { ...init, headers });
}

function mayAsk(need: Need, token: string): boolean {
  if (need === "nothing" || need === "any token") return true;
  const permissions = token === "operator" ? null : TOKENS[token]!;
  if (need === "admin") return permissions === null;
  const [kind, what] = need.split(":") as [string, string];
  const def = { id: 0, name: token, hash: "", createdMs: 0, updatedMs: null, expiryMs: null, permissions };
  return kind === "page" ? isAllowed(def, "system", what, "read") : isAllowed(def, "db", "d", what);
}

test("the table has every route of the app and no other", () => {
  const name = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
  expect(ROUTES.map(([method, path]) => `${method} ${path}`).sort()).toEqual(fake.routes.map(name).sort());
});

describe.each(ROUTES.map((route) => [`${route[0]} ${route[1]}`, route] as const))("%s", (_, route) => {
  const need = route[2];
  // some routes replace or make tokens
  let fake: Fakes;
  let texts: Readonly<Record<string, string>>;
  beforeEach(async () => {
    ({ fake, texts } = await app());
  });

  test.each(["operator", ...Object.keys(TOKENS)])("with the token: %s", async (name) => {
    const { status } = await send(fake, route, `Bearer ${texts[name]}`);
    if (mayAsk(need, name)) expect([401, 403]).not.toContain(status);
    else expect(status).toBe(403);
  });

  test.each([
    ["none", undefined],
    ["one that expired", "expired"],
    ["one that was deleted", "deleted"],
  ])("with no token that counts: %s", async (_name, token) => {
    const response = await send(fake, route, token === undefined ? undefined : `Token ${texts[token]}`);
    if (need === "nothing") expect([401, 403]).not.toContain(response.status);
    else expect([response.status, await response.text()]).toEqual([401, '{"error": "the request was not authenticated"}']);
  });

  test("with a header that is none", async () => {
    const response = await send(fake, route, `bearer ${texts["operator"]}`);
    if (need === "nothing") expect(response.status).not.toBe(400);
    else expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("Authorization header was malformed")]);
  });
});

const CREDENTIALS: [header: string | null, expected: ReturnType<typeof credentialsOf>][] = [
  [null, "none"],
  ["", "malformed"],
  ["Bearer", "malformed"],
  ["Bearer ", "malformed"],
  ["Bearer a", { token: "a" }],
  ["Token a", { token: "a" }],
  ["Bearer  a", "malformed"],
  ["Bearer a b", "malformed"],
  ["Digest a", "malformed"],
  ["TOKEN a", "malformed"],
  [`Basic ${btoa("user:a")}`, { token: "a" }],
  [`Basic ${btoa(":a")}`, { token: "a" }],
  [`Basic ${btoa("a")}`, "malformed"],
  [`Basic ${btoa("us:er:a")}`, "malformed"],
  ["Basic ####", "malformed"],
  [`Basic ${btoa("user:a")}!`, "malformed"],
  [`Basic ${btoa("user:a").replace(/=+$/, "")}`, { token: "a" }],
];

test.each(CREDENTIALS)("the header %p means %p", (header, expected) => expect(credentialsOf(header)).toEqual(expected));

test("a v1 client's password is a token on /write, goes before the header, and counts nowhere else", async () => {
  const { operator } = texts;
  const post = (path: string, authorization?: string) =>
    fake.send("POST", path, { body: "cpu v=1 1", ...(authorization === undefined ? {} : { headers: { authorization } }) });
  expect((await post(`/write?db=d&u=anybody&p=${operator}`)).status).toBe(204);
  expect((await post(`/write?db=d&p=wrong`, `Bearer ${operator}`)).status).toBe(401);
  expect((await post(`/api/v3/write_lp?db=d&p=${operator}`)).status).toBe(401);
  expect((await post(`/write?db=d`, `Basic ${btoa(`anybody:${operator}`)}`)).status).toBe(204);
});

test("pages of --disable-authz need no token; others do", async () => {
  const open = (await app(["health", "ping"])).fake;
  expect((await open.send("GET", "/health")).status).toBe(200);
  expect((await open.send("GET", "/ping")).status).toBe(200);
  expect((await open.send("GET", "/metrics")).status).toBe(401);
});

test("a path that no route has tells nobody so without a token", async () => {
  expect((await fake.send("GET", "/nothing")).status).toBe(401);
  expect((await fake.send("GET", "/nothing", { headers: { authorization: `Bearer ${texts["reader"]}` } })).status).toBe(404);
});

test("without auth the endpoints of tokens are off", async () => {
  const off = fakes();
  for (const path of ["/admin", "/admin/regenerate", "/named_admin"]) {
    const response = await off.send("POST", `/api/v3/configure/token${path}`);
    expect([response.status, await response.text()]).toEqual([405, "endpoint disabled, started without auth"]);
  }
  expect((await off.send("DELETE", "/api/v3/configure/token?token_name=a")).status).toBe(405);
});
