// The document of port 8086, and a page made of it. Everybody may read them.
import { renderDocs } from "../../docs/docs-page.ts";
import { json } from "../app/answers.ts";
import { V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { v2OpenApi } from "./document.ts";

const DOCUMENT = "/api/v2/openapi.json";
const ADDRESS = "http://localhost:8086";

export const docsRoutes = (services: V2Services): V2Routes => {
  const document = once(() => v2OpenApi());
  const page = once(() => renderDocs(document(), { address: ADDRESS, source: DOCUMENT, header: "Authorization: Token TOKEN" }));
  const show = () => json(200, document());
  return new V2Routes(services)
    .open("GET", DOCUMENT, show)
    .open("GET", "/api/v2/swagger.json", show)
    .open("GET", "/docs", () => new Response(page(), { headers: { "content-type": "text/html; charset=utf-8" } }));
};

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
