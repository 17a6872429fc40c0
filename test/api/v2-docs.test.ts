// What port 8086 says about its own operations: all of them are described, references lead somewhere, and everybody may read it.
import { beforeAll, expect, test } from "bun:test";
import type { OpenApi } from "../../src/api/docs/openapi.ts";
import { createV2App } from "../../src/api/v2/app/app.ts";
import { type LightServer, lightServer } from "../vectors/v2/light-server.ts";
import { ask } from "./v2-ask.ts";

/** Routes that describe others, and the route that refuses always. */
const NOT_DESCRIBED = ["GET /api/v2/openapi.json", "GET /api/v2/swagger.json", "GET /docs", "PUT /api/v2/users/password"];

let server: LightServer;
let document: OpenApi;
beforeAll(async () => {
  server = await lightServer();
  document = (await ask(server, "GET", "/api/v2/openapi.json")).body;
});

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

test("every route is described, and nothing else", () => {
  const app = createV2App({ line: () => server.line, options: {}, now: () => 0 } as never);
  const routes = app.routes.map(({ method, path }) => `${method === "ALL" ? "GET" : method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
  const described = operations().map(({ path, method }) => `${method.toUpperCase()} ${path}`);
  expect(described.sort()).toEqual([...new Set(routes)].filter((key) => !NOT_DESCRIBED.includes(key)).sort());
});

test("each operation names its parameters, its answers and who may ask", () => {
  const found: string[] = [];
  for (const { path, method, operation } of operations()) {
    const key = `${method} ${path}`;
    const inPath = operation.parameters.filter((each) => each.in === "path").map(({ name }) => `{${name}}`);
    if (inPath.join() !== (path.match(/\{\w+\}/g) ?? []).join()) found.push(`${key}: ${inPath.join()}`);
    const statuses = Object.keys(operation.responses).map(Number);
    const isUseful = statuses.some((status) => status < 300) || path.startsWith("/debug");
    if (!isUseful) found.push(`${key} never succeeds`);
    if (!Array.isArray(operation.security)) found.push(`${key}: who may ask?`);
    if (operation.security!.length > 0 !== statuses.includes(401)) found.push(`${key}: 401 and credentials differ`);
    for (const [status, { content }] of Object.entries(operation.responses)) {
      if (Number(status) >= 400 && content === undefined) found.push(`${key}: ${status} has no body`);
    }
  }
  expect(found).toEqual([]);
});

test("references lead to components, and each component is referred to", () => {
  const { schemas } = document.components!;
  const referred = new Set([...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name!));
  expect([...referred].sort()).toEqual(Object.keys(schemas).sort());
  expect(schemas["Bucket"]).toMatchObject({ type: "object", required: expect.arrayContaining(["id", "name", "retentionRules"]) });
  expect(Object.keys(document.components!.securitySchemes)).toContain("token");
});

test("the vendor's path has the same document; the page has every operation and schema", async () => {
  const again = await ask(server, "GET", "/api/v2/swagger.json");
  expect(again.body).toEqual(document);
  const page = await ask(server, "GET", "/docs");
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  for (const { path } of operations()) expect(page.text).toContain(`<code>${path}</code>`);
  for (const name of Object.keys(document.components!.schemas)) expect(page.text).toContain(`id="schema-${name}"`);
  expect(page.text).toContain("--header 'Authorization: Token TOKEN'");
  expect(page.text).not.toContain("8181");
  expect((await ask(server, "POST", "/docs", undefined, "x")).status).toBe(405);
});
