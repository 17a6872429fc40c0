// Operations of the OpenAPI file that this server does not have. The list only gets shorter: the contract test fails when one of them is
// served and still listed. When you add routes, remove their lines and run `bun test/contract/v2/extract.ts`.

export const LATER: ReadonlySet<string> = new Set([
  // configurations of agents
  "GET /api/v2/telegraf/plugins",
  // for web pages with maps
  "GET /api/v2/maps/mapToken",
]);
