// Which of several faults of a request for alerts, pages, tasks and templates is told, and what is read at all: the answers are those of a
// server of release 2.8.0 to the same requests.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { OPERATOR, world } from "./v2-access-world.ts";
import { ask } from "./v2-ask.ts";

const NOBODY = "0123456789abcdef";
const NO_ID = "id must have a length of 16 bytes";
const EARLY = "Offset should not be equal or greater than the interval";
const STATUS = "invalid status: must be active or inactive";

let made: Awaited<ReturnType<typeof world>>;
let ids: Record<string, string>;
beforeAll(async () => {
  made = await world();
  ids = { ...made.world };
  ids["hookID"] = await idOf("/api/v2/notificationEndpoints", HOOK);
  ids["ownRuleID"] = await idOf("/api/v2/notificationRules", RULE);
  ids["ownCheckID"] = await idOf("/api/v2/checks", CHECK);
});
afterAll(() => made.server.stop());

const QUERY = { text: 'from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._field == "f")' };
const CHECK = { orgID: ":orgID", name: "faults", type: "threshold", status: "active", every: "1h", query: QUERY };
const HOOK = { orgID: ":orgID", name: "faults", type: "slack", status: "active", url: "http://localhost/hook" };
const RULE = {
  ...{ orgID: ":orgID", name: "faults", type: "slack", status: "active", endpointID: ":hookID", every: "1h", messageTemplate: "m" },
  ...{ statusRules: [{ currentLevel: "CRIT" }], tagRules: [] },
};
const [CHECKS, RULES, ENDPOINTS] = ["/api/v2/checks", "/api/v2/notificationRules", "/api/v2/notificationEndpoints"];
const [NO_CHECK, NO_RULE] = [`check not found for key "${NOBODY}"`, "notification rule not found"];
const noEndpoint = (id = NOBODY) => `notification endpoint not found for key "${id}"`;

/** `:name` in a path or a body is the id of that name. */
const filled = (text: string) => text.replace(/:([a-z]\w*ID)\b/g, (all, name: string) => ids[name] ?? all);
async function send(method: string, path: string, body: unknown) {
  const sent = filled(typeof body === "string" ? body : JSON.stringify(body));
  return ask(made.server, method, filled(path), OPERATOR, sent, { "content-type": "application/json" });
}
async function idOf(path: string, body: object): Promise<string> {
  return (await send("POST", path, body)).body.id;
}

type Case = readonly [what: string, method: string, path: string, body: unknown, status: number, message: string];
/** @param base a body to which each case adds its own members; undefined takes one away */
function refusals(base: object, cases: readonly Case[]): void {
  test.each(cases)("%s", async (_, method, path, changes, status, message) => {
    const body = typeof changes === "string" ? changes : { ...base, ...(changes as object) };
    const got = await send(method, path, body);
    expect([got.status, got.body.message]).toEqual([status, filled(message)]);
  });
}

describe("of a check", () => {
  const custom = { type: "custom", query: { text: "x" } };
  refusals(CHECK, [
    ["the status is told before its organization", "POST", CHECKS!, { orgID: NOBODY, status: "x", name: "" }, 400, STATUS],
    ["the status of a custom one, too", "POST", CHECKS!, { ...custom, status: "" }, 400, STATUS],
    ["a number has its middle as period", "POST", CHECKS!, { every: 1.5 }, 400, "invalid duration ."],
    ["so have others", "POST", CHECKS!, { every: true }, 400, "invalid duration ru"],
    ["an object has none", "POST", CHECKS!, { every: {} }, 400, "Check Every can't be empty"],
    ["a period has units", "POST", CHECKS!, { every: "2020-01-01" }, 400, "duration is missing a unit: -01-01"],
    ["a period has numbers", "POST", CHECKS!, { every: "1h 5m" }, 400, "invalid duration  5m"],
    ["a replacement is whole before the check is found", "PUT", `${CHECKS}/${NOBODY}`, { every: "" }, 400, "Check Every can't be empty"],
    ["its organization, too", "PUT", `${CHECKS}/${NOBODY}`, { orgID: undefined }, 400, "Check OrgID is invalid"],
    ["its offset, too", "PUT", `${CHECKS}/${NOBODY}`, { offset: "1h" }, 400, EARLY],
    ["labels of a replacement are not read", "PUT", `${CHECKS}/${NOBODY}`, { labels: 1 }, 404, NO_CHECK],
    [
      "settings of other types are not read",
      "PUT",
      `${CHECKS}/${NOBODY}`,
      { ...custom, every: "x", tags: 1, thresholds: 1 },
      400,
      "Custom flux must have an object called 'check'",
    ],
    [
      "a script of a replacement",
      "PUT",
      `${CHECKS}/:ownCheckID`,
      { every: "1s500ms" },
      400,
      "invalid options: invalid options: every option must be expressible as whole seconds",
    ],
  ]);
  refusals({}, [
    ["a change is told before the check", "PATCH", `${CHECKS}/${NOBODY}`, { name: "" }, 400, "Check Name can't be empty"],
    ["its status, too", "PATCH", `${CHECKS}/${NOBODY}`, { status: "x" }, 400, STATUS],
    ["but the id before it", "PATCH", `${CHECKS}/abc`, { name: "" }, 400, NO_ID],
  ]);

  test("values of a builder's tag that are absent stay so", async () => {
    const builderConfig = { tags: [{ key: "_field" }, { key: "host", values: null }, { key: "cpu", values: ["a"] }] };
    const { body } = await send("POST", CHECKS!, { ...CHECK, name: "tags", query: { ...QUERY, builderConfig } });
    expect(body.query.builderConfig.tags.map(({ values }: { readonly values: unknown }) => values)).toEqual([null, null, ["a"]]);
  });
});

describe("of a rule", () => {
  const [unknown, tags, limit] = [{ endpointID: NOBODY }, { tagRules: [{ key: "", operator: "equal" }] }, { limit: 0 }];
  const own = `${RULES}/:ownRuleID`;
  refusals(RULE, [
    ["the endpoint is told before all", "POST", RULES!, { ...unknown, orgID: NOBODY, status: "x", name: "" }, 404, noEndpoint()],
    ["no endpoint", "POST", RULES!, { endpointID: undefined, status: "x", name: "" }, 400, "no key was provided for notification endpoint"],
    ["the organization before the offset", "POST", RULES!, { orgID: NOBODY, offset: "2h" }, 404, "organization not found"],
    ["the offset before the status", "POST", RULES!, { offset: "2h", status: "x", ...tags }, 400, EARLY],
    ["tags before the limit", "POST", RULES!, { ...tags, ...limit, status: "x" }, 400, "tag must contain a key and a value"],
    [
      "the limit before the message",
      "POST",
      RULES!,
      { ...limit, messageTemplate: "" },
      400,
      "if limit is set, limit and limitEvery must be larger than 0",
    ],
    ["the message before the status", "POST", RULES!, { messageTemplate: "", status: "x" }, 400, "slack msg template is empty"],
    ["an operator that is null", "POST", RULES!, { tagRules: [{ key: "a", value: "b", operator: null }] }, 400, "unrecognized operator"],
    ["a replaced one is told before its replacement", "PUT", `${RULES}/${NOBODY}`, { name: "", status: "x" }, 404, NO_RULE],
    ["but not before what is no body", "PUT", `${RULES}/abc`, { type: "nope" }, 400, "invalid notification type nope"],
    [
      "a replacement's name before its endpoint",
      "PUT",
      own,
      { name: "", endpointID: undefined },
      400,
      "Notification Rule Name can't be empty",
    ],
    ["no endpoint of a replacement", "PUT", own, { endpointID: undefined, status: "x" }, 400, "Notification Rule EndpointID is invalid"],
    ["its offset before its status", "PUT", own, { ...unknown, offset: "2h", status: "x" }, 400, EARLY],
    ["its offset without a period", "PUT", own, { every: "", offset: "1m" }, 400, EARLY],
    ["its status before its endpoint", "PUT", own, { ...unknown, status: "x" }, 400, STATUS],
    ["its endpoint", "PUT", own, { ...unknown, labels: 1 }, 404, noEndpoint()],
  ]);
  refusals({}, [
    ["a change is told before the rule", "PATCH", `${RULES}/${NOBODY}`, { name: "" }, 400, "Notification Rule Name can't be empty"],
    ["but the id before it", "PATCH", `${RULES}/0000000000000000`, { name: "" }, 400, "invalid ID"],
  ]);
});

describe("of an endpoint", () => {
  refusals(HOOK, [
    ["the type is told before the id", "PUT", `${ENDPOINTS}/abc`, { type: "nope" }, 400, "invalid notification endpoint type nope"],
    ["the id", "PUT", `${ENDPOINTS}/abc`, { name: "" }, 400, NO_ID],
    ["a replaced one before its replacement", "PUT", `${ENDPOINTS}/${NOBODY}`, { name: "", labels: 1 }, 404, noEndpoint()],
    [
      "the organization of a replacement",
      "PUT",
      `${ENDPOINTS}/:hookID`,
      { orgID: undefined },
      400,
      "provided notification endpoint Unique Key is an invalid format: no ID was provided",
    ],
  ]);
  refusals({}, [["a change before it", "PATCH", `${ENDPOINTS}/${NOBODY}`, { name: "" }, 400, "Notification Endpoint Name can't be empty"]]);

  test("a URL without a host is taken", async () => {
    expect((await send("POST", ENDPOINTS!, { ...HOOK, name: "no host", url: "http://" })).status).toBe(201);
  });
});

describe("of pages", () => {
  const [dashboard, notebook, annotation] = [
    `/api/v2/dashboards/${NOBODY}`,
    `/api/v2private/notebooks/${NOBODY}`,
    `/api/v2private/annotations/${NOBODY}`,
  ];
  refusals({}, [
    ["a change of a dashboard is told before it", "PATCH", dashboard, {}, 400, "must update at least one attribute"],
    ["its id before the change", "PATCH", "/api/v2/dashboards/abc", {}, 400, NO_ID],
    ["a dashboard", "PATCH", dashboard, { name: "x" }, 404, "dashboard not found"],
    ["a replacement of a notebook before it", "PUT", notebook, {}, 400, "OrgID required"],
    ["a notebook", "PATCH", notebook, { orgID: ":orgID", name: "x", spec: {} }, 404, "notebook not found"],
    ["its id before the replacement", "PUT", "/api/v2private/notebooks/abc", "{", 400, "notebook id is invalid"],
    ["a replacement of an annotation before it", "PUT", annotation, {}, 400, "summary cannot be empty"],
    ["an annotation", "PUT", annotation, { summary: "s" }, 400, "annotation not found"],
  ]);
});
