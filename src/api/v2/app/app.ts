// The HTTP surface of the v2 line as one Elysia app, on a port of its own. What holds for every request stands in `border`: its target,
// headers of every answer, CORS, trailing slashes, counting.
import { Elysia } from "elysia";
import type { App } from "../../app.ts";
import { INVALID_TARGET, RequestTargets, redirected, targetOf } from "../../request/request-target.ts";
import { V2_VERSION_HEADERS } from "../../shared/aliases.ts";
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
import { admit } from "./admit.ts";
import { errorAnswer } from "./errors.ts";
import { redirectOf } from "./moved.ts";
import { matcherOf, routeOf, ruleOf } from "./route.ts";
import type { V2Services } from "./services.ts";
import { placeOf, traceOf } from "./trace.ts";
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

const PREFLIGHT = {
  "access-control-allow-methods": "POST, GET, OPTIONS, PUT, DELETE, PATCH",
  "access-control-allow-headers": "Accept, Content-Type, Content-Length, Accept-Encoding, Authorization, User-Agent",
};

/** All routes over `services`. `handle(request)` answers without a socket. @throws Error for a route that does not check who asks */
export function createV2App(services: V2Services): App {
  const known: KnownRoute[] = [];
  let around: { readonly next: Handler; readonly made: Handler } | undefined;
  const app: App = new Elysia({ name: "http.v2", strictPath: true, handler: { standardHostname: false } })
    .wrap((next) => {
      const handler = next as unknown as Handler;
      if (around?.next !== handler) around = { next: handler, made: border(services, known, handler) };
      return around.made;
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

type Handler = (request: Request) => Response | Promise<Response>;

function border(services: V2Services, known: readonly KnownRoute[], next: Handler): Handler {
  const headers = Object.entries(headersOf(services.options));
  const targets = new RequestTargets();
  const answer = (request: Request, path: string): Response | Promise<Response> => {
    const canonical = canonicalPath(path);
    if (canonical !== path) {
      // a path with a slash at its end is none of those that everybody may ask; browsers ask first without saying who they are
      if (canonical.startsWith("/api/") && request.method !== "OPTIONS") {
        const principal = admit(services, request);
        if (principal instanceof Response) return principal;
      }
      const redirect = redirectOf(request, known, canonical);
      if (redirect !== null) return redirect;
      redirected(request, canonical);
    }
    if (request.method === "OPTIONS" && isApiPath(canonical)) return preflight(request);
    // the router gives HEAD to routes of GET
    if (request.method === "HEAD" && !known.some(({ method, matches }) => ["HEAD", "ALL"].includes(method) && matches(canonical))) {
      return notRouted(services, known, request);
    }
    return next(request);
  };
  return async (request) => {
    const startedMs = services.now();
    const target = targets.read(request);
    if (target === null) return errorAnswer(INVALID_TARGET);
    // the router finds the path by counting the characters of http://
    if (request.url !== target.url) Object.defineProperty(request, "url", { value: target.url });
    let response: Response;
    let end = () => {};
    try {
      end = services.limits.begin(target.path);
      response = await answer(request, target.path);
    } catch (error) {
      if (failureOf(error).isOurs) services.report(error, placeOf(request, target.path));
      response = errorAnswer(error);
    } finally {
      end();
    }
    if (request.method === "HEAD") response = new Response(null, response);
    for (const [name, value] of headers) response.headers.set(name, value);
    if (isByEncoding(target.path, response)) response.headers.set("vary", "Accept-Encoding");
    const origin = request.headers.get("origin");
    if (origin !== null && isApiPath(target.path)) {
      response.headers.set("access-control-allow-origin", origin);
      response.headers.append("vary", "Origin");
    }
    const milliseconds = services.now() - startedMs;
    const { method, headers: asked } = request;
    const agent = asked.get("user-agent");
    services.counted({ method, route: routeOf(request), status: response.status, seconds: milliseconds / 1000, agent });
    const trace = traceOf(request);
    if (trace !== null) services.traced(trace, { method: request.method, path: target.path, status: response.status, milliseconds });
    return response;
  };
}

/** Of every answer. */
function headersOf({ transportSecuritySeconds: seconds }: V2Services["options"]): Readonly<Record<string, string>> {
  if (seconds === null) return V2_VERSION_HEADERS;
  return { ...V2_VERSION_HEADERS, "strict-transport-security": `max-age=${seconds}; includeSubDomains` };
}

/** These also take what follows them. */
const ROOTS = ["/health", "/ready", "/metrics"] as const;

/** Without a slash at the end. */
function canonicalPath(path: string): string {
  const root = ROOTS.find((each) => path.startsWith(`${each}/`));
  if (root !== undefined) return root;
  return path.endsWith("/") && /^\/(?:api\/v2|api\/v2private|private|debug)\//.test(path) ? path.slice(0, -1) : path;
}

function isApiPath(path: string): boolean {
  return path === "/api/v2" || path.startsWith("/api/v2/") || path.startsWith("/api/v2private/") || path.startsWith("/private/");
}

/** True for answers that may be compressed, as a cache between has to know, whether or not this one is. */
function isByEncoding(path: string, { status }: Response): boolean {
  if (/^\/(?:ping|write|query)$/.test(path)) return status !== 401;
  return status !== 401 && status !== 405 && /^\/api\/v2\/(?:query|backup\/(?:metadata|shards\/[^/]+))$/.test(path);
}

function preflight(request: Request): Response {
  if (!request.headers.has("origin")) return new Response(null, { status: 405 });
  return new Response(null, { status: 204, headers: PREFLIGHT });
}
