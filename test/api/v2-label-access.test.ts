// Who sees and changes the labels of a resource: of most who may read or write it, of buckets and dashboards who may do the same with
// labels too. Which are which was asked of a server of release 2.8.0, which asks for no permission where the resource decides here.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { OPERATOR, world } from "./v2-access-world.ts";
import { ask } from "./v2-ask.ts";

let made: Awaited<ReturnType<typeof world>>;
beforeAll(async () => {
  made = await world();
});
afterAll(() => made.server.stop());

const send = (method: string, path: string, token: string, body?: unknown) => ask(made.server, method, path, token, body);

/** A token with these permissions in the organization. */
async function tokenFor(...permissions: readonly (readonly [action: string, type: string])[]): Promise<string> {
  const { orgID } = made.world;
  const body = { orgID, permissions: permissions.map(([action, type]) => ({ action, resource: { type, orgID } })) };
  return (await send("POST", "/api/v2/authorizations", OPERATOR, body)).body.token as string;
}

async function newLabel(name: string, orgID = made.world.orgID): Promise<string> {
  return (await send("POST", "/api/v2/labels", OPERATOR, { orgID, name })).body.label.id as string;
}

const DECIDING: readonly (readonly [type: string, id: string])[] = [
  ["tasks", "taskID"],
  ["telegrafs", "telegrafID"],
  ["variables", "variableID"],
  ["checks", "checkID"],
  ["notificationEndpoints", "endpointID"],
  ["notificationRules", "ruleID"],
  ["scrapers", "scraperTargetID"],
];

describe.each(DECIDING)("%s", (type, id) => {
  const pathOf = () => `/api/v2/${type}/${(made.world as unknown as Record<string, string>)[id]}/labels`;

  test("who may write it labels it, and who may read it sees its labels", async () => {
    const [path, labelID] = [pathOf(), await newLabel(`of ${type}`)];
    const writer = await tokenFor(["read", type], ["write", type]);
    const reader = await tokenFor(["read", type]);
    expect((await send("POST", path, reader, { labelID })).status).toBe(403);
    expect((await send("POST", path, writer, { labelID })).status).toBe(201);
    const seen = (await send("GET", path, reader)).body.labels.map(({ name }: { name: string }) => name);
    expect(seen).toEqual([`of ${type}`]);
    expect((await send("DELETE", `${path}/${labelID}`, reader)).status).toBe(403);
    expect((await send("DELETE", `${path}/${labelID}`, writer)).status).toBe(204);
    expect((await send("GET", path, OPERATOR)).body.labels).toEqual([]);
  });

  test("not with the label of another organization, and not without its own permission", async () => {
    const path = pathOf();
    const other = (await send("POST", "/api/v2/orgs", OPERATOR, { name: `other than ${type}` })).body.id as string;
    const writer = await tokenFor(["read", type], ["write", type]);
    const foreign = await send("POST", path, writer, { labelID: await newLabel("foreign", other) });
    expect([foreign.status, foreign.body.code]).toEqual([403, "forbidden"]);
    const labelID = await newLabel(`unseen of ${type}`);
    await send("POST", path, OPERATOR, { labelID });
    const stranger = await tokenFor(["read", "orgs"]);
    const listed = await send("GET", path, stranger);
    expect([listed.status, listed.body.labels]).toEqual([200, []]);
    expect((await send("POST", path, stranger, { labelID })).status).toBe(404);
    await send("DELETE", `${path}/${labelID}`, OPERATOR);
  });
});

test.each([
  ["buckets", "bucketID"],
  ["dashboards", "dashboardID"],
])("%s: labels need their own permissions", async (type, id) => {
  const path = `/api/v2/${type}/${(made.world as unknown as Record<string, string>)[id]}/labels`;
  const labelID = await newLabel(`of ${type}`);
  const writer = await tokenFor(["read", type], ["write", type]);
  expect((await send("POST", path, writer, { labelID })).status).toBe(403);
  await send("POST", path, OPERATOR, { labelID });
  expect((await send("GET", path, writer)).body.labels).toEqual([]);
  const both = await tokenFor(["read", type], ["write", type], ["read", "labels"], ["write", "labels"]);
  expect((await send("GET", path, both)).body.labels.map(({ name }: { name: string }) => name)).toEqual([`of ${type}`]);
});
