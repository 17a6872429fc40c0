// /api/v3/configure/last_cache and distinct_cache: creates and deletes caches of a table. They are read by SQL.
import { Type } from "@sinclair/typebox";
import { type Static, t } from "elysia";
import type { CacheName, CreatedCache, NewCache } from "../../../model/cache-service.ts";
import { CACHE_DEFAULTS, type CacheKind, shownValueIds } from "../../../model/caches.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../../../model/rows/column.ts";
import { operation } from "../../docs/operation.ts";
import { BodyReader } from "../../request/body.ts";
import { readJsonBody } from "../../request/json-body.ts";
import { QUERY_OR_BODY, readQueryOrBody } from "../../request/query-or-body.ts";
import type { AppServices } from "../../services.ts";
import { sizedResponse } from "../../shared/body-size.ts";
import { type Call, Routes } from "../../shared/route.ts";
import { requireReady } from "../../shared/write.ts";
import { configure, configureAnswers, configureFailed } from "./configure-route.ts";
import { NodeSpec, readNodeSpec } from "./node-spec.ts";

const db = t.String({ description: "Database." });
const table = t.String({ description: "Table." });
/** More than any table may have: longer lists are rejected without examining their items. */
const NAMES_MAX = 10_000;
const columns = (description: string) => t.Array(t.String(), { maxItems: NAMES_MAX, description });
const optionalColumns = (description: string) =>
  t.Optional(t.Union([t.Array(t.String(), { maxItems: NAMES_MAX }), t.Null()], { description }));
const optionalCount = (description: string) => t.Optional(Type.Integer({ minimum: 1, description }));
const optionalSeconds = (description: string) => t.Optional(Type.Integer({ minimum: 0, description }));
const name = t.Optional(
  t.Union([t.String(), t.Null()], { description: "Absent or null: made of the names of the table and the columns." }),
);
const DistinctBody = t.Object({
  ...{ db, table, name },
  columns: columns("Tags and string fields, in the order in which rows of the cache have them."),
  max_cardinality: optionalCount(`Combinations of values, at most; ${CACHE_DEFAULTS.maxCardinality} by default.`),
  max_age: optionalSeconds(
    `Seconds after which a combination that has not come again is forgotten; ${CACHE_DEFAULTS.maxAgeSeconds} by default.`,
  ),
  node_spec: NodeSpec,
});
const LastBody = t.Object({
  ...{ db, table, name },
  key_columns: optionalColumns(
    "What tells rows apart: tags, or fields that are no floats. Absent or null: all tags; empty: one key for all.",
  ),
  value_columns: optionalColumns("What is kept beside keys and time. Absent or null: all other columns, also those that come later."),
  count: optionalCount(`Rows of each key; ${CACHE_DEFAULTS.count} by default.`),
  ttl: optionalSeconds(`Seconds after which a row is forgotten; ${CACHE_DEFAULTS.ttlSeconds} by default.`),
  node_spec: NodeSpec,
});
const CacheOwner = t.Object({ db, table, name: t.String({ description: "Cache." }) });
const Batch = t.Object({ catalog_batch: t.Object({ Database: t.Object({}) }), sequence_number: Type.Integer() });

const DELETE_ANSWERS = configureAnswers({
  200: "It is gone.",
  400: "A parameter is missing, or the body cannot be understood.",
  404: "The database, the table or the cache does not exist.",
});
const CREATE_A_DISTINCT_VALUE_CACHE = operation({
  tag: "Databases",
  access: "database",
  summary: "Create a distinct-value cache",
  description: "It holds the combinations of values of some columns; SQL reads it: `SELECT * FROM distinct_cache('table', 'cache')`.",
  body: { "application/json": DistinctBody },
  answers: {
    ...configureAnswers({
      400: "The body cannot be understood, a column cannot be in it, or another cache of the table has the name.",
      404: "The database, the table or a server does not exist.",
      409: "There is one of this name and configuration.",
      422: "There are as many caches as there may be.",
    }),
    201: { description: "It exists now.", content: { "application/json": Batch } },
  },
});

const DELETE_A_DISTINCT_VALUE_CACHE = operation({
  tag: "Databases",
  access: "database",
  summary: "Delete a distinct-value cache",
  description: QUERY_OR_BODY,
  query: CacheOwner,
  answers: DELETE_ANSWERS,
});

const CREATE_A_LAST_VALUE_CACHE = operation({
  tag: "Databases",
  access: "database",
  summary: "Create a last-value cache",
  description: "It holds the newest rows of each key; SQL reads it: `SELECT * FROM last_cache('table', 'cache')`.",
  body: { "application/json": LastBody },
  answers: {
    ...configureAnswers({
      400: "The body cannot be understood, a column cannot be in it, or a cache of the table has the name.",
      404: "The database, the table or a server does not exist.",
      422: "There are as many caches as there may be.",
    }),
    201: { description: "It exists now.", content: { "application/json": Batch } },
  },
});

const DELETE_A_LAST_VALUE_CACHE = operation({
  tag: "Databases",
  access: "database",
  summary: "Delete a last-value cache",
  description: QUERY_OR_BODY,
  query: CacheOwner,
  answers: DELETE_ANSWERS,
});

/** Routes for caches. */
export const cacheRoutes = (services: AppServices) => {
  const reader = new BodyReader(services.maxRequestBytes, services.now);
  const isEnterprise = services.edition === "enterprise";
  const nodesOf = (spec: Static<typeof NodeSpec> | undefined) => (isEnterprise ? readNodeSpec(spec) : null);
  const create = async (call: Call<"database">, read: () => Promise<NewCache>): Promise<Response> => {
    try {
      requireReady(services.status());
      const cache = await read();
      const grant = call.caller.require(cache.database, "create");
      return sizedResponse(batchOf(await services.caches(grant).create(cache)), {
        status: 201,
        headers: { "content-type": "application/json" },
      });
    } catch (error) {
      return configureFailed(services, call, error);
    }
  };
  const remove = (call: Call<"database">, kind: CacheKind) =>
    configure(services, call, 200, async () => {
      const found = await readQueryOrBody(CacheOwner, call, reader);
      const grant = call.caller.require(found.db, "create");
      await services.caches(grant).delete(kind, { database: found.db, table: found.table, name: found.name } satisfies CacheName);
    });
  return new Routes(services.access)
    .post("/api/v3/configure/distinct_cache", CREATE_A_DISTINCT_VALUE_CACHE, (call) =>
      create(call, async () => {
        const body = await readJsonBody(DistinctBody, call.request, reader);
        return {
          ...{ kind: "distinct", database: body.db, table: body.table, name: body.name ?? null, nodes: nodesOf(body.node_spec) },
          ...{ columns: body.columns, maxCardinality: body.max_cardinality ?? undefined, maxAgeSeconds: body.max_age ?? undefined },
        };
      }),
    )
    .delete("/api/v3/configure/distinct_cache", DELETE_A_DISTINCT_VALUE_CACHE, (call) => remove(call, "distinct"))
    .post("/api/v3/configure/last_cache", CREATE_A_LAST_VALUE_CACHE, (call) =>
      create(call, async () => {
        const body = await readJsonBody(LastBody, call.request, reader);
        return {
          ...{ kind: "last", database: body.db, table: body.table, name: body.name ?? null, nodes: nodesOf(body.node_spec) },
          ...{ keyColumns: body.key_columns ?? null, valueColumns: body.value_columns ?? null },
          ...{ count: body.count ?? undefined, ttlSeconds: body.ttl ?? undefined },
        };
      }),
    )
    .delete("/api/v3/configure/last_cache", DELETE_A_LAST_VALUE_CACHE, (call) => remove(call, "last"));
};

/** The catalog change in the form that the vendor's clients print. */
function batchOf({ cache, database, table, sequence }: CreatedCache): string {
  const idOf = columnIds(table.columns);
  const operation =
    cache.kind === "distinct"
      ? {
          CreateDistinctCache: {
            ...{ table_id: table.id, table_name: table.name, node_spec: cache.nodes, cache_id: cache.id, cache_name: cache.name },
            column_ids: cache.columnIds.map(idOf),
            ...{ max_cardinality: cache.maxCardinality, max_age_seconds: cache.maxAgeSeconds, source: { type: "User" } },
          },
        }
      : {
          CreateLastCache: {
            ...{ table_id: table.id, table: table.name, id: cache.id, node_spec: cache.nodes, name: cache.name },
            key_columns: cache.keyColumnIds.map(idOf),
            value_columns:
              cache.valueColumnIds === null
                ? "all_non_key_columns"
                : { explicit: { columns: shownValueIds(cache.valueColumnIds, cache).map(idOf) } },
            ...{ count: cache.count, ttl: cache.ttlSeconds },
          },
        };
  const change = { database_id: database.id, database_name: database.name, ops: [operation] };
  const text = JSON.stringify({ catalog_batch: { Database: { time_ns: 0, ...change } }, sequence_number: sequence });
  // nanoseconds since 1970 exceed the exact range of numbers
  return text.replace(`"time_ns":0`, `"time_ns":${cache.createdMs}000000`);
}

/** Column ids as in the vendor's catalog, which numbers tags and fields separately. */
function columnIds(columns: readonly ColumnDef[]): (id: number) => unknown {
  const tags = columns.filter(({ type }) => type === ColumnType.tag).map(({ id }) => id);
  const fields = columns.filter(({ type }) => type !== ColumnType.tag && type !== ColumnType.time).map(({ id }) => id);
  return (id) => {
    if (id === TIME_COLUMN.id) return "timestamp";
    return tags.includes(id) ? { tag: tags.indexOf(id) } : { field: [0, fields.indexOf(id)] };
  };
}
