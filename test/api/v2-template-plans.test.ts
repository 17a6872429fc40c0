// Answers to plans and applications of templates: what release 2.8.0 tells of what goes, of values for nothing, and of references.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { LightServer } from "../vectors/v2/light-server.ts";
import { API, object, of, QUERY, TemplateServer } from "./template-server.ts";
import { ask } from "./v2-ask.ts";

const CHECK = { every: "1m", query: QUERY, statusMessageTemplate: "m" };
const RULE = { every: "10m", endpointName: "hook", messageTemplate: "m", statusRules: [{ currentLevel: "CRIT" }] };
/** One of every category. */
const ALL = [
  object("Label", "team", { name: "the team" }),
  object("Bucket", "metrics", {}),
  object("Variable", "hosts", { type: "constant", values: ["a"] }),
  object("CheckDeadman", "silent", { ...CHECK, timeSince: "90s", staleTime: "5m", level: "CRIT" }),
  object("Dashboard", "board", { charts: [] }),
  object("NotificationEndpointSlack", "hook", { url: "http://localhost/" }),
  object("NotificationRule", "rule", RULE),
  object("Task", "hourly", { every: "1h", query: QUERY }),
  object("Telegraf", "agent", { config: "[agent]" }),
];

let templates: TemplateServer;
let server: LightServer;
let orgID: string;
beforeAll(async () => {
  templates = await TemplateServer.start();
  ({ server, orgID } = templates);
});
afterAll(() => server.stop());

const apply = (body: object, token?: string) => templates.apply(body, token);
const remove = (stackID: string) => templates.remove(stackID);

test("values for nothing: a plan tells that there are no resources, and nothing is applied", async () => {
  const { stackID } = (await apply(of([object("Label", "kept", { name: "a kept label" })]))).body;
  for (const given of [{}, { stackID }, { template: { contents: [], sources: ["a"] } }]) {
    const dry = await apply({ ...given, dryRun: true, envRefs: { a: "b" } });
    const issue = { kind: "Package", fields: ["resources"], idxs: [null], reason: "at least 1 kind must be provided" };
    expect([dry.status, dry.body.errors, dry.body.summary.missingEnvRefs]).toEqual([422, [issue], null]);
    const applied = await apply({ ...given, envRefs: { a: "b" } });
    const { errors, stackID: none, sources, diff } = applied.body;
    expect([applied.status, errors, none, sources, diff.labels]).toEqual([201, undefined, "", [], []]);
  }
  expect((await ask(server, "GET", `/api/v2/stacks/${stackID}`, "tok")).body.resources).toHaveLength(1);
  await remove(stackID);
});

test("a plan shows of what goes only its name, and of checks and endpoints nothing", async () => {
  const { stackID } = (await apply(of(ALL))).body;
  const { diff } = (await apply({ stackID, dryRun: true, template: { contents: [] } })).body;
  const gone = Object.fromEntries(
    Object.entries(diff as Record<string, { kind: string; stateStatus: string; new: unknown }[]>)
      .filter(([name]) => name !== "labelMappings")
      .map(([name, [first]]) => [name, [first!.stateStatus, first!.kind, first!.new]]),
  );
  const none = { description: "" };
  const { endpointID } = diff.notificationRules[0].old;
  const rule = { endpointID, endpointName: "hook", endpointType: "", every: "0s", offset: "0s", messageTemplate: "" };
  expect(gone).toEqual({
    buckets: ["remove", "Bucket", { ...none, name: "metrics", retentionRules: null }],
    checks: ["remove", "", null],
    dashboards: ["remove", "Dashboard", { ...none, name: "board", charts: [] }],
    labels: ["remove", "Label", { ...none, name: "team", color: "" }],
    notificationEndpoints: ["remove", "", null],
    notificationRules: ["remove", "NotificationRule", { ...none, name: "rule", ...rule, statusRules: [], tagRules: [] }],
    tasks: ["remove", "Task", { ...none, name: "hourly", cron: "", every: "", offset: "", query: "", status: "active" }],
    telegrafConfigs: ["remove", "Telegraf", {}],
    variables: ["remove", "Variable", { ...none, name: "hosts", args: null }],
  });
  const stack = await ask(server, "GET", `/api/v2/stacks/${stackID}`, "tok");
  const order = "Bucket Check Dashboard NotificationEndpoint Label NotificationRule Task Telegraf Variable";
  expect(stack.body.resources.map(({ kind }: { kind: string }) => kind).join(" ")).toBe(order);
  await remove(stackID);
});

test("members of a resource count in any case of letters; templates are read before actions", async () => {
  const contents = [{ APIVERSION: API, Kind: "Label", MetaData: { name: "any-case" }, SPEC: { name: "any case" } }];
  expect((await apply({ dryRun: true, Template: { contents } })).body.summary.labels[0].name).toBe("any case");
  const both = await apply({ template: { contents: "active" }, actions: [{ action: "nope" }] });
  expect([both.status, both.body.code]).toEqual([422, "unprocessable entity"]);
});

test("a reference stands for texts and numbers only", async () => {
  const label = (envRef: object) => object("Label", "own-name", { name: { envRef } });
  for (const [envRef, envRefs, name] of [
    [{ key: "a", default: { envRef: { key: "a" } } }, {}, "env-a"],
    [{ key: "a" }, { a: { key: "a" } }, "env-a"],
    [{ key: "a" }, { a: "" }, "env-a"],
    [{ key: "a" }, { a: 1.5 }, "1.5"],
    [{ key: 55 }, {}, "env-55"],
    [{ key: "" }, {}, "own-name"],
    [{}, {}, "own-name"],
  ] as const) {
    const { summary } = (await apply(of([label(envRef)], { dryRun: true, envRefs }))).body;
    expect([envRef, envRefs, summary.labels[0].name]).toEqual([envRef, envRefs, name]);
  }
});

test("what references are told, and which have no value", async () => {
  const ref = (key: string, byDefault?: string) => ({ envRef: { key, default: byDefault } });
  const contents = [
    object("Label", "a", { name: ref("label", "a label"), color: ref("color") }),
    object("Variable", "b", { type: "constant", values: ["x"], selected: [ref("selected", "x")] }),
    object("NotificationEndpointSlack", "c", { url: "http://localhost/", token: ref("token", "t") }),
  ];
  const told = async (envRefs: object) => {
    const { labels, variables, notificationEndpoints, missingEnvRefs } = (await apply(of(contents, { dryRun: true, envRefs }))).body
      .summary;
    return [missingEnvRefs, ...[labels, variables, notificationEndpoints].map(([{ envReferences }]) => envReferences)];
  };
  const label = { resourceField: "spec.name", envRefKey: "label", valueType: "", value: null, defaultValue: "a label" };
  const selected = { resourceField: "spec.selected[0]", envRefKey: "selected", valueType: "", value: null, defaultValue: "x" };
  expect(await told({})).toEqual([["label", "selected", "token"], [label], [selected], []]);
  const all = { label: "given", selected: "y", token: "u" };
  // those of selected values are told without their value, as recorded
  expect(await told(all)).toEqual([[], [{ ...label, value: "given" }], [selected], []]);
});

test("what is attached to a stack: links follow the kind, a name is given once", async () => {
  const { id } = (await ask(server, "POST", "/api/v2/stacks", "tok", { orgID, name: "attached" })).body;
  const [first, second] = ["0123456789abcdef", "123456789abcdef0"];
  const additionalResources = [
    { resourceID: first, kind: "CheckThreshold", templateMetaName: "mine" },
    { resourceID: second, kind: "NotificationEndpointHTTP", templateMetaName: "mine" },
    { resourceID: second, kind: "Nope", templateMetaName: "other" },
  ];
  const { resources } = (await ask(server, "PATCH", `/api/v2/stacks/${id}`, "tok", { additionalResources })).body;
  const shown = resources.map(({ templateMetaName: name, links }: { templateMetaName: string; links: { self: string } }) => [
    name,
    links.self,
  ]);
  expect(shown).toEqual([
    ["mine", `/api/v2/checks/${first}`],
    [expect.not.stringMatching(/^mine$/), `/api/v2/notificationEndpoints/${second}`],
    ["other", `/api/v2/${second}`],
  ]);
});

test("what a plan shows and cannot be made fails when it is applied", async () => {
  const head = (what: string) => `resource_type="${what}" err="failed to apply resource"\n\tmetadata_name="a"`;
  const rule = object("NotificationRule", "a", { ...RULE, messageTemplate: "" });
  for (const [kind, spec, what, reason] of [
    ["CheckDeadman", { ...CHECK, every: "4s", offset: "10s" }, "check", "Offset should not be equal or greater than the interval"],
    ["NotificationEndpointHTTP", { url: "http://a", type: "none", method: "HEAD" }, "", "invalid http http method"],
    ["Task", { every: "1h", cron: "0 * * * *", query: QUERY }, "tasks", "cannot use both cron and every in task options"],
    ["Variable", { type: "nope" }, "variable", ""],
  ] as const) {
    const contents = [object(kind, "a", spec)];
    expect([kind, (await apply(of(contents, { dryRun: true }))).status]).toEqual([kind, 200]);
    const { status, body } = await apply(of(contents));
    expect([status, body.message]).toEqual([500, expect.stringContaining(head(what))]);
    expect(body.message).toContain(reason);
  }
  const hook = object("NotificationEndpointSlack", "hook", { url: "http://localhost/" });
  const { status, body } = await apply(of([hook, rule]));
  expect([status, body.message]).toEqual([500, expect.stringMatching(/^resource_type="" .*: slack msg template is empty"$/s)]);
});

test.each([
  ["Task", { every: "-1h", query: QUERY }, "tasks", "-1h0m0s", "invalid options: missing required option: cron or every"],
  [
    "CheckDeadman",
    { ...CHECK, every: "-1m", timeSince: "90s", staleTime: "5m", level: "CRIT" },
    "checks",
    "",
    "Check Every can't be empty",
  ],
  [
    "CheckDeadman",
    { ...CHECK, offset: "-1m", timeSince: "90s", staleTime: "5m", level: "CRIT" },
    "checks",
    "",
    "Check Offset can't be empty",
  ],
])("%s: a negative period is none when it is applied; a plan shows it for tasks alone", async (kind, spec, list, shown, message) => {
  const template = of([object(kind, "minus", spec)]);
  const dry = await apply({ ...template, dryRun: true });
  const { every, offset } = dry.body.diff[list][0].new;
  expect([dry.status, [every, offset].includes(shown)]).toEqual([200, true]);
  const applied = await apply(template);
  expect([applied.status, applied.body.message.endsWith(`: ${message}"`)]).toEqual([500, true]);
});

const chart = (kind: string, more: object) => ({
  ...{ kind, width: 1, height: 1, axes: ["x", "y"].map((name) => ({ name })), ...more },
  colors: ["min", "max"].map((type) => ({ type, hex: "#123456" })),
});
const shownChart = async (kind: string, more: object) =>
  (await apply(of([object("Dashboard", "dd", { charts: [chart(kind, more)] })], { dryRun: true }))).body.diff.dashboards[0].new.charts[0]
    .properties;

test("places after the point are whole numbers, and other values are none", async () => {
  for (const kind of ["Single_Stat", "Gauge", "Table", "Single_Stat_Plus_Line"]) {
    expect([kind, (await shownChart(kind, { decimalPlaces: 2.7 })).decimalPlaces]).toEqual([kind, { isEnforced: true, digits: 2 }]);
  }
  for (const decimalPlaces of ["2", true, {}, [], null]) {
    expect((await shownChart("Gauge", { decimalPlaces })).decimalPlaces).toEqual({ isEnforced: false, digits: 0 });
  }
});

test("lines with a single number have no format of times, other charts have theirs", async () => {
  const formats = ["Single_Stat_Plus_Line", "XY", "Table", "Scatter"].map((kind) => shownChart(kind, { timeFormat: "HH", geom: "line" }));
  expect((await Promise.all(formats)).map(({ timeFormat }) => timeFormat)).toEqual(["", "HH", "HH", "HH"]);
});

test("secrets that are needed: of names too, and given ones only when they are applied", async () => {
  const secretRef = (key: unknown) => ({ secretRef: { key } });
  const missing = async (spec: object, more: object) =>
    (await apply(of([object("NotificationEndpointSlack", "e", { url: "http://localhost/", ...spec })], more))).body;
  const [named, held] = [{ name: secretRef("s") }, { token: secretRef("s") }];
  for (const spec of [named, held]) {
    expect((await missing(spec, { dryRun: true })).summary.missingSecrets).toEqual(["s"]);
    expect((await missing(spec, { dryRun: true, secrets: { s: "v" } })).summary.missingSecrets).toEqual(["s"]);
  }
  expect((await missing({ name: secretRef(5) }, { dryRun: true })).summary.missingSecrets).toEqual(["5"]);
  const made = await missing(named, { secrets: { s: "v" } });
  expect(made.summary.missingSecrets).toEqual([]);
  await remove(made.stackID);
});

test("a plan shows of an endpoint the secrets that its type has", async () => {
  const secrets = Object.fromEntries(["token", "username", "password"].map((name) => [name, { secretRef: { key: name } }]));
  const shown = async (type: string) => {
    const http = object("NotificationEndpointHTTP", "e", { url: "http://localhost/", method: "GET", type, ...secrets });
    const { token, username, password } = (await apply(of([http], { dryRun: true }))).body.diff.notificationEndpoints[0].new;
    return [token, username, password];
  };
  expect(await shown("none")).toEqual(["", "", ""]);
  expect(await shown("basic")).toEqual(["", "secret: username", "secret: password"]);
  expect(await shown("bearer")).toEqual(["secret: token", "", ""]);
});

test.each([
  ["-1h", ""],
  ["1us", "1us"],
  ["1500us", ""],
  ["1s500ms", ""],
  ["90m", "1h30m0s"],
])("a check with %s", async (length, text) => {
  const lengths = { every: length, offset: length, timeSince: length, staleTime: length };
  const { diff } = (await apply(of([object("CheckDeadman", "c", { ...CHECK, ...lengths })], { dryRun: true }))).body;
  expect(diff.checks[0].new).toMatchObject({ every: text, offset: text, timeSince: text, staleTime: text });
});

test("sources of one template are one; an action needs a kind", async () => {
  const first = { contents: [object("Label", "l1", { name: "first" })], sources: ["a", "b"] };
  const second = { contents: [object("Label", "l2", { name: "second" })], sources: ["c"] };
  expect((await apply({ dryRun: true, template: second, templates: [first] })).body.sources).toEqual(["a; b", "c"]);
  for (const [properties, reason] of [
    [{}, "invalid kind"],
    [null, "invalid kind"],
    [{ kind: "" }, "invalid kind"],
    [{ kind: "x" }, "unsupported kind provided"],
  ]) {
    const { body } = await apply({ dryRun: true, template: first, actions: [{ action: "skipResource", properties }] });
    expect(body.message).toBe(`invalid kind for actions[0] "skipResource": ${reason}`);
  }
});

test("a plan lists what stays, comes and goes by its name", async () => {
  const { stackID } = (await apply(of([object("Bucket", "aa", {}), object("Bucket", "cc", {})]))).body;
  const { diff } = (await apply({ stackID, dryRun: true, ...of([object("Bucket", "bb", {}), object("Bucket", "cc", {})]) })).body;
  const listed = diff.buckets.map((each: { templateMetaName: string; stateStatus: string }) => [each.templateMetaName, each.stateStatus]);
  expect(listed).toEqual([
    ["aa", "remove"],
    ["bb", "new"],
    ["cc", "exists"],
  ]);
  await remove(stackID);
});

test("a dry run without URLs and stacks needs no right to the organization, and tells nothing of what may not be read", async () => {
  const { stackID } = (await apply(of([object("Label", "seen", { name: "a seen label" }), object("Bucket", "hidden", {})]))).body;
  const permissions = [{ action: "read", resource: { type: "labels", orgID } }];
  const { body } = await ask(server, "POST", "/api/v2/authorizations", "tok", { orgID, permissions });
  const given = of([object("Label", "seen", { name: "a seen label" }), object("Bucket", "hidden", {})]);
  const dry = await apply({ ...given, dryRun: true }, body.token);
  const states = [dry.body.diff.labels, dry.body.diff.buckets].map(([first]) => [first.stateStatus, first.old === null]);
  expect([dry.status, states]).toEqual([
    200,
    [
      ["exists", false],
      ["new", true],
    ],
  ]);
  for (const more of [{ dryRun: false }, { stackID }, { remotes: [{ url: "http://localhost/a.yml" }] }]) {
    const refused = await apply({ dryRun: true, ...given, ...more }, body.token);
    expect([refused.status, refused.body.message]).toEqual([403, `read:orgs/${orgID} is unauthorized`]);
  }
  await remove(stackID);
});
