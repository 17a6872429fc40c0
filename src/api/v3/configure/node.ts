// POST /api/v3/enterprise/configure/node/stop: marks a server of the cluster as stopped. It does not end a process.
import { t } from "elysia";
import { operation } from "../../docs/operation.ts";
import { BodyReader } from "../../request/body.ts";
import { readJsonBody } from "../../request/json-body.ts";
import type { AppServices } from "../../services.ts";
import { Routes } from "../../shared/route.ts";
import { configure, configureAnswers } from "./configure-route.ts";

const PATH = "/api/v3/enterprise/configure/node/stop";

const StopBody = t.Object({ node_id: t.String({ description: "Its --node-id." }) });

/** Routes for nodes. */
export const nodeRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  const routes = new Routes("http.v3.configure.node", services.access);
  if (services.edition !== "enterprise") return routes;
  return routes.post(
    PATH,
    operation({
      tag: "Server",
      summary: "Mark a server as stopped",
      access: "admin",
      description: "Once it has been stopped. It ends no process; a server that starts again is running again.",
      body: { "application/json": StopBody },
      answers: configureAnswers({
        200: "Marked, also if it was before.",
        400: "The body cannot be understood.",
        404: "No server has this name.",
      }),
    }),
    (call) =>
      configure(services, call, 200, async () => {
        const { node_id: nodeId } = await readJsonBody(StopBody, call.request, reader);
        await services.nodes(call.caller).stop(nodeId);
      }),
  );
};
