// Checks, endpoints and rules whose bodies have members of another type: the answers are those of a server of release 2.8.0.
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
