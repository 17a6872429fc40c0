// Which of several faults of a request is told, and which values are taken: the answers are those of a server of release 2.8.0 to the
// same requests.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { OPERATOR, world } from "./v2-access-world.ts";
import { ask } from "./v2-ask.ts";

const NOBODY = "0123456789abcdef";
let made: Awaited<ReturnType<typeof world>>;
beforeAll(async () => {
  made = await world();
});
afterAll(() => made.server.stop());

type Case = readonly [what: string, method: string, path: string, body: unknown, status: number, answer: string | object];
const READS = (orgID: string) => [{ action: "read", resource: { type: "buckets", orgID } }];
const DATABASE_RULE =
  "DBRP provided is invalid: database must contain at least one character and only be letters, numbers, '_', '-', and '.'";
const EXPIRES = (everySeconds: number) => [{ type: "expire", everySeconds }];
const PASSWORD_RULE = "passwords must be between 8 and 72 characters long";

/** `:name` in a path or a body is the id of that name. */
const CASES: readonly Case[] = [
  [
    "the name before the organization",
    "POST",
    "/api/v2/buckets",
    { orgID: NOBODY, name: "_x" },
    400,
    "bucket name _x is invalid. Buckets may not start with underscore",
  ],
  [
    "the organization before the retention",
    "POST",
    "/api/v2/buckets",
    { orgID: NOBODY, name: "x", retentionRules: EXPIRES(60) },
    404,
    "organization not found",
  ],
  [
    "another one's name before the retention",
    "POST",
    "/api/v2/buckets",
    { orgID: ":orgID", name: "b", retentionRules: EXPIRES(60) },
    422,
    "bucket with name b already exists",
  ],
  [
    "a negative retention before everything",
    "POST",
    "/api/v2/buckets",
    { orgID: NOBODY, name: "_x", retentionRules: EXPIRES(-1) },
    422,
    "expiration seconds cannot be negative",
  ],
  [
    "a negative retention before a name",
    "PATCH",
    "/api/v2/buckets/:bucketID",
    { name: "_x", retentionRules: EXPIRES(-1) },
    422,
    "expiration seconds cannot be negative",
  ],
  [
    "a schema type of any kind",
    "POST",
    "/api/v2/buckets",
    { orgID: ":orgID", name: "any-schema", schemaType: { a: 1 } },
    201,
    { name: "any-schema", type: "user" },
  ],
  ["a user without a status", "POST", "/api/v2/users", { name: "no-status", status: "" }, 201, { status: "active" }],
  ["an empty status of a user", "PATCH", "/api/v2/users/:otherUserID", { status: "" }, 400, "invalid status: must be active or inactive"],
  ["a password before its user", "POST", `/api/v2/users/${NOBODY}/password`, { password: "short" }, 400, PASSWORD_RULE],
  ["a password of nobody", "POST", `/api/v2/users/${NOBODY}/password`, { password: "password12" }, 403, "your userID is incorrect"],
  ["an authorization before its status", "PATCH", `/api/v2/authorizations/${NOBODY}`, { status: "x" }, 404, "authorization not found"],
  [
    "the status of an authorization",
    "PATCH",
    "/api/v2/authorizations/:authID",
    { status: "x" },
    400,
    "encodeAuthorization: unknown authorization status",
  ],
  [
    "ids of permissions before their kinds",
    "POST",
    "/api/v2/authorizations",
    {
      orgID: ":orgID",
      permissions: [
        { action: "x", resource: { type: "x" } },
        { action: "read", resource: { type: "buckets", id: "1" } },
      ],
    },
    400,
    "invalid json structure: id must have a length of 16 bytes",
  ],
  [
    "a user name before the organization of permissions",
    "POST",
    "/private/legacy/authorizations",
    { orgID: ":orgID", permissions: READS(NOBODY) },
    400,
    "token required for v1 user authorization type",
  ],
  [
    "the organization of permissions",
    "POST",
    "/private/legacy/authorizations",
    { orgID: ":orgID", token: "x", permissions: READS(NOBODY) },
    400,
    `permission read:orgs/${NOBODY}/buckets is not for org id :orgID`,
  ],
  [
    "a user name that nobody has",
    "GET",
    "/private/legacy/authorizations?token=nobody&orgID=:orgID",
    undefined,
    404,
    "authorization not found",
  ],
  [
    "names of a mapping before its bucket",
    "POST",
    "/api/v2/dbrps",
    { orgID: ":orgID", bucketID: NOBODY, database: "a/b", retention_policy: "r" },
    400,
    DATABASE_RULE,
  ],
  ["a mapping before the change of it", "PATCH", `/api/v2/dbrps/${NOBODY}?orgID=:orgID`, { default: "x" }, 404, "unable to find DBRP"],
  ["the id of a mapping before its organization", "DELETE", "/api/v2/dbrps/zzzzzzzzzzzzzzzz", undefined, 400, "invalid ID"],
  [
    "the organization of mappings before a filter",
    "GET",
    "/api/v2/dbrps?orgID=0000000000000000&default=x",
    undefined,
    400,
    'invalid org ID "0000000000000000": invalid ID',
  ],
  ["a bucket of lines before their organization", "POST", "/api/v2/write", "m f=1", 404, "bucket not found"],
];

test.each(CASES)("%s", async (_, method, path, body, status, answer) => {
  const ids: Readonly<Record<string, string>> = { ...made.world };
  const filled = (text: string) => text.replace(/:([a-z]\w*ID)\b/g, (all, name: string) => ids[name] ?? all);
  const sent = body === undefined ? undefined : filled(typeof body === "string" ? body : JSON.stringify(body));
  const got = await ask(made.server, method, filled(path), OPERATOR, sent, { "content-type": "application/json" });
  expect(got.status).toBe(status);
  if (typeof answer === "string") expect(got.body.message).toBe(filled(answer));
  else expect(got.body).toMatchObject(answer);
});

test("links of an organization have its name as it is", async () => {
  const links = async (name: string) => (await ask(made.server, "POST", "/api/v2/orgs", OPERATOR, { name })).body.links;
  expect((await links("ż b<c>")).buckets).toBe("/api/v2/buckets?org=ż b<c>");
  expect((await links("a&b#c%d+e")).tasks).toBe("/api/v2/tasks?org=a&b#c%d+e");
});

test("a virtual mapping that is changed keeps its id", async () => {
  const { server, world: ids } = made;
  const path = `/api/v2/dbrps/${ids.bucketID}?orgID=${ids.orgID}`;
  const send = async (method: string, body?: object) => (await ask(server, method, path, OPERATOR, body)).body.content;
  const before = { id: ids.bucketID, bucketID: ids.bucketID, database: "b", retention_policy: "autogen", default: true, virtual: true };
  expect(await send("GET")).toMatchObject(before);
  expect(await send("PATCH", { default: true })).toMatchObject(before);
  expect(await send("PATCH", { retention_policy: "r9" })).toMatchObject({ ...before, retention_policy: "r9" });
  expect(await send("GET")).toMatchObject({ ...before, retention_policy: "r9" });
  expect((await ask(server, "DELETE", path, OPERATOR)).status).toBe(204);
  expect(await send("GET")).toMatchObject(before);
});

/** What stands below a resource that there is not, or whose id is none. */
const BELOW: readonly (readonly [method: string, path: string, status: number, message: string])[] = [
  ["PUT", `/api/v2/orgs/${NOBODY}/secrets`, 404, "404 page not found"],
  ["PUT", "/api/v2/orgs/abc/secrets", 400, "corrupt ID provided: id must have a length of 16 bytes"],
  ["GET", "/api/v2/orgs//secrets", 400, "corrupt ID provided: id must have a length of 16 bytes"],
  ["DELETE", `/api/v2/buckets//labels/${NOBODY}`, 400, "corrupt ID provided: id must have a length of 16 bytes"],
  ["PUT", `/api/v2/buckets/${NOBODY}/owners/1/2`, 404, "404 page not found"],
  ["PATCH", "/api/v2/dashboards/zzzzzzzzzzzzzzzz/members", 400, "corrupt ID provided: invalid ID"],
];

test.each(BELOW)("%s %s is about a resource before it is about a method", async (method, path, status, message) => {
  const got = await ask(made.server, method, path, OPERATOR, {});
  expect([got.status, got.body.message]).toEqual([status, message]);
});

test("below a resource that there is, a method or a path may be unknown", async () => {
  const { orgID, bucketID } = made.world;
  for (const [path, status] of [
    [`/api/v2/orgs/${orgID}/secrets`, 405],
    [`/api/v2/orgs/${orgID}/members/1/2`, 404],
    [`/api/v2/orgs/${NOBODY}/labels`, 404],
    [`/api/v2/buckets/${bucketID}/owners`, 405],
  ] as const) {
    const got = await ask(made.server, "PUT", path, OPERATOR, {});
    expect([path, got.status, got.text]).toEqual([path, status, status === 405 ? "" : "404 page not found\n"]);
  }
});

test("authorizations of a deleted user can be deleted, and otherwise be refused alone", async () => {
  const { server, world: ids } = made;
  const user = (await ask(server, "POST", "/api/v2/users", OPERATOR, { name: "leaves" })).body;
  const permissions = READS(ids.orgID);
  const wanted = { orgID: ids.orgID, userID: user.id, permissions };
  const { id } = (await ask(server, "POST", "/api/v2/authorizations", OPERATOR, wanted)).body;
  expect((await ask(server, "DELETE", `/api/v2/users/${user.id}`, OPERATOR)).status).toBe(204);
  const path = `/api/v2/authorizations/${id}`;
  const answers = async (method: string, body?: object) => {
    const got = await ask(server, method, path, OPERATOR, body);
    return [got.status, got.body.message];
  };
  expect(await answers("GET")).toEqual([404, "user not found"]);
  expect(await answers("PATCH", { status: "inactive" })).toEqual([404, "user not found"]);
  expect((await ask(server, "GET", `/api/v2/authorizations?userID=${user.id}`, OPERATOR)).body.authorizations).toEqual([]);
  expect(await answers("DELETE")).toEqual([204, undefined]);
  expect(await answers("GET")).toEqual([404, "authorization not found"]);
});

test("labels and members of a resource are listed in the order in which they were created", async () => {
  const { server, world: ids } = made;
  const { orgID } = ids;
  const bucket = (await ask(server, "POST", "/api/v2/buckets", OPERATOR, { orgID, name: "ordered" })).body;
  const path = `/api/v2/buckets/${bucket.id}`;
  const names = ["first", "second"];
  const labels: string[] = [];
  const users: string[] = [];
  for (const name of names) {
    labels.push((await ask(server, "POST", "/api/v2/labels", OPERATOR, { orgID, name })).body.label.id);
    users.push((await ask(server, "POST", "/api/v2/users", OPERATOR, { name })).body.id);
  }
  for (const i of [1, 0]) {
    await ask(server, "POST", `${path}/labels`, OPERATOR, { labelID: labels[i] });
    await ask(server, "POST", `${path}/members`, OPERATOR, { id: users[i] });
  }
  const of = (items: readonly { name: string }[]) => items.map(({ name }) => name);
  expect(of((await ask(server, "GET", `${path}/labels`, OPERATOR)).body.labels)).toEqual(names);
  expect(of((await ask(server, "GET", path, OPERATOR)).body.labels)).toEqual(names);
  expect(of((await ask(server, "GET", `${path}/members`, OPERATOR)).body.users)).toEqual(names);
});

test.each<[path: string, body: string, status: number, message: string]>([
  ["/api/v2/orgs", '{"name":""}{"name":"second"}', 400, "org name is empty"],
  ["/api/v2/buckets", "{}x", 400, "organization id must be provided"],
  ["/api/v2/checks", '{"type":"threshold"}x', 400, "unable to detect the check type from json"],
  ["/api/v2/stacks", "{}{", 400, 'provided org id[""] is invalid'],
])("POST %s with %s reads the first value", async (path, body, status, message) => {
  const headers = { authorization: `Token ${OPERATOR}`, "content-type": "application/json" };
  const got = await ask(made.server, "POST", path, undefined, body, headers);
  expect(got.status).toBe(status);
  expect(got.body.message).toContain(message);
});

test("a deletion is read as one value, after what it says", async () => {
  const send = async (body: string) => {
    const headers = { authorization: `Token ${OPERATOR}`, "content-type": "application/json" };
    const got = await ask(made.server, "POST", "/api/v2/delete?org=o&bucket=nosuch", undefined, body, headers);
    return [got.status, got.body.message];
  };
  const times = '"start":"2020-01-01T00:00:00Z","stop":"2020-01-02T00:00:00Z"';
  expect(await send("{}x")).toEqual([400, expect.stringContaining("invalid RFC3339Nano for field start")]);
  expect(await send(`{${times}}}`)).toEqual([400, "error decoding json body for predicate: invalid character '}' after top-level value"]);
  expect((await send(`{${times}}`))[0]).toBe(404);
});

const LEGACY = "/private/legacy/authorizations";
test.each<[path: string, query: string, status: number, message: string | undefined]>([
  ["/api/v2/authorizations", "user=nosuch&org=nosuch", 404, "user not found"],
  ["/api/v2/authorizations", "userID=zz&org=nosuch", 400, "id must have a length of 16 bytes"],
  ["/api/v2/authorizations", `id=${NOBODY}&org=nosuch`, 404, 'organization name "nosuch" not found'],
  ["/api/v2/authorizations", `orgID=${NOBODY}&org=nosuch&userID=${NOBODY}&user=nosuch`, 200, undefined],
  [LEGACY, `orgID=${NOBODY}&org=nosuch`, 404, 'organization name "nosuch" not found'],
  [LEGACY, `userID=${NOBODY}&user=nosuch`, 404, "user not found"],
  [LEGACY, `orgID=${NOBODY}&org=o`, 200, undefined],
])("%s?%s is checked in the order of a 2.8 server", async (path, query, status, message) => {
  const got = await ask(made.server, "GET", `${path}?${query}`, OPERATOR);
  expect([got.status, got.body.message]).toEqual([status, message]);
});

test.each([
  ["buckets", "DELETE", "", 405, { code: "method not allowed", message: "allow: " }],
  ["buckets", "PUT", `/${NOBODY}`, 405, { code: "method not allowed", message: "allow: " }],
  ["buckets", "DELETE", `/${NOBODY}/x`, 404, { code: "not found", message: "path not found" }],
])("labels below %s: %s of labels%s is refused in JSON", async (type, method, rest, status, answer) => {
  const got = await ask(made.server, method, `/api/v2/${type}/${made.world.bucketID}/labels${rest}`, OPERATOR);
  expect([got.status, got.body]).toEqual([status, answer]);
});

test.each([
  ["/api/v2/labels", { name: "with an id" }, "failed to unmarshal json: "],
  ["/api/v2/orgs", { name: "with an id" }, "failed to unmarshal json: "],
  ["/api/v2/users", { name: "with an id" }, ""],
])("an id in a body of %s has to be one, and does not count", async (path, body, head) => {
  const { server, world: ids } = made;
  const post = (id: unknown) => ask(server, "POST", path, OPERATOR, { ...body, orgID: ids.orgID, id });
  const refused = await post("zz");
  expect([refused.status, refused.body.message]).toEqual([400, `${head}id must have a length of 16 bytes`]);
  expect((await post(5)).status).toBe(400);
  const { status, body: got } = await post(NOBODY);
  expect(status).toBe(201);
  expect((got.label ?? got).id).not.toBe(NOBODY);
});

test("a token is the server's, also where a body has one of another type", async () => {
  const permissions = READS(made.world.orgID);
  const { status, body } = await ask(made.server, "POST", "/api/v2/authorizations", OPERATOR, {
    ...{ orgID: made.world.orgID, permissions, token: 5 },
  });
  expect([status, typeof body.token]).toEqual([201, "string"]);
});

test("where rows are deleted, what may be an id is told as one", async () => {
  const times = { start: "2020-01-01T00:00:00Z", stop: "2020-01-02T00:00:00Z" };
  const message = async (query: string) => (await ask(made.server, "POST", `/api/v2/delete?${query}`, OPERATOR, times)).body.message;
  expect(await message(`org=${NOBODY}&bucket=b`)).toBe("organization not found");
  expect(await message("org=nosuch&bucket=b")).toBe('organization name "nosuch" not found');
  expect(await message(`org=o&bucket=${NOBODY}`)).toBe("bucket not found");
  expect(await message("org=o&bucket=nosuch")).toBe('bucket "nosuch" not found');
});

test("a bucket that is named is listed whatever the page", async () => {
  const { server, world: ids } = made;
  const path = `/api/v2/buckets?orgID=${ids.orgID}&name=_tasks&offset=5&after=${ids.bucketID}`;
  const { buckets, links } = (await ask(server, "GET", path, OPERATOR)).body;
  expect(buckets).toHaveLength(1);
  expect(links.prev).toContain("offset=0");
});

test("rules of a bucket without a retention and a shard group duration are none", async () => {
  const { server, world: ids } = made;
  const { id } = (await ask(server, "POST", "/api/v2/buckets", OPERATOR, { orgID: ids.orgID, name: "no-rules" })).body;
  const path = `/api/v2/buckets/${id}`;
  const rules = async (rule: object) => (await ask(server, "PATCH", path, OPERATOR, { retentionRules: [rule] })).body.retentionRules;
  expect(await rules({ shardGroupDurationSeconds: 0 })).toEqual([]);
  expect(await rules({ everySeconds: 7200 })).toEqual([{ type: "expire", everySeconds: 7200, shardGroupDurationSeconds: 0 }]);
});

test.each<[string, string, number]>([
  ["GET", "/api/v2", 200],
  ["OPTIONS", "/api/v2/orgs/", 405],
  ["POST", "/api/v2", 401],
  ["HEAD", "/api/v2", 401],
  ["DELETE", "/metrics/of/this", 200],
  ["OPTIONS", "/ping", 200],
  ["OPTIONS", "/write", 401],
])("%s %s without credentials: %d", async (method, path, status) => {
  expect((await made.server.send(new Request(`${made.server.base}${path}`, { method }))).status).toBe(status);
});

test.each(["PATCH", "HEAD"])("%s of what may be asked with any method", async (method) => {
  for (const path of ["/api/v2", "/api/v2/", "/api/v2/flags", "/api/v2/resources", "/debug/pprof/", "/metrics"]) {
    const headers = { authorization: `Token ${OPERATOR}` };
    expect([path, (await made.server.send(new Request(`${made.server.base}${path}`, { method, headers }))).status]).toEqual([path, 200]);
  }
});

/** What a token without rights to other resources than `held` is answered. */
async function refusal(
  held: readonly (readonly [action: string, type: string, id?: string])[],
  method: string,
  path: string,
  body?: object,
) {
  const { server, world: ids } = made;
  const permissions = held.map(([action, type, id]) => ({
    action,
    resource: { type, ...(id === undefined ? { orgID: ids.orgID } : { id }) },
  }));
  const { token } = (await ask(server, "POST", "/api/v2/authorizations", OPERATOR, { orgID: ids.orgID, permissions })).body;
  const { status, body: answer } = await ask(server, method, path, token, body);
  return [status, answer.message];
}

test("members of a bucket are listed for those who see its organization, and changed by those who may write it", async () => {
  const { orgID, bucketID, otherUserID } = made.world;
  const path = `/api/v2/buckets/${bucketID}/members`;
  const [readsBucket, writesBucket, seesOrg] = [
    ["read", "buckets"],
    ["write", "buckets"],
    ["read", "orgs", orgID],
  ] as const;
  expect(await refusal([readsBucket], "GET", path)).toEqual([404, "not found"]);
  expect(await refusal([readsBucket, seesOrg], "GET", path)).toEqual([200, undefined]);
  const missing = `write:orgs/${orgID}/buckets/${bucketID} is unauthorized`;
  expect(await refusal([readsBucket, seesOrg], "POST", path, { id: otherUserID })).toEqual([403, missing]);
  expect(await refusal([readsBucket, writesBucket], "POST", path, { id: otherUserID })).toEqual([201, undefined]);
});

test("labels are put on a bucket and taken off by those who may write both", async () => {
  const { orgID, bucketID, labelID } = made.world;
  const path = `/api/v2/buckets/${bucketID}/labels`;
  const bucket = [
    ["read", "buckets"],
    ["write", "buckets"],
  ] as const;
  const missing = (action: string) => `${action}:orgs/${orgID}/labels/${labelID} is unauthorized`;
  expect(await refusal(bucket, "POST", path, { labelID })).toEqual([403, missing("read")]);
  expect(await refusal([...bucket, ["read", "labels"]], "POST", path, { labelID })).toEqual([403, missing("write")]);
  expect(await refusal([...bucket, ["read", "labels"], ["write", "labels"]], "POST", path, { labelID })).toEqual([201, undefined]);
  expect(await refusal(bucket, "DELETE", `${path}/${labelID}`)).toEqual([403, missing("write")]);
  expect(await refusal([...bucket, ["write", "labels"]], "DELETE", `${path}/${labelID}`)).toEqual([204, undefined]);
});

test("a bucket is changed by those who may write it; its name by those who read it, too", async () => {
  const { orgID, bucketID } = made.world;
  const path = `/api/v2/buckets/${bucketID}`;
  expect(await refusal([["write", "buckets"]], "PATCH", path, { description: "d" })).toEqual([200, undefined]);
  const missing = `read:orgs/${orgID}/buckets/${bucketID} is unauthorized`;
  expect(await refusal([["write", "buckets"]], "PATCH", path, { name: "n" })).toEqual([403, missing]);
});

test("mappings of system buckets are shown to those who see the organization and read its buckets", async () => {
  const { server, world: ids } = made;
  const names = async (...permissions: object[]) => {
    const { token } = (await ask(server, "POST", "/api/v2/authorizations", OPERATOR, { orgID: ids.orgID, permissions })).body;
    const { content } = (await ask(server, "GET", `/api/v2/dbrps?orgID=${ids.orgID}`, token)).body;
    return content.filter(({ database }: { database: string }) => database.startsWith("_")).length;
  };
  const [org, buckets] = [
    { type: "orgs", id: ids.orgID },
    { type: "buckets", orgID: ids.orgID },
  ].map((resource) => ({ action: "read", resource }));
  expect([await names(org!), await names(buckets!), await names(org!, buckets!)]).toEqual([0, 0, 2]);
});

test("a manifest to restore is read, and its organization looked up, before anybody is asked for permissions", async () => {
  const path = "/api/v2/restore/bucketMetadata";
  const { orgID } = made.world;
  const sees = [["read", "orgs", orgID]] as const;
  expect(await refusal(sees, "POST", path, { organizationID: orgID })).toEqual([403, "read:authorizations is unauthorized"]);
  expect(await refusal(sees, "POST", path, { organizationName: "o" })).toEqual([404, "organization not found"]);
  expect(await refusal(sees, "POST", path, { organizationID: "x" })).toEqual([
    400,
    "failed to unmarshal json: id must have a length of 16 bytes",
  ]);
  const { status, body } = await ask(made.server, "POST", path, OPERATOR, { organizationID: orgID, bucketName: "n" });
  expect([status, body.message]).toEqual([400, "bucket must have 1 retention policy; attempting to restore 0 retention policies"]);
});
