// What flags limit on port 8086: buckets of an organization and their retention (403), requests (429, 503).
import { describe, expect, test } from "bun:test";
import { type LightOptions, type LightServer, lightServer } from "../vectors/v2/light-server.ts";
import { ask } from "./v2-ask.ts";

const OPERATOR = "tok";
const DAY = 86_400;

async function setUp(options: LightOptions, more: object = {}): Promise<{ server: LightServer; orgID: string; status: number }> {
  const server = await lightServer(options);
  const setup = { username: "admin", password: "password12", org: "o", bucket: "b", token: OPERATOR, ...more };
  const { status, body } = await ask(server, "POST", "/api/v2/setup", undefined, setup);
  return { server, orgID: body.org?.id, status };
}

const rules = (everySeconds: number) => [{ type: "expire", everySeconds }];

test("an organization has as many buckets as the flag allows, beside its system buckets", async () => {
  const { server, orgID } = await setUp({ bucketLimits: { countMax: 2 } });
  const create = (name: string, org = orgID) => ask(server, "POST", "/api/v2/buckets", OPERATOR, { orgID: org, name });
  const made = await create("b2");
  expect(made.status).toBe(201);
  const refused = await create("b3");
  expect([refused.status, refused.body.code, refused.headers.get("x-platform-error-code")]).toEqual([403, "forbidden", "forbidden"]);
  expect(refused.body.message).toContain("quota exceeded");
  // each organization for itself, and what is deleted does not count
  const { id: other } = (await ask(server, "POST", "/api/v2/orgs", OPERATOR, { name: "p" })).body;
  expect([(await create("b", other)).status, (await create("b2", other)).status, (await create("b3", other)).status]).toEqual([
    201, 201, 403,
  ]);
  await ask(server, "DELETE", `/api/v2/buckets/${made.body.id}`, OPERATOR);
  expect((await create("b3")).status).toBe(201);
});

describe("a maximum of the retention", () => {
  const LIMITED: LightOptions = { bucketLimits: { retentionSecondsMax: 7 * DAY }, options: { defaultRetentionSeconds: 7 * DAY } };

  test.each([
    [1, 201],
    [7, 201],
    [8, 403],
    [0, 403],
  ])("a new bucket of %d days: %d", async (days, status) => {
    const { server, orgID } = await setUp(LIMITED);
    const made = await ask(server, "POST", "/api/v2/buckets", OPERATOR, { orgID, name: "x", retentionRules: rules(days * DAY) });
    expect(made.status).toBe(status);
    if (status === 403) expect(made.body.message).toContain("organization's maximum");
  });

  test("of a bucket without rules, of the first bucket, and of a changed one", async () => {
    const { server, orgID, status } = await setUp(LIMITED);
    expect(status).toBe(201);
    const made = await ask(server, "POST", "/api/v2/buckets", OPERATOR, { orgID, name: "x" });
    expect([made.status, made.body.retentionRules[0].everySeconds]).toEqual([201, 7 * DAY]);
    const change = (body: object) => ask(server, "PATCH", `/api/v2/buckets/${made.body.id}`, OPERATOR, body);
    expect((await change({ retentionRules: rules(8 * DAY) })).status).toBe(403);
    expect((await change({ retentionRules: rules(0) })).status).toBe(403);
    expect((await change({ name: "y" })).status).toBe(200);
    expect((await change({ retentionRules: rules(6 * DAY) })).body.retentionRules[0].everySeconds).toBe(6 * DAY);
    const [first] = (await ask(server, "GET", "/api/v2/buckets?name=b", OPERATOR)).body.buckets;
    expect(first.retentionRules[0].everySeconds).toBe(7 * DAY);
  });

  test("a setup beyond it makes nothing", async () => {
    const { server, status } = await setUp(LIMITED, { retentionPeriodSeconds: 30 * DAY });
    expect(status).toBe(403);
    expect((await ask(server, "GET", "/api/v2/setup")).body).toEqual({ allowed: true });
  });
});

test("requests of an organization beyond those of a minute get 429, whatever their route", async () => {
  let nowMs = 0;
  const { server, orgID } = await setUp({ requestLimits: { perMinuteMax: 3 }, nowMs: () => nowMs });
  const refused = await ask(server, "GET", "/api/v2/nothing", OPERATOR);
  expect(refused.status).toBe(404);
  expect((await ask(server, "GET", "/api/v2/buckets", OPERATOR)).status).toBe(200);
  expect((await ask(server, "GET", "/query?q=SHOW+DATABASES", OPERATOR)).status).toBe(200);
  for (const [method, path, body] of [
    ["GET", "/api/v2/buckets"],
    ["POST", "/api/v2/write?org=o&bucket=b", "m v=1"],
    ["POST", "/write?db=b", "m v=1"],
    ["GET", "/query?q=SHOW+DATABASES"],
    ["DELETE", `/api/v2/orgs/${orgID}`],
    ["GET", "/api/v2/nothing"],
  ] as const) {
    const answer = await ask(server, method, path, OPERATOR, body);
    expect([path, answer.status, answer.body.code, answer.headers.get("retry-after")]).toEqual([path, 429, "too many requests", "20"]);
  }
  // who has no valid token spends nothing of it, and what is open stays open
  expect((await ask(server, "GET", "/api/v2/buckets", "wrong")).status).toBe(401);
  expect((await ask(server, "GET", "/health")).status).toBe(200);
  nowMs += 20_000;
  expect((await ask(server, "GET", "/api/v2/buckets", OPERATOR)).status).toBe(200);
  expect(server.reports).toEqual([]);
});

test("requests beyond those at a time get 503, and those that end make room", async () => {
  const { server } = await setUp({ requestLimits: { concurrentMax: 2 } });
  const bodies = [0, 1].map(() => Promise.withResolvers<void>());
  const slow = bodies.map(({ promise }) => {
    const body = new ReadableStream({
      async pull(controller) {
        await promise;
        controller.enqueue(new TextEncoder().encode("{}"));
        controller.close();
      },
    });
    const headers = { authorization: `Token ${OPERATOR}` };
    return server.send(new Request(`${server.base}/api/v2/labels`, { method: "POST", headers, body }));
  });
  const refused = await ask(server, "GET", "/api/v2/buckets", OPERATOR);
  expect([refused.status, refused.body.code, refused.headers.get("retry-after")]).toEqual([503, "unavailable", "1"]);
  expect((await ask(server, "GET", "/health")).status).toBe(200);
  for (const { resolve } of bodies) resolve();
  for (const answer of slow) expect((await answer).status).toBe(400);
  expect((await ask(server, "GET", "/api/v2/buckets", OPERATOR)).status).toBe(200);
});
