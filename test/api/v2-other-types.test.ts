// Bodies whose members are of another type, empty, or what the server sets: the answers are those of a server of release 2.8.0.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { OPERATOR, world } from "./v2-access-world.ts";
import { ask } from "./v2-ask.ts";

const [CHECKS, RULES, ENDPOINTS] = ["/api/v2/checks", "/api/v2/notificationRules", "/api/v2/notificationEndpoints"] as const;

let made: Awaited<ReturnType<typeof world>>;
let hookID: string;
beforeAll(async () => {
  made = await world();
  hookID = (await send("POST", ENDPOINTS, { ...HOOK, name: "hook" })).body.id;
});
afterAll(() => made.server.stop());

async function send(method: string, path: string, body?: object) {
  if (body === undefined) return ask(made.server, method, path, OPERATOR);
  const given = JSON.stringify({ orgID: made.world.orgID, endpointID: hookID, status: "active", ...body });
  return ask(made.server, method, path, OPERATOR, given, { "content-type": "application/json" });
}

const QUERY = { text: 'from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._field == "f")' };
const CHECK = { type: "threshold", every: "1h", query: QUERY };
const HOOK = { type: "slack", url: "http://localhost/hook" };
const RULE = { type: "slack", every: "1h", messageTemplate: "m", statusRules: [{ currentLevel: "CRIT" }] };
const deadman = { ...CHECK, type: "deadman", timeSince: "90s", staleTime: "10m", level: "CRIT" };
const [slack, hook] = [HOOK, { ...HOOK, type: "http", method: "POST", authMethod: "none" }];
const pager = { ...HOOK, type: "pagerduty", url: undefined, clientURL: "http://localhost/", routingKey: "k" };
const telegram = { ...HOOK, type: "telegram", url: undefined, token: "t", channel: "c" };
const wrong = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 5]));
const http = ["username", "password", "headers", "authMethod", "method", "contentTemplate"];
const cases: readonly (readonly [what: string, path: string, base: object, other: object])[] = [
  ["of a threshold check", CHECKS, CHECK, { ...wrong("reportZero", "level"), timeSince: "x", staleTime: true }],
  ["of a deadman check", CHECKS, deadman, wrong("thresholds")],
  ["of Slack", ENDPOINTS, slack, wrong("clientURL", "routingKey", "channel", ...http)],
  ["of PagerDuty", ENDPOINTS, pager, wrong("url", "token", "channel", ...http)],
  ["of HTTP", ENDPOINTS, hook, wrong("clientURL", "routingKey", "channel")],
  ["of Telegram", ENDPOINTS, telegram, wrong("url", "clientURL", "routingKey", ...http)],
  ["of a rule for Slack", RULES, RULE, wrong("parseMode", "disableWebPagePreview")],
];
test.each(cases)("%s", async (what, path, base, other) => {
  const sent = await send("POST", path, { ...base, name: what, ...other });
  expect([sent.status, sent.body.message]).toEqual([201, undefined]);
  const shown = await send("GET", `${path}/${sent.body.id}`);
  for (const [name, value] of Object.entries(other)) expect(shown.body[name], name).not.toEqual(value);
});

test("its own are, of wrong types", async () => {
  for (const [path, base, own] of [
    [CHECKS, CHECK, { thresholds: 5 }],
    [CHECKS, deadman, { level: 5 }],
    [CHECKS, deadman, { reportZero: "x" }],
    [ENDPOINTS, pager, { routingKey: 5 }],
    [ENDPOINTS, hook, { headers: 5 }],
    [ENDPOINTS, telegram, { channel: 5 }],
    [RULES, RULE, { channel: 5 }],
  ] as const) {
    expect((await send("POST", path, { ...base, name: "own", ...own })).status, JSON.stringify(own)).toBe(400);
  }
});

const WRONG_TIMES = [5, "x", "2020-02-30T00:00:00Z", "2020-01-01T24:00:00Z", "2020-01-01T00:00:00", "2020-01-01T00:00:00+25:00"];
test.each([
  [CHECKS, CHECK],
  [ENDPOINTS, slack],
  [RULES, RULE],
] as const)("%s with times that the server sets", async (path, base) => {
  for (const time of WRONG_TIMES) {
    expect((await send("POST", path, { ...base, name: "t", createdAt: time })).status, String(time)).toBe(400);
    expect((await send("POST", path, { ...base, name: "t", UpdatedAt: time })).status, String(time)).toBe(400);
  }
  const given = { createdAt: "2020-01-01T1:00:00,5Z", updatedAt: null };
  const sent = await send("POST", path, { ...base, name: "times", ...given });
  expect([sent.status, sent.body.createdAt?.slice(0, 4) === "2020"]).toEqual([201, false]);
});

test.each([
  ["2020-01-01T0:00:00Z", "2020-01-01T00:00:00Z"],
  ["2020-01-01T00:00:00,5Z", "2020-01-01T00:00:00.5Z"],
  ["2020-01-01T00:00:00.1234567890123Z", "2020-01-01T00:00:00.123456789Z"],
  ["2020-01-01T00:00:00.500+01:00", "2020-01-01T00:00:00.5+01:00"],
  ["2020-01-01T00:00:00+00:00", "2020-01-01T00:00:00Z"],
])("a rule sleeps until %s", async (sleepUntil, shown) => {
  const sent = await send("POST", RULES, { ...RULE, name: `until ${sleepUntil}`, sleepUntil });
  expect([sent.status, sent.body.sleepUntil]).toEqual([201, shown]);
});

test("limits that are null are 0", async () => {
  for (const limits of [{ limit: null }, { limitEvery: null }, { limit: 1, limitEvery: null }]) {
    const sent = await send("POST", RULES, { ...RULE, name: "limited", ...limits });
    expect([sent.status, sent.body.message]).toEqual([400, "if limit is set, limit and limitEvery must be larger than 0"]);
  }
});

const variable = { name: "ofNoOther", arguments: { type: "constant", values: ["a"] } };
test.each([
  ["/api/v2/orgs", { name: "wrong" }, ["createdAt", "updatedAt", "id"]],
  ["/api/v2/variables", variable, ["createdAt", "updatedAt", "id"]],
  ["/api/v2/dashboards", { name: "d" }, ["id", "meta"]],
  ["/api/v2/telegrafs", { name: "t", config: "" }, ["id"]],
  ["/api/v2/scrapers", { name: "s", type: "prometheus", url: "http://localhost" }, ["id"]],
] as const)("%s with what the server sets, of wrong types", async (path, base, names) => {
  for (const name of names) {
    for (const value of [5, "x"]) {
      const body = { ...base, bucketID: made.world.orgID, [name]: value };
      expect((await send("POST", path, body)).status, `${name} ${value}`).toBe(400);
    }
  }
});

test.each([
  ["/api/v2/variables", variable],
  ["/api/v2/dashboards", { name: "d" }],
] as const)("changes of %s have no organization", async (path, base) => {
  const { id } = (await send("POST", path, base)).body;
  expect((await send("PATCH", `${path}/${id}`, { orgID: 5 })).status).toBe(400);
  expect((await send("PATCH", `${path}/${id}`, { orgID: 5, description: "of 5" })).body.description).toBe("of 5");
});

test("bodies with a byte order mark are no JSON", async () => {
  const body = `\ufeff${JSON.stringify({ name: "marked" })}`;
  for (const path of ["/api/v2/orgs", `/api/v2/query?orgID=${made.world.orgID}`]) {
    const sent = await ask(made.server, "POST", path, OPERATOR, body, { "content-type": "application/json" });
    expect([sent.status, sent.body.message.includes("invalid character")], path).toEqual([400, true]);
  }
});

test("of an organization's id and name in a task the name counts", async () => {
  const flux = 'option task = {name: "t", every: 1h}';
  const other = (await send("POST", "/api/v2/orgs", { name: "named" })).body.id;
  expect((await send("POST", "/api/v2/tasks", { flux, org: "named" })).body.orgID).toBe(other);
  expect((await send("POST", "/api/v2/tasks", { flux, org: "not there" })).status).toBe(404);
  expect((await send("POST", "/api/v2/tasks", { flux, org: "" })).body.orgID).toBe(made.world.orgID);
});

test("names in the bodies of queries count in any case of letters", async () => {
  const body = { QUERY: "buckets()", Dialect: { Delimiter: "ab" } };
  const sent = await send("POST", `/api/v2/query?orgID=${made.world.orgID}`, body);
  expect([sent.status, sent.body.message]).toEqual([400, expect.stringContaining("invalid dialect delimeter")]);
  expect((await send("POST", "/api/v2/query/ast", { Query: 5 })).status).toBe(400);
});

test("what is known of an agent's configuration is kept as it came", async () => {
  for (const metadata of [{ buckets: ["b"] }, { Buckets: ["b"], own: { A: 1 } }, { buckets: null }, { buckets: 5 }]) {
    const sent = await send("POST", "/api/v2/telegrafs", { name: "kept", config: "[agent]\n", metadata });
    expect([sent.status, sent.body.metadata]).toEqual([201, metadata]);
  }
});

test.each([
  ["/api/v2/authorizations", {}],
  ["/private/legacy/authorizations", { token: "other types" }],
])("an empty status activates a token again: %s", async (path, base) => {
  const { id } = (await send("POST", path, { ...base, permissions: [{ action: "read", resource: { type: "buckets" } }] })).body;
  const statusAfter = async (change: object) => (await ask(made.server, "PATCH", `${path}/${id}`, OPERATOR, change)).body.status;
  expect(await statusAfter({ status: "inactive" })).toBe("inactive");
  expect(await statusAfter({ description: "d" })).toBe("inactive");
  expect(await statusAfter({ status: null })).toBe("inactive");
  expect(await statusAfter({ status: "" })).toBe("active");
});

test("a task that can never run is none", async () => {
  const flux = (cron: string) => `option task = {name: "a", cron: "${cron}"}\nbuckets()`;
  const never = ["0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 0 29 2 * 2021"];
  for (const cron of never) {
    const { status, body } = await send("POST", "/api/v2/tasks", { flux: flux(cron) });
    expect([status, body.message]).toEqual([400, "failed to create task: could not fulfil schedule due to year"]);
  }
  const made = await send("POST", "/api/v2/tasks", { flux: flux("0 0 29 2 *") });
  expect(made.status).toBe(201);
  const { status, body } = await send("PATCH", `/api/v2/tasks/${made.body.id}`, { cron: never[0] });
  expect([status, body.message]).toEqual([400, "failed to update task: could not fulfil schedule due to year"]);
});

test("broken patterns are told where scripts are given", async () => {
  const text = 'from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._measurement =~ /[/ and r._field == "f")';
  const task = await send("POST", "/api/v2/tasks", { flux: `option task = {name: "a", every: 1h}\n${text}` });
  expect([task.status, task.body.message]).toEqual([
    400,
    expect.stringMatching(/^invalid options: loc 2:\d+-2:\d+: regex parse error: \[/),
  ]);
  const check = await send("POST", CHECKS, { ...CHECK, name: "broken", query: { text } });
  const told = /^Could not create task from check: loc 1:\d+-1:\d+: regex parse error: \[/;
  expect([check.status, check.body.message]).toEqual([400, expect.stringMatching(told)]);
});

test("an encoding that is not known is none, and gzip is gzip", async () => {
  const bodies = [
    ["utf-8", Buffer.from(JSON.stringify({ name: "utf-8" }))],
    ["deflate", Buffer.from(JSON.stringify({ name: "deflate" }))],
    ["gzip", Bun.gzipSync(JSON.stringify({ name: "gzip" }))],
  ] as const;
  for (const [encoding, body] of bodies) {
    const headers = { "content-type": "application/json", "content-encoding": encoding };
    const { status, body: org } = await ask(made.server, "POST", "/api/v2/orgs", OPERATOR, body, headers);
    expect([status, org.name]).toEqual([201, encoding]);
  }
});
