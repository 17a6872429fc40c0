// The token in an Authorization header, of HTTP and of gRPC alike.
import { TOKEN_PREFIX } from "./token-text.ts";

export type Credentials = { readonly token: string } | "none" | "malformed";

/** Of either alphabet, padded or not. */
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** One blank between scheme and token; schemes in exactly this spelling. With Basic the token is the password, for any user name;
 *  v1 clients send `Token user:password` too. */
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
