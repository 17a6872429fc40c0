// The HTTP API as one Elysia app. `border` handles what applies to every request: target, response headers, OPTIONS, HEAD, metrics. Access
// is checked within each route: route.ts.
import { type AnyElysia, Elysia } from "elysia";
import { docsRoutes } from "./docs/docs.ts";
import { INVALID_TARGET, type RequestTarget, RequestTargets, targetOf } from "./request/request-target.ts";
import type { AppServices } from "./services.ts";
import { sizedResponse, whenSized } from "./shared/body-size.ts";
import { failureOf } from "./shared/errors.ts";
import { infoRoutes } from "./shared/info.ts";
import { commonHeaders, errorJson, isComplete } from "./shared/respond.ts";
import { isChecked } from "./shared/route.ts";
import { v1QueryRoutes } from "./v1/query.ts";
import { v1WriteRoutes } from "./v1/write.ts";
import { v2WriteRoutes } from "./v2/write.ts";
import { backupRoutes } from "./v3/backup.ts";
import { cacheRoutes } from "./v3/configure/cache.ts";
import { databaseRoutes } from "./v3/configure/database.ts";
import { fileIndexRoutes } from "./v3/configure/file-index.ts";
import { nodeRoutes } from "./v3/configure/node.ts";
import { queryConcurrencyRoutes } from "./v3/configure/query-concurrency.ts";
import { tableRoutes } from "./v3/configure/table.ts";
import { tokenRoutes } from "./v3/configure/token.ts";
import { triggerRoutes } from "./v3/configure/trigger.ts";
import { engineRoutes } from "./v3/engine.ts";
import { exportRoutes } from "./v3/export.ts";
import { importRoutes } from "./v3/import.ts";
import { pluginDryRunRoutes } from "./v3/plugins/dry-run.ts";
import { pluginFileRoutes } from "./v3/plugins/files.ts";
import { pluginPackageRoutes } from "./v3/plugins/packages.ts";
import { profilingRoutes } from "./v3/profiling.ts";
import { querySqlRoutes } from "./v3/query-sql.ts";
import { querySqlTelemetryRoutes } from "./v3/query-sql-telemetry.ts";
import { queryTsdbqlRoutes } from "./v3/query-tsdbql.ts";
import { restoreRoutes } from "./v3/restore.ts";
import { rowDeleteRoutes } from "./v3/row-deletes.ts";
import { authorizeRoutes } from "./v3/users/authorize.ts";
import { userRoutes } from "./v3/users/users.ts";
import { v3WriteRoutes } from "./v3/write.ts";

export type App = AnyElysia;

const PREFLIGHT = {
  "access-control-allow-methods": "*",
  "access-control-allow-headers": "*",
  "access-control-max-age": "86400",
};

/** Closes the connection: client and server may disagree on where the next request begins. */
function invalidTarget(): Response {
  const failure = failureOf(INVALID_TARGET);
  return errorJson({ ...failure, headers: { ...failure.headers, connection: "close" } });
}

const ROUTES = [
  v3WriteRoutes,
  v2WriteRoutes,
  v1WriteRoutes,
  v1QueryRoutes,
  querySqlRoutes,
  querySqlTelemetryRoutes,
  exportRoutes,
  backupRoutes,
  importRoutes,
  restoreRoutes,
  rowDeleteRoutes,
  queryTsdbqlRoutes,
  databaseRoutes,
  tableRoutes,
  tokenRoutes,
  cacheRoutes,
  fileIndexRoutes,
  nodeRoutes,
  queryConcurrencyRoutes,
  authorizeRoutes,
  userRoutes,
  pluginFileRoutes,
  pluginPackageRoutes,
  pluginDryRunRoutes,
  triggerRoutes,
  engineRoutes,
  infoRoutes,
  profilingRoutes,
];

/** All routes over `services`. `handle(request)` answers without a socket; server.ts listens. @throws Error for a route without an
 *  access check */
export function createApp(services: AppServices): App {
  const { access } = services;
  const routes = { paths: new Set<string>(), headPaths: new Set<string>() };
  // Elysia requests the function around its router for every request.
  const around = once((next: Handler) => border(services, routes, next));
  const app: App = new Elysia({
    name: "http",
    strictPath: true,
    // Otherwise the router searches for the path after the 11th character and misses it after a short host name.
    handler: { standardHostname: false },
  })
    .wrap((next) => around(next as unknown as Handler))
    .onError(({ error, code, request }) => {
      const target = targetOf(request);
      if (code === "NOT_FOUND") return access.notFound(request, target);
      const failure = failureOf(error);
      if (failure.isOurs) services.report(error, `${request.method} ${target.path}`);
      return errorJson(failure);
    });
  for (const make of ROUTES) app.use(make(services).plugin);
  app.use(docsRoutes(services, () => app.routes).plugin);
  requireChecks(app);
  for (const { method, path } of app.routes) {
    routes.paths.add(path);
    if (method === "HEAD") routes.headPaths.add(path);
  }
  return app;
}

/** @throws Error if a route was not registered with an access rule */
export function requireChecks(app: App): void {
  for (const { method, path, handler } of app.routes) {
    if (!isChecked(handler)) throw new Error(`BUG: the route ${method} ${path} has no access rule`);
  }
}

/** Memoizes `make` for its last argument. */
function once<T, R>(make: (argument: T) => R): (argument: T) => R {
  let last: { argument: T; made: R } | undefined;
  return (argument) => {
    if (last === undefined || last.argument !== argument) last = { argument, made: make(argument) };
    return last.made;
  };
}

type Handler = (request: Request) => Response | Promise<Response>;

/** Wraps the router: reads the target, adds the common response headers, and counts requests by route pattern. */
function border(services: AppServices, routes: { paths: ReadonlySet<string>; headPaths: ReadonlySet<string> }, next: Handler): Handler {
  const headers = Object.entries(commonHeaders(services));
  const targets = new RequestTargets();
  const finish = (request: Request, path: string, startedMs: number, response: Response): Response => {
    if (!isComplete(response)) for (const [name, value] of headers) response.headers.set(name, value);
    const seconds = (services.now() - startedMs) / 1000;
    const sent = services.metrics.request(request.method, routes.paths.has(path) ? path : "other", response.status, seconds);
    whenSized(response, (bytes) => sent.observe(bytes));
    return response;
  };
  const answer = (request: Request, target: RequestTarget): Response | Promise<Response> => {
    const { path, url } = target;
    if (request.method === "OPTIONS") return sizedResponse(null, { status: 204, headers: PREFLIGHT });
    // The router would answer HEAD like GET; here HEAD is a separate method, and mostly not offered.
    if (request.method === "HEAD" && !routes.headPaths.has(path)) return services.access.notFound(request, target);
    // The router finds the path by skipping the length of http://, so that for https:// it would start one slash too early.
    if (request.url !== url) Object.defineProperty(request, "url", { value: url });
    return next(request);
  };
  return (request) => {
    const startedMs = services.now();
    const target = targets.read(request);
    if (target === null) return finish(request, "", startedMs, invalidTarget());
    const response = answer(request, target);
    return response instanceof Promise
      ? response.then((answered) => finish(request, target.path, startedMs, answered))
      : finish(request, target.path, startedMs, response);
  };
}
