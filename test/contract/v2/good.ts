// A good request for each operation, with every parameter and member that it may have.
import { GOOD_PAGES } from "./good-pages.ts";
import { at, bucket, labelled, type Make, membersOf, none, org } from "./good-parts.ts";
import { BUCKET, basicOf, ORG, USER, type V2World } from "./world.ts";

const LINES = "written,host=a v=1 1";
const rule = { type: "expire", everySeconds: 86_400, shardGroupDurationSeconds: 3600 };
function authorizationsAt(path: string, more: (world: V2World) => Record<string, string>): Record<string, Make> {
  const id = (world: V2World) => world.freshAuthorization(path, more(world)).then((each) => `${path}/${each}`);
  const update = () => ({ body: { status: "inactive", description: "a text" } });
  const filters = (world: V2World) => ({ userID: world.userID, user: USER.name, ...org(world) });
  return {
    [`GET ${path}`]: (world) => ({ query: filters(world) }),
    [`POST ${path}`]: (world) => ({
      body: { ...world.newAuthorization(), userID: world.userID, status: "active", description: "a text", ...more(world) },
    }),
    [`GET ${path}/{authID}`]: at(id),
    [`PATCH ${path}/{authID}`]: at(id, update),
    [`DELETE ${path}/{authID}`]: at(id),
  };
}

const label = (world: V2World) => world.freshLabel().then((id) => `/api/v2/labels/${id}`);
const user = (world: V2World) => world.freshUser().then((id) => `/api/v2/users/${id}`);
const organization = (world: V2World) => world.freshOrganization().then((id) => `/api/v2/orgs/${id}`);
const mapping = (world: V2World) => world.freshMapping().then((id) => `/api/v2/dbrps/${id}`);
const secrets = (world: V2World) => organization(world).then((path) => `${path}/secrets`);
const task = (world: V2World) => world.freshTask().then((id) => `/api/v2/tasks/${id}`);
const remote = (world: V2World) => world.freshRemote().then((id) => `/api/v2/remotes/${id}`);
const replication = (world: V2World) => world.freshReplication().then((id) => `/api/v2/replications/${id}`);
const stack = (world: V2World) => world.freshStack().then((id) => `/api/v2/stacks/${id}`);
const scraper = (world: V2World) => world.freshScraper().then((id) => `/api/v2/scrapers/${id}`);
const target = ({ orgID, bucketID }: V2World) => ({
  body: { orgID, bucketID, name: "a name", type: "prometheus", url: "", allowInsecure: true },
});
const alert = (path: string, fresh: (world: V2World) => Promise<string>) => (world: V2World) => fresh(world).then((id) => `${path}/${id}`);
const check = alert("/api/v2/checks", (world) => world.freshCheck());
const endpoint = alert("/api/v2/notificationEndpoints", (world) => world.freshEndpoint());
const notificationRule = alert("/api/v2/notificationRules", (world) => world.freshRule());
const ofList = ({ orgID }: V2World) => ({ query: { orgID, limit: "10", offset: "0" } });
const alertUpdate = (world: V2World) => ({ body: { name: world.fresh(), description: "a text", status: "inactive" } });

/** Requests that checks, endpoints and rules have in common. */
function alertsAt(
  path: string,
  id: string,
  { of, fresh, body }: { of: (world: V2World) => Promise<string>; fresh: (world: V2World) => Promise<string>; body: Make },
): Record<string, Make> {
  return {
    [`GET ${path}`]: ofList,
    [`POST ${path}`]: body,
    [`GET ${path}/{${id}}`]: at(of),
    [`PUT ${path}/{${id}}`]: at(of, body),
    [`PATCH ${path}/{${id}}`]: at(of, alertUpdate),
    [`DELETE ${path}/{${id}}`]: at(of),
    [`GET ${path}/{${id}}/labels`]: at(async (world) => `${await of(world)}/labels`),
    [`POST ${path}/{${id}}/labels`]: at(
      async (world) => `${await of(world)}/labels`,
      async (world) => ({ body: { labelID: await world.freshLabel() } }),
    ),
    [`DELETE ${path}/{${id}}/labels/{labelID}`]: at((world) => labelled(world, of)),
    ...membersOf(`${path}/:${id}`, fresh),
  };
}

const password = () => ({ body: { password: USER.password } });
const legacy = async (world: V2World) => {
  const id = await world.freshAuthorization("/private/legacy/authorizations", { token: world.fresh() });
  return `/private/legacy/authorizations/${id}`;
};
/** What v1 clients send: a user name that is a token's, and the token. */
const v1 = { db: BUCKET, rp: "autogen", u: "any", p: "operator-token" };
const script = `from(bucket: "${BUCKET}") |> range(start: 0) |> limit(n: 1)`;
const manifest = (world: V2World) => ({
  body: {
    ...{ organizationID: world.orgID, organizationName: ORG, bucketID: world.bucketID, bucketName: world.fresh(), description: "a text" },
    defaultRetentionPolicy: "autogen",
    retentionPolicies: [
      {
        ...{ name: "autogen", replicaN: 1, duration: 0, shardGroupDuration: 604_800_000_000_000, subscriptions: [] },
        shardGroups: [{ id: 1, startTime: "1970-01-01T00:00:00Z", endTime: "1970-01-08T00:00:00Z", shards: [{ id: 1, shardOwners: [] }] }],
      },
    ],
  },
});
/** The number of the only shard of a bucket with rows. */
const shard = async (world: V2World) => {
  const { text } = await world.get("/api/v2/backup/metadata");
  return `/api/v2/backup/shards/${/"shards":\[\{"id":(\d+)/.exec(text)![1]}`;
};
const upload = async (world: V2World) => {
  const path = await shard(world);
  const { bytes } = await world.get(path);
  return { path: path.replace("backup", "restore"), headers: { "Content-Type": "application/octet-stream" }, body: new Uint8Array(bytes) };
};
const oldManifest = at(
  async (world) => `/api/v2/restore/buckets/${await world.freshBucket()}`,
  // a message of protocol buffers: member 3, a retention policy without members
  () => ({ body: new Uint8Array([0x1a, 0x00]) }),
);
const backup = async (world: V2World, part: "kv" | "sql") => {
  if (part === "kv") return new Uint8Array((await world.get("/api/v2/backup/kv")).bytes);
  const { bytes } = await world.get("/api/v2/backup/metadata");
  const text = Buffer.from(bytes).toString("latin1");
  const from = text.indexOf("\r\n\r\n", text.indexOf('name="sql"')) + 4;
  return new Uint8Array(Buffer.from(text.slice(from, text.indexOf("\r\n--", from)), "latin1"));
};
const octets = { "Content-Type": "application/octet-stream" };
const profiles = ["all", "allocs", "block", "cmdline", "goroutine", "heap", "mutex", "profile", "threadcreate", "trace"];
const PROFILE_QUERY: Readonly<Record<string, Readonly<Record<string, string>>>> = { profile: { seconds: "1" }, heap: { debug: "1" } };
const page = { limit: "5", offset: "0", descending: "true" };

export const GOOD_V2: Readonly<Record<string, Make>> = {
  "GET /api/v2": none,
  "GET /health": none,
  "HEAD /health": none,
  "GET /ready": none,
  "HEAD /ready": none,
  "GET /ping": none,
  "HEAD /ping": none,
  "GET /metrics": none,
  "GET /debug/pprof": none,
  "GET /debug/pprof/{profile}": at(() => "/debug/pprof/heap"),
  ...Object.fromEntries(profiles.map((name) => [`GET /debug/pprof/${name}`, () => ({ query: PROFILE_QUERY[name] ?? {} })])),
  "GET /api/v2/config": none,
  "GET /api/v2/flags": none,
  "GET /api/v2/maps/mapToken": none,
  "GET /api/v2/resources": none,

  "GET /api/v2/setup": none,
  "POST /api/v2/setup": () => ({
    body: { username: "ann", password: USER.password, org: "second", bucket: "b", token: "t", retentionPeriodSeconds: 0 },
  }),
  "POST /api/v2/signin": () => ({ headers: { Authorization: basicOf(USER.password) } }),
  "POST /api/v2/signout": async (world) => ({ headers: { Cookie: await world.signIn() } }),
  "GET /api/v2/me": none,
  "PUT /api/v2/me/password": async (world) => ({
    ...password(),
    headers: { Cookie: await world.signIn(), Authorization: basicOf(USER.password) },
  }),

  ...authorizationsAt("/api/v2/authorizations", () => ({})),
  ...authorizationsAt("/private/legacy/authorizations", (world) => ({ token: world.fresh() })),
  "POST /private/legacy/authorizations/{authID}/password": at(async (world) => `${await legacy(world)}/password`, password),

  "GET /api/v2/users": (world) => ({ query: { ...page, name: USER.name, id: world.userID } }),
  "POST /api/v2/users": (world) => ({ body: { name: world.fresh(), status: "active" } }),
  "GET /api/v2/users/{userID}": at(user),
  "PATCH /api/v2/users/{userID}": at(user, (world) => ({ body: { name: world.fresh(), status: "inactive" } })),
  "DELETE /api/v2/users/{userID}": at(user),
  "GET /api/v2/users/{userID}/permissions": at(async (world) => `${await user(world)}/permissions`),
  "POST /api/v2/users/{userID}/password": at(async (world) => `${await user(world)}/password`, password),
  "PUT /api/v2/users/{userID}/password": at(
    (world) => `/api/v2/users/${world.userID}/password`,
    async (world) => ({ ...password(), headers: { Cookie: await world.signIn(), Authorization: basicOf(USER.password) } }),
  ),

  "GET /api/v2/orgs": (world) => ({ query: { ...page, ...org(world) } }),
  "POST /api/v2/orgs": (world) => ({ body: { name: world.fresh(), description: "a text" } }),
  "GET /api/v2/orgs/{orgID}": at(organization),
  "PATCH /api/v2/orgs/{orgID}": at(organization, (world) => ({ body: { name: world.fresh(), description: "a text" } })),
  "DELETE /api/v2/orgs/{orgID}": at(organization),
  ...membersOf("/api/v2/orgs/:orgID", (world) => world.freshOrganization()),
  "GET /api/v2/orgs/{orgID}/secrets": at(secrets),
  "PATCH /api/v2/orgs/{orgID}/secrets": at(secrets, () => ({ body: { key: "value" } })),
  "POST /api/v2/orgs/{orgID}/secrets/delete": at(
    async (world) => `${await secrets(world)}/delete`,
    () => ({ body: { secrets: ["key"] } }),
  ),
  "DELETE /api/v2/orgs/{orgID}/secrets/{secretID}": at(async (world) => `${await secrets(world)}/key`),

  "GET /api/v2/buckets": (world) => ({ query: { ...page, ...org(world), name: BUCKET, id: world.bucketID, after: "0000000000000001" } }),
  "POST /api/v2/buckets": (world) => ({
    body: { orgID: world.orgID, name: world.fresh(), description: "a text", rp: "rp", schemaType: "implicit", retentionRules: [rule] },
  }),
  "GET /api/v2/buckets/{bucketID}": at(bucket),
  "PATCH /api/v2/buckets/{bucketID}": at(bucket, (world) => ({
    body: { name: world.fresh(), description: "a text", retentionRules: [rule] },
  })),
  "DELETE /api/v2/buckets/{bucketID}": at(bucket),
  "GET /api/v2/buckets/{bucketID}/labels": at(async (world) => `${await bucket(world)}/labels`),
  "POST /api/v2/buckets/{bucketID}/labels": at(
    async (world) => `${await bucket(world)}/labels`,
    async (world) => ({ body: { labelID: await world.freshLabel() } }),
  ),
  "DELETE /api/v2/buckets/{bucketID}/labels/{labelID}": at((world) => labelled(world)),
  ...membersOf("/api/v2/buckets/:bucketID", (world) => world.freshBucket()),

  ...GOOD_PAGES,
  "GET /api/v2/tasks": (world) => ({
    query: { ...org(world), name: "a name", user: world.userID, status: "active", after: "0000000000000001", limit: "10", type: "basic" },
  }),
  "POST /api/v2/tasks": (world) => ({ body: world.newTask() }),
  "GET /api/v2/tasks/{taskID}": at(task),
  "PATCH /api/v2/tasks/{taskID}": at(task, () => ({
    body: {
      status: "inactive",
      name: "a name",
      every: "2h",
      offset: "1m",
      description: "a text",
      flux: 'import "array"\noption task = {name: "t", every: 1h}\narray.from(rows: [{v: 1}])',
    },
  })),
  "DELETE /api/v2/tasks/{taskID}": at(task),
  "GET /api/v2/tasks/{taskID}/logs": at(async (world) => `${await task(world)}/logs`),
  "GET /api/v2/tasks/{taskID}/runs": at(
    async (world) => `${await task(world)}/runs`,
    () => ({ query: { after: "0000000000000001", limit: "10", afterTime: "2020-01-01T00:00:00Z", beforeTime: "2030-01-01T00:00:00Z" } }),
  ),
  "POST /api/v2/tasks/{taskID}/runs": at(
    async (world) => `/api/v2/tasks/${await world.freshTask("active")}/runs`,
    () => ({ body: { scheduledFor: "2020-01-01T00:00:00Z" } }),
  ),
  "GET /api/v2/tasks/{taskID}/runs/{runID}": at((world) => world.freshRun()),
  "DELETE /api/v2/tasks/{taskID}/runs/{runID}": at((world) => world.endlessRun()),
  "POST /api/v2/tasks/{taskID}/runs/{runID}/retry": at(async (world) => `${await world.freshRun()}/retry`),
  "GET /api/v2/tasks/{taskID}/runs/{runID}/logs": at(async (world) => `${await world.freshRun()}/logs`),
  "GET /api/v2/tasks/{taskID}/labels": at(async (world) => `${await task(world)}/labels`),
  "POST /api/v2/tasks/{taskID}/labels": at(
    async (world) => `${await task(world)}/labels`,
    async (world) => ({ body: { labelID: await world.freshLabel() } }),
  ),
  "DELETE /api/v2/tasks/{taskID}/labels/{labelID}": at((world) => labelled(world, task)),
  ...membersOf("/api/v2/tasks/:taskID", (world) => world.freshTask()),
  "GET /api/v2/remotes": ({ orgID, server }) => ({ query: { orgID, name: "a name", remoteURL: server.bucketsUrl } }),
  "POST /api/v2/remotes": (world) => ({ body: world.newRemote() }),
  "GET /api/v2/remotes/{remoteID}": at(remote),
  "PATCH /api/v2/remotes/{remoteID}": at(remote, (world) => {
    const { orgID: _, ...body } = world.newRemote();
    return { body };
  }),
  "DELETE /api/v2/remotes/{remoteID}": at(remote),
  "GET /api/v2/replications": ({ orgID, bucketID }) => ({
    query: { orgID, name: "a name", remoteID: "0000000000000001", localBucketID: bucketID },
  }),
  "POST /api/v2/replications": async (world) => ({ query: { validate: "false" }, body: await world.newReplication() }),
  "GET /api/v2/replications/{replicationID}": at(replication),
  "PATCH /api/v2/replications/{replicationID}": at(replication, async (world) => {
    const { orgID: _, localBucketID: __, ...body } = await world.newReplication();
    return { query: { validate: "false" }, body };
  }),
  "DELETE /api/v2/replications/{replicationID}": at(replication),
  "POST /api/v2/replications/{replicationID}/validate": at(async (world) => `${await replication(world)}/validate`),

  "GET /api/v2/scrapers": async (world) => ({ query: { ...org(world), name: "a name", id: await world.freshScraper() } }),
  "POST /api/v2/scrapers": target,
  "GET /api/v2/scrapers/{scraperTargetID}": at(scraper),
  "PATCH /api/v2/scrapers/{scraperTargetID}": at(scraper, target),
  "DELETE /api/v2/scrapers/{scraperTargetID}": at(scraper),
  "GET /api/v2/scrapers/{scraperTargetID}/labels": at(async (world) => `${await scraper(world)}/labels`),
  "POST /api/v2/scrapers/{scraperTargetID}/labels": at(
    async (world) => `${await scraper(world)}/labels`,
    async (world) => ({ body: { labelID: await world.freshLabel() } }),
  ),
  "DELETE /api/v2/scrapers/{scraperTargetID}/labels/{labelID}": at((world) => labelled(world, scraper)),
  ...membersOf("/api/v2/scrapers/:scraperTargetID", (world) => world.freshScraper()),

  ...alertsAt("/api/v2/checks", "checkID", {
    ...{ of: check, fresh: (world) => world.freshCheck() },
    body: (world) => ({ body: world.newCheck() }),
  }),
  "GET /api/v2/checks/{checkID}/query": at(async (world) => `${await check(world)}/query`),
  ...alertsAt("/api/v2/notificationEndpoints", "endpointID", {
    ...{ of: endpoint, fresh: (world) => world.freshEndpoint() },
    body: (world) => ({ body: world.newEndpoint() }),
  }),
  ...alertsAt("/api/v2/notificationRules", "ruleID", {
    ...{ of: notificationRule, fresh: (world) => world.freshRule() },
    body: async (world) => ({ body: await world.newRule() }),
  }),
  "GET /api/v2/notificationRules/{ruleID}/query": at(async (world) => `${await notificationRule(world)}/query`),

  "GET /api/v2/stacks": async (world) => ({ query: { orgID: world.orgID, name: "a name", stackID: await world.freshStack() } }),
  "POST /api/v2/stacks": (world) => ({
    body: { orgID: world.orgID, name: world.fresh(), description: "d", urls: ["http://localhost/t.yml"] },
  }),
  "GET /api/v2/stacks/{stack_id}": at(stack),
  // with resources of unknown kinds the answer is not as the file says, as recorded
  "PATCH /api/v2/stacks/{stack_id}": at(stack, () => ({
    body: { name: "changed", description: "d", templateURLs: ["http://localhost/t.yml"] },
  })),
  "DELETE /api/v2/stacks/{stack_id}": at(stack, (world) => ({ query: { orgID: world.orgID } })),
  "POST /api/v2/stacks/{stack_id}/uninstall": at(
    async (world) => `${await stack(world)}/uninstall`,
    (world) => ({ query: { orgID: world.orgID } }),
  ),
  "POST /api/v2/templates/apply": (world) => ({
    body: {
      ...{ orgID: world.orgID, dryRun: true, template: { contentType: "json", sources: ["file"], contents: [] } },
      ...{ envRefs: {}, secrets: { a: "b" } },
      actions: [{ action: "skipKind", properties: { kind: "Bucket" } }],
    },
  }),
  "POST /api/v2/templates/export": async (world) => ({ body: { stackID: await world.freshStack() } }),

  "GET /api/v2/labels": (world) => ({ query: { orgID: world.orgID } }),
  "POST /api/v2/labels": (world) => ({ body: { orgID: world.orgID, name: world.fresh(), properties: { color: "ffb3b3" } } }),
  "GET /api/v2/labels/{labelID}": at(label),
  "PATCH /api/v2/labels/{labelID}": at(label, (world) => ({ body: { name: world.fresh(), properties: { color: "000000" } } })),
  "DELETE /api/v2/labels/{labelID}": at(label),

  "GET /api/v2/dbrps": async (world) => ({
    query: { ...org(world), id: await world.freshMapping(), bucketID: world.bucketID, default: "true", db: BUCKET, rp: "autogen" },
  }),
  "POST /api/v2/dbrps": (world) => ({
    body: { ...org(world), bucketID: world.bucketID, database: world.fresh(), retention_policy: "rp", default: true },
  }),
  "GET /api/v2/dbrps/{dbrpID}": at(mapping, (world) => ({ query: org(world) })),
  "PATCH /api/v2/dbrps/{dbrpID}": at(mapping, (world) => ({ query: org(world), body: { default: true, retention_policy: world.fresh() } })),
  "DELETE /api/v2/dbrps/{dbrpID}": at(mapping, (world) => ({ query: org(world) })),

  "POST /api/v2/write": (world) => ({
    ...{ query: { ...org(world), bucket: BUCKET, precision: "ns" }, headers: { "Content-Type": "text/plain" }, body: LINES },
  }),
  "POST /api/v2/delete": (world) => ({
    query: { ...org(world), bucket: BUCKET, bucketID: world.bucketID },
    body: { start: "1970-01-01T00:00:00Z", stop: "1970-01-02T00:00:00Z", predicate: '_measurement="written" AND host="a"' },
  }),
  "POST /api/v2/query": (world) => ({
    query: org(world),
    body: {
      query: script,
      type: "flux",
      dialect: { header: true, delimiter: ",", annotations: ["datatype"] },
      now: "2026-01-01T00:00:00Z",
    },
  }),
  "POST /api/v2/query/ast": () => ({ body: { query: script } }),
  "POST /api/v2/query/analyze": () => ({ body: { query: script } }),
  "GET /api/v2/query/suggestions": none,
  "GET /api/v2/query/suggestions/{name}": at(() => "/api/v2/query/suggestions/range"),
  "POST /write": () => ({ query: { ...v1, precision: "ns" }, body: LINES }),
  "GET /query": () => ({ query: { ...v1, q: `SELECT v FROM ${BUCKET}`, epoch: "ns" }, headers: { Accept: "application/json" } }),
  "HEAD /query": () => ({ query: { ...v1, q: "SHOW DATABASES" } }),
  "POST /query": () => ({
    ...{ query: v1, headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: `q=SELECT+v+FROM+${BUCKET}` },
  }),

  "GET /api/v2/backup/kv": none,
  "GET /api/v2/backup/metadata": none,
  "GET /api/v2/backup/shards/{shardID}": at(shard, () => ({ query: { since: "2020-01-01T00:00:00Z" } })),
  "POST /api/v2/restore/kv": async (world) => ({ headers: octets, body: await backup(world, "kv") }),
  "POST /api/v2/restore/sql": async (world) => ({ headers: octets, body: await backup(world, "sql") }),
  "POST /api/v2/restore/shards/{shardID}": upload,
  "POST /api/v2/restore/bucketMetadata": manifest,
  "POST /api/v2/restore/bucket-metadata": manifest,
  "POST /api/v2/restore/bucket/{bucketID}": oldManifest,
  "POST /api/v2/restore/buckets/{bucketID}": oldManifest,
};
