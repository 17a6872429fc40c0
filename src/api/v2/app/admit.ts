// Credentials of a request to /api/v2: a token in the Authorization header, otherwise the cookie of a session.
import type { Principal } from "../../../metadata/access/principal.ts";
import { codeAnswer } from "./errors.ts";
import type { V2Services } from "./services.ts";

export const SESSION_COOKIE = "influxdb-oss-session";

export const UNAUTHORIZED = "unauthorized access";

/** The sender, or the answer that refuses. @throws TsdbError unavailable, too_many_requests */
export function admit({ line, limits }: V2Services, request: Request): Principal | Response {
  const { authentication } = line();
  const token = tokenIn(request);
  const key = token === null ? sessionKeyIn(request) : null;
  const found = token !== null ? authentication.byToken(token) : key !== null ? authentication.bySession(key) : "unauthenticated";
  if (typeof found !== "string") {
    limits.spend(found);
    return found;
  }
  return found === "inactive user" ? codeAnswer("forbidden", "User is inactive") : codeAnswer("unauthorized", UNAUTHORIZED);
}

/** One blank stands between scheme and token. Null for another scheme: a session may be meant. */
export function tokenIn({ headers }: Request): string | null {
  return /^(?:token|bearer) (\S.*)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? null;
}

/** The session key in the cookies of a request; null if there is none. Quotes around it are no part of it: clients add them for its
 *  `=` (RFC 6265, 4.1.1). */
export function sessionKeyIn({ headers }: Request): string | null {
  const cookies = headers.get("cookie");
  if (cookies === null) return null;
  for (const cookie of cookies.split(";")) {
    const equals = cookie.indexOf("=");
    if (equals > 0 && cookie.slice(0, equals).trim() === SESSION_COOKIE) {
      return cookie
        .slice(equals + 1)
        .trim()
        .replace(/^"(.*)"$/, "$1");
    }
  }
  return null;
}

/** User and password of a Basic header. Null: there is none, or it cannot be read. */
export function basicIn({ headers }: Request): { readonly user: string; readonly password: string } | null {
  const encoded = /^basic ([A-Za-z0-9+/_-]+={0,2})$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
