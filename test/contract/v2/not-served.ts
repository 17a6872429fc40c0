// Operations of the OpenAPI file that this server does not have. The list only gets shorter: the contract test fails when one of them is
// served and still listed. When you add routes, remove their lines and run `bun test/contract/v2/extract.ts`.

export const LATER: ReadonlySet<string> = new Set([
  // configurations of agents
  "GET /api/v2/telegraf/plugins",
  "GET /api/v2/telegrafs",
  "POST /api/v2/telegrafs",
  "DELETE /api/v2/telegrafs/{telegrafID}",
  "GET /api/v2/telegrafs/{telegrafID}",
  "PUT /api/v2/telegrafs/{telegrafID}",
  "GET /api/v2/telegrafs/{telegrafID}/labels",
  "POST /api/v2/telegrafs/{telegrafID}/labels",
  "DELETE /api/v2/telegrafs/{telegrafID}/labels/{labelID}",
  "GET /api/v2/telegrafs/{telegrafID}/members",
  "POST /api/v2/telegrafs/{telegrafID}/members",
  "DELETE /api/v2/telegrafs/{telegrafID}/members/{userID}",
  "GET /api/v2/telegrafs/{telegrafID}/owners",
  "POST /api/v2/telegrafs/{telegrafID}/owners",
  "DELETE /api/v2/telegrafs/{telegrafID}/owners/{userID}",
  // sources
  "GET /api/v2/sources",
  "POST /api/v2/sources",
  "DELETE /api/v2/sources/{sourceID}",
  "GET /api/v2/sources/{sourceID}",
  "PATCH /api/v2/sources/{sourceID}",
  "GET /api/v2/sources/{sourceID}/buckets",
  "GET /api/v2/sources/{sourceID}/health",
  // for web pages with maps
  "GET /api/v2/maps/mapToken",
]);
