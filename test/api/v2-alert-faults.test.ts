// Which of several faults of a check or a rule is told: the answers are those of a server of release 2.8.0 to the same requests.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { OPERATOR, world } from "./v2-access-world.ts";
import { ask } from "./v2-ask.ts";

let made: Awaited<ReturnType<typeof world>>;
beforeAll(async () => {
  made = await world();
});
afterAll(() => made.server.stop());

const QUERY = { text: 'from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._field == "f")' };
const COMMON = { status: "active", every: "1m", offset: "0s", query: QUERY, statusMessageTemplate: "m" };
const THRESHOLD = { ...COMMON, type: "threshold", thresholds: [{ type: "greater", value: 1, level: "CRIT" }] };
const DEADMAN = { ...COMMON, type: "deadman", timeSince: "90s", staleTime: "10m", level: "CRIT" };
const RULE = { type: "slack", status: "active", every: "10m", statusRules: [{ currentLevel: "CRIT" }], messageTemplate: "m" };

const NOT_SHORTER = "Offset should not be equal or greater than the interval";
const NO_TASK = "Could not create task from check: ";
const UNKNOWN = 'loc 0:0-0:0: unknown operator "<INVALID_OP>"';
const AMISS =
  "loc 1:1-1:2: invalid statement @1:1-1:2: <\nloc 1:2-1:5: missing right hand side of expression\n" +
  "loc 1:4-1:5: invalid statement @1:4-1:5: &\n";

async function refusal(path: string, body: object) {
  const { server, world: ids } = made;
  const text = JSON.stringify({ name: "n", orgID: ids.orgID, ...body });
  const got = await ask(server, "POST", `/api/v2/${path}`, OPERATOR, text, { "content-type": "application/json" });
  return [got.status, got.body.message];
}

test.each<[what: string, body: object, message: string]>([
  ["a period of no unit is none", { ...THRESHOLD, every: "10S" }, NOT_SHORTER],
  ["a period beyond 64 bits is none", { ...THRESHOLD, every: "300y" }, NOT_SHORTER],
  ["an offset of no unit is told of the script", { ...THRESHOLD, offset: "10S" }, `${NO_TASK}invalid options: ${UNKNOWN}`],
  ["so is a time", { ...DEADMAN, staleTime: "10S" }, `${NO_TASK}invalid options: ${UNKNOWN}`],
  ["an incomplete query names no field", { ...THRESHOLD, query: { text: "x =" } }, `${NO_TASK}expected a single field but got: []`],
  ["an operator without a side", { ...DEADMAN, query: { text: "<a>&" } }, NO_TASK + AMISS],
  ["a query before a time that is missing", { ...DEADMAN, timeSince: undefined, query: { text: "<a>&" } }, NO_TASK + AMISS],
  ["texts in their order", { ...THRESHOLD, offset: "x", id: "abc" }, "invalid duration x"],
  ["texts before types", { ...THRESHOLD, name: 5, offset: "x" }, "invalid duration x"],
])("a check: %s", async (_, body, message) => expect(await refusal("checks", body)).toEqual([400, message]));

const OPERATORS = { tagRules: [{ key: "a", value: "b", operator: "x" }] };
test.each<[what: string, body: object, message: string]>([
  ["an operator before types", { ...RULE, ...OPERATORS, limit: "x" }, "unrecognized operator"],
  ["a time that is no text", { ...RULE, sleepUntil: 5 }, "Time.UnmarshalJSON: input is not a JSON string"],
])("a rule: %s", async (_, body, message) => expect(await refusal("notificationRules", body)).toEqual([400, message]));

test("flags and types of resources are also below their paths", async () => {
  for (const path of ["flags", "resources"]) {
    const [at, below] = await Promise.all(["", "/x/y"].map((end) => ask(made.server, "GET", `/api/v2/${path}${end}`, OPERATOR)));
    expect([below!.status, below!.body]).toEqual([200, at!.body]);
    expect((await ask(made.server, "GET", `/api/v2/${path}/x`, "")).status).toBe(401);
  }
});

const INVALID = `${NO_TASK}invalid options: loc `;
test.each<[keys: string[], body: object, fault: string]>([
  [["a b"], THRESHOLD, "8:89-8:94: missing property key"],
  [["a-b"], THRESHOLD, "8:87-8:94: unexpected token for property key: SUB (-)"],
  [["1a"], DEADMAN, "9:84-9:91: unexpected token for property key: INT (1)"],
  [["if"], DEADMAN, "9:84-9:91: unexpected token for property key: IF (if)"],
  [['a"b'], THRESHOLD, "8:9-13:1: expected RBRACE, got EOF"],
  [["//c"], DEADMAN, "9:9-17:1: expected RBRACE, got EOF"],
  [["$" + "{x}"], THRESHOLD, "8:86-8:95: unexpected token for property key: ILLEGAL ($)"],
  [["ok", "a.b"], THRESHOLD, "12:11-12:30: expected comma in property list, got DOT"],
  [["a b", "ok"], DEADMAN, "13:15-13:20: missing property key"],
])("keys of tags stand in the script as they are: %j", async (keys, body, fault) => {
  const tags = keys.map((key) => ({ key, value: "v" }));
  expect(await refusal("checks", { ...body, tags })).toEqual([400, INVALID + fault]);
});

test("a check may not get a tag that it could not have been made with", async () => {
  const { server, world: ids } = made;
  const body = { ...DEADMAN, name: "tagged", orgID: ids.orgID, tags: [{ key: "in", value: "v" }] };
  const { status, body: check } = await ask(server, "POST", "/api/v2/checks", OPERATOR, body);
  expect(status).toBe(201);
  const tags = [{ key: "a b", value: "v" }];
  const refused = await ask(server, "PUT", `/api/v2/checks/${check.id}`, OPERATOR, { ...body, tags });
  expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining("missing property key")]);
  const { text } = await ask(server, "GET", `/api/v2/checks/${check.id}/query`, OPERATOR);
  expect(JSON.parse(text).flux).toContain('tags: {in: "v"}');
});

const EMPTY = "a $" + "{ } b";
test("templates without an expression pass, and those of PagerDuty are not read", async () => {
  const { server, world: ids } = made;
  const make = async (path: string, body: object) => ask(server, "POST", `/api/v2/${path}`, OPERATOR, { orgID: ids.orgID, ...body });
  const check = await make("checks", { ...THRESHOLD, name: "empty", statusMessageTemplate: EMPTY });
  expect(check.status).toBe(201);
  const shown = await ask(server, "GET", `/api/v2/checks/${check.body.id}/query`, OPERATOR);
  expect(shown.body.flux).toContain(`messageFn = (r) => "${EMPTY}"`);
  const endpoint = { name: "paged", type: "pagerduty", status: "active", clientURL: "http://localhost/", routingKey: "k" };
  const { id: endpointID } = (await make("notificationEndpoints", endpoint)).body;
  for (const messageTemplate of [EMPTY, "$" + "{ r", "$" + '{"x"}']) {
    const rule = await make("notificationRules", { ...RULE, type: "pagerduty", name: messageTemplate, endpointID, messageTemplate });
    expect([messageTemplate, rule.status]).toEqual([messageTemplate, 201]);
  }
});
