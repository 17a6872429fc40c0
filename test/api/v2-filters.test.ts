// Filters of lists, and bodies that change a part: the answers are those of a server of release 2.8.0 to the same requests.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type LightServer, lightServer } from "../vectors/v2/light-server.ts";
import { ask } from "./v2-ask.ts";

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const FLUX = 'import "array"\noption task = {name: "t", every: 1h}\narray.from(rows: [{v: 1}])';
let server: LightServer;
let orgID: string;
let userID: string;
let otherID: string;
beforeAll(async () => {
  server = await lightServer();
  const { body } = await ask(server, "POST", "/api/v2/setup", undefined, SETUP);
  [orgID, userID] = [body.org.id, body.user.id];
  otherID = (await send("POST", "/api/v2/orgs", { name: "o2" })).body.id;
});
afterAll(() => server.stop());

const send = (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) =>
  ask(server, method, path, "tok", body, headers);

test.each([
  ["main", ["Main"]],
  ["MAIN", ["Main"]],
  ["%20Main", []],
  ["Mai", []],
])("labels of the name %s", async (name, expected) => {
  await send("POST", "/api/v2/labels", { orgID, name: "Main" });
  const { body } = await send("GET", `/api/v2/labels?name=${name}`);
  expect((body.labels as { name: string }[]).map((label) => label.name)).toEqual(expected);
});

describe("a dashboard", () => {
  const cells = [
    { x: 1, name: "n" },
    { x: 2, w: 1 },
  ];
  const make = async () => (await send("POST", "/api/v2/dashboards", { orgID, name: "d", cells })).body;
  const places = (body: { cells: { id: string; x: number }[] }) => body.cells.map(({ id, x }) => [id, x]);

  test.each([{ cells: [{ x: 7 }] }, { cells: [] }])("is not changed by %j alone", async (changes) => {
    const made = await make();
    const { status, body } = await send("PATCH", `/api/v2/dashboards/${made.id}`, changes);
    expect([status, body.message]).toEqual([400, "must update at least one attribute"]);
    expect(places((await send("GET", `/api/v2/dashboards/${made.id}`)).body)).toEqual(places(made));
  });

  test("loses its cells by an empty list", async () => {
    const { id } = await make();
    expect((await send("PATCH", `/api/v2/dashboards/${id}`, { description: "q", cells: [] })).body.cells).toEqual([]);
  });

  test("keeps them by null", async () => {
    const made = await make();
    expect(places((await send("PATCH", `/api/v2/dashboards/${made.id}`, { name: "q", cells: null })).body)).toEqual(places(made));
  });

  test("has cells of the ids that are given, each once", async () => {
    const made = await make();
    const [first, second] = made.cells;
    const other = "0123456789abcdef";
    const given = [{ id: second.id, x: 7 }, { id: other, x: 8 }, { id: other, x: 9 }, { x: 10 }];
    const { body } = await send("PATCH", `/api/v2/dashboards/${made.id}`, { name: "y", cells: given });
    const ids = (body.cells as { id: string }[]).map(({ id }) => id);
    expect(ids.slice(0, 2)).toEqual([second.id, other]);
    expect(new Set([first.id, ...ids]).size).toBe(5);
    expect(places((await send("GET", `/api/v2/dashboards/${made.id}`)).body)).toEqual(places(body));
    const refused = await send("PATCH", `/api/v2/dashboards/${made.id}`, { name: "y", cells: [{ id: "x" }] });
    expect([refused.status, refused.body.message]).toEqual([400, "id must have a length of 16 bytes"]);
  });

  test("loses all cells by a list that is null", async () => {
    const { id } = await make();
    const { status, body } = await send("PUT", `/api/v2/dashboards/${id}/cells`, "null", { "content-type": "application/json" });
    expect([status, body]).toEqual([201, { cells: [], links: { self: `/api/v2/dashboards/${id}/cells` } }]);
    expect((await send("GET", `/api/v2/dashboards/${id}`)).body.cells).toEqual([]);
  });
});

describe("tasks", () => {
  const orgsOf = async (query: string) => {
    const { body } = await send("GET", `/api/v2/tasks?${query}`);
    return (body.tasks as { orgID: string }[]).map((task) => task.orgID);
  };

  test("of a name and an id of organizations are those of the name", async () => {
    for (const id of [orgID, otherID]) await send("POST", "/api/v2/tasks", { orgID: id, flux: FLUX });
    expect(await orgsOf(`org=o&orgID=${otherID}`)).toEqual([orgID]);
    expect(await orgsOf("org=o&orgID=0123456789abcdef")).toEqual([orgID]);
    expect(await orgsOf(`orgID=${otherID}`)).toEqual([otherID]);
    const { body } = await send("GET", `/api/v2/tasks?org=o&orgID=${otherID}`);
    expect(body.links.self).toBe(`/api/v2/tasks?limit=100&org=o&orgID=${orgID}`);
  });

  test.each([
    [{ org: "nope" }, 'could not identify organization: organization name "nope" not found'],
    [{ org: "nope", orgID: "0123456789abcdef" }, 'organization name "nope" not found'],
    [{ orgID: "0123456789abcdef" }, "could not identify organization: organization not found"],
  ])("are not made for %j", async (organization, message) => {
    const { status, body } = await send("POST", "/api/v2/tasks", { ...organization, flux: FLUX });
    expect([status, body.message]).toEqual([404, message]);
  });
});

test("names of users and organizations leave out no authorization of v1 clients", async () => {
  const { body: ann } = await send("POST", "/api/v2/users", { name: "ann" });
  const make = (token: string, org: string, user: string) =>
    send("POST", "/private/legacy/authorizations", {
      ...{ token, orgID: org, userID: user },
      permissions: [{ action: "read", resource: { type: "buckets", orgID: org } }],
    });
  await make("l0", orgID, userID);
  expect((await make("l1", otherID, userID)).status).toBe(201);
  await make("l2", orgID, userID);
  const listed = async (query: string) => {
    const { body } = await send("GET", `/private/legacy/authorizations?${query}`);
    return body.authorizations?.map(({ token }: { token: string }) => token) ?? body.message;
  };
  expect(await listed("user=ann")).toEqual(["l0", "l1", "l2"]);
  expect(await listed("org=o2")).toEqual(["l0", "l1", "l2"]);
  expect(await listed(`org=o2&orgID=${orgID}`)).toEqual(["l0", "l2"]);
  expect(await listed(`userID=${ann.id}&org=o`)).toEqual([]);
  expect(await listed("org=nope")).toBe('organization name "nope" not found');
});

test.each(["checks", "notificationEndpoints"])("a page of %s is shorter by what its offset is below 0", async (what) => {
  const query = { text: 'from(bucket: "b") |> range(start: -1h)', builderConfig: { buckets: [], tags: [], functions: [] } };
  const check = { type: "deadman", orgID, status: "active", every: "1m", timeSince: "1m", staleTime: "1m", level: "CRIT", query };
  const record = what === "checks" ? check : { type: "slack", orgID, status: "active", url: "http://x" };
  for (const name of ["p", "q", "r", "s"]) expect((await send("POST", `/api/v2/${what}`, { ...record, name })).status).toBe(201);
  const page = async (limit: number, offset: number) => {
    const { body } = await send("GET", `/api/v2/${what}?orgID=${orgID}&limit=${limit}&offset=${offset}`);
    return [body[what].length, "next" in body.links];
  };
  expect(await page(3, -1)).toEqual([2, false]);
  expect(await page(3, -3)).toEqual([0, false]);
  expect(await page(3, -4)).toEqual([0, false]);
  expect(await page(3, 0)).toEqual([3, true]);
});

test.each([
  ["x", ["x/autogen", "x"]],
  ["y", ["y", "y/autogen"]],
])("of two buckets of database %s and policy autogen that without the policy has the mapping", async (db, names) => {
  const ids = new Map<string, string>();
  for (const name of names) ids.set(name, (await send("POST", "/api/v2/buckets", { orgID, name })).body.id);
  const { content } = (await send("GET", `/api/v2/dbrps?orgID=${orgID}&db=${db}`)).body;
  expect(content).toMatchObject([{ bucketID: ids.get(db), database: db, retention_policy: "autogen", default: true, virtual: true }]);
  const all = (await send("GET", `/api/v2/dbrps?orgID=${orgID}`)).body.content as { database: string }[];
  expect(all.filter(({ database }) => database === db)).toHaveLength(1);
});

test.each([
  [" o2 ", 422, "organization with name  o2  already exists"],
  ["o2", 200, undefined],
  ["o", 422, "organization with name o already exists"],
])("an organization o2 that is to be called %j", async (name, wanted, message) => {
  const { status, body } = await send("PATCH", `/api/v2/orgs/${otherID}`, { name });
  expect([status, body.message]).toEqual([wanted, message]);
});
