// Who is calling, and whether they may: credentials out of a call's metadata, and the interface behind which tokens are checked.

/** Decides what a token may read. */
export interface Access {
  /** `token`: null when the call brought none. `database`: null when the call is about none.
   *  @throws TsdbError unauthenticated, forbidden, unknown_database */
  check(token: string | null, database: string | null): void | Promise<void>;
}

/** `Bearer`, `Token` or `Basic` and one space, exactly; with Basic the token is what follows the last colon. Null for anything else:
 *  a header that cannot be read is no token. */
export function tokenOf(authorization: string | undefined): string | null {
  const match = /^(Bearer|Token|Basic) (\S+)$/.exec(authorization ?? "");
  if (match === null) return null;
  const [, scheme, value] = match as unknown as [string, string, string];
  if (scheme !== "Basic") return value;
  const parts = Buffer.from(value, "base64").toString("utf8").split(":");
  // a user name with a colon in it is malformed
  return parts.length === 2 ? parts[1]! : null;
}
