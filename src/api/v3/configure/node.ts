// /api/v3/enterprise/configure/node: marks a server of the cluster as stopped, or takes it out of the list. It does not end a process.
import { t } from "elysia";
import { operation } from "../../docs/operation.ts";
import { BodyReader } from "../../request/body.ts";
import { readJsonBody } from "../../request/json-body.ts";
import type { AppServices } from "../../services.ts";
import { Routes } from "../../shared/route.ts";
import { configure, configureAnswers } from "./configure-route.ts";

const PATH = "/api/v3/enterprise/configure/node";

const StopBody = t.Object({ node_id: t.String({ description: "Its --node-id." }) });
const RemoveBody = t.Object({
  node_id: t.String({ description: "Its --node-id." }),
  force_finalize: t.Optional(
    t.Boolean({
      default: false,
      description: "For a server that never finished to stop. Here a mark is there or not, so it changes nothing.",
    }),
  ),
});

const COMMON = { tag: "Server", access: "admin" } as const;

/** Routes for nodes. */
export const nodeRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  const routes = new Routes(services.access);
  if (services.edition !== "enterprise") return routes;
  return routes
    .post(
      `${PATH}/stop`,
      operation({
        ...{ ...COMMON, summary: "Mark a server as stopped" },
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
    )
    .post(
      `${PATH}/remove`,
      operation({
        ...{ ...COMMON, summary: "Remove a stopped server" },
        description: "From the servers of the cluster, whose rows stay. A server that starts again is one of them again.",
        body: { "application/json": RemoveBody },
        answers: configureAnswers({
          200: "Removed.",
          400: "The body cannot be understood.",
          404: "No server has this name, or it was removed before.",
          409: "The server is not marked as stopped.",
        }),
      }),
      (call) =>
        configure(services, call, 200, async () => {
          const { node_id: nodeId } = await readJsonBody(RemoveBody, call.request, reader);
          await services.nodes(call.caller).remove(nodeId);
        }),
    );
};
