// Browsers on port 8086: which pages of other origins may ask what, and paths with a slash at their end.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { LightServer } from "../vectors/v2/light-server.ts";
import { OPERATOR, pathOf, world } from "./v2-access-world.ts";
import { ask } from "./v2-ask.ts";
import { V2_ROUTES, type World } from "./v2-routes.ts";

const ORIGIN = "https://pages.example:8443";
const FROM = { origin: ORIGIN };
const METHODS = "POST, GET, OPTIONS, PUT, DELETE, PATCH";
const HEADERS = "Accept, Content-Type, Content-Length, Accept-Encoding, Authorization, User-Agent";

let server: LightServer;
let ids: World;
beforeAll(async () => {
  ({ server, world: ids } = await world());
});
afterAll(() => server.stop());

const isApi = (route: string) => route === "/api/v2" || /^\/(?:api\/v2|private)\//.test(route);
const API_PATHS = [...new Set(V2_ROUTES.filter(({ route }) => isApi(route)).map(({ route }) => route))];

describe("other origins", () => {
  test.each(API_PATHS)("may ask before they ask: %s", async (route) => {
    const path = pathOf({ route }, ids);
    const asked = { ...FROM, "access-control-request-method": "DELETE", "access-control-request-headers": "authorization" };
    const answer = await ask(server, "OPTIONS", path, undefined, undefined, asked);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect(answer.headers.get("access-control-allow-origin")).toBe(ORIGIN);
    expect(answer.headers.get("access-control-allow-methods")).toBe(METHODS);
    expect(answer.headers.get("access-control-allow-headers")).toBe(HEADERS);
    // cookies of this server are not sent by pages of others
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    // it is no request of a browser
    expect((await ask(server, "OPTIONS", path)).status).toBe(405);
  });

  test.each<[string, string, string | undefined, number]>([
    ["GET", "/api/v2/me", OPERATOR, 200],
    ["GET", "/api/v2/me", undefined, 401],
    ["GET", "/api/v2/users/x", OPERATOR, 400],
    ["GET", "/api/v2/users/1234567890abcdef", OPERATOR, 404],
    ["PATCH", "/api/v2/me", OPERATOR, 405],
    ["GET", "/api/v2/nothing", OPERATOR, 404],
    ["GET", "/api/v2/buckets/", OPERATOR, 200],
    ["POST", "/api/v2/write?org=o&bucket=nothing", OPERATOR, 404],
  ])("read answers, also errors: %s %s", async (method, path, token, status) => {
    const body = method === "GET" ? undefined : "x";
    const answer = await ask(server, method, path, token, body, FROM);
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([status, ORIGIN]);
    expect(answer.headers.get("vary")).toContain("Origin");
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    const without = await ask(server, method, path, token, body);
    expect([without.status, without.headers.get("access-control-allow-origin")]).toEqual([status, null]);
  });

  test.each(["/health", "/ping", "/ready", "/metrics", "/query?db=b&q=SHOW+DATABASES"])("do not read %s", async (path) => {
    const answer = await ask(server, "GET", path, OPERATOR, undefined, FROM);
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  test.each(["/query", "/write"])("ask before nothing on %s without credentials", async (path) => {
    expect((await ask(server, "OPTIONS", path, undefined, undefined, FROM)).status).toBe(401);
  });
});

describe("a slash at the end", () => {
  const readable = V2_ROUTES.filter(({ method, route }) => method === "GET" && isApi(route));
  const [redirected, stripped] = [
    readable.filter(({ route }) => REDIRECTING.test(route)),
    readable.filter(({ route }) => !REDIRECTING.test(route)),
  ];

  test.each(stripped.map((row) => [row.route, row] as const))("is stripped: %s", async (_, row) => {
    const [path, query = ""] = pathOf(row, ids).split("?");
    const suffix = query === "" ? "" : `?${query}`;
    const plain = await ask(server, "GET", `${path}${suffix}`, OPERATOR);
    const slashed = await ask(server, "GET", `${path}/${suffix}`, OPERATOR);
    expect([slashed.status, slashed.body]).toEqual([plain.status, plain.body]);
    expect(slashed.headers.get("location")).toBeNull();
    expect((await ask(server, "GET", `${path}//${suffix}`, OPERATOR)).status).not.toBe(200);
    if (row.isOpen === undefined) expect((await ask(server, "GET", `${path}/${suffix}`)).status).toBe(401);
  });

  test.each(redirected.map((row) => [row.route, row] as const))("is redirected: %s", async (_, row) => {
    const [path, query = ""] = pathOf(row, ids).split("?");
    const suffix = query === "" ? "" : `?${query}`;
    const { status, headers } = await ask(server, "GET", `${path}/${suffix}`, OPERATOR);
    if (BRANCHING.test(row.route)) expect([status, headers.get("location")]).toEqual([404, null]);
    else expect([status, headers.get("location")]).toEqual([301, `${path}${suffix}`]);
    expect((await ask(server, "GET", `${path}/${suffix}`)).status).toBe(401);
  });

  test.each([
    ["POST", "/api/v2/tasks/?a=%22%3Cb", 308, "/api/v2/tasks?a=%22%3Cb"],
    ["DELETE", "/api/v2/variables/1234567890abcdef/", 308, "/api/v2/variables/1234567890abcdef"],
    ["DELETE", "/api/v2/tasks/1234567890abcdef/", 404, null],
    ["DELETE", "/api/v2/sources/1234567890abcdef/", 308, "/api/v2/sources/1234567890abcdef"],
    ["PUT", "/api/v2/sources/1234567890abcdef/", 404, null],
    ["POST", "/api/v2/query/nothing/", 404, null],
  ])("of other methods: %s %s", async (method, path, status, location) => {
    const answer = await ask(server, method, path, OPERATOR, "{}");
    expect([answer.status, answer.headers.get("location")]).toEqual([status, location]);
  });

  test("the redirect of a browser escapes its target", async () => {
    const answer = await ask(server, "GET", "/api/v2/tasks/?a=1&b=%3C", OPERATOR);
    expect(answer.text).toBe('<a href="/api/v2/tasks?a=1&amp;b=%3C">Moved Permanently</a>.\n\n');
  });
});

/** As asked of release 2.8.0. */
const REDIRECTING =
  /^\/api\/v2\/(?:backup|checks|delete|documents|notificationEndpoints|notificationRules|query|restore|scrapers|sources|tasks|telegrafs?|variables|write)(?:\/|$)/;
/** Answered 404 there, as more than one route continues behind them. */
const BRANCHING = /^\/api\/v2\/(?:checks|notificationEndpoints|notificationRules|scrapers|sources|tasks|telegrafs)\/:\w+$/;
