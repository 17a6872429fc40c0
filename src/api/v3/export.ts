// /api/v3/export: rows of days that are over, as Parquet files.
import { t } from "elysia";
import { LIMITS } from "../../model/limits.ts";
import { operation } from "../docs/operation.ts";
import { liftIdleLimit } from "../request/idle-limit.ts";
import { readRequiredQuery } from "../request/query-string.ts";
import type { AppServices } from "../services.ts";
import { archiveStream } from "../shared/archive-stream.ts";
import { StreamSize, sized } from "../shared/body-size.ts";
import { failureOf } from "../shared/errors.ts";
import { errorJson, json } from "../shared/respond.ts";
import { type Call, Routes } from "../shared/route.ts";
import { watchStream } from "../shared/watched-stream.ts";
import { requireReady } from "../shared/write.ts";
import { ErrorBody } from "../shared/write-schemas.ts";
import { requireUpgradedEngine } from "./upgraded-engine.ts";

const PATH = "/api/v3/export";
const TAR_TYPE = "application/x-tar";

const db = t.String({ description: "Database." });
const table = t.String({ description: "Table." });
const Names = t.Array(t.String());
const TablesQuery = t.Object({ db });
const WindowsQuery = t.Object({ db, table });
const DataQuery = t.Object({
  db,
  table,
  windows: t.Optional(t.String({ description: "Days as `YYYY-MM-DD`, separated by commas. Default: all." })),
});

const failed = (description: string) => ({ description, content: { "application/json": ErrorBody } });
const common = {
  400: failed("A parameter is missing or wrong."),
  403: failed("The token may not read the database."),
  503: failed("The server runs without --use-pacha-tree, is replaying its log, is stopping, or runs as many exports as it may."),
};
const list = (description: string) => ({ description, content: { "application/json": Names } });

/** What the documentation says of each route. */
const OPERATIONS = {
  databases: operation({
    ...{ tag: "Export", access: "database", summary: "List databases to export" },
    answers: { ...common, 200: list("Databases with rows of days that are over, and that the token may read.") },
  }),
  tables: operation({
    ...{ tag: "Export", access: "database", summary: "List tables to export", query: TablesQuery },
    answers: { ...common, 200: list("Tables with rows of days that are over."), 404: failed("The database does not exist.") },
  }),
  windows: operation({
    ...{ tag: "Export", access: "database", summary: "List days to export", query: WindowsQuery },
    answers: {
      ...common,
      200: list("UTC days with rows that are over, as `YYYY-MM-DD`."),
      404: failed("The database or table does not exist."),
    },
  }),
  data: operation({
    ...{ tag: "Export", access: "database", summary: "Export days as Parquet", query: DataQuery },
    description:
      "A file `YYYY-MM-DD.parquet` for each day, as a query shows its rows at that moment: later writes win, deleted and expired rows " +
      "are left out. A day is made when the one before has been read. A reader that takes nothing for five minutes, and an error after " +
      "the first byte, break the connection.",
    answers: {
      ...common,
      200: { description: "The archive.", content: { [TAR_TYPE]: t.String({ format: "binary" }) } },
      404: failed("The database or table does not exist, or a day has no rows."),
    },
  }),
};

/** Only with the extended edition. */
export const exportRoutes = (services: AppServices) => {
  const routes = new Routes(services.access);
  if (services.edition !== "enterprise") return routes;
  const answered = async (call: Call<"database">, answer: () => Response | Promise<Response>): Promise<Response> => {
    try {
      requireReady(services.status());
      requireUpgradedEngine(services);
      return await answer();
    } catch (error) {
      const failure = failureOf(error);
      if (failure.isOurs) services.report(error, `${call.request.method} ${call.target.path}`);
      return errorJson(failure);
    }
  };
  return routes
    .get(`${PATH}/databases`, OPERATIONS.databases, (call) =>
      answered(call, () =>
        json(
          200,
          services
            .exports()
            .databases()
            .filter((name) => call.caller.allows(name, "read")),
        ),
      ),
    )
    .get(`${PATH}/tables`, OPERATIONS.tables, (call) =>
      answered(call, () => {
        const query = readRequiredQuery(TablesQuery, call.target.search);
        call.caller.require(query.db, "read");
        return json(200, services.exports().tables(query.db));
      }),
    )
    .get(`${PATH}/windows`, OPERATIONS.windows, (call) =>
      answered(call, async () => {
        const query = readRequiredQuery(WindowsQuery, call.target.search);
        call.caller.require(query.db, "read");
        return json(200, await services.exports().windows(query.db, query.table, call.request.signal));
      }),
    )
    .get(`${PATH}/window_data`, OPERATIONS.data, (call) =>
      answered(call, async () => {
        const { db: database, table: name, windows } = readRequiredQuery(DataQuery, call.target.search);
        call.caller.require(database, "read");
        const restoreIdleLimit = liftIdleLimit(call.server, call.request);
        try {
          const chunks = await services.exports().archive(database, name, windows?.split(",") ?? null, call.request.signal);
          const archive = await archiveStream(chunks, LIMITS.readerStallMs);
          const size = new StreamSize();
          const watched = watchStream(archive, (how, bytes, error) => {
            size.ended(bytes);
            restoreIdleLimit();
            if (how === "broken" && failureOf(error).isOurs) services.report(error, `${PATH}/window_data, half way`);
          });
          return sized(new Response(watched, { headers: { "content-type": TAR_TYPE } }), size);
        } catch (error) {
          restoreIdleLimit();
          throw error;
        }
      }),
    );
};
