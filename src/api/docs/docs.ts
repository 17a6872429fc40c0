// GET /openapi.json and GET /docs, both generated from the routes' descriptions.

import type { AppServices } from "../services.ts";
import { sizedResponse } from "../shared/body-size.ts";
import { json } from "../shared/respond.ts";
import { Routes } from "../shared/route.ts";
import { renderDocs } from "./docs-page.ts";
import { type DocumentedRoute, openApi } from "./openapi.ts";
import { hidden } from "./operation.ts";

/** @param routes called at the first request, when all routes are registered */
export const docsRoutes = (services: AppServices, routes: () => readonly DocumentedRoute[]) => {
  const document = once(() => openApi(routes(), services.edition));
  const page = once(() => renderDocs(document(), { address: "http://localhost:8181", source: "openapi.json" }));
  return new Routes(services.access)
    .get("/openapi.json", hidden("open"), () => json(200, document()))
    .get("/docs", hidden("open"), () => sizedResponse(page(), { headers: { "content-type": "text/html; charset=utf-8" } }));
};

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
