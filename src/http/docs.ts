// GET /openapi.json and GET /docs, both made from what the routes say about themselves.
import { renderDocs } from "./docs-page.ts";
import { type DocumentedRoute, openApi } from "./openapi.ts";
import { hidden } from "./operation.ts";
import { json } from "./respond.ts";
import { Routes } from "./route.ts";
import type { AppServices } from "./services.ts";

/** `routes` is asked at the first request, when all of them are registered. */
export const docsRoutes = (services: AppServices, routes: () => readonly DocumentedRoute[]) => {
  const document = once(() => openApi(routes(), services.edition));
  const page = once(() => renderDocs(document()));
  return new Routes("http.docs", services.access)
    .get("/openapi.json", hidden("open"), () => json(200, document()))
    .get("/docs", hidden("open"), () => new Response(page(), { headers: { "content-type": "text/html; charset=utf-8" } }));
};

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
