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

test("links of an organization have its name as it is, but for what would end it", async () => {
  const links = async (name: string) => (await ask(made.server, "POST", "/api/v2/orgs", OPERATOR, { name })).body.links;
  expect((await links("ż b<c>")).buckets).toBe("/api/v2/buckets?org=ż b<c>");
  expect((await links("a&b#c%d+e")).tasks).toBe("/api/v2/tasks?org=a%26b%23c%25d%2Be");
});

test("a virtual mapping that is changed keeps its id", async () => {
  const { server, world: ids } = made;
  const path = `/api/v2/dbrps/${ids.bucketID}?orgID=${ids.orgID}`;
  const send = async (method: string, body?: object) => (await ask(server, method, path, OPERATOR, body)).body.content;
  const before = { id: ids.bucketID, bucketID: ids.bucketID, database: "b", retention_policy: "autogen", default: true, virtual: true };
  expect(await send("GET")).toMatchObject(before);
  expect(await send("PATCH", { default: true })).toMatchObject(before);
  expect(await send("PATCH", { retention_policy: "r9" })).toMatchObject({ ...before, retention_policy: "r9", virtual: false });
  expect(await send("GET")).toMatchObject({ ...before, retention_policy: "r9", virtual: false });
  expect((await ask(server, "DELETE", path, OPERATOR)).status).toBe(204);
  expect(await send("GET")).toMatchObject(before);
});

test.each<[string, string, number]>([
  ["GET", "/api/v2", 200],
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
