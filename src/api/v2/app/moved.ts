// Redirects of paths with an added slash: some resources of the vendor's server strip the slash, others redirect.
import { codeAnswer } from "./errors.ts";
import type { KnownRoute } from "./unrouted.ts";

/** Resources that redirect. */
const REDIRECTING =
  /^\/api\/v2\/(?:backup|checks|delete|documents|notificationEndpoints|notificationRules|query|restore|scrapers|sources|tasks|telegrafs?|variables|write)(?:\/|$)/;

/** @param path without the slash at its end
 *  @returns a redirect to `path`, 404 for an unknown route, or null for resources that strip the slash */
export function redirectOf(request: Request, known: readonly KnownRoute[], path: string): Response | null {
  if (!REDIRECTING.test(path)) return null;
  const routes = known.filter(({ method }) => method === request.method);
  const route = routes.find(({ matches }) => matches(path));
  if (route === undefined || branchesBehind(route.pattern, routes)) return codeAnswer("not found", "path not found");
  const location = `${path}${/\?.*$/s.exec(request.url)?.[0] ?? ""}`;
  if (request.method !== "GET") return new Response(null, { status: 308, headers: { location } });
  const shown = location.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&#34;");
  const headers = { location, "content-type": "text/html; charset=utf-8" };
  return new Response(`<a href="${shown}">Moved Permanently</a>.\n\n`, { status: 301, headers });
}

/** True if routes continue behind `pattern` with more than one first letter. The vendor's router finds no route to redirect to then. */
function branchesBehind(pattern: string, routes: readonly { readonly pattern: string }[]): boolean {
  const start = `${pattern}/`;
  const letters = routes.filter((route) => route.pattern.startsWith(start)).map((route) => route.pattern[start.length]);
  return new Set(letters).size > 1;
}
