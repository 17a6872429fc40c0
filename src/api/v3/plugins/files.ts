// POST /api/v3/plugins/files: the files of Python plugins.
import { t } from "elysia";
import { operation } from "../../docs/operation.ts";
import { BodyReader } from "../../request/body.ts";
import { readJsonBody } from "../../request/json-body.ts";
import type { AppServices } from "../../services.ts";
import { Routes } from "../../shared/route.ts";
import { configure, configureAnswers } from "../configure/configure-route.ts";

const FILES = "/api/v3/plugins/files";

const content = t.String({ description: "The whole file." });
const CreateBody = t.Object({
  plugin_name: t.String({ description: "Path of the file below --plugin-dir." }),
  content,
});
export const pluginFileRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  return new Routes("http.v3.plugins.files", services.access).post(
    FILES,
    operation({
      tag: "Processing engine",
      access: "admin",
      summary: "Create a plugin file",
      description: "No trigger is needed. A file that exists with the same content stays.",
      body: { "application/json": CreateBody },
      answers: configureAnswers({
        200: "It exists.",
        400: "The body cannot be understood, or the path leaves the plugin directory.",
        409: "The file exists with another content.",
        500: "The server has no --plugin-dir, or cannot write there.",
      }),
    }),
    (call) =>
      configure(services, call, 200, async () => {
        const { plugin_name: name, content: text } = await readJsonBody(CreateBody, call.request, reader);
        await services.plugins(call.caller).createFile(name, text);
      }),
  );
};
