// Who may ask which route of port 8086, said a second time beside the code: what a token needs for it, and a request that it answers.

import { NOTEBOOK_ROUTES, PAGE_ROUTES } from "./v2-page-routes.ts";
import { labels, members, read, write } from "./v2-route-parts.ts";
import { TEMPLATE_ROUTES } from "./v2-template-routes.ts";

/** What the requests are about. */
export interface World {
  readonly orgID: string;
  /** The operator. */
  readonly userID: string;
  readonly otherUserID: string;
  readonly bucketID: string;
  readonly authID: string;
  readonly legacyID: string;
  readonly labelID: string;
  readonly sourceID: string;
  readonly notebookID: string;
  readonly annotationID: string;
  readonly streamID: string;
  readonly dbrpID: string;
  readonly scraperTargetID: string;
  readonly remoteID: string;
  readonly replicationID: string;
  readonly taskID: string;
  readonly dashboardID: string;
  readonly cellID: string;
  readonly variableID: string;
  readonly telegrafID: string;
  readonly runID: string;
  readonly checkID: string;
  readonly endpointID: string;
  readonly ruleID: string;
  readonly stack_id: string;
}

export interface NeededPermission {
  readonly action: "read" | "write";
  readonly resource: { readonly type: string; readonly id?: string; readonly orgID?: string };
}

export interface RouteRow {
  readonly method: string;
  /** As the router has it. */
  readonly route: string;
  /** Nobody is asked: everything that follows is left out. */
  readonly isOpen?: true;
  /** All of them are needed. */
  readonly needs?: (world: World) => readonly NeededPermission[];
  /** Default: 200. */
  readonly status?: number;
  readonly body?: (world: World) => unknown;
  /** Parameters that the route requires. */
  readonly query?: (world: World) => string;
  /** Without the permissions the answer is a list without items. */
  readonly isFiltered?: true;
  /** To those of the organization who may not see the resource the list is empty. */
  readonly isEmptyUnseen?: true;
}

const authorization = (action: "read" | "write") => (world: World) => [
  { action, resource: { type: "authorizations", orgID: world.orgID } },
  { action, resource: { type: "users", id: world.userID } },
];
const both = (world: World) => [...authorization("read")(world), ...authorization("write")(world)];
/** A new token with the permissions of its creator only. */
const newAuthorization = (world: World) => ({ orgID: world.orgID, permissions: [write("authorizations", { orgID: world.orgID })] });
const org = (action: "read" | "write") => (world: World) => [{ action, resource: { type: "orgs", id: world.orgID } }];
const orgBoth = (world: World) => [...org("read")(world), ...org("write")(world)];
const user = (action: "read" | "write") => (world: World) => [{ action, resource: { type: "users", id: world.otherUserID } }];
const bucket = (action: "read" | "write") => (world: World) => [{ action, resource: { type: "buckets", id: world.bucketID } }];
const byOrg = ({ orgID }: World) => `?orgID=${orgID}`;
const TASK = "/api/v2/tasks/:taskID";
const task = (action: "read" | "write") => (world: World) => [{ action, resource: { type: "tasks", id: world.taskID } }];
const taskBoth = (world: World) => [...task("read")(world), ...task("write")(world)];
const FLUX = 'import "array"\noption task = {name: "t", every: 1h}\narray.from(rows: [{v: 1}])';
const REPLICATION = "/api/v2/replications/:replicationID";
const remote = (action: "read" | "write") => (world: World) => [{ action, resource: { type: "remotes", id: world.remoteID } }];
const replication = (action: "read" | "write") => (world: World) => [
  { action, resource: { type: "replications", id: world.replicationID } },
];
const SCRAPER = "/api/v2/scrapers/:scraperTargetID";
const scraper = (action: "read" | "write") => (world: World) => [{ action, resource: { type: "scrapers", id: world.scraperTargetID } }];
const scraperBoth = (world: World) => [...scraper("read")(world), ...scraper("write")(world)];
const newCheck = (w: World) => ({
  ...{ orgID: w.orgID, name: crypto.randomUUID(), type: "threshold", status: "active", every: "1h" },
  query: { text: 'from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._field == "f")' },
});
const newEndpoint = (w: World) => ({ orgID: w.orgID, name: crypto.randomUUID(), type: "slack", status: "active", url: "http://localhost" });
const newRule = (w: World) => ({
  ...{ orgID: w.orgID, endpointID: w.endpointID, name: crypto.randomUUID(), type: "slack", status: "active", every: "1h" },
  messageTemplate: "m",
});
const bucketAndOrg = (world: World) => [...bucket("read")(world), ...org("read")(world)];
const bucketBoth = (world: World) => [...bucket("read")(world), ...bucket("write")(world)];

const OPEN: readonly (readonly [method: string, route: string])[] = [
  // with GET
  ["ALL", "/api/v2"],
  ["ALL", "/health"],
  ["HEAD", "/health"],
  ["ALL", "/ready"],
  ["HEAD", "/ready"],
  ["GET", "/ping"],
  ["HEAD", "/ping"],
  ["ALL", "/metrics"],
  ["ALL", "/debug/pprof"],
  ["GET", "/debug/pprof/:profile"],
  ["GET", "/api/v2/setup"],
  ["POST", "/api/v2/setup"],
  ["POST", "/api/v2/signin"],
  ["POST", "/api/v2/signout"],
  ["GET", "/api/v2/openapi.json"],
  ["GET", "/api/v2/swagger.json"],
  ["GET", "/docs"],
];

/** Of checks, endpoints and rules. `change`: what changing one needs. */
function alerts(
  name: "checks" | "notificationEndpoints" | "notificationRules",
  param: "checkID" | "endpointID" | "ruleID",
  { body, change, hasScript }: { body: (world: World) => unknown; change: readonly ("read" | "write")[]; hasScript: boolean },
): RouteRow[] {
  const path = `/api/v2/${name}`;
  const item = `${path}/:${param}`;
  const of =
    (...actions: readonly ("read" | "write")[]) =>
    (w: World) =>
      actions.map((action) => ({ action, resource: { type: name, id: w[param] } }));
  return [
    { method: "GET", route: path, query: byOrg, needs: of("read"), isFiltered: true },
    { method: "POST", route: path, needs: (w) => [write(name, { orgID: w.orgID })], body, status: 201 },
    { method: "GET", route: item, needs: of("read") },
    { method: "PUT", route: item, needs: of(...change), body },
    { method: "PATCH", route: item, needs: of(...change), body: () => ({}) },
    { method: "DELETE", route: item, needs: of(...change), status: 204 },
    ...(hasScript ? [{ method: "GET", route: `${item}/query`, needs: of("read") }] : []),
    ...members(item, of("read"), of("read", "write"), { isEmptyUnseen: true }),
    ...labels(item, of("read"), of("read", "write"), { isEmptyUnseen: true }),
  ];
}

const LEGACY = "/private/legacy/authorizations";

export const V2_ROUTES: readonly RouteRow[] = [
  ...OPEN.map(([method, route]): RouteRow => ({ method, route, isOpen: true })),
  { method: "ALL", route: "/api/v2/flags", needs: () => [] },
  { method: "ALL", route: "/api/v2/resources", needs: () => [] },
  { method: "GET", route: "/api/v2/maps/mapToken", needs: () => [] },
  { method: "GET", route: "/api/v2/me", needs: (world) => [read("users", { id: world.userID })] },
  { method: "GET", route: "/api/v2/authorizations", needs: authorization("read"), isFiltered: true },
  { method: "POST", route: "/api/v2/authorizations", needs: authorization("write"), body: newAuthorization, status: 201 },
  { method: "GET", route: "/api/v2/authorizations/:authID", needs: authorization("read") },
  { method: "PATCH", route: "/api/v2/authorizations/:authID", needs: both, body: () => ({ description: "d" }) },
  { method: "DELETE", route: "/api/v2/authorizations/:authID", needs: authorization("write"), status: 204 },
  { method: "GET", route: LEGACY, needs: authorization("read"), isFiltered: true },
  {
    method: "POST",
    route: LEGACY,
    needs: authorization("write"),
    body: (world) => ({ ...newAuthorization(world), token: crypto.randomUUID() }),
    status: 201,
  },
  { method: "GET", route: `${LEGACY}/:authID`, needs: authorization("read") },
  { method: "PATCH", route: `${LEGACY}/:authID`, needs: both, body: () => ({ description: "d" }) },
  { method: "DELETE", route: `${LEGACY}/:authID`, needs: authorization("write"), status: 204 },
  {
    method: "POST",
    route: `${LEGACY}/:authID/password`,
    needs: authorization("write"),
    body: () => ({ password: "password12" }),
    status: 204,
  },
  { method: "GET", route: "/api/v2/users", needs: user("read"), isFiltered: true },
  { method: "POST", route: "/api/v2/users", needs: () => [write("users")], body: () => ({ name: crypto.randomUUID() }), status: 201 },
  { method: "GET", route: "/api/v2/users/:userID", needs: user("read") },
  { method: "PATCH", route: "/api/v2/users/:userID", needs: user("write"), body: () => ({ status: "active" }) },
  { method: "DELETE", route: "/api/v2/users/:userID", needs: user("write"), status: 204 },
  { method: "GET", route: "/api/v2/users/:userID/permissions", needs: user("read") },
  { method: "POST", route: "/api/v2/users/:userID/password", needs: user("write"), body: () => ({ password: "password12" }), status: 204 },
  { method: "GET", route: "/api/v2/orgs", needs: org("read"), isFiltered: true },
  { method: "POST", route: "/api/v2/orgs", needs: () => [write("orgs")], body: () => ({ name: crypto.randomUUID() }), status: 201 },
  { method: "GET", route: "/api/v2/orgs/:orgID", needs: org("read") },
  { method: "PATCH", route: "/api/v2/orgs/:orgID", needs: org("write"), body: () => ({ description: "d" }) },
  { method: "DELETE", route: "/api/v2/orgs/:orgID", needs: org("write"), status: 204 },
  ...members("/api/v2/orgs/:orgID", org("read"), orgBoth),
  { method: "GET", route: "/api/v2/orgs/:orgID/secrets", needs: (w) => [...org("read")(w), read("secrets", { orgID: w.orgID })] },
  {
    method: "PATCH",
    route: "/api/v2/orgs/:orgID/secrets",
    needs: (w) => [...org("read")(w), write("secrets", { orgID: w.orgID })],
    body: () => ({ k: "v" }),
    status: 204,
  },
  {
    method: "POST",
    route: "/api/v2/orgs/:orgID/secrets/delete",
    needs: (w) => [...org("read")(w), write("secrets", { orgID: w.orgID })],
    body: () => ({ secrets: ["k"] }),
    status: 204,
  },
  {
    method: "DELETE",
    route: "/api/v2/orgs/:orgID/secrets/:secretID",
    needs: (w) => [...org("read")(w), write("secrets", { orgID: w.orgID })],
    status: 204,
  },
  { method: "GET", route: "/api/v2/buckets", needs: (w) => [read("buckets", { orgID: w.orgID })], isFiltered: true },
  {
    method: "POST",
    route: "/api/v2/buckets",
    needs: (w) => [write("buckets", { orgID: w.orgID })],
    body: (w) => ({ orgID: w.orgID, name: crypto.randomUUID() }),
    status: 201,
  },
  { method: "GET", route: "/api/v2/buckets/:bucketID", needs: bucket("read") },
  { method: "PATCH", route: "/api/v2/buckets/:bucketID", needs: bucketBoth, body: () => ({ name: "b" }) },
  { method: "DELETE", route: "/api/v2/buckets/:bucketID", needs: bucket("write"), status: 204 },
  ...members("/api/v2/buckets/:bucketID", bucketAndOrg, bucketBoth),
  { method: "GET", route: "/api/v2/labels", needs: (w) => [read("labels", { orgID: w.orgID })], isFiltered: true },
  {
    method: "POST",
    route: "/api/v2/labels",
    needs: (w) => [write("labels", { orgID: w.orgID })],
    body: (w) => ({ orgID: w.orgID, name: crypto.randomUUID() }),
    status: 201,
  },
  { method: "GET", route: "/api/v2/labels/:labelID", needs: (w) => [read("labels", { orgID: w.orgID })] },
  { method: "PATCH", route: "/api/v2/labels/:labelID", needs: (w) => [write("labels", { orgID: w.orgID })], body: () => ({}) },
  { method: "DELETE", route: "/api/v2/labels/:labelID", needs: (w) => [write("labels", { orgID: w.orgID })], status: 204 },
  ...labels("/api/v2/buckets/:bucketID", bucket("read"), bucketBoth),
  ...PAGE_ROUTES,
  ...NOTEBOOK_ROUTES,
  { method: "GET", route: "/api/v2/tasks", needs: task("read"), isFiltered: true },
  {
    method: "POST",
    route: "/api/v2/tasks",
    needs: (w) => [write("tasks", { orgID: w.orgID })],
    body: (w) => ({ orgID: w.orgID, flux: FLUX }),
    status: 201,
  },
  { method: "GET", route: TASK, needs: task("read") },
  { method: "PATCH", route: TASK, needs: task("write"), body: () => ({ name: "t" }) },
  { method: "DELETE", route: TASK, needs: task("write"), status: 204 },
  { method: "GET", route: `${TASK}/logs`, needs: task("read"), status: 503 },
  { method: "GET", route: `${TASK}/runs`, needs: task("read"), status: 503 },
  { method: "POST", route: `${TASK}/runs`, needs: task("write"), body: () => ({ scheduledFor: "2030-01-01T00:00:00Z" }), status: 201 },
  { method: "GET", route: `${TASK}/runs/:runID`, needs: task("read") },
  { method: "DELETE", route: `${TASK}/runs/:runID`, needs: task("write") },
  { method: "POST", route: `${TASK}/runs/:runID/retry`, needs: task("write") },
  { method: "GET", route: `${TASK}/runs/:runID/logs`, needs: task("read") },
  ...members(TASK, task("read"), taskBoth, { isEmptyUnseen: true }),
  ...labels(TASK, task("read"), taskBoth, { isEmptyUnseen: true }),
  { method: "GET", route: "/api/v2/scrapers", needs: scraper("read"), isFiltered: true },
  {
    method: "POST",
    route: "/api/v2/scrapers",
    needs: (w) => [write("scrapers", { orgID: w.orgID }), ...bucket("write")(w)],
    body: (w) => ({ orgID: w.orgID, bucketID: w.bucketID, name: "s", type: "prometheus", url: "" }),
    status: 201,
  },
  { method: "GET", route: SCRAPER, needs: scraper("read") },
  { method: "PATCH", route: SCRAPER, needs: (w) => [...scraper("write")(w), ...bucket("write")(w)], body: () => ({}) },
  { method: "DELETE", route: SCRAPER, needs: scraper("write"), status: 204 },
  ...members(SCRAPER, scraper("read"), scraperBoth, { isEmptyUnseen: true }),
  ...labels(SCRAPER, scraper("read"), scraperBoth, { isEmptyUnseen: true }),
  ...alerts("checks", "checkID", { body: newCheck, change: ["read", "write"], hasScript: true }),
  ...alerts("notificationEndpoints", "endpointID", { body: newEndpoint, change: ["read", "write"], hasScript: false }),
  ...alerts("notificationRules", "ruleID", { body: newRule, change: ["write"], hasScript: true }),
  { method: "GET", route: "/api/v2/remotes", query: byOrg, needs: remote("read"), isFiltered: true },
  {
    method: "POST",
    route: "/api/v2/remotes",
    needs: (w) => [write("remotes", { orgID: w.orgID })],
    body: (w) => ({ orgID: w.orgID, name: "new", remoteURL: "http://localhost", remoteAPIToken: "t" }),
    status: 201,
  },
  { method: "GET", route: "/api/v2/remotes/:remoteID", needs: remote("read") },
  { method: "PATCH", route: "/api/v2/remotes/:remoteID", needs: remote("write"), body: () => ({}) },
  { method: "DELETE", route: "/api/v2/remotes/:remoteID", needs: remote("write"), status: 204 },
  { method: "GET", route: "/api/v2/replications", query: byOrg, needs: replication("read"), isFiltered: true },
  {
    method: "POST",
    route: "/api/v2/replications",
    needs: (w) => [write("replications", { orgID: w.orgID }), ...remote("read")(w), ...bucket("read")(w)],
    body: (w) => ({ orgID: w.orgID, name: "new", remoteID: w.remoteID, localBucketID: w.bucketID, remoteBucketName: "b" }),
    status: 201,
  },
  { method: "GET", route: REPLICATION, needs: replication("read") },
  {
    method: "PATCH",
    route: REPLICATION,
    needs: (w) => [...replication("write")(w), ...remote("read")(w)],
    body: (w) => ({ remoteID: w.remoteID }),
  },
  { method: "DELETE", route: REPLICATION, needs: replication("write"), status: 204 },
  // no remote answers
  { method: "POST", route: `${REPLICATION}/validate`, needs: replication("read"), status: 503 },
  ...TEMPLATE_ROUTES,
  { method: "GET", route: "/api/v2/dbrps", query: byOrg, needs: bucket("read"), isFiltered: true },
  {
    method: "POST",
    route: "/api/v2/dbrps",
    needs: (w) => [...bucket("read")(w), ...bucket("write")(w)],
    body: (w) => ({ orgID: w.orgID, bucketID: w.bucketID, database: crypto.randomUUID(), retention_policy: "rp" }),
    status: 201,
  },
  { method: "GET", route: "/api/v2/dbrps/:dbrpID", query: byOrg, needs: bucket("read") },
  {
    method: "PATCH",
    route: "/api/v2/dbrps/:dbrpID",
    query: byOrg,
    needs: (w) => [...bucket("read")(w), ...bucket("write")(w)],
    body: () => ({ default: true }),
  },
  { method: "DELETE", route: "/api/v2/dbrps/:dbrpID", query: byOrg, needs: bucket("write"), status: 204 },
];

/** Routes for operators alone. */
export const OPERATORS: readonly (readonly [method: string, route: string])[] = [
  ["GET", "/api/v2/backup/kv"],
  ["GET", "/api/v2/backup/metadata"],
  ["GET", "/api/v2/backup/shards/:shardID"],
  ["POST", "/api/v2/restore/kv"],
  ["POST", "/api/v2/restore/sql"],
  ["POST", "/api/v2/restore/shards/:shardID"],
  ["POST", "/api/v2/restore/bucketMetadata"],
  ["POST", "/api/v2/restore/bucket-metadata"],
  ["POST", "/api/v2/restore/bucket/:bucketID"],
  ["POST", "/api/v2/restore/buckets/:bucketID"],
];

/** Routes that ask for more than permissions, tested apart. */
export const OTHER_ROUTES: readonly (readonly [method: string, route: string])[] = [
  ["GET", "/api/v2/config"],
  ["POST", "/api/v2/write"],
  ["POST", "/api/v2/delete"],
  ["POST", "/write"],
  ["GET", "/query"],
  ["HEAD", "/query"],
  ["POST", "/query"],
  ["ALL", "/query"],
  ["PUT", "/api/v2/me/password"],
  // refused always: `password` is no id
  ["PUT", "/api/v2/users/password"],
  // all signed-in users may compute; rows are asked for bucket by bucket
  ["POST", "/api/v2/query"],
  ["POST", "/api/v2/query/analyze"],
  ["POST", "/api/v2/query/ast"],
  ["GET", "/api/v2/query/suggestions"],
  ["GET", "/api/v2/query/suggestions/:name"],
  ["PUT", "/api/v2/users/:userID/password"],
  ...OPERATORS,
];
