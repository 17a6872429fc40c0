// Who is calling, and whether they may: credentials out of a call's metadata, and the interface behind which tokens are checked.
import { credentialsOf } from "../../auth/credentials.ts";
import type { QueryAnswer, QueryRequest } from "../../model/query/query.ts";

/** Decides what a token may read. */
export interface Access {
  /** `token`: null when the call brought none. `database`: null when the call is about none.
   *  @throws TsdbError unauthenticated, forbidden, unknown_database */
  check(token: string | null, database: string | null): void | Promise<void>;
}

/** What the RPCs need from the rest of the server. */
export interface FlightBackend extends Access {
  /** Runs a statement if `token` may read its database. @throws TsdbError as `check`, and what the query path throws */
  query(request: QueryRequest, token: string | null): Promise<QueryAnswer>;
}

/** `queries`, each statement behind the check for its own database. */
export function authorized(access: Access, queries: Pick<FlightBackend, "query">): FlightBackend {
  const check: Access["check"] = (token, database) => access.check(token, database);
  return {
    check,
    query: async (request, token) => {
      await check(token, request.database);
      return queries.query(request, token);
    },
  };
}

/** Null for anything that is no token: a header that cannot be read is none. */
export function tokenOf(authorization: string | undefined): string | null {
  const credentials = credentialsOf(authorization ?? null);
  return typeof credentials === "string" ? null : credentials.token;
}
