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
