// The HTTP surface of the v2 line as one Elysia app, on a port of its own. What holds for every request stands in `border.ts`.
import { Elysia } from "elysia";
import type { App } from "../../app.ts";
import { targetOf } from "../../request/request-target.ts";
import { failureOf } from "../../shared/errors.ts";
import { checkRoutes } from "../alerts/checks.ts";
import { notificationEndpointRoutes } from "../alerts/notification-endpoints.ts";
import { notificationRuleRoutes } from "../alerts/notification-rules.ts";
import { authorizationRoutes } from "../authorizations.ts";
import { backupRoutes } from "../backup.ts";
import { bucketRoutes } from "../buckets.ts";
import { docsRoutes } from "../docs/routes.ts";
import { labelRoutes } from "../labels.ts";
import { legacyAuthorizationRoutes } from "../legacy-authorizations.ts";
import { mappingRoutes } from "../mappings.ts";
import { organizationRoutes } from "../organizations.ts";
import { annotationStreamRoutes } from "../pages/annotation-streams.ts";
import { annotationRoutes } from "../pages/annotations.ts";
import { dashboardRoutes } from "../pages/dashboards.ts";
import { documentRoutes } from "../pages/documents.ts";
import { notebookRoutes } from "../pages/notebooks.ts";
import { telegrafPluginRoutes } from "../pages/telegraf-plugins.ts";
import { telegrafRoutes } from "../pages/telegrafs.ts";
import { variableRoutes } from "../pages/variables.ts";
import { passwordRoutes } from "../passwords.ts";
import { profilingRoutes } from "../profiling.ts";
import { queryRoutes } from "../query.ts";
import { queryToolRoutes } from "../query-tools.ts";
import { remoteRoutes } from "../replication/remotes.ts";
import { replicationRoutes } from "../replication/replications.ts";
import { restoreRoutes } from "../restore.ts";
import { bucketWriteRoutes } from "../rows/bucket-write.ts";
import { deleteRoutes } from "../rows/delete.ts";
import { scraperRoutes } from "../scrapers.ts";
import { secretRoutes } from "../secrets.ts";
import { sessionRoutes } from "../session.ts";
import { setupRoutes } from "../setup.ts";
import { sourceRoutes } from "../sources/sources.ts";
import { systemRoutes } from "../system.ts";
import { taskRoutes } from "../tasks/routes.ts";
import { applyRoutes } from "../templates/apply.ts";
import { exportRoutes } from "../templates/export.ts";
import { stackRoutes } from "../templates/stacks.ts";
import { userRoutes } from "../users.ts";
import { v1QueryRoutes } from "../v1/query.ts";
import { v1WriteRoutes } from "../v1/write.ts";
import { Border } from "./border.ts";
import { errorAnswer } from "./errors.ts";
import { matcherOf, ruleOf } from "./route.ts";
import type { V2Services } from "./services.ts";
import { placeOf } from "./trace.ts";
import { type KnownRoute, notRouted } from "./unrouted.ts";

const ROUTES = [
  systemRoutes,
  profilingRoutes,
  docsRoutes,
  setupRoutes,
  sessionRoutes,
  authorizationRoutes,
  legacyAuthorizationRoutes,
  userRoutes,
  passwordRoutes,
  organizationRoutes,
  secretRoutes,
  bucketRoutes,
  bucketWriteRoutes,
  deleteRoutes,
  queryRoutes,
  queryToolRoutes,
  labelRoutes,
  mappingRoutes,
  scraperRoutes,
  remoteRoutes,
  replicationRoutes,
  checkRoutes,
  notificationEndpointRoutes,
  notificationRuleRoutes,
  taskRoutes,
  dashboardRoutes,
  variableRoutes,
  telegrafRoutes,
  telegrafPluginRoutes,
  sourceRoutes,
  notebookRoutes,
  annotationRoutes,
  annotationStreamRoutes,
  documentRoutes,
  applyRoutes,
  exportRoutes,
  stackRoutes,
  v1WriteRoutes,
  v1QueryRoutes,
  backupRoutes,
  restoreRoutes,
];

/** All routes over `services`. `handle(request)` answers without a socket. @throws Error for a route that does not check who asks */
export function createV2App(services: V2Services): App {
  const known: KnownRoute[] = [];
  let around: Border | undefined;
  const app: App = new Elysia({ name: "http.v2", strictPath: true, handler: { standardHostname: false } })
    .wrap((next) => {
      const router = next as unknown as Border["next"];
      if (around?.next !== router) around = new Border(services, known, router);
      return around.handle;
    })
    .onError(({ error, code, request }) => {
      if (code === "NOT_FOUND") return notRouted(services, known, request);
      if (failureOf(error).isOurs) services.report(error, placeOf(request, targetOf(request).path));
      return errorAnswer(error);
    });
  for (const make of ROUTES) app.use(make(services).plugin);
  for (const { method, path, handler } of app.routes) {
    if (ruleOf(handler) === undefined) throw new Error(`BUG: the route ${method} ${path} has no access rule`);
    const match = matcherOf(path);
    known.push({ method, pattern: path, matches: (asked) => match(asked) !== null });
  }
  return app;
}
