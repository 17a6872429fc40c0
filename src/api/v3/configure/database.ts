// /api/v3/configure/database: lists, creates, changes, deletes and restores databases.
import { t } from "elysia";
import type { DatabaseGrant } from "../../../auth/authorizer.ts";
import { TsdbError } from "../../../model/errors.ts";
import { INTERNAL_DATABASE } from "../../../model/names.ts";
import { parseHumanDuration } from "../../../model/time/human-duration.ts";
import { operation } from "../../docs/operation.ts";
import { BodyReader } from "../../request/body.ts";
import { readJsonBody } from "../../request/json-body.ts";
import { chooseFormat, FORMATS } from "../../request/query-format.ts";
import { readRequiredQuery } from "../../request/query-string.ts";
import type { AppServices } from "../../services.ts";
import { StreamSize, sized } from "../../shared/body-size.ts";
import { type Call, Routes } from "../../shared/route.ts";
import { watchStream } from "../../shared/watched-stream.ts";
import { requireReady } from "../../shared/write.ts";
import { configure, configureAnswers, configureFailed } from "./configure-route.ts";
import { HardDelete, readHardDeleteAt } from "./hard-delete-at.ts";

const PATH = "/api/v3/configure/database";

const db = t.String({ description: "Database." });
const retention = t.Optional(
  t.Union([t.String({ description: "How long rows are kept, such as `30d`, `24h` or `1y`." }), t.Null()], {
    description: "Absent or null: for ever.",
  }),
);

const ListQuery = t.Object({
  format: t.String({ enum: Object.keys(FORMATS), description: "Form of the list." }),
  show_deleted: t.Optional(t.Boolean({ default: false, description: "Also list those that are deleted and not dropped yet." })),
});
const CreateBody = t.Object({ db, retention_period: retention });
const DeleteQuery = t.Object({
  db,
  data_only: t.Optional(t.Boolean({ default: false, description: "Delete the rows only: database, tables and their columns stay." })),
  remove_tables: t.Optional(t.Boolean({ default: false, description: "With data_only=true: delete the caches of the tables too." })),
  hard_delete_at: HardDelete,
});
const RetentionQuery = t.Object({ db, duration: t.String({ description: "How long rows are kept, such as `30d`." }) });
const OwnerQuery = t.Object({ db });
const RestoreBody = t.Object({
  db: t.String({ description: "The name that the deleted database has now, or the one it had." }),
  new_name: t.Optional(t.Union([t.String(), t.Null()], { description: "What to call it; absent: as before." })),
});

const LIST = `SELECT database_name AS "iox::database"{deleted} FROM system.databases {where} ORDER BY {order}database_name`;

/** The list as a statement over the server's virtual tables, so that it is available in every format. */
function listStatement(showDeleted: boolean, visible: readonly string[] | null): string {
  const [deleted, order] = showDeleted ? [", deleted", "deleted, "] : ["", ""];
  const names = visible?.map((name) => `'${name.replaceAll("'", "''")}'`).join(", ");
  const conditions = [showDeleted ? "" : "NOT deleted", names === undefined ? "" : `database_name IN (${names === "" ? "NULL" : names})`];
  const where = conditions.some((condition) => condition !== "") ? `WHERE ${conditions.filter(Boolean).join(" AND ")}` : "";
  return LIST.replace("{deleted}", deleted).replace("{where}", where).replace("{order}", order);
}

/** Parses a retention period to nanoseconds; null: forever. @throws TsdbError bad_request */
export function retentionNs(period: string | null | undefined): bigint | null {
  return period === null || period === undefined ? null : parseHumanDuration(period);
}

const LIST_DATABASES = operation({
  tag: "Databases",
  access: "any token",
  summary: "List databases",
  query: ListQuery,
  answers: configureAnswers({ 200: "The databases, by name; deleted ones last.", 400: "`format` is missing or not known." }),
});

const CREATE_A_DATABASE = operation({
  tag: "Databases",
  access: "database",
  summary: "Create a database",
  body: { "application/json": CreateBody },
  answers: configureAnswers({
    200: "It exists now.",
    400: "Its name or retention period cannot be understood.",
    409: "There is one of this name.",
    422: "There are as many databases as there may be.",
  }),
});

const CHANGE_HOW_LONG_A_DATABASE_KEEPS = operation({
  tag: "Databases",
  access: "database",
  summary: "Change how long a database keeps its rows",
  body: { "application/json": CreateBody },
  answers: configureAnswers({
    200: "Changed, for the statements that follow; absent or null means for ever.",
    400: "The period cannot be understood.",
    404: "The database does not exist.",
  }),
});

const DELETE_A_DATABASE = operation({
  tag: "Databases",
  access: "database",
  summary: "Delete a database",
  description: "It is renamed, cannot be queried, and can be restored until it is dropped.",
  query: DeleteQuery,
  answers: configureAnswers({
    200: "Deleted; of a deleted one, the time at which it is dropped is another one now.",
    400: "A parameter cannot be understood.",
    404: "The database does not exist.",
    409: "It was deleted before, to be dropped at the same time.",
  }),
});

const RESTORE_A_DELETED_DATABASE = operation({
  tag: "Databases",
  access: "database",
  summary: "Restore a deleted database",
  body: { "application/json": RestoreBody },
  answers: configureAnswers({
    200: "It is there again, with its tables and rows.",
    400: "The new name is not possible, or several deleted databases had the name.",
    404: "No deleted database has or had the name.",
    409: "The name is taken, or the database is not deleted.",
    422: "There are as many databases or tables as there may be.",
  }),
});

const SET_HOW_LONG_A_DATABASE_KEEPS = operation({
  tag: "Databases",
  access: "database",
  summary: "Set how long a database keeps its rows",
  query: RetentionQuery,
  answers: configureAnswers({
    204: "Set.",
    400: "The duration cannot be understood.",
    404: "The database does not exist.",
  }),
});

const KEEP_A_DATABASE_ROWS_FOR_EVER = operation({
  tag: "Databases",
  access: "database",
  summary: "Keep a database's rows for ever",
  query: OwnerQuery,
  answers: configureAnswers({ 204: "Set.", 404: "The database does not exist." }),
});

async function listDatabases(services: AppServices, call: Call<"any token">): Promise<Response> {
  const { request, target, caller } = call;
  try {
    const { format, show_deleted: showDeleted = false } = readRequiredQuery(ListQuery, target.search);
    requireReady(services.status());
    const names = caller.isAdmin
      ? null
      : services
          .databaseList(caller)
          .list({ showDeleted })
          .map(({ name }) => name);
    const visible = names?.filter((name) => caller.canSee(name)) ?? null;
    const { contentType, body } = await services.query.query({
      database: INTERNAL_DATABASE,
      statement: listStatement(showDeleted, visible),
      format: chooseFormat(format, null),
      params: {},
      signal: request.signal,
    });
    const size = new StreamSize();
    const watched = body instanceof Uint8Array ? body : watchStream(body, (_, bytes) => size.ended(bytes));
    return sized(new Response(watched, { headers: { "content-type": contentType } }), body instanceof Uint8Array ? body.byteLength : size);
  } catch (error) {
    return configureFailed(services, call, error);
  }
}

/** Routes for databases. */
export const databaseRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  const setRetention = (grant: DatabaseGrant, period: bigint | null) => {
    const { database } = grant;
    if (database === INTERNAL_DATABASE) throw new TsdbError("bad_request", `cannot change internal database '${database}'`, {});
    return services.data(grant).setRetention({ database }, period);
  };
  return new Routes(services.access)
    .get(PATH, LIST_DATABASES, (call) => listDatabases(services, call))
    .post(PATH, CREATE_A_DATABASE, (call) =>
      configure(services, call, 200, async () => {
        const body = await readJsonBody(CreateBody, call.request, reader);
        const grant = call.caller.require(body.db, "create");
        await services.databases(grant).createDatabase({ name: body.db, retentionNs: retentionNs(body.retention_period) });
      }),
    )
    .put(PATH, CHANGE_HOW_LONG_A_DATABASE_KEEPS, (call) =>
      configure(services, call, 200, async () => {
        const body = await readJsonBody(CreateBody, call.request, reader);
        await setRetention(call.caller.require(body.db, "create"), retentionNs(body.retention_period));
      }),
    )
    .delete(PATH, DELETE_A_DATABASE, (call) =>
      configure(services, call, 200, async () => {
        const { db: database, data_only, remove_tables, hard_delete_at } = readRequiredQuery(DeleteQuery, call.target.search);
        const grant = call.caller.require(database, "delete");
        const hardDeleteAt = readHardDeleteAt(hard_delete_at);
        const request_ = { database, dataOnly: data_only ?? false, removeTables: remove_tables ?? false, hardDeleteAt };
        await services.databases(grant).deleteDatabase(request_);
      }),
    )
    .post(`${PATH}/restore`, RESTORE_A_DELETED_DATABASE, (call) =>
      configure(services, call, 200, async () => {
        const body = await readJsonBody(RestoreBody, call.request, reader);
        call.caller.require(body.db, "create");
        const deleted = services
          .databaseList(call.caller)
          .list({ showDeleted: true })
          .find(({ name, deletion }) => name === body.db && deletion !== null);
        const target = body.new_name ?? deleted?.deletion?.formerName ?? body.db;
        const grant = call.caller.require(target, "create");
        await services.databases(grant).restoreDatabase({ database: body.db, newName: body.new_name ?? null });
      }),
    )
    .post(`${PATH}/retention_period`, SET_HOW_LONG_A_DATABASE_KEEPS, (call) =>
      configure(services, call, 204, async () => {
        const { db: database, duration } = readRequiredQuery(RetentionQuery, call.target.search);
        await setRetention(call.caller.require(database, "create"), parseHumanDuration(duration));
      }),
    )
    .delete(`${PATH}/retention_period`, KEEP_A_DATABASE_ROWS_FOR_EVER, (call) =>
      configure(services, call, 204, async () => {
        const { db: database } = readRequiredQuery(OwnerQuery, call.target.search);
        await setRetention(call.caller.require(database, "create"), null);
      }),
    );
};
