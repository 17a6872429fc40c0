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
  ["Task", { every: "-1h", query: QUERY }, "tasks", "invalid options: missing required option: cron or every"],
  ["CheckDeadman", { ...CHECK, every: "-1m", timeSince: "90s", staleTime: "5m", level: "CRIT" }, "checks", "Check Every can't be empty"],
  ["CheckDeadman", { ...CHECK, offset: "-1m", timeSince: "90s", staleTime: "5m", level: "CRIT" }, "checks", "Check Offset can't be empty"],
])("%s: a negative period is shown by a plan, and none when it is applied", async (kind, spec, list, message) => {
  const template = of([object(kind, "minus", spec)]);
  const dry = await apply({ ...template, dryRun: true });
  const { every, offset } = dry.body.diff[list][0].new;
  expect([dry.status, [every, offset].some((each) => /^-1[hm]0/.test(each))]).toEqual([200, true]);
  const applied = await apply(template);
  expect([applied.status, applied.body.message.endsWith(`: ${message}"`)]).toEqual([500, true]);
});
