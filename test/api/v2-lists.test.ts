// Lists of resources that hold much: what they show is what each shows by itself, and they read no more than they show.
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

test("a list of dashboards has the places of cells, after every change of them", async () => {
  const cells = [1, 2, 3].map((x) => ({ x, y: 1, w: 2, h: 3, name: `c${x}`, properties: { note: "x".repeat(100_000) } }));
  const { body: made } = await send("POST", "/api/v2/dashboards", { orgID, name: "d", cells });
  const path = `/api/v2/dashboards/${made.id}`;
  const [first, second, third] = made.cells as { id: string }[];
  const changes: readonly (readonly [string, string, unknown])[] = [
    ["PATCH", `/cells/${first!.id}`, { x: 7 }],
    ["PATCH", `/cells/${first!.id}/view`, { name: "n", properties: { a: 1 } }],
    ["POST", "/cells", { x: 9, usingView: first!.id }],
    ["PUT", "/cells", [{ id: third!.id, y: 5 }, { id: second!.id }]],
    ["DELETE", `/cells/${second!.id}`, undefined],
    ["PATCH", "", { name: "renamed", cells: [{ h: 4 }] }],
  ];
  for (const [method, below, body] of changes) {
    expect((await send(method, path + below, body)).status).toBeLessThan(300);
    expect((await send("GET", "/api/v2/dashboards")).body.dashboards).toEqual([(await send("GET", path)).body]);
  }
});

test("a list of dashboards reads nothing of what their views hold", async () => {
  const { body: made } = await send("POST", "/api/v2/dashboards", { orgID, name: "d", cells: [{ x: 1, properties: { a: 1 } }] });
  const shown = (await send("GET", `/api/v2/dashboards/${made.id}`)).body;
  server.line.metadata.view.run("update dashboards set cells = 'read by nobody'");
  expect((await send("GET", "/api/v2/dashboards")).body.dashboards).toEqual([shown]);
});

test.each<[string, string, object]>([
  ["variables", "variables", { arguments: { type: "map", values: { 'a"': "ż", b: "" } }, selected: ["a"], description: "d" }],
  ["variables", "variables", { arguments: { type: "constant", values: [] } }],
  ["telegrafs", "configurations", { config: "[agent]\n" }],
  ["sources", "sources", { type: "v1", token: "t", username: "u" }],
  ["labels", "labels", { properties: { color: "red" } }],
  ["tasks", "tasks", { flux: 'import "array"\noption task = {name: "t", every: 1h}\narray.from(rows: [{v: 1}])' }],
])("%s in a list are as by themselves", async (path, name, members) => {
  const { body: made } = await send("POST", `/api/v2/${path}`, { orgID, name: "n", ...members });
  const { id } = made.label ?? made;
  const { body } = await ask(server, "GET", `/api/v2/${path}/${id}`, "tok", undefined, { accept: "application/json" });
  expect((await send("GET", `/api/v2/${path}?orgID=${orgID}`)).body[name]).toContainEqual(body.label ?? body);
});

const LONG = "x".repeat(100_000);
const QUERY = { text: `// ${LONG}\nfrom(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._field == "f")`, editMode: "advanced" };
const THRESHOLD = {
  type: "threshold",
  query: QUERY,
  every: "1h",
  status: "active",
  statusMessageTemplate: "m",
  thresholds: [{ type: "greater", level: "CRIT", value: 1 }],
};
const URLS = Array.from({ length: 100 }, () => `http://h/${"x".repeat(1000)}.yml`);

test.each<[string, string, object]>([
  ["/api/v2/telegrafs", "configurations", { config: `# ${LONG}\n` }],
  ["/api/v2/checks", "checks", THRESHOLD],
  [
    "/api/v2/notificationEndpoints",
    "notificationEndpoints",
    { type: "http", url: "http://h", method: "GET", authMethod: "none", status: "active", description: LONG },
  ],
  ["/api/v2/stacks", "stacks", { urls: URLS }],
  [
    "/private/legacy/authorizations",
    "authorizations",
    { description: LONG, permissions: [{ action: "read", resource: { type: "buckets" } }] },
  ],
])("what goes while a list of %s is on its way is left out", async (path, list, members) => {
  const ids: string[] = [];
  for (let i = 0; i < 8; i++) {
    const { status, body } = await send("POST", path, { orgID, name: `n${i}`, token: `n${i}`, ...members });
    expect(status).toBe(201);
    ids.push(body.id);
  }
  const headers = { authorization: "Token tok" };
  const response = await server.send(new Request(`${server.base}${path}?orgID=${orgID}`, { headers }));
  const reader = response.body!.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const pieces = [(await reader.read()).value!];
  await send("DELETE", `${path}/${ids[6]}?orgID=${orgID}`);
  for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
  const items = (JSON.parse(Buffer.concat(pieces).toString()) as Record<string, { id: string }[]>)[list]!;
  expect(items.map(({ id }) => id)).toEqual(ids.filter((id) => id !== ids[6]));
});

test("what goes while keys of secrets or members are on their way is left out", async () => {
  const long = (i: number) => `${i}${"x".repeat(50_000)}`;
  const { id } = (await send("POST", "/api/v2/orgs", { name: "secrets" })).body;
  await send("PATCH", `/api/v2/orgs/${id}/secrets`, Object.fromEntries([...Array(8).keys()].map((i) => [long(i), "v"])));
  const users: string[] = [];
  for (let i = 0; i < 8; i++) users.push((await send("POST", "/api/v2/users", { name: long(i) })).body.id);
  for (const user of users) await send("POST", `/api/v2/orgs/${id}/members`, { id: user });
  for (const list of ["secrets", "members"]) {
    const path = `/api/v2/orgs/${id}/${list}`;
    const response = await server.send(new Request(server.base + path, { headers: { authorization: "Token tok" } }));
    const reader = response.body!.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    const pieces = [(await reader.read()).value!];
    if (list === "secrets") await send("POST", `${path}/delete`, { secrets: [long(6)] });
    else await send("DELETE", `/api/v2/users/${users[6]}`);
    for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
    const { links, secrets, users: found } = JSON.parse(Buffer.concat(pieces).toString());
    expect(links.self).toBe(path);
    expect(secrets ?? found.map(({ name }: { name: string }) => name)).toEqual([0, 1, 2, 3, 4, 5, 7].map(long));
  }
});

test("a list of tasks without an organization or user is of those of the sender", async () => {
  const { body: ann } = await send("POST", "/api/v2/users", { name: "ann" });
  await send("POST", `/api/v2/users/${ann.id}/password`, { password: "password34" });
  await send("POST", `/api/v2/orgs/${orgID}/owners`, { id: ann.id });
  const signIn = { method: "POST", headers: { authorization: `Basic ${btoa("ann:password34")}` } };
  const { headers } = await server.send(new Request(`${server.base}/api/v2/signin`, signIn));
  const cookie = headers.get("set-cookie")!.split(";")[0]!;
  const flux = (name: string) => `import "array"\noption task = {name: "${name}", every: 1h}\narray.from(rows: [{v: 1}])`;
  await send("POST", "/api/v2/tasks", { orgID, flux: flux("his") });
  await ask(server, "POST", "/api/v2/tasks", undefined, { orgID, flux: flux("hers") }, { cookie });
  const names = async (query: string, credentials: Record<string, string>) => {
    const answer = await server.send(new Request(`${server.base}/api/v2/tasks${query}`, { headers: credentials }));
    return ((await answer.json()) as { tasks: { name: string }[] }).tasks.map(({ name }) => name);
  };
  const operator = { authorization: "Token tok" };
  expect(await names("", operator)).toEqual(["his"]);
  expect(await names("", { cookie })).toEqual(["hers"]);
  expect(await names(`?orgID=${orgID}`, operator)).toEqual(["his", "hers"]);
  expect(await names("?org=o", { cookie })).toEqual(["his", "hers"]);
  expect(await names(`?user=${ann.id}`, operator)).toEqual(["hers"]);
  expect(await names(`?user=${ann.id}&orgID=${orgID}`, operator)).toEqual(["hers"]);
});

test("a basic list of tasks has no scripts, names of organizations or times of changes", async () => {
  const flux = 'import "array"\noption task = {name: "t", every: 1h}\narray.from(rows: [{v: 1}])';
  const { body: made } = await send("POST", "/api/v2/tasks", { orgID, flux, description: "d" });
  const { createdAt: _, updatedAt: __, ...rest } = made;
  expect((await send("GET", "/api/v2/tasks?type=basic")).body.tasks).toEqual([{ ...rest, flux: "", org: "" }]);
  expect((await send("GET", "/api/v2/tasks?type=system")).body.tasks).toEqual([made]);
  for (const limit of ["0", "501"]) {
    const { status, body } = await send("GET", `/api/v2/tasks?limit=${limit}`);
    expect([status, body.message]).toEqual([400, "failed to decode request: limit must be between 1 and 500"]);
  }
});

// answers of release 2.8.0
test("links of endpoints and rules have their order, and an id to follow leaves nothing out", async () => {
  const endpoint = { orgID, type: "slack", status: "active", url: "http://localhost/", token: "t" };
  const ids: string[] = [];
  for (const name of ["a", "b"]) ids.push((await send("POST", "/api/v2/notificationEndpoints", { ...endpoint, name })).body.id);
  const rule = { orgID, type: "slack", status: "active", endpointID: ids[0], every: "1h", messageTemplate: "m" };
  const rules: string[] = [];
  for (const name of ["a", "b"]) {
    rules.push((await send("POST", "/api/v2/notificationRules", { ...rule, name, statusRules: [{ currentLevel: "CRIT" }] })).body.id);
  }
  for (const [kind, [, after]] of [["notificationEndpoints", ids] as const, ["notificationRules", rules] as const]) {
    const { body } = await send("GET", `/api/v2/${kind}?orgID=${orgID}&limit=2&sortBy=x&after=${after}`);
    expect(body[kind].map(({ name }: { name: string }) => name)).toEqual(["a", "b"]);
    const link = (offset: number) => `/api/v2/${kind}?after=${after}&descending=false&limit=2&offset=${offset}&orgID=${orgID}&sortBy=x`;
    expect(body.links).toEqual({ self: link(0), next: link(2) });
  }
});

test("a single dashboard that is named is on every page, one of several on its own", async () => {
  const ids: string[] = [];
  for (const name of ["a", "b"]) ids.push((await send("POST", "/api/v2/dashboards", { orgID, name })).body.id);
  const names = async (query: string) =>
    (await send("GET", `/api/v2/dashboards?${query}`)).body.dashboards.map(({ name }: { name: string }) => name);
  expect(await names(`id=${ids[0]}&offset=3`)).toEqual(["a"]);
  expect(await names(`id=${ids[0]}&id=${ids[1]}&offset=1`)).toEqual(["b"]);
});

test("of several invalid ids the first is told", async () => {
  const bucket = (await send("GET", "/api/v2/buckets?name=b")).body.buckets[0].id as string;
  for (const [method, path, message] of [
    ["PATCH", "/api/v2/dashboards/zzz/cells/0000000000000000", "id must have a length of 16 bytes"],
    ["DELETE", "/api/v2/dashboards/0000000000000000/cells/zzz", "invalid ID"],
    ["GET", "/api/v2/dashboards/zzz/cells/0000000000000000/view", "id must have a length of 16 bytes"],
    ["GET", `/api/v2/buckets?id=${bucket}&orgID=z`, "id must have a length of 16 bytes"],
  ] as const) {
    const { status, body } = await send(method, path, method === "PATCH" ? { x: 1 } : undefined);
    expect([path, status, body]).toEqual([path, 400, { code: "invalid", message }]);
  }
});

test("addresses of a changed stack may have both of their names", async () => {
  const { body: stack } = await send("POST", "/api/v2/stacks", { orgID, name: "s", urls: ["http://localhost/1"] });
  for (const [change, urls] of [
    [{ urls: [] }, ["http://localhost/1"]],
    [{ urls: ["http://localhost/2"] }, ["http://localhost/2"]],
    [{ templateURLs: ["http://localhost/3"], urls: ["http://localhost/4"] }, ["http://localhost/3", "http://localhost/4"]],
    [{ templateURLs: [], urls: ["http://localhost/5"] }, ["http://localhost/5"]],
    [{ templateURLs: [] }, []],
  ] as const) {
    const { status, body } = await send("PATCH", `/api/v2/stacks/${stack.id}`, change);
    expect([change, status, body.urls]).toEqual([change, 200, urls]);
  }
});

test("users after one, from the last to the first: the page begins with the user that follows", async () => {
  const ids = [(await send("GET", "/api/v2/me")).body.id as string];
  for (const name of ["u1", "u2", "u3"]) ids.push((await send("POST", "/api/v2/users", { name })).body.id);
  const names = async (query: string) =>
    (await send("GET", `/api/v2/users?descending=true&${query}`)).body.users.map((each: { name: string }) => each.name);
  expect(await names(`after=${ids[1]}`)).toEqual(["u2", "u1", "admin"]);
  expect(await names(`after=${ids[2]}`)).toEqual(["u3", "u2", "u1", "admin"]);
  expect(await names(`after=${ids[3]}`)).toEqual(["u3", "u2", "u1", "admin"]);
  expect(await names(`after=${ids[0]}&offset=1`)).toEqual(["admin"]);
  expect(await names("after=0000000000000001")).toEqual(["admin"]);
  expect(await names(`after=${ids[1]}&offset=1&limit=1`)).toEqual(["u1"]);
  expect((await send("GET", "/api/v2/users?descending=true&after=ffffffffffffffff")).status).toBe(400);
});

test("an offset beside a bucket's name counts all buckets, unless an organization is given", async () => {
  const { buckets } = (await send("GET", "/api/v2/buckets")).body as { buckets: { id: string; name: string }[] };
  const names = async (query: string) =>
    (await send("GET", `/api/v2/buckets?${query}`)).body.buckets.map((each: { name: string }) => each.name);
  const all = buckets.map(({ name }) => name);
  for (const [at, name] of all.entries()) {
    for (const offset of [0, 1, 2, 3, 99]) {
      expect([name, offset, await names(`name=${name}&offset=${offset}`)]).toEqual([name, offset, offset <= at ? [name] : []]);
      const fromEnd = all.length - 1 - at;
      const backwards = await names(`name=${name}&offset=${offset}&descending=true`);
      expect([name, offset, backwards]).toEqual([name, offset, offset <= fromEnd ? [name] : []]);
      expect(await names(`name=${name}&offset=${offset}&org=o`)).toEqual([name]);
    }
  }
});

test("sources are those of all organizations, whatever `org` says", async () => {
  const { body: other } = await send("POST", "/api/v2/orgs", { name: "other" });
  await send("POST", "/api/v2/sources", { orgID: other.id, name: "s", type: "v2", url: "http://localhost:1" });
  for (const query of ["", "?org=o", "?org=other", "?org=nobody", "?org="]) {
    const { body } = await send("GET", `/api/v2/sources${query}`);
    expect([query, body.sources.map((each: { name: string }) => each.name)]).toEqual([query, ["autogen", "s"]]);
  }
});

test("a changed bucket is shown without its labels", async () => {
  const { body: bucket } = await send("POST", "/api/v2/buckets", { orgID, name: "labelled", retentionRules: [] });
  const { body: made } = await send("POST", "/api/v2/labels", { orgID, name: "l" });
  await send("POST", `/api/v2/buckets/${bucket.id}/labels`, { labelID: made.label.id });
  expect((await send("PATCH", `/api/v2/buckets/${bucket.id}`, { description: "d" })).body).toMatchObject({ description: "d", labels: [] });
  expect((await send("GET", `/api/v2/buckets/${bucket.id}`)).body.labels).toEqual([made.label]);
});

// the vendor's server lists all of an organization even when a page is asked for
test("dashboards and variables of an organization come all at once unless a page is asked for", async () => {
  for (let i = 0; i < 22; i++) {
    expect((await send("POST", "/api/v2/dashboards", { orgID, name: `d${i}` })).status).toBe(201);
    const constant = { type: "constant", values: ["a"] };
    expect((await send("POST", "/api/v2/variables", { orgID, name: `v${i}`, arguments: constant })).status).toBe(201);
  }
  const count = async (path: string, member: string) => (await send("GET", path)).body[member].length;
  expect(await count("/api/v2/dashboards", "dashboards")).toBe(20);
  expect(await count("/api/v2/dashboards?org=o", "dashboards")).toBe(22);
  const { body } = await send("GET", `/api/v2/dashboards?orgID=${orgID}&limit=2&offset=1`);
  expect(body.dashboards).toHaveLength(2);
  expect(body.links).toEqual({
    prev: `/api/v2/dashboards?descending=false&limit=2&offset=0&orgID=${orgID}`,
    self: `/api/v2/dashboards?descending=false&limit=2&offset=1&orgID=${orgID}`,
    next: `/api/v2/dashboards?descending=false&limit=2&offset=3&orgID=${orgID}`,
  });
  expect(await count("/api/v2/variables", "variables")).toBe(20);
  expect(await count("/api/v2/variables?org=o", "variables")).toBe(22);
  expect(await count("/api/v2/variables?org=o&limit=2", "variables")).toBe(2);
});

test("a cell that is made with the view of another has a name of its own if one is given", async () => {
  const { body: made } = await send("POST", "/api/v2/dashboards", { orgID, name: "d", cells: [{ name: "first" }] });
  const path = `/api/v2/dashboards/${made.id}/cells`;
  for (const [name, shown] of [
    ["copy", "copy"],
    [undefined, "first"],
  ] as const) {
    const { body: cell } = await send("POST", path, { x: 1, usingView: made.cells[0].id, ...(name === undefined ? {} : { name }) });
    expect((await send("GET", `${path}/${cell.id}/view`)).body.name).toBe(shown);
  }
});
