// Operations of the OpenAPI files that this server does not have. The contract test fails when one of them is served and still listed:
// remove the line of a route that you add, and run `bun test/contract/extract.ts` if the line stood in LATER.

/** Groups that the contract test does not know: nothing but their names is in contract.json. */
export const LATER: ReadonlySet<string> = new Set([
  // Groups of servers that share queries: the order does not have them, and the files say that they have no effect and no final form.
  "GET /api/v3/enterprise/configure/query_groups",
  "POST /api/v3/enterprise/configure/query_groups",
  "DELETE /api/v3/enterprise/configure/query_groups/{id}",
  "GET /api/v3/enterprise/configure/query_groups/{id}",
  "PATCH /api/v3/enterprise/configure/query_groups/{id}",
  "PUT /api/v3/enterprise/configure/query_groups/{id}",
  // Recordings of a server's load for the vendor's own measurements: the order does not have them.
  "GET /api/v3/loadcap/profiles",
  "DELETE /api/v3/loadcap/profiles/{profile_id}",
  "GET /api/v3/loadcap/profiles/{profile_id}",
  "GET /api/v3/loadcap/profiles/{profile_id}/download",
  "GET /api/v3/loadcap/profiles/{profile_id}/preview",
  "POST /api/v3/loadcap/start",
]);

/** What the contract test knows all of: it is tested as soon as its line is gone. */
export const SOON: ReadonlySet<string> = new Set([]);
