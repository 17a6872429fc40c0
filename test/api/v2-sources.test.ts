// Sources of port 8086 that are other servers: what they are asked, with which credentials, and what they can do to this one.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { AskedSources } from "../../src/api/v2/sources/asked-source.ts";
import type { Source } from "../../src/metadata/resources/pages/sources.ts";
import { type LightServer, lightServer } from "../vectors/v2/light-server.ts";
import { ask } from "./v2-ask.ts";

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const NOW_MS = Date.parse("2026-01-02T03:04:05Z");
const SECRETS = { token: "the-token", username: "u", password: "the-password", sharedSecret: "the-shared-secret" };

type Answer = (request: Request, body: string) => Response | Promise<Response>;
interface Got {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | null;
  readonly body: string;
}

let answer: Answer = () => new Response("");
let got: Got[] = [];
let remote: ReturnType<typeof Bun.serve>;
let remoteUrl: string;
let server: LightServer;
let orgID: string;

beforeAll(async () => {
  remote = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const body = await request.text();
      got.push({ method: request.method, path: pathname + search, authorization: request.headers.get("authorization"), body });
      return await answer(request, body);
    },
  });
  remoteUrl = `http://127.0.0.1:${remote.port}`;
  server = await lightServer({ clockMs: () => NOW_MS });
  orgID = (await ask(server, "POST", "/api/v2/setup", undefined, SETUP)).body.org.id as string;
});
afterAll(async () => {
  await remote.stop(true);
  await server.stop();
});

/** The path of a new source. */
async function sourceAt(members: object, of = server): Promise<string> {
  const organization = (await ask(of, "GET", "/api/v2/orgs", "tok")).body.orgs[0].id as string;
  const made = await ask(of, "POST", "/api/v2/sources", "tok", { orgID: organization, name: "s", url: remoteUrl, ...members });
  expect(made.status).toBe(201);
  got = [];
  return `/api/v2/sources/${made.body.id}`;
}
const json = (value: unknown) => new Response(JSON.stringify(value), { headers: { "content-type": "application/json" } });
const bucketsOf = async (path: string, query = "") => ask(server, "GET", `${path}/buckets${query}`, "tok");

describe("buckets of a v2 server", () => {
  const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, i) => ({ id: `id${from + i}`, name: `b${from + i}` }));

  test("all pages, with the token, and of the organization that is asked for", async () => {
    const all = numbered(250);
    answer = (request) => {
      const { searchParams } = new URL(request.url);
      const [offset, limit] = [Number(searchParams.get("offset")), Number(searchParams.get("limit"))];
      return json({ buckets: all.slice(offset, offset + limit), links: {} });
    };
    const { status, body } = await bucketsOf(await sourceAt({ type: "v2", ...SECRETS }), "?org=their%20org");
    expect([status, body.buckets]).toEqual([200, all.map((bucket) => ({ ...bucket, retentionRules: [] }))]);
    expect(got.map(({ path }) => path)).toEqual([0, 100, 200].map((offset) => `/api/v2/buckets?limit=100&offset=${offset}&org=their+org`));
    expect(new Set(got.map(({ authorization }) => authorization))).toEqual(new Set(["Token the-token"]));
  });

  test("members that are known are shown, and no others", async () => {
    const bucket = { id: "i", orgID: "o", name: "n", description: "d", type: "system", rp: "r" };
    const rules = [{ type: "expire", everySeconds: 60, shardGroupDurationSeconds: 5, more: 1 }, { everySeconds: "x" }];
    answer = () => json({ buckets: [{ ...bucket, retentionRules: rules, password: "p", links: { self: "x" }, labels: [] }] });
    const { body } = await bucketsOf(await sourceAt({ type: "v2", url: `${remoteUrl}/below/` }));
    expect(body.buckets).toEqual([{ ...bucket, retentionRules: [{ type: "expire", everySeconds: 60 }] }]);
    expect(got).toMatchObject([{ path: "/below/api/v2/buckets?limit=100&offset=0", authorization: null }]);
  });

  test.each<[string, Answer]>([
    ["no JSON", () => new Response("<html>a page of the inner network</html>")],
    ["a list", () => json([])],
    ["no buckets", () => json({})],
    ["buckets of another type", () => json({ buckets: {} })],
    ["a bucket without a name", () => json({ buckets: [{ id: "i" }] })],
    ["a bucket with a long name", () => json({ buckets: [{ name: "n".repeat(2000) }] })],
    ["a bucket that is null", () => json({ buckets: [null] })],
    ["an error", () => new Response("a secret of the inner network", { status: 500 })],
    ["too much", () => new Response("x".repeat(5 << 20))],
    ["pages without end", () => json({ buckets: numbered(100) })],
    ["a redirect to a file", () => new Response(null, { status: 302, headers: { location: "file:///etc/passwd" } })],
    ["redirects without end", (request) => Response.redirect(request.url, 302)],
  ])("%s is refused, and not shown", async (_, given) => {
    answer = given;
    const { status, body, text } = await bucketsOf(await sourceAt({ type: "v2", ...SECRETS }));
    expect([status, body.code]).toEqual([400, "invalid"]);
    expect(text).not.toMatch(/inner network|the-/);
    expect(got.length).toBeLessThanOrEqual(51);
    expect(server.reports).toEqual([]);
  });

  test("the token does not follow a redirect to another server", async () => {
    const seen: (string | null)[] = [];
    const other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => {
        seen.push(request.headers.get("authorization"));
        return json({ buckets: [] });
      },
    });
    answer = () => Response.redirect(`http://127.0.0.1:${other.port}/`, 307);
    expect((await bucketsOf(await sourceAt({ type: "v2", ...SECRETS }))).status).toBe(200);
    expect(seen).toEqual([null]);
    await other.stop(true);
  });
});

describe("buckets of a v1 server", () => {
  const results = (...of: unknown[][][]) => ({ results: of.map((values, i) => ({ statement_id: i, series: [{ columns: [], values }] })) });
  const databases: Answer = (_, body) => {
    const statements = new URLSearchParams(body).get("q")!;
    if (statements === "SHOW DATABASES") return json(results([["telegraf"], ['a "b" \\c']]));
    expect(statements).toBe('SHOW RETENTION POLICIES ON "telegraf"; SHOW RETENTION POLICIES ON "a \\"b\\" \\\\c"');
    return json(
      results(
        [
          ["autogen", "0s", "168h0m0s", 1, true],
          ["week", "168h0m0s", "24h0m0s", 1, false],
        ],
        [["r", "1h30m0s", "1h0m0s", 1, true]],
      ),
    );
  };

  test("every policy of every database is one", async () => {
    answer = databases;
    const { body } = await bucketsOf(await sourceAt({ type: "v1", username: "u", password: "p:w" }));
    const rules = (everySeconds: number) => [{ type: "expire", everySeconds }];
    expect(body.buckets).toEqual([
      { name: "telegraf/autogen", type: "user", rp: "autogen", retentionRules: [] },
      { name: "telegraf/week", type: "user", rp: "week", retentionRules: rules(604_800) },
      { name: 'a "b" \\c/r', type: "user", rp: "r", retentionRules: rules(5400) },
    ]);
    const basic = `Basic ${Buffer.from("u:p:w").toString("base64")}`;
    expect(got).toMatchObject([
      { method: "POST", path: "/query", authorization: basic },
      { method: "POST", path: "/query", authorization: basic },
    ]);
  });

  test("a shared secret signs a token for a minute", async () => {
    answer = databases;
    await bucketsOf(await sourceAt({ type: "v1", ...SECRETS }));
    const [, token] = got[0]!.authorization!.split(" ") as [string, string];
    const [head, claims, signature] = token.split(".") as [string, string, string];
    const decoded = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as unknown;
    expect([decoded(head), decoded(claims)]).toEqual([
      { alg: "HS256", typ: "JWT" },
      { username: "u", exp: NOW_MS / 1000 + 60 },
    ]);
    expect(signature).toBe(createHmac("sha256", "the-shared-secret").update(`${head}.${claims}`).digest("base64url"));
  });

  test.each<[string, Answer]>([
    ["an error in a result", () => json({ results: [{ error: "a secret of the inner network" }] })],
    ["no results", () => json({})],
    ["results of another type", () => json({ results: [5] })],
    ["values of another type", () => json({ results: [{ series: [{ values: [5] }] }] })],
    ["a name of another type", () => json(results([[5]]))],
    ["an invalid length", (_, body) => json(body.includes("DATABASES") ? results([["d"]]) : results([["r", "for ever"]]))],
    ["thousands of databases", () => json(results(Array.from({ length: 5001 }, (_, i) => [`d${i}`])))],
  ])("%s is refused, and not shown", async (_, given) => {
    answer = given;
    const { status, text } = await bucketsOf(await sourceAt({ type: "v1", ...SECRETS }));
    expect(status).toBe(400);
    expect(text).not.toMatch(/inner network|the-/);
    expect(server.reports).toEqual([]);
  });
});

describe("health", () => {
  const health = async (path: string, of = server) => {
    const { status, body } = await ask(of, "GET", `${path}/health`, "tok");
    expect(body).toMatchObject({ name: "sources", checks: [] });
    return [status, body.status, body.message] as const;
  };

  test.each<[string, string, number, number]>([
    ["v2", "/health", 200, 200],
    ["v2", "/health", 503, 503],
    ["v2", "/health", 401, 503],
    ["v1", "/ping", 204, 200],
    ["v1", "/ping", 404, 503],
  ])("a %s server is asked for %s, which answers %i", async (type, path, status, wanted) => {
    answer = () => new Response(null, { status });
    const found = await health(await sourceAt({ type }));
    const isWell = wanted === 200;
    expect(found).toEqual([wanted, isWell ? "pass" : "fail", isWell ? "source is healthy" : `the source answered ${status}`]);
    expect(got.map((each) => each.path)).toEqual([path]);
  });

  test("this server is well, and a source of another type cannot be asked", async () => {
    expect(await health("/api/v2/sources/020f755c3c082000")).toEqual([200, "pass", "source is healthy"]);
    expect(await health(await sourceAt({ type: "nope" }))).toEqual([
      503,
      "fail",
      'a source of the type "nope" cannot be asked: want self, v1 or v2',
    ]);
    expect(got).toEqual([]);
  });

  test.each(["", "no address", "ftp://a.example/", "file:///etc/passwd", "http://127.0.0.1:1/"])("%j is not well", async (url) => {
    expect((await health(await sourceAt({ type: "v2", url }))).slice(0, 2)).toEqual([503, "fail"]);
    expect(server.reports).toEqual([]);
  });

  test("a hardened server asks no addresses of the inner network", async () => {
    const strict = await lightServer({ options: { sourcesAllowPrivateNetwork: false } });
    await ask(strict, "POST", "/api/v2/setup", undefined, SETUP);
    for (const url of [
      remoteUrl,
      `http://localhost:${remote.port}`,
      "http://169.254.169.254",
      "http://[::1]:1",
      "http://[::ffff:127.0.0.1]",
    ]) {
      const path = await sourceAt({ type: "v2", url }, strict);
      const [status, , message] = await health(path, strict);
      expect([status, message]).toEqual([503, expect.stringMatching(/private/)]);
      expect((await ask(strict, "GET", `${path}/buckets`, "tok")).status).toBe(400);
    }
    expect(got).toEqual([]);
    await strict.stop();
  });
});

describe("buckets of this server", () => {
  test("are those that the sender may read, of all organizations or of one", async () => {
    const names = (body: { buckets: { name: string }[] }) => body.buckets.map(({ name }) => name).sort();
    const own = await bucketsOf("/api/v2/sources/020f755c3c082000");
    expect(names(own.body)).toEqual(["_monitoring", "_tasks", "b"]);
    expect(names((await bucketsOf(await sourceAt({ type: "self" }), "?org=o")).body)).toEqual(["_monitoring", "_tasks", "b"]);
    expect((await bucketsOf(await sourceAt({ type: "self" }), "?org=nobody")).status).toBe(404);
    const permissions = [{ action: "read", resource: { type: "sources", orgID } }];
    const { token } = (await ask(server, "POST", "/api/v2/authorizations", "tok", { orgID, permissions })).body;
    const path = await sourceAt({ type: "self" });
    expect((await ask(server, "GET", `${path}/buckets`, token)).body.buckets).toEqual([]);
  });
});

test("no answer has a password or a shared secret, and the token is for readers", async () => {
  const path = await sourceAt({ type: "v1", ...SECRETS });
  const permissions = [{ action: "write", resource: { type: "sources", orgID } }];
  const { token } = (await ask(server, "POST", "/api/v2/authorizations", "tok", { orgID, permissions })).body;
  const answers = [
    await ask(server, "GET", path, "tok"),
    await ask(server, "GET", "/api/v2/sources", "tok"),
    await ask(server, "PATCH", path, "tok", { name: "n" }),
    await ask(server, "PATCH", path, token, { name: "n" }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  for (const { text } of answers) expect(text).not.toMatch(/the-password|the-shared-secret/);
  expect(answers[2]!.body.token).toBe("the-token");
  expect(answers[3]!.body.token).toBe("");
});

test("a source that does not answer has its time, and a few wait at once", async () => {
  const asked = new AskedSources(true, () => NOW_MS, { timeoutMs: 100 });
  const held = Promise.withResolvers<void>();
  answer = () => held.promise.then(() => new Response(""));
  const source = { type: "v2", url: remoteUrl, token: "", insecureSkipVerify: false } as Source;
  const waiting = Array.from({ length: 16 }, () => asked.fault(source));
  await expect(asked.buckets(source, undefined)).rejects.toThrow("16 requests wait for answers of sources");
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([expect.stringMatching(/no answer within 100 ms/)]));
  expect(await asked.fault({ ...source, type: "self" })).toBeNull();
  await expect(asked.buckets(source, undefined)).rejects.toThrow("no answer within 100 ms");
  held.resolve();
});
