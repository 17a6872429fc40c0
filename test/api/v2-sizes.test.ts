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

test("an annotation has 100 stickers, and an agent of old clients 1000 plugins", async () => {
  const annotate = async (count: number) =>
    (await send("POST", `/api/v2private/annotations?orgID=${orgID}`, [{ summary: "s", stickers: members(count) }])).status;
  expect([await annotate(100), await annotate(101)]).toEqual([200, 400]);
  const plugins = numbered(1001, (i) => ({ type: "input", name: `n${i}` }));
  expect((await send("POST", "/api/v2/telegrafs", { orgID, name: "t", plugins })).status).toBe(400);
  expect((await send("POST", "/api/v2/telegrafs", { orgID, name: "t", plugins: plugins.slice(1) })).status).toBe(201);
});

test("dashboards of an owner are found by what the user owns", async () => {
  const { body: ann } = await send("POST", "/api/v2/users", { name: "ann" });
  const ids: string[] = [];
  for (const name of ["a", "b", "c"]) ids.push((await send("POST", "/api/v2/dashboards", { orgID, name })).body.id);
  await send("POST", `/api/v2/dashboards/${ids[1]}/owners`, { id: ann.id });
  await send("POST", `/api/v2/dashboards/${ids[2]}/members`, { id: ann.id });
  const { body } = await send("GET", `/api/v2/dashboards?owner=${ann.id}`);
  expect(body.dashboards.map(({ id }: { id: string }) => id)).toEqual([ids[1]!]);
});
