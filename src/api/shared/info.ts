// Health, ping and metrics endpoints.
import { t } from "elysia";
import { type DescribedRoute, operation } from "../docs/operation.ts";
import type { AppServices } from "../services.ts";
import { requestIds } from "../v1/request-id.ts";
import { EDITIONS, versionHeaders } from "./aliases.ts";
import { sizedResponse } from "./body-size.ts";
import { json, text } from "./respond.ts";
import { type AnyCall, Routes } from "./route.ts";

const Ping = t.Object({ version: t.String(), revision: t.String(), process_id: t.String() });

const HEALTH = operation({
  tag: "Server",
  access: "health",
  summary: "Whether the server takes writes and queries",
  answers: {
    200: {
      description: "`OK`; or `degraded:` and the reason while queries are taken and writes are not, because the disk is full.",
      content: { "text/plain": t.String({ examples: ["OK"] }) },
    },
    401: { description: "No token, and health is not in --disable-authz." },
    500: { description: "Replaying its log, stopping, or the log has failed; the body says which.", content: { "text/plain": t.String() } },
  },
});

const READY = operation({
  tag: "Server",
  summary: "Whether the server takes writes and queries",
  access: "ready",
  answers: {
    200: { description: "Ready." },
    503: { description: "Replaying its log, stopping, the disk is full, or the log has failed." },
  },
});

const PING = operation({
  tag: "Server",
  access: "ping",
  summary: "Version and identity",
  description:
    "Headers x-tsdb-version and x-tsdb-build name version and edition. Two clients of the v1 API take every status but 204 for a failure: " +
    "Go's, told by its User-Agent or `wait_for_leader`, and Python's, by its Accept of application/x-msgpack.",
  answers: {
    200: { description: "The running version.", content: { "application/json": Ping } },
    204: { description: "The same by headers alone, for those two." },
  },
});

/** Of Go's client (influxdata/influxdb1-client: v2/client.go), unless its user names another one. */
const GO_AGENT = /^InfluxDBClient/i;

/** For these clients alone the order is left: they compare the status with 204. Of the others, as their sources say, Java's and the shell
 *  look at no status, Ruby's takes any of 200 to 299 with a body of JSON, Node's any below 300. `verbose=true` requests a body, as in later
 *  1.x versions. */
function wantsNoContent({ request, target }: AnyCall): boolean {
  const search = new URLSearchParams(target.search);
  const verbose = search.get("verbose");
  if (verbose !== null && verbose !== "" && verbose !== "0" && verbose !== "false") return false;
  if (search.has("wait_for_leader") || GO_AGENT.test(request.headers.get("user-agent") ?? "")) return true;
  return (request.headers.get("accept") ?? "").trim().toLowerCase() === "application/x-msgpack";
}

/** Routes of health, ping and metrics. */
export const infoRoutes = (services: AppServices) => {
  const health = () => {
    const { state, reason, degraded } = services.status();
    if (degraded !== undefined) return text(200, `degraded: ${degraded}`);
    return state === "ready" ? text(200, "OK") : text(500, reason === undefined ? state : `${state}: ${reason}`);
  };
  const versions = versionHeaders(services.edition);
  const ping = (call: AnyCall) => {
    const ids = requestIds(call.request);
    if (wantsNoContent(call)) return sizedResponse(null, { status: 204, headers: { ...versions, ...ids } });
    const body = { version: `v${EDITIONS[services.edition].version}`, revision: services.revision, process_id: services.processId };
    return json(200, body, { ...versions, ...ids });
  };
  // v1 clients identify the server by its headers, with or without a token
  const versioned = (about: DescribedRoute<"ping">) => ({ ...about, access: { ...about.access, refusalHeaders: versions } });
  const ready = () => {
    const { state, reason, degraded } = services.status();
    if (degraded !== undefined) return text(503, `degraded: ${degraded}`);
    return state === "ready" ? text(200, "OK") : text(503, reason === undefined ? state : `${state}: ${reason}`);
  };
  const routes = new Routes(services.access);
  if (services.edition === "enterprise") routes.get("/ready", READY, ready);
  return routes
    .get("/health", HEALTH, health)
    .get("/api/v1/health", HEALTH, health)
    .get("/ping", versioned(PING), ping)
    .post("/ping", versioned(PING), ping)
    .get(
      "/metrics",
      operation({
        tag: "Server",
        access: "metrics",
        summary: "Counters and gauges in the Prometheus text format",
        answers: { 200: { description: "All families.", content: { "text/plain": t.String() } } },
      }),
      async () => {
        const page = await services.metrics.render({ withDatabases: true });
        return sizedResponse(page.text, { headers: { "content-type": page.contentType } });
      },
    );
};
