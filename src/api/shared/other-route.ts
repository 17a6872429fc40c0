// Hints for paths of other API generations or other servers: the equivalent path of this server.

/** The first match applies. */
const HINTS: readonly (readonly [path: RegExp, here: string])[] = [
  [/^\/api\/v2\/query(?:\/|$)/, "scripts are not run here: SQL is at /api/v3/query_sql, the v1 language at /query"],
  [/^\/api\/v2\/buckets(?:\/|$)/, "a bucket is a database: /api/v3/configure/database"],
  [/^\/api\/v2\/authorizations(?:\/|$)/, "tokens are made at /api/v3/configure/token"],
  [/^\/api\/v2\/delete$/, "rows are deleted by DELETE FROM at /query, tables at /api/v3/configure/table"],
  [/^\/api\/v2\/(?:health|ready|ping)$/, "the server's state is at /health, its version at /ping"],
  [/^\/api\/v2(?:\/|$)/, "of API v2 there is POST /api/v2/write; all else is under /api/v3, and /docs lists it"],
  [/^\/api\/v3\/write$/, "line protocol is taken by POST /api/v3/write_lp"],
  [/^\/api\/v3\/query$/, "SQL is at /api/v3/query_sql, the v1 language at /api/v3/query_tsdbql"],
  [/^\/api\/v1\/(?:write|prom\/write)$/, "line protocol of v1 clients is taken by POST /write"],
  [/^\/api\/v1\/(?:query|prom\/read)$/, "the v1 language is at /query"],
  [/^\/arrow\.flight\.protocol\./, "this port speaks HTTP/1: Arrow Flight (gRPC) is at --flight-bind, by default port 8183"],
];

/** Returns null if the path is unknown elsewhere too. */
export function otherRoute(path: string): string | null {
  return HINTS.find(([pattern]) => pattern.test(path))?.[1] ?? null;
}
