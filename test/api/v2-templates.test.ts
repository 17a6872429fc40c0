// Templates where recorded conversations are silent: YAML, references, rights, limits, and that an apply is made as a whole.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type LightServer, lightServer } from "../vectors/v2/light-server.ts";
import { ask } from "./v2-ask.ts";

const API = "influxdata.com/v2alpha1";
const object = (kind: string, name: string, spec: object) => ({ apiVersion: API, kind, metadata: { name }, spec });
const QUERY = 'from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._field == "f")';
const place = (kind: string, more: object) => ({ kind, name: kind, xPos: 1, yPos: 2, width: 3, height: 4, ...more });
const lines = {
  ...{ queries: [{ query: QUERY }], colors: [{ name: "a", type: "scale", hex: "#123456", value: 1.5 }], note: "n", noteOnEmpty: true },
  ...{ axes: ["x", "y"].map((name) => ({ name, label: `${name} label`, prefix: "p", suffix: "s", base: "10", scale: "log" })) },
  ...{ staticLegend: { show: true, opacity: 0.5, widthRatio: 1 }, geom: "step", position: "stacked", shade: true, timeFormat: "HH:mm" },
  ...{ xCol: "_time", yCol: "_value", hoverDimension: "xy", generateXAxisTicks: ["xTotalTicks"], xTotalTicks: 7, yTickStep: 2.5 },
  ...{ legendColorizeRows: true, legendHide: true, legendOpacity: 0.5, legendOrientationThreshold: 5, prefix: "pre", decimalPlaces: 0 },
};
const flat = {
  ...lines,
  colors: [{ hex: "#123456" }],
  axes: ["x", "y"].map((name) => ({ name, label: "l", prefix: "p", domain: [1, 9.5] })),
};
const CHARTS = [
  place("Band", { ...lines, upperColumn: "u", mainColumn: "m", lowerColumn: "l" }),
  place("Gauge", { ...lines, tickPrefix: "t" }),
  place("Geo", {
    ...{ queries: [{ query: QUERY }], lat: 1.5, lon: -2, zoom: 3, mapStyle: "s", detectCoordinateFields: true, s2Column: "c" },
    geoLayers: [{ layerType: "pointMap", viewColors: [{ hex: "#123456" }], colorField: "f" }],
  }),
  place("Heatmap", { ...flat, binSize: 20 }),
  place("Histogram", { ...lines, axes: [{ name: "x", label: "l", domain: [0, 1] }], binCount: 3, fillColumns: ["a", "b"] }),
  place("Single_Stat_Plus_Line", lines),
  place("Markdown", { note: "# text" }),
  place("Mosaic", { ...flat, ySeriesColumns: ["a"], yLabelColumns: ["b"], yLabelColumnSeparator: "," }),
  place("Scatter", flat),
  place("Single_Stat", lines),
  place("Table", {
    ...{ ...lines, tableOptions: { verticalTimeAxis: true, sortBy: "_time", wrapping: "wrap", fixFirstColumn: true } },
    fieldOptions: [{ fieldName: "_time", displayName: "t", visible: true }],
  }),
  place("XY", lines),
];
/** Of every kind. */
const ALL = [
  object("Label", "team", { name: "the team", color: "#112233" }),
  object("Bucket", "metrics", {
    retentionRules: [{ type: "expire", everySeconds: 7200 }],
    associations: [{ kind: "Label", name: "team" }],
  }),
  object("Variable", "hosts", { type: "constant", values: ["a", "b"], selected: ["b"] }),
  object("Variable", "sites", { name: "all_sites", type: "map", values: { a: "x" } }),
  object("Variable", "rows", { type: "query", language: "flux", query: "buckets()" }),
  object("CheckThreshold", "hot", {
    ...{ name: "too hot", every: "90s", query: QUERY, statusMessageTemplate: "hot" },
    thresholds: [{ type: "greater", level: "crit", value: 90 }],
  }),
  object("CheckDeadman", "silent", {
    every: "1m",
    query: QUERY,
    statusMessageTemplate: "gone",
    timeSince: "90s",
    staleTime: "10m",
    level: "warn",
  }),
  object("NotificationEndpointSlack", "chat", { url: "http://localhost/hook", token: { secretRef: { key: "chat-token" } } }),
  object("NotificationEndpointHTTP", "hook", { url: "http://localhost/hook", method: "post", type: "none" }),
  object("NotificationEndpointPagerDuty", "pager", { url: "http://localhost", routingKey: "key" }),
  object("NotificationRule", "tell", {
    ...{ endpointName: "chat", every: "10m", messageTemplate: "m", statusRules: [{ currentLevel: "CRIT" }] },
    ...{ tagRules: [{ key: "host", value: "a", operator: "equal" }], associations: [{ kind: "Label", name: "team" }] },
  }),
  object("Task", "sum", {
    ...{ name: "sum up", description: "every hour", every: "1h", offset: "30s", query: `import "date"\n\n// rows\n${QUERY}` },
    associations: [{ kind: "Label", name: "team" }],
  }),
  object("Task", "night", { name: "at night", cron: "0 2 * * *", query: QUERY }),
  object("Telegraf", "agent", {
    config: '[[outputs.influxdb_v2]]\n  bucket = "metrics"\n',
    associations: [{ kind: "Label", name: "team" }],
  }),
  object("Dashboard", "board", { name: "the board", associations: [{ kind: "Label", name: "team" }], charts: CHARTS }),
];

let server: LightServer;
let orgID: string;
beforeAll(async () => {
  server = await lightServer({ bucketLimits: { countMax: 4 } });
  const setup = { username: "admin", password: "password12", org: "o", bucket: "bucket", token: "tok" };
  orgID = (await ask(server, "POST", "/api/v2/setup", undefined, setup)).body.org.id;
});
afterAll(() => server.stop());

const apply = (body: object, token = "tok") => ask(server, "POST", "/api/v2/templates/apply", token, { orgID, ...body });
const of = (contents: readonly object[], more: object = {}) => ({ template: { contents }, ...more });
const remove = (stackID: string) => ask(server, "DELETE", `/api/v2/stacks/${stackID}?orgID=${orgID}`, "tok");
const tokenOf = async (...permissions: readonly object[]) =>
  (await ask(server, "POST", "/api/v2/authorizations", "tok", { orgID, permissions })).body.token as string;
const permission = (action: string, type: string) => ({ action, resource: type === "orgs" ? { type, id: orgID } : { type, orgID } });

test("what is exported of a stack makes the same resources elsewhere", async () => {
  const first = await apply(of(ALL));
  expect([first.status, first.body.summary.missingSecrets]).toEqual([201, ["chat-token"]]);
  const exported = await ask(server, "POST", "/api/v2/templates/export", "tok", { stackID: first.body.stackID });
  expect(exported.body.map((each: { kind: string }) => each.kind).sort()).toEqual(ALL.map(({ kind }) => kind).sort());
  await remove(first.body.stackID);
  const second = await apply(of(exported.body));
  expect(second.status).toBe(201);
  const again = await ask(server, "POST", "/api/v2/templates/export", "tok", { stackID: second.body.stackID });
  // the key of a secret that came with the template is made of the endpoint's id
  const withoutKeys = (text: string) => text.replaceAll(/[0-9a-f]{16}-routing-key/g, "KEY");
  expect(withoutKeys(again.text)).toBe(withoutKeys(exported.text));
  await remove(second.body.stackID);
});

test("YAML: a request, documents, and an export that is read again", async () => {
  const yaml = `orgID: ${orgID}
dryRun: true
template:
  contents:
    - &label {apiVersion: ${API}, kind: Label, metadata: {name: l}, spec: {name: first label}}
    - apiVersion: ${API}
      kind: Bucket
      metadata: {name: bk}
      spec: {name: some bucket, associations: [{kind: Label, name: l}]}
`;
  const headers = { "content-type": "application/x-yaml" };
  const answer = await ask(server, "POST", "/api/v2/templates/apply", "tok", yaml, headers);
  expect([answer.status, answer.body.diff.labelMappings.length]).toEqual([200, 1]);
  const made = await apply(of(ALL.slice(0, 2)));
  const exported = await ask(server, "POST", "/api/v2/templates/export", "tok", { stackID: made.body.stackID }, { accept: "text/yml" });
  const again = await apply({ dryRun: true, template: { contentType: "yaml", contents: exported.text } });
  expect(again.body.diff.buckets[0].new).toEqual(made.body.diff.buckets[0].new);
  await remove(made.body.stackID);
});

test("references take what the request gives, then their default; without either nothing is made", async () => {
  const named = object("Label", "l", { name: { envRef: { key: "name" } }, color: { envRef: { key: "color", default: "#000000" } } });
  const dry = await apply(of([named], { dryRun: true }));
  expect([dry.body.summary.missingEnvRefs, dry.body.summary.labels[0].name]).toEqual([["name"], "env-name"]);
  expect((await apply(of([named]))).status).toBe(422);
  const made = await apply(of([named], { envRefs: { name: "given" } }));
  expect(made.body.summary.labels[0]).toMatchObject({ name: "given", properties: { color: "#000000" } });
  await remove(made.body.stackID);
});

describe("nothing is made", () => {
  const bucket = (name: string) => object("Bucket", name, { name: `the ${name}` });
  const refusals: readonly (readonly [string, readonly object[], number])[] = [
    [
      "when a script does not fit",
      [...ALL, object("CheckDeadman", "bad", { every: "1m", query: "from(", statusMessageTemplate: "m", level: "ok" })],
      500,
    ],
    ["beyond the organization's buckets, counted together", ["x", "y", "z", "w"].map(bucket), 500],
    ["for a task whose script cannot be read", [bucket("x"), object("Task", "t", { name: "some task", every: "1h", query: "f(" })], 500],
    ["for a name twice", [object("Label", "l", { name: "same" }), object("Label", "m", { name: "same" })], 201],
    [
      "for a label that is not in the template",
      [object("Bucket", "x", { name: "the x", associations: [{ kind: "Label", name: "no" }] })],
      201,
    ],
  ];
  test.each(refusals)("%s", async (_, contents, status) => {
    const before = server.catalog.version;
    const answer = await apply(of(contents));
    expect(answer.status).toBe(status);
    if (status === 201) expect(answer.body.errors.length).toBe(1);
    expect(server.catalog.version).toBe(before);
  });
});

describe("rights", () => {
  const PAGES = ["tasks", "dashboards", "telegrafs"];
  const org = ["read"].map((action) => ({ action, type: "orgs" }));
  const needed = [
    ...org,
    ...["labels", "buckets", "variables", "checks", "notificationEndpoints", "notificationRules", ...PAGES].map((type) => ({
      action: "write",
      type,
    })),
  ];
  test.each(needed.map(({ action, type }, i) => [`${action} ${type}`, i] as const))("an apply without the right to %s", async (_, left) => {
    const token = await tokenOf(...needed.filter((__, i) => i !== left).map(({ action, type }) => permission(action, type)));
    const before = server.catalog.version;
    expect((await apply(of(ALL), token)).status).toBe(403);
    expect(server.catalog.version).toBe(before);
  });

  test("all of them are enough", async () => {
    const made = await apply(of(ALL), await tokenOf(...needed.map(({ action, type }) => permission(action, type))));
    expect(made.status).toBe(201);
    await remove(made.body.stackID);
  });

  test("what exists is shown to those who may read it", async () => {
    const made = await apply(of(ALL.slice(0, 1)));
    const token = await tokenOf(permission("read", "orgs"), permission("write", "labels"));
    expect((await apply(of(ALL.slice(0, 1), { dryRun: true }), token)).status).toBe(403);
    await remove(made.body.stackID);
  });

  test("a stack does not delete for those who may not, nor what was attached", async () => {
    const made = await apply(of(ALL.slice(0, 2)));
    const { stackID } = made.body;
    const other = (await ask(server, "POST", "/api/v2/buckets", "tok", { orgID, name: "attached" })).body.id;
    const token = await tokenOf(permission("read", "orgs"), permission("write", "orgs"));
    const attach = { additionalResources: [{ resourceID: other, kind: "Bucket" }] };
    expect((await ask(server, "PATCH", `/api/v2/stacks/${stackID}`, token, attach)).status).toBe(200);
    expect((await ask(server, "POST", `/api/v2/stacks/${stackID}/uninstall?orgID=${orgID}`, token)).status).toBe(403);
    await remove(stackID);
    expect((await ask(server, "GET", `/api/v2/buckets/${other}`, "tok")).status).toBe(200);
    expect((await ask(server, "GET", `/api/v2/buckets?orgID=${orgID}&name=metrics`, "tok")).status).toBe(404);
    await ask(server, "DELETE", `/api/v2/buckets/${other}`, "tok");
  });
});

test("a resource under another name in the template stays the same", async () => {
  const made = await apply(of([object("Bucket", "old", { name: "kept" })]));
  const { stackID } = made.body;
  const id = (await ask(server, "GET", `/api/v2/buckets?orgID=${orgID}&name=kept`, "tok")).body.buckets[0].id;
  expect((await apply(of([object("Bucket", "fresh", { name: "kept", description: "d" })], { stackID }))).status).toBe(201);
  expect((await ask(server, "GET", `/api/v2/buckets/${id}`, "tok")).body.description).toBe("d");
  await remove(stackID);
});

describe("too much", () => {
  const label = (i: number) => object("Label", `l${i}`, { name: `label ${i}` });
  let bomb = `a0: &a0 [x, x, x, x, x, x, x, x, x]\n`;
  for (let i = 1; i < 12; i++)
    bomb += `a${i}: &a${i} [${Array(9)
      .fill(`*a${i - 1}`)
      .join(", ")}]\n`;
  let deep: unknown = 1;
  for (let i = 0; i < 100; i++) deep = [deep];
  test.each([
    ["resources", of(Array.from({ length: 1001 }, (_, i) => label(i)))],
    ["levels", of([object("Label", "l", { name: "a label", deep })])],
    ["aliases", { template: { contentType: "yaml", contents: bomb } }],
    ["levels of YAML", { template: { contentType: "yaml", contents: "[".repeat(100_000) } }],
    ["values", of([object("Label", "l", { name: "a label", values: Array(200_001).fill(1) })])],
  ])("%s", async (_, body) => {
    const before = server.catalog.version;
    expect((await apply(body)).status).toBe(422);
    expect([server.catalog.version, server.reports]).toEqual([before, []]);
  });

  test("URLs, where they are not allowed", async () => {
    const answer = await apply({ remotes: [{ url: "http://127.0.0.1:1/t.yml" }] });
    expect([answer.status, answer.body.message]).toEqual([422, expect.stringContaining("--v2-template-urls")]);
  });
});
