// What port 8086 says about itself: routes, health, readiness, version, metrics, configuration.
import { RESOURCE_TYPES } from "../../metadata/store/kinds.ts";
import { TsdbError } from "../../model/errors.ts";
import { SECOND_NS } from "../../model/time/time-units.ts";
import { goDuration } from "../../tsdbql/parse/go-duration.ts";
import { V2_VERSION } from "../shared/aliases.ts";
import { admit } from "./app/admit.ts";
import { json } from "./app/answers.ts";
import { codeAnswer } from "./app/errors.ts";
import { V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";

/** Of the web interface that other servers have: nothing here depends on them. */
const FLAGS = { appMetrics: false, cursorAtEOF: false, newAutoRefresh: true, refreshSingleCell: true, timeFilterFlags: false };

export const systemRoutes = (services: V2Services): V2Routes => {
  const health = () => healthAnswer(services);
  const ready = () => readyAnswer(services);
  const ping = () => new Response(null, { status: 204 });
  return (
    new V2Routes(services)
      .ownCredentials("ALL", "/api/v2", ({ request }) => {
        // anybody may look, other methods are for those who are signed in, as recorded
        const principal = request.method === "GET" ? null : admit(services, request);
        return principal instanceof Response ? principal : json(200, topLevelRoutes());
      })
      .open("ALL", "/health", health)
      .open("HEAD", "/health", health)
      .open("ALL", "/ready", ready)
      .open("HEAD", "/ready", ready)
      .open("GET", "/ping", ping)
      .open("HEAD", "/ping", ping)
      .open("ALL", "/metrics", () => metrics(services))
      .get("/api/v2/config", ({ principal }) => {
        if (!principal.isOperator) throw new TsdbError("forbidden", "access to /api/v2/config requires operator permissions");
        return json(200, { config: services.options.shownConfig });
      })
      .all("/api/v2/flags", () => json(200, FLAGS))
      // of a service of maps, which this server has no account at
      .get("/api/v2/maps/mapToken", () => json(200, { token: "" }))
      .all(
        "/api/v2/resources",
        () => new Response(`${JSON.stringify(RESOURCE_TYPES)}\n`, { headers: { "content-type": "application/json" } }),
      )
  );
};

function healthAnswer({ status, revision }: V2Services): Response {
  const { state, reason, degraded } = status();
  const common = { name: "influxdb", checks: [], version: V2_VERSION, commit: revision };
  if (state === "ready" && degraded === undefined) {
    return json(200, { ...common, message: "ready for queries and writes", status: "pass" });
  }
  return json(503, { ...common, message: degraded ?? reason ?? state, status: "fail" });
}

function readyAnswer({ status, startedMs, clockMs }: V2Services): Response {
  const started = new Date(startedMs).toISOString();
  const up = goDuration((BigInt(clockMs() - startedMs) * SECOND_NS) / 1000n);
  const isReady = status().state === "ready";
  return json(isReady ? 200 : 503, { status: isReady ? "ready" : "starting", started, up });
}

async function metrics({ options, renderMetrics }: V2Services): Promise<Response> {
  if (options.metricsDisabled) return codeAnswer("forbidden", "metrics disabled");
  const { text, contentType } = await renderMetrics();
  return new Response(text, { headers: { "content-type": contentType } });
}

/** The paths of the resources, whether or not this server has all of them: clients find those that they need here. */
function topLevelRoutes(): object {
  const at = (...names: string[]) => Object.fromEntries(names.map((name) => [name, `/api/v2/${name}`]));
  return {
    ...at("authorizations", "backup", "buckets", "checks", "dashboards", "delete"),
    external: { statusFeed: "https://www.influxdata.com/feed/json" },
    ...at("flags", "labels", "me", "notificationEndpoints", "notificationRules", "orgs"),
    plugins: "/api/v2/telegraf/plugins",
    query: {
      self: "/api/v2/query",
      ast: "/api/v2/query/ast",
      analyze: "/api/v2/query/analyze",
      suggestions: "/api/v2/query/suggestions",
    },
    ...at("restore", "scrapers", "setup", "signin", "signout", "sources"),
    swagger: "/api/v2/swagger.json",
    system: { metrics: "/metrics", debug: "/debug/pprof", health: "/health" },
    ...at("tasks", "telegrafs", "users", "variables", "write"),
  };
}
