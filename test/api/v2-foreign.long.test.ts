// Ids of another organization in every route of port 8086, and tokens whose user is inactive or deleted.
import { describe, expect, test } from "bun:test";
import type { LightServer } from "../vectors/v2/light-server.ts";
import { OPERATOR, pathOf, world } from "./v2-access-world.ts";
import { ask } from "./v2-ask.ts";
import { OPERATORS, OTHER_ROUTES, type RouteRow, V2_ROUTES, type World } from "./v2-routes.ts";

const TYPES = [
  "authorizations",
  "buckets",
  "dashboards",
  "orgs",
  "sources",
  "tasks",
  "telegrafs",
  "users",
  "variables",
  "secrets",
  "labels",
];
const MORE_TYPES = ["views", "documents", "notificationRules", "notificationEndpoints", "checks", "dbrp", "notebooks", "annotations"];

interface Foreign {
  readonly server: LightServer;
  readonly ids: World;
  readonly otherID: string;
  /** Everything in the other organization, and every user. */
  readonly token: string;
}

async function foreign(): Promise<Foreign> {
  const { server, world: ids } = await world();
  const otherID = (await ask(server, "POST", "/api/v2/orgs", OPERATOR, { name: "o2" })).body.id as string;
  const permissions = [...TYPES, ...MORE_TYPES].flatMap((type) => {
    const resource = type === "users" ? { type } : type === "orgs" ? { type, id: otherID } : { type, orgID: otherID };
    return ["read", "write"].map((action) => ({ action, resource }));
  });
  const made = await ask(server, "POST", "/api/v2/authorizations", OPERATOR, { orgID: otherID, permissions });
  expect(made.status).toBe(201);
  return { server, ids, otherID, token: made.body.token };
}

/** What a route needs beside users, whom no organization has. */
const needsOrganization = (row: RouteRow, ids: World) =>
  (row.needs?.(ids) ?? []).some(({ resource }) => resource.type !== "users" && (resource.id ?? resource.orgID) !== undefined);

const NAMED = V2_ROUTES.filter(({ isOpen }) => isOpen === undefined).map((row) => [`${row.method} ${row.route}`, row] as const);

describe("everything of one organization, about another", () => {
  test.each(NAMED)("%s", async (_, row) => {
    const { server, ids, token } = await foreign();
    if (!needsOrganization(row, ids)) return;
    const before = server.catalog.version;
    const method = row.method === "ALL" ? "GET" : row.method;
    const answer = await ask(server, method, pathOf(row, ids), token, row.body?.(ids));
    if (row.isFiltered && answer.status === 200) {
      const { userID: _user, otherUserID: _other, ...things } = ids;
      for (const id of Object.values(things)) expect(JSON.stringify({ ...answer.body, links: null })).not.toContain(id);
    } else {
      expect([400, 403, 404], `${answer.status} ${answer.text}`).toContain(answer.status);
    }
    expect(server.catalog.version).toBe(before);
    expect(server.reports).toEqual([]);
  });

  test("its ids inside of what belongs to the sender", async () => {
    const { server, ids, otherID, token } = await foreign();
    const mine = (await ask(server, "POST", "/api/v2/buckets", token, { orgID: otherID, name: "mine" })).body;
    const before = server.catalog.version;
    const read = (resource: object) => ({ orgID: otherID, permissions: [{ action: "read", resource }] });
    for (const [method, path, body] of [
      ["POST", `/api/v2/buckets/${mine.id}/labels`, { labelID: ids.labelID }],
      ["POST", "/api/v2/dbrps", { orgID: otherID, bucketID: ids.bucketID, database: "x", retention_policy: "y" }],
      ["POST", "/api/v2/dbrps", { orgID: ids.orgID, bucketID: mine.id, database: "x", retention_policy: "y" }],
      ["POST", "/api/v2/authorizations", read({ type: "buckets", id: ids.bucketID, orgID: ids.orgID })],
      ["POST", "/api/v2/authorizations", read({ type: "buckets", id: ids.bucketID })],
      ["POST", "/api/v2/authorizations", { ...read({ type: "buckets", orgID: otherID }), orgID: ids.orgID }],
      ["POST", "/private/legacy/authorizations", { ...read({ type: "buckets", id: ids.bucketID, orgID: ids.orgID }), token: "v" }],
      ["PATCH", `/api/v2/dbrps/${ids.dbrpID}?orgID=${otherID}`, { default: true }],
      ["DELETE", `/api/v2/dbrps/${ids.dbrpID}?orgID=${otherID}`],
      ["DELETE", `/api/v2/buckets/${ids.bucketID}?orgID=${otherID}`],
      ["POST", `/api/v2/delete?orgID=${otherID}&bucketID=${ids.bucketID}`, { start: "2020-01-01T00:00:00Z", stop: "2021-01-01T00:00:00Z" }],
      ["POST", `/api/v2/write?orgID=${otherID}&bucket=${ids.bucketID}`, "m v=1"],
    ] as const) {
      const answer = await ask(server, method, path, token, body);
      // no such dbrp, or no permission to delete it: 204 tells nothing
      const allowed = method === "DELETE" && path.startsWith("/api/v2/dbrps") ? [204, 403, 404] : [400, 403, 404];
      expect(allowed, `${method} ${path} ${answer.status} ${answer.text}`).toContain(answer.status);
    }
    expect(server.catalog.version).toBe(before);
  });

  test("a permission that claims another organization's bucket for its own gives nothing", async () => {
    const { server, ids, otherID, token } = await foreign();
    for (const action of ["read", "write"]) {
      const resource = { type: "buckets", id: ids.bucketID, orgID: otherID };
      const made = await ask(server, "POST", "/api/v2/authorizations", token, { orgID: otherID, permissions: [{ action, resource }] });
      expect(made.status).toBe(201);
      for (const [method, path, body] of [
        ["GET", `/api/v2/buckets/${ids.bucketID}`],
        ["PATCH", `/api/v2/buckets/${ids.bucketID}`, {}],
        ["DELETE", `/api/v2/buckets/${ids.bucketID}`],
        ["POST", `/api/v2/write?org=o&bucket=${ids.bucketID}`, "m v=1"],
        ["POST", `/api/v2/write?org=o2&bucket=${ids.bucketID}`, "m v=1"],
        ["POST", `/api/v2/delete?org=o&bucketID=${ids.bucketID}`, { start: "2020-01-01T00:00:00Z", stop: "2021-01-01T00:00:00Z" }],
      ] as const) {
        const answer = await ask(server, method, path, made.body.token, body);
        expect([403, 404], `${action}: ${method} ${path} ${answer.status}`).toContain(answer.status);
      }
    }
  });
});

describe("tokens and sessions of a user who is inactive, or deleted", () => {
  const routes = [
    ...NAMED.map(([, { method, route }]) => [method, route] as const),
    ...OTHER_ROUTES.filter(([, route]) => route.startsWith("/api/") && !route.endsWith("/password")),
    ...OPERATORS,
  ];

  test.each(["inactive", "deleted"])("%s: no route answers anything else", async (how) => {
    const { server, world: ids } = await world();
    const { permissions } = (await ask(server, "GET", "/api/v2/authorizations", OPERATOR)).body.authorizations[0];
    const made = { orgID: ids.orgID, userID: ids.otherUserID, permissions };
    const token = (await ask(server, "POST", "/api/v2/authorizations", OPERATOR, made)).body.token as string;
    await ask(server, "POST", `/api/v2/users/${ids.otherUserID}/password`, OPERATOR, { password: "password12" });
    const basic = { authorization: `Basic ${btoa("ann:password12")}` };
    const cookie = (await ask(server, "POST", "/api/v2/signin", undefined, undefined, basic)).headers.get("set-cookie")!.split(";")[0]!;
    expect((await ask(server, "GET", "/api/v2/buckets", token)).status).toBe(200);
    expect((await ask(server, "GET", "/api/v2/buckets", undefined, undefined, { cookie })).status).toBe(200);
    const path = `/api/v2/users/${ids.otherUserID}`;
    if (how === "deleted") expect((await ask(server, "DELETE", path, OPERATOR)).status).toBe(204);
    else expect((await ask(server, "PATCH", path, OPERATOR, { status: "inactive" })).status).toBe(200);
    const before = server.catalog.version;
    // a deleted user's tokens go with the user
    const wanted = how === "deleted" ? [401, 403] : [403];
    for (const [method, route] of routes) {
      const asked = pathOf({ route }, ids).replace(/:\w+/g, ids.bucketID);
      const body = ["POST", "PUT", "PATCH"].includes(method) ? "{}" : undefined;
      for (const [sender, answer] of [
        ["token", await ask(server, method === "ALL" ? "GET" : method, asked, token, body)],
        ["session", await ask(server, method === "ALL" ? "GET" : method, asked, undefined, body, { cookie })],
      ] as const) {
        expect(wanted, `${sender}: ${method} ${asked} ${answer.status} ${answer.text}`).toContain(answer.status);
        if (answer.status === 403) expect(answer.body.message).toBe("User is inactive");
      }
    }
    for (const asked of ["/query?db=d&q=SHOW+DATABASES", `/query?db=d&q=SHOW+DATABASES&u=ann&p=${token}`]) {
      expect((await ask(server, "GET", asked, token)).status, asked).toBe(401);
    }
    expect((await ask(server, "POST", "/write?db=d", token, "m v=1")).status).toBe(401);
    expect(server.catalog.version).toBe(before);
    expect(server.reports).toEqual([]);
  });
});
