// A server of port 8086 with one of everything, for tests of access.
import { type LightServer, lightServer } from "../vectors/v2/light-server.ts";
import { ask } from "./v2-ask.ts";
import type { RouteRow, World } from "./v2-routes.ts";

/** The operator's token. */
export const OPERATOR = "tok";

/** One of everything that routes are about. */
export async function world(): Promise<{ readonly server: LightServer; readonly world: World }> {
  const server = await lightServer();
  const setup = { username: "admin", password: "password12", org: "o", bucket: "b", token: OPERATOR };
  const made = (await ask(server, "POST", "/api/v2/setup", undefined, setup)).body;
  const orgID = made.org.id as string;
  const other = (await ask(server, "POST", "/api/v2/users", OPERATOR, { name: "ann" })).body;
  const permissions = [{ action: "read", resource: { type: "labels", orgID } }];
  const auth = (await ask(server, "POST", "/api/v2/authorizations", OPERATOR, { orgID, permissions })).body;
  const legacy = (await ask(server, "POST", "/private/legacy/authorizations", OPERATOR, { orgID, permissions, token: "v1" })).body;
  const label = (await ask(server, "POST", "/api/v2/labels", OPERATOR, { orgID, name: "l" })).body.label;
  const mapping = { orgID, bucketID: made.bucket.id, database: "d", retention_policy: "r" };
  const dbrp = (await ask(server, "POST", "/api/v2/dbrps", OPERATOR, mapping)).body;
  const target = { orgID, bucketID: made.bucket.id, name: "s", type: "prometheus", url: "" };
  const scraper = (await ask(server, "POST", "/api/v2/scrapers", OPERATOR, target)).body;
  const connection = { orgID, name: "r", remoteURL: "http://localhost", remoteAPIToken: "t" };
  const remote = (await ask(server, "POST", "/api/v2/remotes", OPERATOR, connection)).body;
  const sends = { orgID, name: "p", remoteID: remote.id, localBucketID: made.bucket.id, remoteBucketName: "b" };
  const replication = (await ask(server, "POST", "/api/v2/replications", OPERATOR, sends)).body;
  const unused = (await ask(server, "POST", "/api/v2/remotes", OPERATOR, { ...connection, name: "unused" })).body;
  const query = { text: 'from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._field == "f")' };
  const checked = { orgID, name: "c", type: "threshold", status: "active", every: "1h", query };
  const check = (await ask(server, "POST", "/api/v2/checks", OPERATOR, checked)).body;
  const slack = { orgID, name: "e", type: "slack", status: "active", url: "http://localhost" };
  const endpoint = (await ask(server, "POST", "/api/v2/notificationEndpoints", OPERATOR, slack)).body;
  const ruled = { orgID, name: "r", type: "slack", status: "active", every: "1h", endpointID: endpoint.id, messageTemplate: "m" };
  const rule = (await ask(server, "POST", "/api/v2/notificationRules", OPERATOR, ruled)).body;
  const flux = 'import "array"\noption task = {name: "t", every: 1h}\narray.from(rows: [{v: 1}])';
  const task = (await ask(server, "POST", "/api/v2/tasks", OPERATOR, { orgID, flux })).body;
  const run = (await ask(server, "POST", `/api/v2/tasks/${task.id}/runs`, OPERATOR, { scheduledFor: "2020-01-01T00:00:00Z" })).body;
  const dashboard = (await ask(server, "POST", "/api/v2/dashboards", OPERATOR, { orgID, name: "d", cells: [{ x: 1 }] })).body;
  const newVariable = { orgID, name: "v", arguments: { type: "constant", values: ["a"] } };
  const variable = (await ask(server, "POST", "/api/v2/variables", OPERATOR, newVariable)).body;
  const stack = (await ask(server, "POST", "/api/v2/stacks", OPERATOR, { orgID, name: "s" })).body;
  const telegraf = (await ask(server, "POST", "/api/v2/telegrafs", OPERATOR, { orgID, name: "t", config: "[agent]" })).body;
  const source = (await ask(server, "POST", "/api/v2/sources", OPERATOR, { orgID, name: "s", type: "self" })).body;
  const notebook = (await ask(server, "POST", "/api/v2private/notebooks", OPERATOR, { orgID, name: "n", spec: {} })).body;
  const noted = [{ stream: "s", summary: "a", startTime: "2020-01-01T00:00:00Z", endTime: "2020-01-01T01:00:00Z" }];
  const [annotation] = (await ask(server, "POST", `/api/v2private/annotations?orgID=${orgID}`, OPERATOR, noted)).body;
  const [stream] = (await ask(server, "GET", `/api/v2private/streams?orgID=${orgID}`, OPERATOR)).body;
  const ids = {
    ...{ notebookID: notebook.id, annotationID: annotation.id, streamID: stream.id },
    sourceID: source.id,
    telegrafID: telegraf.id,
    stack_id: stack.id,
    ...{ dashboardID: dashboard.id, cellID: dashboard.cells[0].id, variableID: variable.id },
    ...{ taskID: task.id, runID: run.id },
    ...{ checkID: check.id, endpointID: endpoint.id, ruleID: rule.id },
    scraperTargetID: scraper.id,
    ...{ remoteID: unused.id, replicationID: replication.id },
    dbrpID: dbrp.id,
    labelID: label.id,
    orgID,
    userID: made.user.id,
    otherUserID: other.id,
    bucketID: made.bucket.id,
    authID: auth.id,
    legacyID: legacy.id,
  };
  return { server, world: ids };
}

/** A request's path and query string, with the ids of the world. */
export function pathOf({ route, query }: Pick<RouteRow, "route" | "query">, world: World): string {
  const ids: Readonly<Record<string, string>> = {
    ...world,
    userID: world.otherUserID,
    authID: route.startsWith("/private") ? world.legacyID : world.authID,
    secretID: "k",
    namespace: "templates",
    profile: "heap",
  };
  return route.replace(/:(\w+)/g, (_, name: string) => ids[name]!) + (query?.(world) ?? "");
}
