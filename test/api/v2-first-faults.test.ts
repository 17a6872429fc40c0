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
  if (method === "GET") return ask(made.server, method, filled(path), OPERATOR);
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
    ["and before its period", "PUT", `${CHECKS}/${NOBODY}`, { orgID: undefined, every: undefined }, 400, "Check OrgID is invalid"],
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

describe("of a variable", () => {
  const VARIABLES = "/api/v2/variables";
  const unknown = `${VARIABLES}/${NOBODY}`;
  const variable = { orgID: ":orgID", name: "faults", arguments: { type: "constant", values: ["a"] } };
  const LETTER = "variable name must start with a letter";
  const noText = (type: string) => `expected variable constant value to be string but received ${type}`;
  const constant = (...values: unknown[]) => ({ arguments: { type: "constant", values } });
  refusals(variable, [
    ["an empty id is told before the name", "POST", VARIABLES, { orgID: "", name: "" }, 400, NO_ID],
    ["the name before the arguments", "POST", VARIABLES, { name: "1", arguments: undefined }, 400, LETTER],
    ["the arguments before the organization", "POST", VARIABLES, { orgID: undefined, arguments: undefined }, 400, "invalid arguments type"],
    ["the organization", "POST", VARIABLES, { orgID: undefined }, 400, "invalid org id for permission: invalid ID"],
    ["a name is not trimmed", "POST", VARIABLES, { name: " x" }, 400, LETTER],
    ["a list among texts", "POST", VARIABLES, constant("a", []), 400, noText("[]interface {}")],
    ["an object among texts", "POST", VARIABLES, constant({ a: 1 }), 400, noText("map[string]interface {}")],
    [
      "members of an object in order",
      "POST",
      VARIABLES,
      { arguments: { type: "map", values: [{ b: 1, a: null }] } },
      400,
      "error parsing [map[a:<nil> b:1]] as VariableMapArguments",
    ],
    ["values before the id", "PUT", `${VARIABLES}/abc`, constant(1), 400, noText("float64")],
    ["the id before the name", "PUT", `${VARIABLES}/abc`, { name: "" }, 400, NO_ID],
    ["the name before the variable", "PUT", unknown, { name: "and" }, 400, '"and" is a protected variable name'],
    ["the variable before the organization", "PUT", unknown, { orgID: undefined }, 404, `variable not found for key "${NOBODY}"`],
    ["values of a change before the id", "PATCH", `${VARIABLES}/abc`, constant(true), 400, noText("bool")],
  ]);

  test("a change trims the name, ignores an empty one, and reads no organization", async () => {
    const { id } = (await send("POST", VARIABLES, variable)).body;
    const change = async (body: object) => (await send("PATCH", `${VARIABLES}/${id}`, body)).body;
    expect(await change({ name: " n1 ", orgID: NOBODY })).toMatchObject({ name: "n1", orgID: ids["orgID"] });
    expect(await change({ name: " ", orgID: null })).toMatchObject({ name: "n1" });
    await send("POST", VARIABLES, { ...variable, name: "other" });
    const conflict = `variable entity update conflicts with an existing entity for key ${ids["orgID"]}other`;
    expect(await change({ name: "OTHER" })).toEqual({ code: "conflict", message: conflict });
  });
});

describe("of a configuration of Telegraf", () => {
  const TELEGRAFS = "/api/v2/telegrafs";
  refusals({ orgID: ":orgID", name: "t", config: "[agent]\n" }, [
    ["an empty id", "POST", TELEGRAFS, { orgID: "" }, 400, NO_ID],
    ["the organization of a replacement before the id", "PUT", `${TELEGRAFS}/abc`, { orgID: "0000000000000000" }, 400, "invalid ID"],
    ["and before the configuration", "PUT", `${TELEGRAFS}/${NOBODY}`, { orgID: "x" }, 400, NO_ID],
    ["a configuration", "PUT", `${TELEGRAFS}/${NOBODY}`, {}, 404, "telegraf configuration not found"],
  ]);

  test.each<[what: string, sent: object, shown: object]>([
    [
      "metadata are kept as they come, and the text with them",
      { config: "x", metadata: { a: [null] } },
      { config: "x", metadata: { a: [null] } },
    ],
    [
      "empty ones are as absent",
      { config: '[[outputs.influxdb_v2]]\nbucket = "q"\n', metadata: {} },
      { config: '[[outputs.influxdb_v2]]\nbucket = "q"\n', metadata: { buckets: ["q"] } },
    ],
    ["nothing is not shown", {}, { metadata: { buckets: [] } }],
  ])("%s", async (_, sent, shown) => {
    const { id, orgID: _org, labels, links, ...body } = (await send("POST", TELEGRAFS, { orgID: ":orgID", ...sent })).body;
    expect(body).toEqual(shown);
  });
});

describe("of other resources", () => {
  const stack = `/api/v2/stacks/${NOBODY}`;
  const replication = { orgID: ":orgID", name: "faults", remoteID: NOBODY, localBucketID: ":bucketID" };
  const [json, BAD_ID] = ["failed to unmarshal json: ", "invalid ID"];
  refusals(replication, [
    ["the first of two invalid ids", "POST", "/api/v2/replications", { orgID: "zzzzzzzzzzzzzzzz", remoteID: "" }, 400, json + BAD_ID],
    [
      "and by the order of the body",
      "POST",
      "/api/v2/replications",
      '{"remoteBucketID": "", "orgID": "zzzzzzzzzzzzzzzz"}',
      400,
      json + NO_ID,
    ],
    ["an id before what is missing", "POST", "/api/v2/replications", { orgID: undefined, remoteID: "" }, 400, json + NO_ID],
    [
      "an id before a wrong type",
      "POST",
      "/api/v2/replications",
      '{"maxQueueSizeBytes": "x", "REMOTEID": "zzzzzzzzzzzzzzzz"}',
      400,
      json + BAD_ID,
    ],
    ["an id before the queue", "PATCH", `/api/v2/replications/${NOBODY}`, '{"maxQueueSizeBytes": 1, "remoteID": ""}', 400, json + NO_ID],
    ["of a remote connection", "POST", "/api/v2/remotes", '{"name": 1, "remoteOrgID": "", "orgID": "zzzzzzzzzzzzzzzz"}', 400, json + NO_ID],
  ]);
  test.each([
    ["a rule", RULES!, RULE, ["id", "ownerID", "taskID", "endpointID"]],
    ["a rule that is not there", `${RULES}/${NOBODY}`, RULE, ["id", "taskID"]],
    ["a check", CHECKS!, CHECK, ["id", "ownerID", "taskID"]],
    ["an endpoint", ENDPOINTS!, HOOK, ["id"]],
  ])("ids in the body of %s are ids, whether they count or not", async (_, path, body, names) => {
    const method = path.endsWith(NOBODY) ? "PUT" : "POST";
    for (const name of names) {
      const got = await send(method, path, {
        [name]: "zzzzzzzzzzzzzzzz",
        ...body,
        ...(name in body ? { [name]: "zzzzzzzzzzzzzzzz" } : {}),
        status: "x",
      });
      expect([name, got.status, got.body.message]).toEqual([name, 400, BAD_ID]);
    }
  });

  test.each([
    ["a token", "/api/v2/authorizations", '{"permissions": [""], "orgID": "abc"}', `invalid json structure: ${NO_ID}`],
    ["a bucket", "/api/v2/buckets", '{"name": 1, "ORGID": "abc"}', `failed to unmarshal json: ${NO_ID}`],
    ["a label", "/api/v2/labels", '{"orgID": "zzzzzzzzzzzzzzzz", "id": "", "name": 1}', "failed to unmarshal json: invalid ID"],
    ["a user", "/api/v2/users", '{"name": 1, "id": "abc"}', NO_ID],
  ])("an id of %s before a wrong type", async (_, path, body, message) => {
    const got = await send("POST", path, body);
    expect([got.status, got.body.message]).toEqual([400, message]);
  });

  test("/query takes HEAD, and what stands below it or below /write is no route that is checked", async () => {
    const { base } = made.server;
    const asked = async (method: string, path: string) => (await made.server.send(new Request(base + path, { method }))).status;
    expect([await asked("HEAD", "/query?q=SHOW+DATABASES"), await asked("HEAD", "/query/x"), await asked("GET", "/write/")]).toEqual([
      401, 404, 404,
    ]);
  });

  test("a name that another one has is told differently of new and of changed ones", async () => {
    const [check, hook] = [
      await send("POST", CHECKS!, { ...CHECK, name: "second" }),
      await send("POST", ENDPOINTS!, { ...HOOK, name: "second" }),
    ];
    const key = `${ids["orgID"]}faults`;
    const CONFLICT = "entity update conflicts with an existing entity for key";
    const renamed = { name: "faults" };
    await send("POST", CHECKS!, { ...CHECK, name: "Third" });
    const wanted = [
      [await send("PUT", `${CHECKS}/${check.body.id}`, { ...CHECK, status: "x" }), "check name is not unique"],
      [await send("PATCH", `${CHECKS}/${check.body.id}`, renamed), `check ${CONFLICT} ${key}`],
      [await send("PATCH", `${CHECKS}/${check.body.id}`, { name: "Third" }), `check ${CONFLICT} ${ids["orgID"]}third`],
      [await send("PATCH", `${ENDPOINTS}/${hook.body.id}`, renamed), `notification endpoint ${CONFLICT} ${key}`],
      [await send("POST", ENDPOINTS!, HOOK), `notification endpoint is not unique for key ${key}`],
    ] as const;
    for (const [got, message] of wanted) expect([got.status, got.body.code, got.body.message]).toEqual([422, "conflict", message]);
  });

  refusals({}, [
    ["an empty id of a task", "POST", "/api/v2/tasks", { orgID: "", org: "o" }, 400, `failed to decode request: ${NO_ID}`],
    ["of a scraper", "POST", "/api/v2/scrapers", { orgID: ":orgID", bucketID: "" }, 400, NO_ID],
    ["of a scraper that is not there", "PATCH", `/api/v2/scrapers/${NOBODY}`, { bucketID: "" }, 400, NO_ID],
    ["of a dashboard", "POST", "/api/v2/dashboards", { orgID: "" }, 400, `failed to unmarshal json: ${NO_ID}`],
    ["of a cell", "PUT", `/api/v2/dashboards/${NOBODY}/cells`, '[{"id": ""}]', 400, NO_ID],
    [
      "of what is exported",
      "POST",
      "/api/v2/templates/export",
      { resources: [{ kind: "Label", id: "" }] },
      400,
      `failed to unmarshal json: ${NO_ID}`,
    ],
    ["of what a stack gets", "PATCH", stack, { additionalResources: [{}] }, 400, `stack resource id "": ${NO_ID}`],
    ["of stacks", "GET", "/api/v2/stacks?orgID=abc", undefined, 400, `organization id["abc"] is invalid: ${NO_ID}`],
    [
      "of stacks by id",
      "GET",
      "/api/v2/stacks?orgID=:orgID&stackID=a%22b",
      undefined,
      400,
      `stack ID["a\\"b"] provided is invalid: ${NO_ID}`,
    ],
    ["of stacks without one", "GET", "/api/v2/stacks", undefined, 400, `organization id[""] is invalid: ${NO_ID}`],
    ["an organization without a name", "PATCH", "/api/v2/orgs/:orgID", { name: " " }, 400, "org name is empty"],
    ["a label of spaces", "PATCH", "/api/v2/labels/:labelID", { name: " " }, 400, "label name is required"],
    [
      "a queue before its replication",
      "PATCH",
      `/api/v2/replications/${NOBODY}`,
      { maxQueueSizeBytes: 1 },
      400,
      "maxQueueSize too small, must be at least 33554430",
    ],
    [
      "and before its organization",
      "POST",
      "/api/v2/replications",
      { maxQueueSizeBytes: 1 },
      400,
      "maxQueueSize too small, must be at least 33554430",
    ],
    ["an annotation that is null", "POST", "/api/v2private/annotations?orgID=:orgID", "[null]", 400, "summary cannot be empty"],
  ]);

  test.each([
    ["spec", false],
    ["spec", "x"],
    ["metadata", -1],
    ["kind", 5],
    ["apiVersion", 1],
  ])("a template whose %s is %p is not read", async (member, value) => {
    const object = { apiVersion: "influxdata.com/v2alpha1", kind: "Bucket", metadata: { name: "b-1" }, spec: {}, [member]: value };
    const got = await send("POST", "/api/v2/templates/apply", { orgID: ":orgID", dryRun: true, template: { contents: [object] } });
    expect(got.status).toBe(422);
    expect(got.body).toEqual({
      code: "unprocessable entity",
      message: expect.stringMatching(/^template\[0\] from source\(s\) "" had an issue: json: cannot unmarshal /),
    });
  });

  test("a template's check and rule without an offset have one of no time, and lists that are not given are null", async () => {
    const apiVersion = "influxdata.com/v2alpha1";
    const contents = [
      { apiVersion, kind: "Bucket", metadata: { name: "b-9" }, spec: { name: "offsets", description: true } },
      {
        ...{ apiVersion, kind: "CheckThreshold", metadata: { name: "c-9" } },
        spec: {
          name: "offsets",
          every: "1m",
          query: QUERY.text,
          statusMessageTemplate: "m",
          thresholds: [{ type: "greater", level: "CRIT", value: 1 }],
        },
      },
    ];
    const body = { orgID: ":orgID", template: { contents } };
    const { diff } = (await send("POST", "/api/v2/templates/apply", { ...body, dryRun: true })).body;
    expect(diff.buckets[0].new).toEqual({ name: "offsets", description: "", retentionRules: null });
    expect(diff.checks[0].new).toMatchObject({ offset: "0s", tags: null });
    const { stackID } = (await send("POST", "/api/v2/templates/apply", body)).body;
    const exported = (await send("POST", "/api/v2/templates/export", { stackID })).body;
    expect(exported.find(({ kind }: { readonly kind: string }) => kind === "CheckThreshold").spec).not.toHaveProperty("offset");
  });

  test("the organization of a permission counts in any case of letters: without it the permission is for all", async () => {
    const permissions = [{ ACTION: "read", Resource: { TYPE: "buckets", OrgID: ":orgID" } }];
    const { status, body } = await send("POST", "/api/v2/authorizations", { orgID: ":orgID", permissions });
    expect(status).toBe(201);
    expect(body.permissions).toMatchObject([{ action: "read", resource: { type: "buckets", orgID: ids["orgID"] } }]);
  });

  test("resources of a stack have names of their own", async () => {
    const { id } = (await send("POST", "/api/v2/stacks", { orgID: ":orgID", name: "names" })).body;
    const attach = async (resourceID: string) => {
      const additionalResources = [{ resourceID, kind: "Bucket", templateMetaName: "same" }];
      return (await send("PATCH", `/api/v2/stacks/${id}`, { additionalResources })).body.events.at(-1).resources;
    };
    expect(await attach(":bucketID")).toMatchObject([{ templateMetaName: "same" }]);
    const names = (await attach(NOBODY)).map(({ templateMetaName }: { readonly templateMetaName: string }) => templateMetaName);
    expect(names.sort()).toEqual([`bucket-${NOBODY}`, "same"]);
  });

  test("an empty script of a change is as absent where there are options", async () => {
    const flux = 'option task = {name: "empty", every: 1h}\nbuckets()';
    const { id } = (await send("POST", "/api/v2/tasks", { orgID: ":orgID", flux })).body;
    const { status, body } = await send("PATCH", `/api/v2/tasks/${id}`, { flux: "", name: "renamed" });
    expect([status, body.name, body.every]).toEqual([200, "renamed", "1h"]);
  });

  test("the stream without a name is the default one", async () => {
    const path = "/api/v2private/streams?orgID=:orgID";
    for (const body of [{}, { stream: "" }]) expect((await send("PUT", path, body)).body).toMatchObject({ stream: "default" });
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
