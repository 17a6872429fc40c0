// Access as raw sockets meet it, on the HTTP port and the Flight port, with and without TLS: every route × every credential, and requests
// of which two parsers could read different paths.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { AccessControl } from "../../src/api/shared/access.ts";
import { mayAsk, ROUTES, type RouteRow, TOKENS, tokenWorld } from "./access-table.ts";
import { fakes } from "./fakes.ts";
import { exchange, type Listener, type Listeners, listen, statusesOf } from "./listeners.ts";

const calls: string[] = [];
const { catalog, tokens, authorizer, texts } = await tokenWorld();
const { services, reports } = fakes({
  access: new AccessControl(authorizer),
  // the tokens of this file stay as they are; who may make others is seen by the calls
  onCall: (service, method) => calls.push(`${service}.${method}`),
});
let listeners: Listeners;
beforeAll(async () => {
  listeners = await listen(services);
});
afterAll(() => listeners[Symbol.asyncDispose]());

/** A request that asks for the end of its connection. */
function bytesOf(line: string, headers: readonly string[], body = ""): string {
  const length = body === "" ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return `${[line, ...headers, "Connection: close", ...length].join("\r\n")}\r\n\r\n${body}`;
}

function requestTo([method, path, , query = "", init = {}]: RouteRow, headers: readonly string[], password?: string): string {
  const search = password === undefined ? query : `${query === "" ? "?" : `${query}&`}u=anybody&p=${password}`;
  const own = Object.entries(init.headers ?? {}).map(([name, value]) => `${name}: ${value}`);
  const line = `${method === "ALL" ? "PATCH" : method} ${path.replace(":seq", "1")}${search} HTTP/1.1`;
  return bytesOf(line, ["Host: localhost", ...own, ...headers], init.body);
}

const statusOf = async (listener: Listener, bytes: string) => statusesOf(await exchange(listener, bytes)).join();

/** Header lines of a request without a token that counts, and the answer where one is needed. */
const REFUSED: readonly (readonly [what: string, headers: readonly string[], status: number])[] = [
  ["no header", [], 401],
  ["unknown", ["Authorization: Bearer apiv3_nobody"], 401],
  ["expired", [`Authorization: Bearer ${texts["expired"]}`], 401],
  ["deleted", [`Authorization: Bearer ${texts["deleted"]}`], 401],
  ["cut off", [`Authorization: Bearer ${texts["operator"]!.slice(0, -1)}`], 401],
  ["an empty header", ["Authorization:"], 400],
  ["another scheme", [`Authorization: Digest ${texts["operator"]}`], 400],
  ["two headers", [`Authorization: Bearer ${texts["operator"]}`, `Authorization: Bearer ${texts["operator"]}`], 400],
  ["two tokens in one", [`Authorization: Bearer ${texts["operator"]}, Bearer ${texts["operator"]}`], 400],
];
const ROWS = ROUTES.map((route) => [`${route[0]} ${route[1]}`, route] as const);
const VALID = ["operator", ...Object.keys(TOKENS)];
const isV1 = ([, path]: RouteRow) => path === "/query" || path === "/write";

describe.each(ROWS)("%s", (_, route) => {
  const need = route[2];

  test("without a token that counts", async () => {
    for (const listener of listeners.all) {
      for (const [what, headers, status] of REFUSED) {
        calls.length = 0;
        const got = await statusOf(listener, requestTo(route, headers));
        if (need === "nothing") expect(["401", "403", ""], `${listener.name}, ${what}`).not.toContain(got);
        else expect([got, calls], `${listener.name}, ${what}`).toEqual([String(status), []]);
      }
    }
  });

  test("each token is admitted or refused by its permissions", async () => {
    for (const listener of listeners.all) {
      for (const name of VALID) {
        const allowed = mayAsk(need, name);
        calls.length = 0;
        const got = await statusOf(listener, requestTo(route, [`Authorization: Token ${texts[name]}`]));
        if (allowed) expect(["401", "403", ""], `${listener.name}, ${name}`).not.toContain(got);
        else expect([got, calls.filter((call) => !call.endsWith(".list"))], `${listener.name}, ${name}`).toEqual(["403", []]);
      }
    }
  });

  test("a password in the query string is a token on v1 paths alone", async () => {
    for (const listener of listeners.all) {
      const got = await statusOf(listener, requestTo(route, [], texts["operator"]));
      if (isV1(route) || need === "nothing") expect(["401", "403", ""], listener.name).not.toContain(got);
      else expect(got, listener.name).toBe("401");
    }
  });
});

const NAMED_ADMIN = "/api/v3/configure/token/named_admin";
const REGENERATE = "/api/v3/configure/token/admin/regenerate";
const OPEN = "/api/v3/configure/token/admin";
const READER = `Authorization: Bearer ${texts["reader"]}`;
const JSON_TYPE = "Content-Type: application/json";
const TOKEN_BODY = '{"token_name":"evil"}';

/** Requests of which a second reading finds an open path, or one of any token, in the query string or behind the Host. */
const CRAFTED: readonly (readonly [line: string, ...headers: string[]])[] = [
  [`POST /xxxxxx${NAMED_ADMIN}?x=://a${OPEN} HTTP/1.1`, "Host: x/y", JSON_TYPE],
  [`POST /xxxxxx${NAMED_ADMIN}?x=://a${OPEN} HTTP/1.0`, JSON_TYPE],
  [`POST /xxxxxx${REGENERATE}?x=://a${OPEN} HTTP/1.1`, "Host: x/y"],
  [`POST /xxxxxx${REGENERATE}?x=://a${OPEN} HTTP/1.0`],
  ["GET /xxxxxx/metrics?://a/docs HTTP/1.1", "Host: x/y"],
  ["GET /xxxxxx/metrics?://a/docs HTTP/1.1", "Host:"],
  ["GET /xxxxxx/metrics?://a/docs HTTP/1.0"],
  [`DELETE /xxxxxx/api/v3/configure/token?token_name=admin&x=://a/nope HTTP/1.1`, "Host: x/y", READER],
  [`DELETE /xxxxxx/api/v3/configure/token?token_name=admin&x=://a/nope HTTP/1.0`, READER],
  [`POST /xxxxxx/api/v3/enterprise/configure/node/stop?x=://a/nope HTTP/1.1`, "Host: a b", JSON_TYPE, READER],
  [`POST http://h/xxxxxx${NAMED_ADMIN}?x=://a${OPEN} HTTP/1.1`, "Host: x/y", JSON_TYPE],
  [`POST http://h/xxxxxx${NAMED_ADMIN}?x=://a${OPEN} HTTP/1.0`, JSON_TYPE],
  [`POST ${NAMED_ADMIN}?x=://a${OPEN} HTTP/1.1`, "Host: a, b", JSON_TYPE],
  [`POST ${NAMED_ADMIN}#${OPEN} HTTP/1.1`, "Host: a", JSON_TYPE, READER],
];

test.each(CRAFTED)("a request that two parsers could read differently: %s", async (line, ...headers) => {
  for (const listener of listeners.all) {
    calls.length = 0;
    const isToken = line.includes("named_admin");
    expect(await statusOf(listener, bytesOf(line, headers, isToken ? TOKEN_BODY : "")), listener.name).toBe("400");
    expect(calls).toEqual([]);
  }
});

/** The start of a request and the status of its answer: 200 for `/health` with the token, 401 without one. */
const TARGETS: readonly (readonly [line: string, hosts: readonly string[], status: number])[] = [
  ["GET /health HTTP/1.1", ["a"], 200],
  ["GET /health HTTP/1.0", ["a"], 200],
  ...["localhost:8181", "my_db", "a.b.", "[::1]:8181", "[fe80::1%25eth0]", "127.1", "A:", "a:80", "a:443"].map(
    (host) => ["GET /health HTTP/1.1", [host], 200] as const,
  ),
  ...["", "x/y", "a b", "?", "#", "@", "u@h", "a:99999", "a:x", "[::1", "::1", "a%41", "a\\b", "caf\xe9", "a,b", "-a"].map(
    (host) => ["GET /health HTTP/1.1", [host], 400] as const,
  ),
  ["GET /health HTTP/1.1", [], 400],
  ["GET /health HTTP/1.0", [], 400],
  ["GET /health HTTP/1.1", ["a", "a"], 400],
  ["GET /health HTTP/1.1", ["a", "b"], 400],
  // absolute-form; the Host has to be valid there too: RFC 9112, section 3.2
  ["GET http://elsewhere/health HTTP/1.1", ["a"], 200],
  ["GET https://elsewhere:99/health HTTP/1.1", ["a"], 200],
  ["GET HTTP://elsewhere/health HTTP/1.1", ["a"], 200],
  ["GET http://elsewhere/health HTTP/1.1", ["x/y"], 400],
  ["GET http://elsewhere/health HTTP/1.1", [], 400],
  ["GET http://elsewhere/health HTTP/1.0", [], 400],
  ["GET ftp://elsewhere/health HTTP/1.1", ["a"], 400],
  ["GET http:/health HTTP/1.1", ["a"], 400],
  // asterisk-form and authority-form
  ["OPTIONS * HTTP/1.1", ["a"], 400],
  ["GET * HTTP/1.1", ["a"], 400],
  ["CONNECT a:80 HTTP/1.1", ["a:80"], 400],
  ["GET health HTTP/1.1", ["a"], 400],
  ["GET ?a HTTP/1.1", ["a"], 400],
  ["GET /health#a HTTP/1.1", ["a"], 400],
  // one path, whatever it looks like; the runtime resolves dots and turns `\` before anything looks at them
  ["GET /x/../health HTTP/1.1", ["a"], 200],
  ["GET /%2e/health HTTP/1.1", ["a"], 200],
  ["GET /x\\..\\health HTTP/1.1", ["a"], 200],
  ["GET //health HTTP/1.1", ["a"], 404],
  ["GET /health/ HTTP/1.1", ["a"], 404],
  ["GET /%68ealth HTTP/1.1", ["a"], 404],
  ["GET /HEALTH HTTP/1.1", ["a"], 404],
  ["GET /health%00 HTTP/1.1", ["a"], 404],
  ["GET /health;a HTTP/1.1", ["a"], 404],
  ["GET /x%2f..%2fhealth HTTP/1.1", ["a"], 404],
  ["GET /http://a/health HTTP/1.1", ["a"], 404],
  [`GET /${"x".repeat(8000)} HTTP/1.1`, ["a"], 404],
  [`GET /${"x".repeat(20_000)} HTTP/1.1`, ["a"], 431],
  ["HEAD /health HTTP/1.1", ["a"], 404],
  ["TRACE /health HTTP/1.1", ["a"], 404],
  ["GET /health HTTP/1.2", ["a"], 505],
  ["GET /health", ["a"], 505],
];

test.each(TARGETS)("%s, Host %j: %d", async (line, hosts, status) => {
  const lines = hosts.map((host) => `Host: ${host}`);
  const isChecked = status === 200 || status === 404;
  for (const listener of listeners.all) {
    const admin = [...lines, `Authorization: Bearer ${texts["admin"]}`];
    expect(await statusOf(listener, bytesOf(line, admin)), listener.name).toBe(String(status));
    expect(await statusOf(listener, bytesOf(line, lines)), listener.name).toBe(isChecked ? "401" : String(status));
  }
});

test("requests on one connection are each admitted by their own token", async () => {
  const get = (path: string, name: string | null, ...headers: string[]) => {
    const own = name === null ? [] : [`Authorization: Bearer ${texts[name]}`];
    return `${[`GET ${path} HTTP/1.1`, "Host: a", ...own, ...headers].join("\r\n")}\r\n\r\n`;
  };
  const order: [path: string, name: string | null, status: number][] = [
    ["/metrics", "admin", 200],
    ["/metrics", null, 401],
    ["/metrics", "reader", 403],
    ["/docs", null, 200],
    ["/metrics", "all pages", 200],
    ["/nothing", null, 401],
    ["/nothing", "reader", 404],
    ["/metrics", null, 401],
  ];
  const bytes = order.map(([path, name], i) => get(path, name, ...(i === order.length - 1 ? ["Connection: close"] : []))).join("");
  for (const listener of listeners.all) {
    const received = await exchange(listener, bytes);
    // answers come in order, and none comes that was not asked for; the end of a connection may cut the list
    const expected = order.map(([, , status]) => status);
    expect(statusesOf(received), listener.name).toEqual(expected);
  }
});

test("an invalid target ends the connection, and what follows it is not answered", async () => {
  const next = bytesOf("GET /docs HTTP/1.1", ["Host: a"]);
  for (const listener of listeners.all) {
    for (const first of ["GET /docs HTTP/1.1\r\nHost: x/y\r\n\r\n", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n"]) {
      expect(statusesOf(await exchange(listener, first)), listener.name).toEqual([400]);
      expect(statusesOf(await exchange(listener, first + next)), listener.name).toEqual([400]);
    }
  }
});

/** Framings that a proxy could read otherwise than the server. What follows the first request must not be read as another. */
const SMUGGLED = bytesOf("GET /metrics HTTP/1.1", ["Host: a", `Authorization: Bearer ${texts["admin"]}`]);
test.each([
  ["a length and chunks", ["Content-Length: 5", "Transfer-Encoding: chunked"], "0\r\n\r\n"],
  ["two lengths", ["Content-Length: 0", "Content-Length: 5"], ""],
  ["a list of lengths", ["Content-Length: 5, 5"], "abcde"],
  ["a sign", ["Content-Length: +5"], "abcde"],
  ["no number", ["Content-Length: 0x5"], "abcde"],
  ["an unknown coding", ["Transfer-Encoding: xchunked"], "0\r\n\r\n"],
  ["codings", ["Transfer-Encoding: gzip, chunked"], "0\r\n\r\n"],
  ["two codings", ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], "0\r\n\r\n"],
  ["a blank before the colon", ["Transfer-Encoding : chunked"], "0\r\n\r\n"],
  ["a folded line", ["X: a\r\n Transfer-Encoding: chunked"], "0\r\n\r\n"],
])("framing: %s", async (_, headers, body) => {
  const head = `${["POST /write?db=d HTTP/1.1", "Host: a", ...headers].join("\r\n")}\r\n\r\n`;
  for (const listener of listeners.all) {
    expect(statusesOf(await exchange(listener, `${head}${body}${SMUGGLED}`)), listener.name).toEqual([400]);
  }
});

test("nothing was reported but what the services of this file cannot answer, and no token was made", () => {
  expect(reports.filter(({ where }) => !/\/configure\/|\/plugin_test\//.test(where))).toEqual([]);
  expect(catalog.tokens().length).toBe(Object.keys(TOKENS).length + 2);
  expect(tokens.hasOperator).toBe(true);
});
