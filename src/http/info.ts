// What the server says about itself: health, ping, metrics.
import { Elysia, t } from "elysia";
import { EDITIONS, versionHeaders } from "./aliases.ts";
import { operation } from "./operation.ts";
import { json, text } from "./respond.ts";
import type { AppServices } from "./services.ts";

const Ping = t.Object({ version: t.String(), revision: t.String(), process_id: t.String() });

const HEALTH = operation({
  tag: "Server",
  access: "health",
  summary: "Whether the server takes writes and queries",
  answers: {
    200: { description: "Ready.", content: { "text/plain": t.String({ examples: ["OK"] }) } },
    401: { description: "No token, and health is not in --disable-authz." },
    500: { description: "Replaying its log, stopping, or the log has failed; the body says which.", content: { "text/plain": t.String() } },
  },
});

const PING = operation({
  tag: "Server",
  access: "ping",
  summary: "Version and identity",
  description: "Headers x-tsdb-version and x-tsdb-build name version and edition.",
  answers: { 200: { description: "The running version.", content: { "application/json": Ping } } },
});

export const infoRoutes = (services: AppServices) => {
  const health = () => {
    const { state, reason } = services.status();
    return state === "ready" ? text(200, "OK") : text(500, reason === undefined ? state : `${state}: ${reason}`);
  };
  const versions = versionHeaders(services.edition);
  const ping = () => {
    const requestId = Bun.randomUUIDv7();
    const body = { version: `v${EDITIONS[services.edition].version}`, revision: services.revision, process_id: services.processId };
    return json(200, body, { ...versions, "request-id": requestId, "x-request-id": requestId });
  };
  return new Elysia({ name: "http.info" })
    .get("/health", health, HEALTH)
    .get("/api/v1/health", health, HEALTH)
    .get("/ping", ping, PING)
    .post("/ping", ping, { parse: "none", ...PING })
    .get(
      "/metrics",
      async () => {
        const page = await services.metrics.render();
        return new Response(page.text, { headers: { "content-type": page.contentType } });
      },
      operation({
        tag: "Server",
        access: "metrics",
        summary: "Counters and gauges in the Prometheus text format",
        answers: { 200: { description: "All families.", content: { "text/plain": t.String() } } },
      }),
    );
};
