// POST and PUT /api/v3/plugins/files, PUT /api/v3/plugins/directory: the files of Python plugins.
import { t } from "elysia";
import { operation } from "../../docs/operation.ts";
import { BodyReader } from "../../request/body.ts";
import { readJsonBody } from "../../request/json-body.ts";
import type { AppServices } from "../../services.ts";
import { Routes } from "../../shared/route.ts";
import { configure, configureAnswers } from "../configure/configure-route.ts";

const FILES = "/api/v3/plugins/files";
const FOLDER = "/api/v3/plugins/directory";
const FILES_MAX = 1000;

const content = t.String({ description: "The whole file." });
const CreateBody = t.Object({
  plugin_name: t.String({ description: "Path of the file below --plugin-dir." }),
  content,
});
const db = t.Optional(t.String({ description: "Database of the trigger; needed when triggers of one name have different plugins." }));
const UpdateBody = t.Object({ db, plugin_name: t.String({ description: "Name of a trigger: its file is replaced." }), content });
const FolderBody = t.Object({
  db,
  plugin_name: t.String({ description: "Name of a trigger: all files in its folder are replaced." }),
  files: t.Array(t.Object({ relative_path: t.String({ description: "Below the folder." }), content }), {
    minItems: 1,
    maxItems: FILES_MAX,
    description: "One of them is __init__.py, which has the trigger's function.",
  }),
});

const NO_TRIGGER = "No trigger has the name, its plugin is of the other form, or the server has no --plugin-dir.";

export const pluginFileRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  return new Routes(services.access)
    .post(
      FILES,
      operation({
        tag: "Processing engine",
        access: "admin",
        summary: "Create a plugin file",
        description: "No trigger is needed. A file that exists is replaced, and triggers whose plugin it is run the new one.",
        body: { "application/json": CreateBody },
        answers: configureAnswers({
          200: "It exists.",
          400: "The body cannot be understood, or the path leaves the plugin directory.",
          500: "The server has no --plugin-dir, or cannot write there.",
        }),
      }),
      (call) =>
        configure(services, call, 200, async () => {
          const { plugin_name: name, content: text } = await readJsonBody(CreateBody, call.request, reader);
          await services.plugins(call.caller).createFile(name, text);
        }),
    )
    .put(
      FILES,
      operation({
        tag: "Processing engine",
        access: "admin",
        summary: "Replace a trigger's plugin file",
        description: "The next run of the trigger is of the new file.",
        body: { "application/json": UpdateBody },
        answers: configureAnswers({ 200: "Replaced.", 400: "The body cannot be understood.", 500: NO_TRIGGER }),
      }),
      (call) =>
        configure(services, call, 200, async () => {
          const { db: database = null, plugin_name: name, content: text } = await readJsonBody(UpdateBody, call.request, reader);
          await services.plugins(call.caller).updateFile({ name, database }, text);
        }),
    )
    .put(
      FOLDER,
      operation({
        tag: "Processing engine",
        access: "admin",
        summary: "Replace a trigger's plugin folder",
        description: "Files that the request does not name are gone afterwards. The next run of the trigger is of the new files.",
        body: { "application/json": FolderBody },
        answers: configureAnswers({
          200: "Replaced.",
          400: "The body cannot be understood, there is no __init__.py, or a path leaves the folder.",
          500: NO_TRIGGER,
        }),
      }),
      (call) =>
        configure(services, call, 200, async () => {
          const { db: database = null, plugin_name: name, files } = await readJsonBody(FolderBody, call.request, reader);
          const named = files.map(({ relative_path: path, content: text }) => ({ path, content: text }));
          await services.plugins(call.caller).updateFolder({ name, database }, named);
        }),
    );
};
