// Answers to requests that no route takes: who asks is checked first, so that nobody learns which paths there are.
import { targetOf } from "../../request/request-target.ts";
import { admit } from "./admit.ts";
import { plain } from "./answers.ts";
import { requireParent } from "./below.ts";
import { codeAnswer, errorAnswer } from "./errors.ts";
import type { V2Services } from "./services.ts";

/** A route as the answers of 404 and 405 need it. */
export interface KnownRoute {
  readonly method: string;
  readonly pattern: string;
  readonly matches: (path: string) => boolean;
}

/** Below these the vendor's server answers without JSON, and its clients expect so. */
const PLAIN_RESOURCES = new Set([
  ...["authorizations", "buckets", "config", "dashboards", "dbrps", "labels", "me", "orgs", "remotes", "replications", "setup"],
  ...["signin", "signout", "stacks", "templates", "users", "notebooks", "annotations", "streams"],
]);
/** Below two of them, labels are answered in JSON. */
const LABELS_BELOW = /^\/api\/v2\/(?:buckets|dashboards)\/[^/]*\/labels(?:\/|$)/;
const CHECKED = /^\/(?:(?:api\/v2|api\/v2private|private|v1)(?:\/|$)|(?:query|write)$)/;
const PAGE_NOT_FOUND = "404 page not found\n";

/** The answer to a request without a route: 404, or 405 for a known path. The sender of a checked path is authenticated first. */
export function notRouted(services: V2Services, known: readonly KnownRoute[], request: Request): Response {
  const { path } = targetOf(request);
  const routes = known.filter(({ matches }) => matches(path));
  if (!CHECKED.test(path)) {
    if (isAsked(request, path)) return listed(routes);
    return routes.length === 0 ? plain(404, PAGE_NOT_FOUND) : plain(405, "Method Not Allowed\n", { allow: allowed(routes) });
  }
  const principal = admit(services, request);
  if (principal instanceof Response) return principal;
  if (isAsked(request, path)) return listed(routes);
  try {
    requireParent(services, principal, path);
  } catch (error) {
    return errorAnswer(error);
  }
  const resource =
    /^\/api\/v2(?:private)?\/([^/]+)/.exec(path)?.[1] ?? (path.startsWith("/private/legacy/authorizations") ? "authorizations" : "");
  const isLabels = LABELS_BELOW.test(path);
  const isPlain = PLAIN_RESOURCES.has(resource) && !isLabels;
  if (routes.length > 0) {
    const allow = allowed(routes);
    if (isPlain) return new Response(null, { status: 405, headers: { allow } });
    return codeAnswer("method not allowed", `allow: ${isLabels ? "" : allow}`, { allow });
  }
  return isPlain ? plain(404, PAGE_NOT_FOUND) : codeAnswer("not found", "path not found");
}

/** Which methods these take is answered without an error, as recorded. */
function isAsked({ method }: Request, path: string): boolean {
  return method === "OPTIONS" && (path === "/ping" || path === "/write");
}

function listed(routes: readonly KnownRoute[]): Response {
  return new Response(null, { status: 200, headers: { allow: allowed(routes) } });
}

function allowed(routes: readonly KnownRoute[]): string {
  return [...new Set([...routes.map(({ method }) => method), "OPTIONS"])].sort().join(", ");
}
