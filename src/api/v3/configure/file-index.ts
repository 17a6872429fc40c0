// /api/v3/enterprise/configure/file_index: indexes on tag and string columns, by which queries skip files.
import { t } from "elysia";
import { operation } from "../../docs/operation.ts";
import { BodyReader } from "../../request/body.ts";
import { readJsonBody } from "../../request/json-body.ts";
import type { AppServices } from "../../services.ts";
import { Routes } from "../../shared/route.ts";
import { configure, configureAnswers } from "./configure-route.ts";

const PATH = "/api/v3/enterprise/configure/file_index";

const db = t.String({ description: "Database." });
const table = t.Optional(
  t.Union([t.String(), t.Null()], { description: "Table; absent or null: the database's tables that have no index of their own." }),
);
/** More than any index may have: longer lists are rejected without examining their items. */
const NAMES_MAX = 10_000;

const CreateBody = t.Object({
  db,
  table,
  columns: t.Array(t.String(), { maxItems: NAMES_MAX, description: "Tag and string columns." }),
});
const DeleteBody = t.Object({ db, table });

/** Routes for file indexes. */
export const fileIndexRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  const routes = new Routes(services.access);
  if (services.edition !== "enterprise") return routes;
  return routes
    .post(
      PATH,
      operation({
        tag: "Databases",
        access: "database",
        summary: "Create a file index",
        description: "Replaces an existing index. Existing files are indexed in the background, new ones as they are written.",
        body: { "application/json": CreateBody },
        answers: configureAnswers({
          200: "It exists now; queries use it for each file as soon as that is indexed.",
          400: "A column does not exist, or is neither a tag nor a string field.",
          404: "The database or table does not exist.",
        }),
      }),
      (call) =>
        configure(services, call, 200, async () => {
          const { db: database, table: name, columns } = await readJsonBody(CreateBody, call.request, reader);
          const grant = call.caller.require(database, "create");
          await services.fileIndexes(grant).create({ database, table: name ?? null }, columns);
        }),
    )
    .delete(
      PATH,
      operation({
        tag: "Databases",
        access: "database",
        summary: "Delete a file index",
        body: { "application/json": DeleteBody },
        answers: configureAnswers({
          200: "It is gone; rows are as they were.",
          400: "The body cannot be understood.",
          404: "The database, the table or the index does not exist.",
        }),
      }),
      (call) =>
        configure(services, call, 200, async () => {
          const { db: database, table: name } = await readJsonBody(DeleteBody, call.request, reader);
          const grant = call.caller.require(database, "create");
          await services.fileIndexes(grant).delete({ database, table: name ?? null });
        }),
    );
};
