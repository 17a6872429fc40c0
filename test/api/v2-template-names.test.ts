// What templates may name their resources, and what else they accept: answers of release 2.8.0.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type LightServer, lightServer } from "../vectors/v2/light-server.ts";
import { ask } from "./v2-ask.ts";

let server: LightServer;
let orgID: string;
beforeAll(async () => {
  server = await lightServer();
  const setup = { username: "admin", password: "password12", org: "o", bucket: "bucket", token: "tok" };
  orgID = (await ask(server, "POST", "/api/v2/setup", undefined, setup)).body.org.id;
});
afterAll(() => server.stop());

/** Shows what an apply of one object would make. */
async function shown(kind: string, spec: object) {
  const contents = [{ apiVersion: "influxdata.com/v2alpha1", kind, metadata: { name: "named" }, spec }];
  return (await ask(server, "POST", "/api/v2/templates/apply", "tok", { orgID, dryRun: true, template: { contents } })).body;
}

test("names of buckets, labels and dashboards have at least two bytes, others one", async () => {
  const [endpoint, variable, agent] = [{ url: "http://localhost/" }, { type: "constant", values: ["a"] }, { config: "[agent]" }];
  const reason = "must be a string of at least 2 chars in length";
  for (const [kind, spec, least] of [
    ["Bucket", {}, 2],
    ["Dashboard", {}, 2],
    ["Label", {}, 2],
    ["NotificationEndpointSlack", endpoint, 1],
    ["Telegraf", agent, 1],
    ["Variable", variable, 1],
  ] as const) {
    const issuesOf = async (name: string) => (await shown(kind, { ...spec, name })).errors;
    expect([kind, await issuesOf("é")]).toEqual([kind, undefined]);
    const short = least === 1 ? undefined : [{ kind, fields: ["root", "spec", "name"], idxs: [0, null, null], reason }];
    expect([kind, await issuesOf("a")]).toEqual([kind, short]);
  }
});

test("a dashboard without charts has none in the summary", async () => {
  const { diff, summary } = await shown("Dashboard", { name: "empty" });
  expect([diff.dashboards[0].new.charts, summary.dashboards[0].charts]).toEqual([[], null]);
});

const CHECK = {
  ...{ name: "Twice", every: "1h", query: 'from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._field == "f")' },
  ...{ statusMessageTemplate: "m", thresholds: [{ type: "greater", level: "CRIT", value: 1 }] },
};
test.each([
  ["checks", "CheckThreshold", CHECK, "Twice"],
  ["variables", "Variable", { name: "Twice", type: "constant", values: ["a"] }, "twice"],
])("%s: two of a template mean the same resource, and the stack goes with it", async (list, kind, spec, secondName) => {
  const named = (name: string, more: object) => ({ apiVersion: "influxdata.com/v2alpha1", kind, metadata: { name }, spec: more });
  const apply = (...contents: object[]) => ask(server, "POST", "/api/v2/templates/apply", "tok", { orgID, template: { contents } });
  const listed = async () => (await ask(server, "GET", `/api/v2/${list}?orgID=${orgID}`, "tok")).body[list];
  for (const path of ["/uninstall", ""]) {
    await apply(named("first", spec));
    const [{ id }] = await listed();
    const { stackID } = (await apply(named("one", spec), named("two", { ...spec, name: secondName }))).body;
    const { resources } = (await ask(server, "GET", `/api/v2/stacks/${stackID}`, "tok")).body;
    expect(resources.map(({ resourceID }: { resourceID: string }) => resourceID)).toEqual([id, id]);
    const method = path === "" ? "DELETE" : "POST";
    expect((await ask(server, method, `/api/v2/stacks/${stackID}${path}?orgID=${orgID}`, "tok")).status).toBe(path === "" ? 204 : 200);
    expect(await listed()).toEqual([]);
  }
});

test("a stack that has a system bucket can be deleted, and the bucket stays", async () => {
  const object = (name: string) => ({
    apiVersion: "influxdata.com/v2alpha1",
    kind: "Bucket",
    metadata: { name: name.replace("_", "") },
    spec: { name },
  });
  const apply = (contents: object[], stackID?: string) =>
    ask(server, "POST", "/api/v2/templates/apply", "tok", { orgID, template: { contents }, ...(stackID === undefined ? {} : { stackID }) });
  const names = async () =>
    (await ask(server, "GET", `/api/v2/buckets?orgID=${orgID}`, "tok")).body.buckets.map(({ name }: { name: string }) => name).sort();
  const before = await names();
  for (const path of ["/uninstall", ""]) {
    const { stackID } = (await apply([object("_tasks"), object("of-the-stack")])).body;
    expect(await names()).toEqual([...before, "of-the-stack"].sort());
    const method = path === "" ? "DELETE" : "POST";
    expect((await ask(server, method, `/api/v2/stacks/${stackID}${path}?orgID=${orgID}`, "tok")).status).toBe(path === "" ? 204 : 200);
    expect(await names()).toEqual(before);
  }
  const { stackID } = (await apply([object("_tasks")])).body;
  expect((await apply([object("another")], stackID)).status).toBe(201);
  expect(await names()).toEqual(["another", ...before].sort());
  expect((await ask(server, "DELETE", `/api/v2/stacks/${stackID}?orgID=${orgID}`, "tok")).status).toBe(204);
  expect(await names()).toEqual(before);
});

test("associations of a label are not read, those of others name labels of the template", async () => {
  const associations = [{ kind: "Label", name: "nowhere" }];
  const { errors, diff } = await shown("Label", { name: "own", associations });
  expect([errors, diff.labels.length, diff.labelMappings]).toEqual([undefined, 1, []]);
  const reason = 'label "nowhere" does not exist in pkg';
  expect((await shown("Bucket", { name: "own", associations })).errors).toEqual([
    { kind: "Bucket", fields: ["root", "associations"], idxs: [0, 0], reason },
  ]);
});

test("the configuration of an agent in a template is text, whether it is TOML or not", async () => {
  const contents = [
    { apiVersion: "influxdata.com/v2alpha1", kind: "Telegraf", metadata: { name: "free" }, spec: { name: "free", config: "not = [toml" } },
  ];
  const applied = await ask(server, "POST", "/api/v2/templates/apply", "tok", { orgID, template: { contents } });
  expect(applied.status).toBe(201);
  const { configurations } = (await ask(server, "GET", "/api/v2/telegrafs", "tok")).body;
  expect(configurations.map((each: { config: string; metadata: unknown }) => [each.config, each.metadata])).toEqual([
    ["not = [toml", { buckets: [] }],
  ]);
});

test("a check that is there is replaced by the template's", async () => {
  const query = 'from(bucket: "bucket") |> range(start: -1h) |> filter(fn: (r) => r._field == "f")';
  for (const value of [1, 2]) {
    const thresholds = [{ type: "greater", level: "CRIT", value }];
    const spec = { name: "replaced", every: "1h", query, statusMessageTemplate: "m", thresholds };
    const contents = [{ apiVersion: "influxdata.com/v2alpha1", kind: "CheckThreshold", metadata: { name: "named" }, spec }];
    expect((await ask(server, "POST", "/api/v2/templates/apply", "tok", { orgID, template: { contents } })).status).toBe(201);
  }
  const { checks } = (await ask(server, "GET", `/api/v2/checks?orgID=${orgID}&name=replaced`, "tok")).body;
  expect(checks.map(({ thresholds }: { thresholds: { value: number }[] }) => thresholds.map(({ value }) => value))).toEqual([[2]]);
});

test.each([
  [{}, null],
  [{ values: ["a"] }, null],
  [{ type: ["constant"], values: ["a"] }, null],
  [{ type: { envRef: { key: "k", default: "constant" } }, values: ["a"] }, null],
  [
    { type: "Nope", values: ["a"] },
    { type: "nope", values: null },
  ],
  [{ type: 5 }, { type: "5", values: null }],
  [
    { type: " constant ", values: ["a"] },
    { type: "constant", values: ["a"] },
  ],
  [
    { type: "constant", values: [true, 1.5, 2e30, "", ["x"], null] },
    { type: "constant", values: ["1.5", "2000000000000000000000000000000", ""] },
  ],
  [
    { type: "map", values: { a: true, b: 1.5, c: "", d: { e: 1 } } },
    { type: "map", values: { b: "1.5", c: "" } },
  ],
  [
    { type: "QUERY", query: 5, language: "FLUX" },
    { type: "query", values: { query: "5", language: "flux" } },
  ],
])("a variable with %j is planned", async (spec, args) => {
  const { errors, diff, summary } = await shown("Variable", spec);
  expect([errors, diff.variables[0].new.args, summary.variables[0].arguments]).toEqual([undefined, args, args]);
});

test.each([
  [{ type: "constant", values: { a: 1 } }, [["values", "constant variable must have a least 1 value provided"]]],
  [{ type: "map", values: ["a"] }, [["values", "map variable must have at least 1 key/val pair"]]],
  [
    { type: "query", query: ["a"], language: "sql" },
    [
      ["query", "query variable must provide a query string"],
      ["language", 'query variable language must be either "influxql" or "flux"; got "sql"'],
    ],
  ],
])("a variable with %j is not", async (spec, wanted) => {
  const { errors } = await shown("Variable", spec);
  const issueOf = ([field, reason]: string[]) => ({
    kind: "Variable",
    fields: ["root", "spec", field!],
    idxs: [0, null, null],
    reason: reason!,
  });
  expect(errors).toEqual(wanted.map(issueOf));
});

test("what is no text is no description, no name, and nothing that is selected", async () => {
  const plain = { type: "constant", values: ["a"], description: ["x"], name: ["x"] };
  const { summary } = await shown("Variable", { ...plain, selected: [5, null, true, "x"] });
  expect(summary.variables[0]).toMatchObject({ name: "named", description: "", variables: ["5", "x"] });
  expect((await shown("Variable", { ...plain, selected: "a" })).summary.variables[0].variables).toEqual([]);
});

test("a variable without arguments is not made, and a variable that is there keeps its own", async () => {
  const apply = (spec: object) => {
    const contents = [{ apiVersion: "influxdata.com/v2alpha1", kind: "Variable", metadata: { name: "v" }, spec }];
    return ask(server, "POST", "/api/v2/templates/apply", "tok", { orgID, template: { contents } });
  };
  const why = (what: string) =>
    `resource_type="variable" err="failed to apply resource"\n\tmetadata_name="v" err_msg="failed to ${what} variables[\\"v\\"]: invalid arguments type"`;
  for (const spec of [{}, { type: "nope" }]) {
    const { status, body } = await apply(spec);
    expect([status, body.message]).toEqual([500, why("create")]);
  }
  const args = { type: "constant", values: ["a"] };
  const { body: made } = await ask(server, "POST", "/api/v2/variables", "tok", { orgID, name: "v", arguments: args });
  expect((await apply({ description: "d" })).status).toBe(201);
  // the vendor's server keeps such arguments, and can list no variables any more
  expect((await apply({ type: "nope" })).body.message).toBe(why("update"));
  const { body } = await ask(server, "GET", `/api/v2/variables/${made.id}`, "tok");
  expect([body.description, body.arguments]).toEqual(["d", args]);
});

const L = { kind: "Label", name: "l" };
test.each<[unknown, [number, string][], number]>([
  [L, [], 0],
  ["x", [], 0],
  [5, [], 0],
  [null, [], 0],
  [["x", 5, null, [L]], [], 0],
  [[{ kind: "Task", name: "x" }, L], [], 1],
  [[{ kind: "Label", name: { envRef: { key: "k", default: "l" } } }], [], 1],
  [[{ kind: "label", name: "l" }], [[0, "unsupported kind provided"]], 0],
  [[{ kind: 5, name: "l" }], [[0, "unsupported kind provided"]], 0],
  [[{ name: "l" }], [[0, "no kind provided"]], 0],
  [[{ kind: ["Label"], name: "l" }], [[0, "no kind provided"]], 0],
  [[{ kind: "Label", name: ["l"] }], [[0, 'label "" does not exist in pkg']], 0],
  [
    [L, 5, L, L],
    [
      [1, 'duplicate nested label: "ll"'],
      [2, 'duplicate nested label: "ll"'],
    ],
    0,
  ],
  [
    [{ kind: "nope" }, L, L, { kind: "Label", name: "zz" }],
    [
      [0, "unsupported kind provided"],
      [2, 'duplicate nested label: "ll"'],
      [3, 'label "zz" does not exist in pkg'],
    ],
    0,
  ],
])("associations %j", async (associations, wanted, mapped) => {
  const object = (kind: string, name: string, spec: object) => ({ apiVersion: "influxdata.com/v2alpha1", kind, metadata: { name }, spec });
  const contents = [object("Bucket", "bk", { associations }), object("Label", "l", { name: "ll" })];
  const { body } = await ask(server, "POST", "/api/v2/templates/apply", "tok", { orgID, dryRun: true, template: { contents } });
  const issueOf = ([at, reason]: [number, string]) => {
    const place = reason.includes("kind") ? { fields: ["root", "associations", "kind"], idxs: [0, at, null] } : null;
    return { kind: "Bucket", ...(place ?? { fields: ["root", "associations"], idxs: [0, at] }), reason };
  };
  expect([body.errors ?? [], body.summary.labelMappings.length]).toEqual([wanted.map(issueOf), mapped]);
});
