// Exports by labels and by names: what release 2.8.0 exports of the same resources.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { LightServer } from "../vectors/v2/light-server.ts";
import { object, of, QUERY, TemplateServer } from "./template-server.ts";
import { ask } from "./v2-ask.ts";

const LABELS = ["l-zed", "l-alpha"].map((name) => ({ kind: "Label", name }));
let server: LightServer;
let orgID: string;
beforeAll(async () => {
  const templates = await TemplateServer.start();
  ({ server, orgID } = templates);
  const made = await templates.apply(
    of([
      ...LABELS.map(({ name }) => object("Label", name, { name })),
      object("Bucket", "metrics", { name: "metrics", associations: LABELS }),
      object("Dashboard", "board", { name: "board", charts: [] }),
    ]),
  );
  expect(made.status).toBe(201);
  const common = { orgID, status: "active", offset: "90s", statusMessageTemplate: "m", query: { text: QUERY } };
  const check = { ...common, name: "silent", type: "deadman", every: "2m", timeSince: "90s", staleTime: "1h", level: "CRIT" };
  expect((await ask(server, "POST", "/api/v2/checks", "tok", check)).status).toBe(201);
  const flux = 'option task = {name: "hourly", every: 1h, offset: 5m}\nfrom(bucket: "metrics") |> range(start: -1h)';
  for (let i = 0; i < 2; i++) expect((await ask(server, "POST", "/api/v2/tasks", "tok", { orgID, flux })).status).toBe(201);
});
afterAll(() => server.stop());

const exported = async (body: object) => (await ask(server, "POST", "/api/v2/templates/export", "tok", body)).body;
const named = (kind: string, name: string) => exported({ resources: [{ kind, name }] });

test("a filter by labels is also one of the labels that come with a resource", async () => {
  const kinds = { byResourceKind: ["Bucket"] };
  const [label, bucket] = await exported({ orgIDs: [{ orgID, resourceFilters: { ...kinds, byLabel: ["l-alpha", "other"] } }] });
  expect([label.spec.name, bucket.spec.associations]).toEqual(["l-alpha", [{ kind: "Label", name: label.metadata.name }]]);
  expect(await exported({ orgIDs: [{ orgID, resourceFilters: kinds }] })).toHaveLength(4);
});

test("of labels those of the filter are meant, or all where none has such a name", async () => {
  const labels = async (...byLabel: readonly string[]) => {
    const found = await exported({ orgIDs: [{ orgID, resourceFilters: { byLabel } }] });
    return found.map(({ kind, spec }: { kind: string; spec: { name: string } }) => `${kind} ${spec.name}`);
  };
  expect(await labels("l-alpha")).toEqual(["Label l-alpha", "Bucket metrics"]);
  expect(await labels("l-zed", "other")).toEqual(["Label l-zed", "Bucket metrics"]);
  expect(await labels("other")).toEqual(["Label l-alpha", "Label l-zed"]);
});

test("periods are in hours, minutes and seconds", async () => {
  const [{ spec: check }] = await named("Check", "silent");
  expect(check).toMatchObject({ every: "2m0s", offset: "1m30s", timeSince: "1m30s", staleTime: "1h0m0s" });
  const [{ spec: task }] = await named("Task", "hourly");
  expect(task).toMatchObject({ every: "1h", offset: "5m0s" });
});

test("by their names", async () => {
  expect(await named("Task", "hourly")).toHaveLength(2);
  expect(await named("Dashboard", "board")).toMatchObject([{ kind: "Dashboard", spec: { name: "board" } }]);
  expect(await named("Label", "other")).toEqual([]);
  expect(await named("Dashboard", "other")).toEqual({ code: "not found", message: 'no dashboards found for name "other"' });
});

test("an empty id of a stack is none; a resource needs a kind, and an id or a name", async () => {
  const exported = async (body: object) => {
    const { status, body: answer } = await ask(server, "POST", "/api/v2/templates/export", "tok", body);
    return [status, answer.message];
  };
  expect(await exported({ stackID: "" })).toEqual([422, "at least 1 resource, 1 org id, or stack id must be provided"]);
  expect(await exported({ stackID: "", resources: [{ kind: "Label", name: "none" }] })).toEqual([200, undefined]);
  expect(await exported({ resources: [{}] })).toEqual([400, "invalid kind"]);
  expect(await exported({ resources: [{ kind: "Label" }] })).toEqual([400, "must provide an ID or name"]);
});
