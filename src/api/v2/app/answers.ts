// Shapes of answers of port 8086.
import { V2_VERSION_HEADERS } from "../../shared/aliases.ts";
import type { V2Options } from "./services.ts";

/** Of every answer. */
export function commonHeaders({
  transportSecuritySeconds: seconds,
}: Pick<V2Options, "transportSecuritySeconds">): Readonly<Record<string, string>> {
  if (seconds === null) return V2_VERSION_HEADERS;
  return { ...V2_VERSION_HEADERS, "strict-transport-security": `max-age=${seconds}; includeSubDomains` };
}

/** An answer with a JSON body. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(`${JSON.stringify(body)}\n`, { status, headers: { "content-type": "application/json; charset=utf-8", ...headers } });
}

/** An answer with status 204. */
export function noContent(): Response {
  return new Response(null, { status: 204 });
}

/** An answer with a text body. */
export function plain(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(body, { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers } });
}
