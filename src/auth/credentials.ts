// Extracts the token from an Authorization header, for HTTP and gRPC.
import { TOKEN_PREFIX } from "./token-text.ts";

export type Credentials = { readonly token: string } | "none" | "malformed";

/** Either alphabet, padded or not. */
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** One space between scheme and token; schemes in exactly this spelling. For Basic the token is the password, with any user name; v1
 *  clients also send `Token user:password`. */
export function credentialsOf(authorization: string | null): Credentials {
  if (authorization === null) return "none";
  const match = /^(Bearer|Token|Basic) (\S+)$/.exec(authorization);
  if (match === null) return "malformed";
  const [, scheme, value] = match as unknown as [string, string, string];
  if (scheme === "Bearer") return { token: value };
  if (scheme === "Token") return { token: value.startsWith(TOKEN_PREFIX) ? value : value.slice(value.indexOf(":") + 1) };
  if (!BASE64.test(value)) return "malformed";
  const parts = Buffer.from(value, "base64").toString("utf8").split(":");
  return parts.length === 2 ? { token: parts[1]! } : "malformed";
}
