// Requests that plugins answer: what the plugin is given, what becomes of its answer, and who may ask.
import { describe, expect, test } from "bun:test";
import { AccessControl } from "../../src/api/shared/access.ts";
import { TsdbError } from "../../src/model/errors.ts";
import type { EngineAnswer, EngineRequest, EngineRoute } from "../../src/model/triggers.ts";
import { tokenWorld } from "./access-table.ts";
import { fakes } from "./fakes.ts";

const ANSWER: EngineAnswer = { status: 200, headers: [["content-type", "text/html"]], body: new TextEncoder().encode("hi") };

function engine(answer: (request: EngineRequest) => EngineAnswer | Promise<EngineAnswer> = () => ANSWER) {
  const asked: { path: string; request: EngineRequest }[] = [];
  const find = (path: string): EngineRoute | null => {
    if (path === "none") return null;
    return {
      database: "d",
      run: async (request) => {
        asked.push({ path, request });
        return answer(request);
      },
    };
  };
  return { asked, fake: fakes({ engine: { find } }) };
}

describe("what a plugin is given", () => {
  test("path, query, headers in lower case without the token, and the bytes of the body", async () => {
    const { asked, fake } = engine();
    const headers = { "X-Thing": "1", Authorization: "Bearer t", "content-type": "application/json" };
    const body = new Uint8Array([0, 255, 10]);
    expect((await fake.send("POST", "/api/v3/engine/a/b?x=1&y=a%20b+c&x=2&z", { headers, body })).status).toBe(200);
    const [{ path, request }] = asked as [(typeof asked)[number]];
    expect(path).toBe("a/b");
    expect(request.query).toEqual({ x: "2", y: "a b c", z: "" });
    expect(request.headers).toEqual({ "x-thing": "1", "content-type": "application/json" });
    expect([...request.body]).toEqual([0, 255, 10]);
  });

  test("a compressed body is decompressed, and no header says otherwise", async () => {
    const { asked, fake } = engine();
    const headers = { "content-encoding": "gzip", "content-length": "31", "x-own": "1" };
    await fake.send("POST", "/api/v3/engine/p", { headers, body: Bun.gzipSync("hello") });
    const { body, headers: given } = asked[0]!.request;
    expect([new TextDecoder().decode(body), Object.keys(given).sort()]).toEqual(["hello", ["x-own"]]);
  });

  test("names of objects' own members are only names", async () => {
    const { asked, fake } = engine();
    await fake.send("GET", "/api/v3/engine/p?__proto__=1&constructor=2&toString=3");
    expect(Object.entries(asked[0]!.request.query)).toEqual([
      ["__proto__", "1"],
      ["constructor", "2"],
      ["toString", "3"],
    ]);
  });

  test("a body that is too large, or a query string that cannot be read, does not reach it", async () => {
    const { asked, fake } = engine();
    expect((await fake.send("POST", "/api/v3/engine/p", { body: "x".repeat(1001) })).status).toBe(413);
    expect((await fake.send("GET", "/api/v3/engine/p?x=%zz")).status).toBe(400);
    expect(asked).toEqual([]);
  });
});

const ANSWERS: [what: string, answer: EngineAnswer, status: number, body: string, headers: Record<string, string | null>][] = [
  ["bytes with a type", ANSWER, 200, "hi", { "content-type": "text/html" }],
  ["another status", { ...ANSWER, status: 418 }, 418, "hi", {}],
  ["no body where HTTP has none", { ...ANSWER, status: 204 }, 204, "", {}],
  [
    "several cookies",
    {
      ...ANSWER,
      headers: [
        ["set-cookie", "a=1"],
        ["set-cookie", "b=2"],
      ],
    },
    200,
    "hi",
    { "set-cookie": "a=1, b=2" },
  ],
  [
    "headers of the connection are the server's",
    {
      ...ANSWER,
      headers: [
        ["Content-Length", "9"],
        ["Connection", "close"],
        ["Transfer-Encoding", "chunked"],
        ["x-own", "1"],
      ],
    },
    200,
    "hi",
    { connection: null, "transfer-encoding": null, "x-own": "1" },
  ],
  ["a status that there is not", { ...ANSWER, status: 99 }, 500, "the plugin's answer cannot be sent", {}],
  ["a header with a line break", { ...ANSWER, headers: [["x", "a\r\nb: c"]] }, 500, "the plugin's answer cannot be sent", { b: null }],
  ["64 KiB of headers", { ...ANSWER, headers: [["x", "y".repeat(65_531)]] }, 200, "hi", { x: "y".repeat(65_531) }],
  ["more of them", { ...ANSWER, headers: [["x", "y".repeat(65_532)]] }, 500, "its headers have 65537 bytes, max 65536", { x: null }],
  ["an invalid header name", { ...ANSWER, headers: [["a b", "c"]] }, 500, "the plugin's answer cannot be sent", {}],
];

test.each(ANSWERS)("what it answers: %s", async (_, answer, status, body, headers) => {
  const response = await engine(() => answer).fake.send("GET", "/api/v3/engine/p");
  expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(body)]);
  for (const [name, value] of Object.entries(headers)) expect(response.headers.get(name)).toBe(value);
});

const FAILURES: [error: Error, status: number, body: string][] = [
  [new TsdbError("plugin", "ValueError: x"), 500, '{"error":"ValueError: x"}'],
  [new TsdbError("overloaded", "100 requests to this path run already"), 503, '{"error":"100 requests to this path run already"}'],
  [new Error("our bug"), 500, '{"error":"internal error"}'],
];

test.each(FAILURES)("%s", async (error, status, body) => {
  const { fake } = engine(() => Promise.reject(error));
  const response = await fake.send("POST", "/api/v3/engine/p", { body: "{}" });
  expect([response.status, await response.text()]).toEqual([status, body]);
  // a plugin's errors are its author's
  expect(fake.reports.length).toBe(error instanceof TsdbError ? 0 : 1);
});

test.each(["GET", "POST"])("%s of a path that no trigger has", async (method) => {
  const response = await engine().fake.send(method, "/api/v3/engine/none");
  expect([response.status, await response.text()]).toEqual([404, '{error: "not found"}']);
});

test.each(["PUT", "DELETE", "PATCH", "HEAD"])("%s is not offered", async (method) => {
  const { asked, fake } = engine();
  expect((await fake.send(method, "/api/v3/engine/p")).status).toBe(404);
  expect((await fake.send("GET", "/api/v3/engine")).status).toBe(404);
  expect((await fake.send("GET", "/api/v3/engine/")).status).toBe(404);
  expect(asked).toEqual([]);
});

test("a token that may not read and write the database does not reach the plugin, nor learns more than that", async () => {
  const { authorizer, tokens, texts } = await tokenWorld();
  let runs = 0;
  const find = (path: string): EngineRoute | null => {
    const run = async () => {
      runs++;
      return ANSWER;
    };
    return path === "none" ? null : { database: "d", run };
  };
  const fake = fakes({ access: new AccessControl(authorizer), tokens, engine: { find } });
  const ask = async (token: string, path = "p") => {
    const headers = { authorization: `Bearer ${texts[token]}` };
    return (await fake.send("GET", `/api/v3/engine/${path}`, { headers })).status;
  };
  expect([await ask("reader"), await ask("writer"), await ask("everything of another"), await ask("all pages")]).toEqual([
    403, 403, 403, 403,
  ]);
  expect(runs).toBe(0);
  expect([await ask("everything of d"), await ask("admin"), await ask("reader", "none")]).toEqual([200, 200, 404]);
  expect((await fake.send("GET", "/api/v3/engine/none")).status).toBe(401);
});
