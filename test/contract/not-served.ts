// Operations of the OpenAPI files that this server does not have. The contract test fails when one of them is served and still listed:
// remove the line of a route that you add, and run `bun test/contract/extract.ts` if the line stood in LATER.

/** Groups that the contract test does not know yet: nothing but their names is in contract.json. */
export const LATER: ReadonlySet<string> = new Set([
  // users and roles
  "POST /api/v3/authorize",
  "POST /api/v3/authorize/refresh",
  "POST /api/v3/authorize/reset-password",
  "POST /api/v3/configure/user",
  "GET /api/v3/roles",
  "GET /api/v3/roles/{id}/permissions",
  "GET /api/v3/roles_by_name/{roleName}",
  "GET /api/v3/users",
  "POST /api/v3/users",
  "GET /api/v3/users/{id}",
  "POST /api/v3/users/{id}/require-password-reset",
  "GET /api/v3/users/{id}/roles",
  "PUT /api/v3/users/{id}/roles",
  "GET /api/v3/users_by_oauth_id/{oauth_id}",
  // import, deletion of rows
  "GET /api/v3/enterprise/import",
  "POST /api/v3/enterprise/import",
  "GET /api/v3/row_delete_requests",
  "POST /api/v3/row_delete_requests",
  "POST /api/v3/row_delete_requests/{seq}/abort",
  // clusters and their measurement, which the order does not have
  "POST /api/v3/enterprise/configure/node/remove",
  "DELETE /api/v3/configure/query_concurrency_limit",
  "GET /api/v3/configure/query_concurrency_limit",
  "PUT /api/v3/configure/query_concurrency_limit",
  "GET /api/v3/enterprise/configure/query_groups",
  "POST /api/v3/enterprise/configure/query_groups",
  "DELETE /api/v3/enterprise/configure/query_groups/{id}",
  "GET /api/v3/enterprise/configure/query_groups/{id}",
  "PATCH /api/v3/enterprise/configure/query_groups/{id}",
  "PUT /api/v3/enterprise/configure/query_groups/{id}",
  "GET /api/v3/loadcap/profiles",
  "DELETE /api/v3/loadcap/profiles/{profile_id}",
  "GET /api/v3/loadcap/profiles/{profile_id}",
  "GET /api/v3/loadcap/profiles/{profile_id}/download",
  "GET /api/v3/loadcap/profiles/{profile_id}/preview",
  "POST /api/v3/loadcap/start",
]);

/** What the contract test knows all of: it is tested as soon as its line is gone. */
export const SOON: ReadonlySet<string> = new Set([]);
