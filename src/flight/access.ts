// Who is calling, and whether they may: credentials out of a call's metadata, and the interface behind which tokens are checked.
import { credentialsOf } from "../auth/credentials.ts";

/** Decides what a token may read. */
export interface Access {
  /** `token`: null when the call brought none. `database`: null when the call is about none.
   *  @throws TsdbError unauthenticated, forbidden, unknown_database */
  check(token: string | null, database: string | null): void | Promise<void>;
}

/** Null for anything that is no token: a header that cannot be read is none. */
export function tokenOf(authorization: string | undefined): string | null {
  const credentials = credentialsOf(authorization ?? null);
  return typeof credentials === "string" ? null : credentials.token;
}
