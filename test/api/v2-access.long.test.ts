// Access to port 8086: nothing without credentials, 403 or nothing to be seen without a permission, all of it with those of the table.
import { describe, expect, test } from "bun:test";
import { createV2App } from "../../src/api/v2/app/app.ts";
import type { LightServer } from "../vectors/v2/light-server.ts";
import { OPERATOR, pathOf, world } from "./v2-access-world.ts";
import { ask } from "./v2-ask.ts";
import { type NeededPermission, OPERATORS, OTHER_ROUTES, V2_ROUTES, type World } from "./v2-routes.ts";

async function tokenWith(server: LightServer, { orgID, userID }: World, permissions: readonly NeededPermission[]): Promise<string> {
  // no route needs it
  const held = permissions.length > 0 ? permissions : [{ action: "read", resource: { type: "views", orgID } }];
  const body = { orgID, userID, permissions: held };
  return (await ask(server, "POST", "/api/v2/authorizations", OPERATOR, body)).body.token as string;
}

const listed = (body: Record<string, unknown>) => Object.values(body).filter(Array.isArray).flat();
const NAMED = V2_ROUTES.filter(({ isOpen }) => isOpen === undefined).map((row) => [`${row.method} ${row.route}`, row] as const);

test("the table has every route", async () => {
  const { server } = await world();
  const app = createV2App({ line: () => server.line, options: {}, now: () => 0 } as never);
  const known = app.routes.map(({ method, path }) => `${method} ${path}`).sort();
  const tabled = [...V2_ROUTES.map(({ method, route }) => `${method} ${route}`), ...OTHER_ROUTES.map((row) => row.join(" "))].sort();
  expect(tabled).toEqual(known);
});

const ANY = new Set(NAMED.flatMap(([, { method, route }]) => (method === "HEAD" || method === "ALL" ? [route] : [])));
const HEADLESS = new Map(NAMED.flatMap(([, row]) => (ANY.has(row.route) ? [] : [[row.route, row] as const])));

test.each([...HEADLESS])("HEAD %s is refused", async (_, row) => {
  const { server, world: ids } = await world();
  const url = `${server.base}${pathOf(row, ids)}`;
  const head = (headers: Record<string, string>) => server.send(new Request(url, { method: "HEAD", headers }));
  expect((await head({})).status).toBe(401);
  const answer = await head({ authorization: `Token ${OPERATOR}` });
  expect([answer.status, await answer.text(), server.reports]).toEqual([405, "", []]);
});

describe("routes", () => {
  test.each(NAMED)("%s", async (_, row) => {
    const { server, world: ids } = await world();
    const path = pathOf(row, ids);
    const method = row.method === "ALL" ? "GET" : row.method;
    const body = () => row.body?.(ids);
    const without = await ask(server, method, path, undefined, body());
    expect([without.status, without.body.code]).toEqual([401, "unauthorized"]);
    expect((await ask(server, method, path, "wrong", body())).status).toBe(401);
    const needs = row.needs!(ids);
    const leavesOut = row.isFiltered === true || row.isEmptyUnseen === true;
    for (const [i] of needs.entries()) {
      const token = await tokenWith(
        server,
        ids,
        needs.filter((_, k) => k !== i),
      );
      const refused = await ask(server, method, path, token, body());
      if (leavesOut) expect([refused.status, listed(refused.body)]).toEqual([200, []]);
      else expect([403, 404]).toContain(refused.status);
      expect(refused.headers.get("x-platform-error-code")).toBe(leavesOut ? null : refused.body.code);
    }
    const token = await tokenWith(server, ids, needs);
    const inactive = await tokenWith(server, ids, needs);
    const all = (await ask(server, "GET", "/api/v2/authorizations", OPERATOR)).body.authorizations as { id: string; token: string }[];
    const { id } = all.find((each) => each.token === inactive)!;
    await ask(server, "PATCH", `/api/v2/authorizations/${id}`, OPERATOR, { status: "inactive" });
    if (needs.length > 0) {
      const refused = await ask(server, method, path, inactive, body());
      if (leavesOut) expect(listed(refused.body)).toEqual([]);
      else expect([403, 404]).toContain(refused.status);
    }
    const allowed = await ask(server, method, path, token, body());
    expect([allowed.status, allowed.text]).toEqual([row.status ?? 200, expect.anything()]);
    if (row.isFiltered) expect(listed(allowed.body).length).toBeGreaterThan(0);
    expect(server.reports).toEqual([]);
  });
});

test("the configuration is the operator's", async () => {
  const { server, world: ids } = await world();
  expect((await ask(server, "GET", "/api/v2/config")).status).toBe(401);
  const everything = await tokenWith(server, ids, [{ action: "read", resource: { type: "orgs" } }]);
  expect((await ask(server, "GET", "/api/v2/config", everything)).status).toBe(403);
  expect((await ask(server, "GET", "/api/v2/config", OPERATOR)).status).toBe(200);
});

test.each(OPERATORS)("%s %s asks for every permission of the operator's", async (method, route) => {
  const { server, world: ids } = await world();
  const path = route.replace(":shardID", "1").replace(":bucketID", ids.bucketID);
  expect((await ask(server, method, path)).status).toBe(401);
  // a manifest is read before anybody is asked for permissions
  const body = method === "GET" ? undefined : /bucket-?[Mm]etadata$/.test(path) ? { organizationID: ids.orgID } : "x";
  const { permissions } = (await ask(server, "GET", "/api/v2/authorizations", OPERATOR)).body.authorizations[0];
  for (const missing of [0, permissions.length - 1]) {
    const held = permissions.filter((_: unknown, i: number) => i !== missing);
    const refused = await ask(server, method, path, await tokenWith(server, ids, held), body);
    expect([refused.status, refused.body.code]).toEqual([403, "forbidden"]);
  }
  // the rest is for a server with rows
  const admitted = await ask(server, method, path, await tokenWith(server, ids, permissions), body);
  expect([400, 501]).toContain(admitted.status);
});

test("a token of one organization does nothing in another one", async () => {
  const { server, world: ids } = await world();
  const { id: other } = (await ask(server, "POST", "/api/v2/orgs", OPERATOR, { name: "o2" })).body;
  const types = ["buckets", "authorizations", "secrets", "labels"];
  const permissions = types.flatMap((type) => [
    { action: "read", resource: { type, orgID: ids.orgID } } as const,
    { action: "write", resource: { type, orgID: ids.orgID } } as const,
  ]);
  const token = await tokenWith(server, ids, permissions);
  const bucket = (await ask(server, "POST", "/api/v2/buckets", OPERATOR, { orgID: other, name: "theirs" })).body;
  for (const [method, path, body] of [
    ["POST", "/api/v2/buckets", { orgID: other, name: "x" }],
    ["GET", `/api/v2/buckets/${bucket.id}`],
    ["PATCH", `/api/v2/buckets/${bucket.id}`, { name: "x" }],
    ["DELETE", `/api/v2/buckets/${bucket.id}`],
    ["POST", "/api/v2/authorizations", { orgID: other, permissions: [{ action: "read", resource: { type: "buckets", orgID: other } }] }],
  ] as const) {
    expect((await ask(server, method, path, token, body)).status, `${method} ${path}`).toBe(403);
  }
  expect((await ask(server, "GET", `/api/v2/orgs/${other}/secrets`, token)).status).toBe(404);
  expect(listed((await ask(server, "GET", "/api/v2/buckets?org=o2", token)).body)).toEqual([]);
  // nor does a new token carry more than its maker has
  for (const resource of [{ type: "buckets" }, { type: "orgs", id: other }, { type: "instance" }]) {
    const wanted = { orgID: ids.orgID, userID: ids.userID, permissions: [{ action: "read", resource }] };
    expect((await ask(server, "POST", "/api/v2/authorizations", token, wanted)).status).toBe(403);
  }
});
