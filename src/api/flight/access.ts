// Authentication and authorization of Flight calls: credentials from a call's metadata, and the interface for checking tokens.
import { credentialsOf } from "../../auth/credentials.ts";
import type { QueryAnswer, QueryRequest } from "../../model/query/query.ts";

/** Decides what a token may read. */
export interface Access {
  /** @param token null if the call has none @param database null if the call does not concern one @throws TsdbError unauthenticated,
   *  forbidden, unknown_database */
  check(token: string | null, database: string | null): void | Promise<void>;
}

/** The services that the RPCs need. */
export interface FlightBackend extends Access {
  /** Runs a statement if `token` may read its database. @throws TsdbError as `check`, and errors of the query path */
  query(request: QueryRequest, token: string | null): Promise<QueryAnswer>;
}

/** `queries` with an access check before each statement. */
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

/** Returns null for anything but a token: an invalid header counts as absent. */
export function tokenOf(authorization: string | undefined): string | null {
  const credentials = credentialsOf(authorization ?? null);
  return typeof credentials === "string" ? null : credentials.token;
}
