// The token in an Authorization header, of HTTP and of gRPC alike.

export type Credentials = { readonly token: string } | "none" | "malformed";

/** One blank between scheme and token; schemes in exactly this spelling. With Basic the token is the password, whoever the user. */
export function credentialsOf(authorization: string | null): Credentials {
  if (authorization === null) return "none";
  const match = /^(Bearer|Token|Basic) (\S+)$/.exec(authorization);
  if (match === null) return "malformed";
  const [, scheme, value] = match as unknown as [string, string, string];
  if (scheme !== "Basic") return { token: value };
  const parts = Buffer.from(value, "base64").toString("utf8").split(":");
  return parts.length === 2 ? { token: parts[1]! } : "malformed";
}
