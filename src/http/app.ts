// The HTTP surface as one Elysia app. What holds for every request stands in `border`: headers of every answer, OPTIONS, HEAD, counting.
import { type AnyElysia, Elysia } from "elysia";
import type { AccessRule } from "../model/access.ts";
import { AccessRules } from "./access.ts";
import { docsRoutes } from "./docs.ts";
import { failureOf } from "./errors.ts";
import { infoRoutes } from "./info.ts";
import { ACCESS } from "./operation.ts";
import { pathOf } from "./query-string.ts";
import { commonHeaders, errorJson, isComplete, text } from "./respond.ts";
import type { AppServices } from "./services.ts";
import { UrlCache } from "./url-cache.ts";
import { v1QueryRoutes } from "./v1/query.ts";
import { v1WriteRoutes } from "./v1/write.ts";
import { v2WriteRoutes } from "./v2/write.ts";
import { cacheRoutes } from "./v3/configure/cache.ts";
import { databaseRoutes } from "./v3/configure/database.ts";
import { fileIndexRoutes } from "./v3/configure/file-index.ts";
import { nodeRoutes } from "./v3/configure/node.ts";
import { tableRoutes } from "./v3/configure/table.ts";
import { tokenRoutes } from "./v3/configure/token.ts";
import { querySqlRoutes } from "./v3/query-sql.ts";
import { queryTsdbqlRoutes } from "./v3/query-tsdbql.ts";
import { v3WriteRoutes } from "./v3/write.ts";

export type App = AnyElysia;

const PREFLIGHT = {
  "access-control-allow-methods": "*",
  "access-control-allow-headers": "*",
  "access-control-max-age": "86400",
};

const notFound = () => text(404, "Not found");

/** All routes over `services`. `handle(request)` answers without a socket; server.ts listens. */
export function createApp(services: AppServices): App {
  const routes = { paths: new Set<string>(), headPaths: new Set<string>(), rules: new AccessRules() };
  // Elysia asks for the function around its router with every request.
  const around = once((next: Handler) => border(services, routes, next));
  const app: App = new Elysia({
    name: "http",
    strictPath: true,
    // Otherwise the router looks for the path behind the 11th character and misses it after a short host name.
    handler: { standardHostname: false },
  })
    .wrap((next) => around(next as unknown as Handler))
    .onError(({ error, code, request }) => {
      if (code === "NOT_FOUND") return notFound();
      const failure = failureOf(error);
      if (failure.isOurs) services.report(error, `${request.method} ${pathOf(request.url)}`);
      return errorJson(failure);
    })
    .use(v3WriteRoutes(services))
    .use(v2WriteRoutes(services))
    .use(v1WriteRoutes(services))
    .use(v1QueryRoutes(services))
    .use(querySqlRoutes(services))
    .use(queryTsdbqlRoutes(services))
    .use(databaseRoutes(services))
    .use(tableRoutes(services))
    .use(tokenRoutes(services))
    .use(cacheRoutes(services))
    .use(fileIndexRoutes(services))
    .use(nodeRoutes(services))
    .use(infoRoutes(services))
    .use(docsRoutes(services, () => app.routes));
  for (const { method, path, hooks } of app.routes) {
    routes.rules.add(method, path, accessOf(hooks));
    routes.paths.add(path);
    if (method === "HEAD") routes.headPaths.add(path);
  }
  return app;
}

/** Who may ask a route. One that does not say is an admin's. */
export function accessOf(hooks: { readonly detail?: Readonly<Record<string, unknown>> } | undefined): AccessRule {
  return (hooks?.detail?.[ACCESS] as AccessRule | undefined) ?? "admin";
}

/** `make`, which is called again only for another argument than the last. */
function once<T, R>(make: (argument: T) => R): (argument: T) => R {
  let last: { argument: T; made: R } | undefined;
  return (argument) => {
    if (last === undefined || last.argument !== argument) last = { argument, made: make(argument) };
    return last.made;
  };
}

type Handler = (request: Request) => Response | Promise<Response>;

/** Around the router: adds the headers that every answer carries, and counts by route pattern. */
function border(
  services: AppServices,
  routes: { paths: ReadonlySet<string>; headPaths: ReadonlySet<string>; rules: AccessRules },
  next: Handler,
): Handler {
  const headers = Object.entries(commonHeaders(services));
  const paths = new UrlCache(pathOf);
  const finish = (request: Request, path: string, startedMs: number, response: Response): Response => {
    if (!isComplete(response)) for (const [name, value] of headers) response.headers.set(name, value);
    const seconds = (services.now() - startedMs) / 1000;
    services.metrics.request(request.method, routes.paths.has(path) ? path : "other", response.status, seconds);
    return response;
  };
  return (request) => {
    const startedMs = services.now();
    // The router finds the path by counting the characters of http://, and would take one of the slashes of https:// for it.
    if (request.url.startsWith("https:")) Object.defineProperty(request, "url", { value: `http:${request.url.slice("https:".length)}` });
    const path = paths.get(request.url);
    if (request.method === "OPTIONS") return finish(request, path, startedMs, new Response(null, { status: 204, headers: PREFLIGHT }));
    // The router would answer HEAD with what GET says; here HEAD is a method like any other, and mostly not offered.
    if (request.method === "HEAD" && !routes.headPaths.has(path)) return finish(request, path, startedMs, notFound());
    const refused = services.access.isOn ? services.access.refuse(request, path, routes.rules.find(request.method, path)) : null;
    const response = refused ?? next(request);
    return response instanceof Promise
      ? response.then((answer) => finish(request, path, startedMs, answer))
      : finish(request, path, startedMs, response);
  };
}
