// Every route × every kind of credential: who gets in, who is told 400, 401 or 403. A route that is not in the table fails, so each new one
// has to say here, and in the code, who may ask it.
import { beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AccessControl } from "../../src/api/shared/access.ts";
import { credentialsOf } from "../../src/auth/credentials.ts";
import type { SystemPage } from "../../src/model/access.ts";
import { mayAsk, NOBODIES, ROUTES, type RouteRow, TOKENS, tokenWorld, USERS } from "./access-table.ts";
import { type Fakes, fakes } from "./fakes.ts";

async function app(openPages: readonly SystemPage[] = []) {
  const { authorizer, tokens, texts } = await tokenWorld(openPages);
  return { fake: fakes({ access: new AccessControl(authorizer), tokens }), texts };
}

const UNAUTHENTICATED =
  '{"error": "the request was not authenticated","code":"unauthorized","message":"the request was not authenticated"}';
const SOURCES = join(import.meta.dir, "../../src");
const shared = await app();
const { fake, texts } = shared;

function send(target: Fakes, [method, path, , query = "", init = {}]: RouteRow, authorization?: string) {
  const headers = { ...init.headers, ...(authorization === undefined ? {} : { authorization }) };
  return target.send(method === "ALL" ? "PATCH" : method, path.replace(":seq", "1") + query, { ...init, headers });
}

test("the table has every route of the app and no other", () => {
  const name = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
  expect(ROUTES.map(([method, path]) => `${method} ${path}`).sort()).toEqual(fake.routes.map(name).sort());
});

describe.each(ROUTES.map((route) => [`${route[0]} ${route[1]}`, route] as const))("%s", (_, route) => {
  const need = route[2];
  let [fake, texts] = [shared.fake, shared.texts];
  beforeEach(async () => {
    // these replace or make tokens
    if (route[1].includes("/configure/token")) ({ fake, texts } = await app());
  });

  test.each(["operator", ...Object.keys(TOKENS), ...Object.keys(USERS)])("with the token: %s", async (name) => {
    const { status } = await send(fake, route, `Bearer ${texts[name]}`);
    if (mayAsk(need, name)) expect([401, 403]).not.toContain(status);
    else expect(status).toBe(403);
  });

  test.each([
    ["no token", undefined],
    ["an expired token", "expired"],
    ["a deleted token", "deleted"],
    ...NOBODIES.map((name) => [name, name] as const),
  ])("with no token that counts: %s", async (_name, token) => {
    const response = await send(fake, route, token === undefined ? undefined : `Token ${texts[token]}`);
    if (need === "nothing") expect([401, 403]).not.toContain(response.status);
    else expect([response.status, await response.text()]).toEqual([401, UNAUTHENTICATED]);
  });

  test("a malformed Authorization header", async () => {
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
  ["Token user:a", { token: "a" }],
  ["Token :a", { token: "a" }],
  ["Token user:a:b", { token: "a:b" }],
  ["Token apiv3_user:a", { token: "apiv3_user:a" }],
  ["Bearer user:a", { token: "user:a" }],
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

test("a 403 has an error, a code and a message", async () => {
  const error = "requestor is forbidden from requested resource";
  const headers = { authorization: `Bearer ${texts["reader"]}` };
  const response = await fake.send("POST", "/api/v3/configure/token/named_admin", { headers });
  expect([response.status, await response.json()]).toEqual([403, { error, code: "forbidden", message: error }]);
  const other = await fake.send("GET", "/query?db=nobodys&q=SELECT%20v%20FROM%20m", { headers });
  const message = "unauthorized to perform requested action with the token";
  expect([other.status, await other.json()]).toEqual([403, { error: message, code: "forbidden", message }]);
});

test.each(["GET", "POST"])("%s /ping without a token names the server's version all the same", async (method) => {
  const response = await fake.send(method, "/ping");
  const { headers } = response;
  expect([response.status, headers.get("x-influxdb-version"), headers.get("x-tsdb-version")]).toEqual([401, "3.9.0", "v3.9.0"]);
});

test("a path that no route has tells nobody so without a token", async () => {
  expect((await fake.send("GET", "/nothing")).status).toBe(401);
  expect((await fake.send("GET", "/nothing", { headers: { authorization: `Bearer ${texts["reader"]}` } })).status).toBe(404);
});

test("proven callers are made where they are decided alone, and no cast makes one", () => {
  const sources = [...new Bun.Glob("**/*.ts").scanSync(SOURCES)].filter((path) => !path.endsWith(".test.ts"));
  const having = (pattern: RegExp) => sources.filter((path) => pattern.test(readFileSync(join(SOURCES, path), "utf8"))).sort();
  expect(having(/\bas (unknown as )?(AdminCaller|ProvenCaller|DatabaseGrant|AccountGrant)\b/)).toEqual([]);
  expect(having(/\brecoveryCaller\(/)).toEqual(["api/recovery.ts", "auth/authorizer.ts"]);
});

test("without auth the endpoints of tokens are off", async () => {
  const off = fakes();
  for (const path of ["/admin", "/admin/regenerate", "/named_admin"]) {
    const response = await off.send("POST", `/api/v3/configure/token${path}`);
    expect([response.status, await response.text()]).toEqual([405, "endpoint disabled, started without auth"]);
  }
  expect((await off.send("DELETE", "/api/v3/configure/token?token_name=a")).status).toBe(405);
});
