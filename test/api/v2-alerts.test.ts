// Checks, notification endpoints and rules beside the recorded conversations: what is refused, whose secrets and rights are used, and what
// goes with what.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { EndpointService } from "../../src/alerts/endpoint-service.ts";
import { RuleTasks } from "../../src/alerts/rule-tasks.ts";
import { type LightServer, lightServer } from "../vectors/v2/light-server.ts";
import { ask } from "./v2-ask.ts";

const [CHECKS, ENDPOINTS, RULES] = ["/api/v2/checks", "/api/v2/notificationEndpoints", "/api/v2/notificationRules"];
type Body = Readonly<Record<string, unknown>>;

let server: LightServer;
let orgID: string;
let userID: string;
let names = 0;

const name = () => `n${++names}`;
const post = (path: string, body: unknown, token = "tok") => ask(server, "POST", path, token, body);
const query = { text: 'from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._field == "f")' };
const check = (changes: Body = {}) => ({ orgID, name: name(), type: "threshold", status: "active", every: "1h", query, ...changes });
const slack = (changes: Body = {}) => ({ orgID, name: name(), type: "slack", status: "active", url: "http://localhost/hook", ...changes });
const endpoint = (type: string, changes: Body) => ({ orgID, name: name(), type, status: "active", ...changes });
const rule = (endpointID: string, changes: Body = {}) => ({
  ...{ orgID, name: name(), type: "slack", status: "active", every: "1h", endpointID, messageTemplate: "m", ...changes },
});

beforeAll(async () => {
  server = await lightServer();
  const setup = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
  const { body } = await post("/api/v2/setup", setup, "");
  [orgID, userID] = [body.org.id, body.user.id];
});
afterAll(() => server.stop());

describe("an endpoint", () => {
  const http = { url: "http://localhost", method: "POST", authMethod: "none" };

  test.each<[string, string, Body, string]>([
    ["another type", "smtp", {}, "invalid notification endpoint type smtp"],
    ["no name", "slack", { ...http, name: "" }, "Notification Endpoint Name can't be empty"],
    ["no status", "slack", { ...http, status: null }, "invalid status"],
    ["another status", "slack", { ...http, status: "sleeping" }, "invalid status"],
    ["slack without a URL", "slack", { token: "t" }, "slack endpoint URL must be provided"],
    ["slack with a broken URL", "slack", { url: "http://h:port" }, "slack endpoint URL is invalid: "],
    ["a URL with a line end", "http", { ...http, url: "http://h/\r\nx: y" }, "http endpoint URL is invalid: "],
    ["pagerduty without a key", "pagerduty", { clientURL: "u" }, "pagerduty routing key is invalid"],
    ["http without a URL", "http", { ...http, url: "" }, "http endpoint URL is empty"],
    ["http by DELETE", "http", { ...http, method: "DELETE" }, "invalid http http method"],
    ["http by no method", "http", { ...http, method: null }, "invalid http http method"],
    ["http with other authentication", "http", { ...http, authMethod: "digest" }, "invalid http auth method"],
    ["basic without a password", "http", { ...http, authMethod: "basic", username: "u" }, "invalid http username/password for basic auth"],
    ["bearer without a token", "http", { ...http, authMethod: "bearer" }, "invalid http token for bearer auth"],
    ["telegram without a token", "telegram", { channel: "-1" }, "empty telegram bot token"],
    ["telegram without a channel", "telegram", { token: "t" }, "empty telegram channel"],
    ["an invalid id of an organization", "slack", { ...http, orgID: "x" }, "id must have a length of 16 bytes"],
    ["no organization", "slack", { ...http, orgID: null }, "invalid org id for permission: invalid ID"],
    ["headers that are no texts", "http", { ...http, headers: { a: 1 } }, "json: cannot unmarshal "],
  ])("%s", async (_, type, changes, message) => {
    const { status, body } = await post(ENDPOINTS!, endpoint(type, changes));
    expect([status, body.code, body.message]).toEqual([400, "invalid", expect.stringMatching(new RegExp(`^${RegExp.escape(message)}`))]);
  });

  test("that is refused leaves no secret", async () => {
    const keys = async () => (await ask(server, "GET", `/api/v2/orgs/${orgID}/secrets`, "tok")).body.secrets as string[];
    const before = await keys();
    const { body: made } = await post(ENDPOINTS!, slack({ name: "twice" }));
    expect((await post(ENDPOINTS!, slack({ name: "twice", token: "t" }))).status).toBe(422);
    expect((await post(ENDPOINTS!, slack({ status: "x", token: "t" }))).status).toBe(400);
    expect((await ask(server, "PUT", `${ENDPOINTS}/${made.id}`, "tok", slack({ url: "", token: "t" }))).status).toBe(400);
    expect(await keys()).toEqual(before);
    // of an organization that there is not
    const { status, body } = await post(ENDPOINTS!, slack({ orgID: "00000000000000ab", token: "t" }));
    expect([status, body.message]).toEqual([404, "organization not found"]);
  });

  test("keeps the secret that it has, and takes a new one", async () => {
    const { body } = await post(ENDPOINTS!, slack({ token: "first" }));
    const key = `${body.id}-token`;
    expect(server.line.secrets.value(orgID, key)).toBe("first");
    // what an answer had goes back as it came
    await ask(server, "PUT", `${ENDPOINTS}/${body.id}`, "tok", body);
    expect(server.line.secrets.value(orgID, key)).toBe("first");
    await ask(server, "PUT", `${ENDPOINTS}/${body.id}`, "tok", { ...body, token: "second" });
    expect(server.line.secrets.value(orgID, key)).toBe("second");
    expect(JSON.stringify(server.line.notificationEndpoints.get(body.id))).not.toMatch(/first|second/);
  });
});

describe("a rule", () => {
  test("has an endpoint of its own organization", async () => {
    const { body: other } = await post("/api/v2/orgs", { name: name() });
    const { body: foreign } = await post(ENDPOINTS!, slack({ orgID: other.id, token: "t" }));
    const { status, body } = await post(RULES!, rule(foreign.id));
    expect([status, body.message]).toEqual([404, `notification endpoint not found for key "${foreign.id}"`]);
    const { body: own } = await post(ENDPOINTS!, slack());
    const { body: made } = await post(RULES!, rule(own.id));
    expect((await ask(server, "PUT", `${RULES}/${made.id}`, "tok", rule(foreign.id))).status).toBe(404);
  });

  test.each<[string, Body, string]>([
    ["an unfinished message", { messageTemplate: "$" + "{r." }, "invalid options: loc "],
    ["an unknown operator", { tagRules: [{ key: "k", value: "v", operator: "like" }] }, "unrecognized operator"],
    ["no period", { every: null }, "Notification Rule Every must exist"],
    ["a period below a second", { every: "500ms" }, "invalid options: invalid options: every option must be at least 1 second"],
    ["an invalid time", { sleepUntil: "tomorrow" }, "parsing time "],
    ["a limit alone", { limitEvery: 5 }, "if limit is set, limit and limitEvery must be larger than 0"],
  ])("%s", async (_, changes, message) => {
    const { body: own } = await post(ENDPOINTS!, slack());
    const { status, body } = await post(RULES!, rule(own.id, changes));
    expect([status, body.message.slice(0, message.length)]).toEqual([400, message]);
  });
});

describe("who replaces a check", () => {
  test("owns it: another's rights run no other script", async () => {
    const { body: ann } = await post("/api/v2/users", { name: "ann" });
    const permissions = ["read", "write"].map((action) => ({ action, resource: { type: "checks", orgID } }));
    const { body: auth } = await post("/api/v2/authorizations", { orgID, userID: ann.id, permissions });
    const { body: made } = await post(CHECKS!, check());
    expect(made.ownerID).toBe(userID);
    const { body: renamed } = await ask(server, "PATCH", `${CHECKS}/${made.id}`, auth.token, { name: name() });
    expect(renamed.ownerID).toBe(userID);
    const { body: replaced } = await ask(server, "PUT", `${CHECKS}/${made.id}`, auth.token, check());
    expect(replaced.ownerID).toBe(ann.id);
  });
});

test("labels that come with a body are put on what is made", async () => {
  const { body } = await post("/api/v2/labels", { orgID, name: name() });
  const labels = [body.label.id, body.label.id, "nonsense", "0000000000000001"];
  for (const [path, made] of [
    [CHECKS!, check({ labels })],
    [ENDPOINTS!, slack({ labels })],
  ] as const) {
    expect((await post(path, made)).body.labels).toEqual([body.label]);
  }
});

test("the tasks of many rules follow their endpoint, in steps", async () => {
  const { body: own } = await post(ENDPOINTS!, slack());
  const rules = await Promise.all(Array.from({ length: 20 }, async () => (await post(RULES!, rule(own.id))).body));
  const { tasks } = server.line;
  const statuses = () => [...new Set(rules.map(({ taskID }) => tasks.get(taskID).status))];
  const { version } = server.line.metadata;
  // one rule a step
  const service = new EndpointService(server.line, new RuleTasks(server.line, 0));
  await service.update(own.id, { status: "inactive" });
  expect([statuses(), server.line.metadata.version - version]).toEqual([["inactive"], 21]);
  await service.delete(own.id);
  expect(statuses()).toEqual(["inactive"]);
});

test("labels that the sender may not read are neither put on it nor shown", async () => {
  const { body: org } = await post("/api/v2/orgs", { name: name() });
  const { body: hidden } = await post("/api/v2/labels", { orgID: org.id, name: "hidden" });
  const permissions = ["checks", "notificationEndpoints"].flatMap((type) =>
    ["read", "write"].map((action) => ({ action, resource: { type, orgID } })),
  );
  const { token } = (await post("/api/v2/authorizations", { orgID, permissions })).body;
  for (const [path, body] of [
    [CHECKS!, check({ labels: [hidden.label.id] })],
    [ENDPOINTS!, slack({ labels: [hidden.label.id] })],
  ] as const) {
    const made = (await post(path, body, token)).body;
    expect([made.labels, server.line.labels.ofResource("checks", made.id)]).toEqual([[], []]);
  }
});

test("an organization goes with all of them", async () => {
  const { body: org } = await post("/api/v2/orgs", { name: name() });
  const { body: made } = await post(ENDPOINTS!, slack({ orgID: org.id, token: "t" }));
  const { body: checked } = await post(CHECKS!, check({ orgID: org.id }));
  const { body: ruled } = await post(RULES!, rule(made.id, { orgID: org.id }));
  expect((await ask(server, "DELETE", `/api/v2/orgs/${org.id}`, "tok")).status).toBe(204);
  for (const path of [`${ENDPOINTS}/${made.id}`, `${CHECKS}/${checked.id}`, `${RULES}/${ruled.id}`]) {
    expect((await ask(server, "GET", path, "tok")).status).toBe(404);
  }
  expect(server.line.secrets.keys(org.id)).toEqual([]);
});

test.each<[string, (text: string) => Body]>([
  ["a query that is long", (text) => ({ query: { text } })],
  ["a message that is long", (text) => ({ statusMessageTemplate: text })],
  ["a tag that is long", (text) => ({ tags: [{ key: text, value: text }] })],
])("%s is refused", async (_, of) => {
  const { status } = await post(CHECKS!, check(of("x".repeat(200_000))));
  expect(status).toBe(413);
});

test.each(["(".repeat(60_000), "[".repeat(60_000), "from(".repeat(20_000), `x = ${"-".repeat(60_000)}1`, "@".repeat(60_000)])(
  "a query that is nested deep %#",
  async (text) => {
    for (const type of ["threshold", "deadman", "custom"]) {
      const periods = { timeSince: "1m", staleTime: "1m" };
      expect((await post(CHECKS!, check({ type, query: { text }, ...periods }))).status).toBe(400);
    }
    expect(server.reports).toEqual([]);
  },
);

test("a body that is nested deep", async () => {
  for (const path of [CHECKS!, ENDPOINTS!, RULES!]) {
    const text = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    expect((await post(path, text)).status).toBe(400);
    const type = path === CHECKS ? "custom" : "slack";
    const { status } = await post(path, `{"type":"${type}","x":${"[".repeat(20_000)}${"]".repeat(20_000)}}`);
    expect([400, 413]).toContain(status);
  }
});
