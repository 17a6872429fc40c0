// How much requests of port 8086 may hold, and what is refused as too much changes nothing.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { type LightServer, lightServer } from "../vectors/v2/light-server.ts";
import { ask } from "./v2-ask.ts";

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
let server: LightServer;
let orgID: string;
beforeEach(async () => {
  server = await lightServer();
  orgID = (await ask(server, "POST", "/api/v2/setup", undefined, SETUP)).body.org.id as string;
});
afterEach(() => server.stop());

const send = (method: string, path: string, body?: unknown) => ask(server, method, path, "tok", body);
const numbered = (count: number, value: (i: number) => unknown) => Array.from({ length: count }, (_, i) => value(i));
const members = (count: number) => Object.fromEntries(numbered(count, (i) => [`k${i}`, "v"]) as [string, string][]);

test("a dashboard has 1000 cells, whichever way they come", async () => {
  const cells = numbered(1000, () => ({}));
  const { status, body: made } = await send("POST", "/api/v2/dashboards", { orgID, name: "d", cells });
  expect(status).toBe(201);
  expect((await send("POST", "/api/v2/dashboards", { orgID, name: "d", cells: [...cells, {}] })).status).toBe(400);
  const path = `/api/v2/dashboards/${made.id}`;
  expect((await send("POST", `${path}/cells`, { x: 1 })).status).toBe(413);
  // a cell is there once
  const [first] = made.cells as { id: string }[];
  const { body: twice } = await send("PUT", `${path}/cells`, [{ id: first!.id }, { id: first!.id }]);
  expect(twice.message).toBe("cannot replace cells that were not already present");
  expect((await send("GET", path)).body.cells).toHaveLength(1000);
});

test("a label has 16 KiB, also after changes of its properties", async () => {
  const label = (await send("POST", "/api/v2/labels", { orgID, name: "l", properties: { a: "x".repeat(10_000) } })).body.label;
  const path = `/api/v2/labels/${label.id}`;
  const added = await send("PATCH", path, { properties: { b: "x".repeat(10_000) } });
  expect([added.status, added.body.code]).toEqual([413, "request too large"]);
  expect((await send("POST", "/api/v2/labels", { orgID, name: "x".repeat(20_000) })).status).toBe(413);
  expect((await send("GET", path)).body.label).toEqual(label);
  expect((await send("PATCH", path, { properties: { a: "", b: "x".repeat(10_000) } })).status).toBe(200);
});

test("1000 secrets are stored at once", async () => {
  const path = `/api/v2/orgs/${orgID}/secrets`;
  expect((await send("PATCH", path, members(1001))).body.message).toContain("got 1001 secrets, want at most 1000");
  expect((await send("GET", path)).body.secrets).toEqual([]);
  expect((await send("PATCH", path, members(1000))).status).toBe(204);
  expect((await send("GET", path)).body.secrets).toHaveLength(1000);
});

test("the script of a task has 262,144 characters, as in templates; a long one keeps its form when its schedule is changed", async () => {
  const head = 'option task={name:"t",every:1h}\nx = "';
  const flux = (length: number) => `${head}${"x".repeat(length - head.length - 1)}"`;
  const refused = await send("POST", "/api/v2/tasks", { orgID, flux: flux(262_145) });
  expect([refused.status, refused.body.code]).toEqual([413, "request too large"]);
  const { status, body } = await send("POST", "/api/v2/tasks", { orgID, flux: flux(262_144), status: "inactive" });
  expect(status).toBe(201);
  const path = `/api/v2/tasks/${body.id}`;
  expect((await send("PATCH", path, { flux: flux(262_145) })).status).toBe(413);
  const changed = await send("PATCH", path, { every: "2h" });
  expect([changed.status, changed.body.every]).toEqual([200, "2h"]);
  expect(changed.body.flux).toBe(flux(262_144).replace("every:1h", "every: 2h"));
  const short = await send("PATCH", path, { flux: flux(100), every: "3h" });
  expect(short.body.flux).toStartWith('option task = {name: "t", every: 3h}\n');
});

test("an annotation has 100 stickers, and an agent of old clients 1000 plugins", async () => {
  const annotate = async (count: number) =>
    (await send("POST", `/api/v2private/annotations?orgID=${orgID}`, [{ summary: "s", stickers: members(count) }])).status;
  expect([await annotate(100), await annotate(101)]).toEqual([200, 400]);
  const plugins = numbered(1001, (i) => ({ type: "input", name: `n${i}` }));
  expect((await send("POST", "/api/v2/telegrafs", { orgID, name: "t", plugins })).status).toBe(400);
  expect((await send("POST", "/api/v2/telegrafs", { orgID, name: "t", plugins: plugins.slice(1) })).status).toBe(201);
});

test.each<[string, string, string, object]>([
  ["/api/v2/orgs", "description", "organization", {}],
  ["/api/v2/users", "name", "user", {}],
  ["/api/v2/buckets", "description", "bucket", {}],
  ["/api/v2/buckets", "name", "bucket", {}],
  ["/api/v2/remotes", "description", "remote", { remoteURL: "http://h", remoteAPIToken: "t", remoteOrgID: "0000000000000001" }],
])("%s: the %s has a length, also when it is changed", async (path, member, what, others) => {
  const made = async (length: number) => send("POST", path, { orgID, name: `n${length}`, ...others, [member]: "x".repeat(length) });
  const long = await made(70_000);
  expect([long.status, long.body.code]).toEqual([413, "request too large"]);
  expect(long.body.message).toContain(what);
  const { body } = await made(60_000);
  const changed = async (length: number) => (await send("PATCH", `${path}/${body.id}`, { [member]: "y".repeat(length) })).status;
  expect([await changed(70_000), await changed(60_000)]).toEqual([413, 200]);
});

test("dashboards of an owner are found by what the user owns", async () => {
  const { body: ann } = await send("POST", "/api/v2/users", { name: "ann" });
  const ids: string[] = [];
  for (const name of ["a", "b", "c"]) ids.push((await send("POST", "/api/v2/dashboards", { orgID, name })).body.id);
  await send("POST", `/api/v2/dashboards/${ids[1]}/owners`, { id: ann.id });
  await send("POST", `/api/v2/dashboards/${ids[2]}/members`, { id: ann.id });
  const { body } = await send("GET", `/api/v2/dashboards?ownerID=${ann.id}`);
  expect(body.dashboards.map(({ id }: { id: string }) => id)).toEqual([ids[1]!]);
});

test("all records together have a size: what makes them larger is refused, and what makes them smaller is not", async () => {
  const small = await lightServer({ recordBytesMax: 4 << 20 });
  const { org } = (await ask(small, "POST", "/api/v2/setup", undefined, SETUP)).body;
  const post = (spec: object) => ask(small, "POST", "/api/v2private/notebooks", "tok", { orgID: org.id, name: "n", spec });
  const spec = { text: "x".repeat(900_000) };
  const answers = [];
  for (let i = 0; i < 8; i++) answers.push(await post(spec));
  const refused = answers.filter(({ status }) => status === 422);
  expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([4, 4]);
  expect(refused[0]!.body.message).toContain("may take 4194304: delete what nobody uses");
  const ids = (await ask(small, "GET", `/api/v2private/notebooks?orgID=${org.id}`, "tok")).body.flows.map(({ id }: { id: string }) => id);
  expect(ids).toHaveLength(4);
  const put = async (id: string, content: object) =>
    (await ask(small, "PUT", `/api/v2private/notebooks/${id}`, "tok", { orgID: org.id, name: "n", spec: content })).status;
  const larger = await Promise.all(ids.map((id: string) => put(id, { ...spec, more: "x".repeat(140_000) })));
  expect(new Set(larger)).toEqual(new Set([200, 422]));
  for (const id of ids) expect(await put(id, spec)).toBe(200);
  expect(await put(ids[0], {})).toBe(200);
  expect((await post(spec)).status).toBe(200);
  expect((await ask(small, "DELETE", `/api/v2private/notebooks/${ids[1]}`, "tok")).status).toBe(204);
  expect((await post(spec)).status).toBe(200);
  await small.stop();
});
