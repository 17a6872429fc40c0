// /api/v3/configure/table: creates, changes, deletes and restores tables.
import { t } from "elysia";
import { parseHumanDuration } from "../../../model/time/human-duration.ts";
import { operation } from "../../docs/operation.ts";
import { BodyReader } from "../../request/body.ts";
import { readJsonBody } from "../../request/json-body.ts";
import { readRequiredQuery } from "../../request/query-string.ts";
import type { AppServices } from "../../services.ts";
import { Routes } from "../../shared/route.ts";
import { configure, configureAnswers } from "./configure-route.ts";
import { retentionNs } from "./database.ts";
import { HardDelete, readHardDeleteAt } from "./hard-delete-at.ts";

const PATH = "/api/v3/configure/table";
const RETENTION_PATH = "/api/v3/enterprise/configure/table/retention_period";

const db = t.String({ description: "Database." });
const table = t.String({ description: "Table." });
const retention = t.Optional(
  t.Union([t.String(), t.Null()], { description: "How long rows are kept, such as `30d`; absent or null: as long as the database says." }),
);
/** More than any table may have: longer lists are rejected without examining their items. */
const NAMES_MAX = 10_000;
const FIELD_TYPES = ["utf8", "int64", "uint64", "float64", "bool"] as const;

const CreateBody = t.Object({
  db,
  table,
  tags: t.Array(t.String(), { maxItems: NAMES_MAX, description: "Tag columns, in the order of the series key." }),
  fields: t.Array(t.Object({ name: t.String(), type: t.Union(FIELD_TYPES.map((type) => t.Literal(type))) }), { maxItems: NAMES_MAX }),
  retention_period: retention,
});
const UpdateBody = t.Object({ db, table, retention_period: retention });
const DeleteQuery = t.Object({
  db,
  table,
  data_only: t.Optional(t.Boolean({ default: false, description: "Delete the rows only: the table and its columns stay." })),
  hard_delete_at: HardDelete,
});
const RestoreBody = t.Object({
  db,
  table: t.String({ description: "The name that the deleted table has now, or the one it had." }),
  new_name: t.Optional(t.Union([t.String(), t.Null()], { description: "What to call it; absent: as before." })),
});
const RetentionQuery = t.Object({ db, table, duration: t.String({ description: "How long rows are kept, such as `30d`." }) });
const OwnerQuery = t.Object({ db, table });

const CREATE_A_TABLE = operation({
  tag: "Databases",
  access: "database",
  summary: "Create a table",
  body: { "application/json": CreateBody },
  answers: configureAnswers({
    200: "It exists now, with its columns and without rows.",
    400: "A name, type or retention period cannot be understood.",
    404: "The database does not exist.",
    409: "There is one of this name.",
    422: "There are as many tables or columns as there may be.",
  }),
});

const DELETE_A_TABLE = operation({
  tag: "Databases",
  access: "database",
  summary: "Delete a table",
  description: "It is renamed, cannot be queried, and can be restored until it is dropped.",
  query: DeleteQuery,
  answers: configureAnswers({
    200: "Deleted; of a deleted one, the time at which it is dropped is another one now.",
    400: "A parameter cannot be understood.",
    404: "The database or table does not exist.",
    409: "It was deleted before, to be dropped at the same time.",
  }),
});

const RESTORE_A_DELETED_TABLE = operation({
  tag: "Databases",
  access: "database",
  summary: "Restore a deleted table",
  body: { "application/json": RestoreBody },
  answers: configureAnswers({
    200: "It is there again, with its rows.",
    400: "The new name is not possible, or several deleted tables had the name.",
    404: "No deleted table has or had the name.",
    409: "The name is taken, or the table is not deleted.",
    422: "There are as many tables as there may be.",
  }),
});

const CHANGE_HOW_LONG_A_TABLE_KEEPS = operation({
  tag: "Databases",
  access: "database",
  summary: "Change how long a table keeps its rows",
  body: { "application/json": UpdateBody },
  answers: configureAnswers({
    200: "Changed; absent or null means as long as the database says.",
    400: "The period cannot be understood.",
    404: "The database or table does not exist.",
  }),
});

const SET_HOW_LONG_A_TABLE_KEEPS = operation({
  tag: "Databases",
  access: "database",
  summary: "Set how long a table keeps its rows",
  query: RetentionQuery,
  answers: configureAnswers({
    204: "Set.",
    400: "The duration cannot be understood.",
    404: "The database or table does not exist.",
  }),
});

const KEEP_A_TABLE_ROWS_AS_LONG = operation({
  tag: "Databases",
  access: "database",
  summary: "Keep a table's rows as long as its database says",
  query: OwnerQuery,
  answers: configureAnswers({ 204: "Set.", 404: "The database or table does not exist." }),
});

/** Routes for tables. */
export const tableRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  const isEnterprise = services.edition === "enterprise";
  const routes = new Routes(services.access)
    .post(PATH, CREATE_A_TABLE, (call) =>
      configure(services, call, 200, async () => {
        const body = await readJsonBody(CreateBody, call.request, reader);
        const { db: database, table: name, tags, fields, retention_period: period } = body;
        const grant = call.caller.require(database, "create");
        await services.databases(grant).createTable({
          ...{ database, table: name, tags, fields },
          retentionNs: isEnterprise ? retentionNs(period) : null,
        });
      }),
    )
    .delete(PATH, DELETE_A_TABLE, (call) =>
      configure(services, call, 200, async () => {
        const { db: database, table: name, data_only, hard_delete_at } = readRequiredQuery(DeleteQuery, call.target.search);
        const grant = call.caller.require(database, "delete");
        const hardDeleteAt = readHardDeleteAt(hard_delete_at);
        await services.databases(grant).deleteTable({ database, table: name, dataOnly: data_only ?? false, hardDeleteAt });
      }),
    )
    .post(`${PATH}/restore`, RESTORE_A_DELETED_TABLE, (call) =>
      configure(services, call, 200, async () => {
        const body = await readJsonBody(RestoreBody, call.request, reader);
        const grant = call.caller.require(body.db, "create");
        await services.databases(grant).restoreTable({ database: body.db, table: body.table, newName: body.new_name ?? null });
      }),
    );
  if (!isEnterprise) return routes;
  return routes
    .put(PATH, CHANGE_HOW_LONG_A_TABLE_KEEPS, (call) =>
      configure(services, call, 200, async () => {
        const { db: database, table: name, retention_period: period } = await readJsonBody(UpdateBody, call.request, reader);
        const grant = call.caller.require(database, "create");
        await services.data(grant).setRetention({ database, table: name }, retentionNs(period));
      }),
    )
    .post(RETENTION_PATH, SET_HOW_LONG_A_TABLE_KEEPS, (call) =>
      configure(services, call, 204, async () => {
        const { db: database, table: name, duration } = readRequiredQuery(RetentionQuery, call.target.search);
        const grant = call.caller.require(database, "create");
        await services.data(grant).setRetention({ database, table: name }, parseHumanDuration(duration));
      }),
    )
    .delete(RETENTION_PATH, KEEP_A_TABLE_ROWS_AS_LONG, (call) =>
      configure(services, call, 204, async () => {
        const { db: database, table: name } = readRequiredQuery(OwnerQuery, call.target.search);
        const grant = call.caller.require(database, "create");
        await services.data(grant).setRetention({ database, table: name }, null);
      }),
    );
};
