// What seed-v3.md says of an operation when what it is about is there or is not: its status lists, read as a table. Requests that cannot be
// understood follow from schemas (variants.ts); these cannot.
import { DATABASE, TABLE } from "./world.ts";

/** The request is the operation's good one (good.ts) with other parameters or members; `twice`: that very request has succeeded before. */
export interface Situation {
  readonly key: string;
  readonly what: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly twice?: boolean;
  readonly status: number;
}

const NOWHERE = "nowhere";
const CONFIGURE = "/api/v3/configure";
const ENTERPRISE = "/api/v3/enterprise/configure";
const BACKUP = "/api/v3/enterprise/backup";
const ROW_DELETES = "/api/v3/row_delete_requests";
const BAD_DURATIONS = ["", "30", "d", "thirty days", "30 fortnights", "-1d", "1e3d", "1000000000000y", "30d,"];

/** The name of what is not there, in each place that can name it. */
function unknown(
  key: string,
  place: "query" | "body",
  names: readonly ("db" | "table" | "name" | "token_name" | "node_id" | "trigger_name")[],
): Situation[] {
  const words = { db: "database", table: "table", name: "cache", token_name: "token", node_id: "node", trigger_name: "trigger" };
  return names.map((name) => ({ key, what: `an unknown ${words[name]}`, [place]: { [name]: NOWHERE }, status: 404 }));
}

export const SITUATIONS: readonly Situation[] = [
  // Query: 404 (database)
  ...["query_sql", "query_influxql", "query_tsdbql"].flatMap((name): Situation[] => [
    { key: `GET /api/v3/${name}`, what: "an unknown database", query: { db: NOWHERE, q: `SELECT * FROM ${TABLE}` }, status: 404 },
    { key: `POST /api/v3/${name}`, what: "an unknown database", body: { db: NOWHERE, q: `SELECT * FROM ${TABLE}` }, status: 404 },
    { key: `GET /api/v3/${name}`, what: "an invalid statement", query: { q: "SELEC 1" }, status: 400 },
    { key: `POST /api/v3/${name}`, what: "an invalid statement", body: { q: "SELEC 1" }, status: 400 },
  ]),
  { key: "GET /query", what: "an invalid statement", query: { q: "SELEC 1" }, status: 400 },
  { key: "POST /query", what: "an invalid statement", body: { q: "SELEC 1" }, status: 400 },

  // Databases and tables
  { key: `POST ${CONFIGURE}/database`, what: "a database that exists", body: { db: DATABASE }, status: 409 },
  ...unknown(`PUT ${CONFIGURE}/database`, "body", ["db"]),
  ...unknown(`DELETE ${CONFIGURE}/database`, "query", ["db"]),
  ...unknown(`DELETE ${CONFIGURE}/database/retention_period`, "query", ["db"]),
  ...unknown(`POST ${CONFIGURE}/database/retention_period`, "query", ["db"]),
  ...unknown(`POST ${CONFIGURE}/database/restore`, "body", ["db"]),
  ...unknown(`POST ${CONFIGURE}/table`, "body", ["db"]),
  ...unknown(`PUT ${CONFIGURE}/table`, "body", ["db", "table"]),
  ...unknown(`DELETE ${CONFIGURE}/table`, "query", ["db", "table"]),
  ...unknown(`POST ${CONFIGURE}/table/restore`, "body", ["db", "table"]),
  ...unknown(`POST ${ENTERPRISE}/table/retention_period`, "query", ["db", "table"]),
  ...unknown(`DELETE ${ENTERPRISE}/table/retention_period`, "query", ["db", "table"]),
  ...unknown(`POST ${ENTERPRISE}/file_index`, "body", ["db", "table"]),
  ...unknown(`DELETE ${ENTERPRISE}/file_index`, "body", ["db", "table"]),
  ...unknown("GET /api/v3/export/tables", "query", ["db"]),
  ...unknown("GET /api/v3/export/windows", "query", ["db", "table"]),
  ...unknown("GET /api/v3/export/window_data", "query", ["db", "table"]),
  { key: "GET /api/v3/export/window_data", what: "a day without rows", query: { windows: "1970-01-02" }, status: 404 },
  { key: "GET /api/v3/export/window_data", what: "no day", query: { windows: "today" }, status: 400 },

  // Deletions of rows: facts 8.3
  ...unknown(`POST ${ROW_DELETES}`, "body", ["db", "table"]),
  ...["v = '1'", "nowhere = 'a'", "host", "host = 'a' OR time > '2020-01-01'", "1=1; DROP TABLE readings"].map((predicate) => ({
    ...{ key: `POST ${ROW_DELETES}`, what: `the predicate "${predicate}"`, body: { predicate }, status: 400 },
  })),
  { key: `POST ${ROW_DELETES}`, what: "no time", body: { min_time: "yesterday" }, status: 400 },
  { key: `POST ${ROW_DELETES}`, what: "all times, and a bound", body: { all_time: true }, status: 400 },
  { key: `GET ${ROW_DELETES}`, what: "no state", query: { disposition: "gone" }, status: 400 },
  { key: `POST ${ROW_DELETES}/{seq}/abort`, what: "the same once more", twice: true, status: 400 },

  // Backups and restores: facts 8.4
  { key: `POST ${BACKUP}`, what: "a name that is taken", twice: true, body: { force: false }, status: 409 },
  { key: `POST ${BACKUP}`, what: "no name of a backup", body: { name: "../etc" }, status: 400 },
  { key: `POST ${BACKUP}`, what: "an unknown parent", body: { type: "incremental", parent: NOWHERE }, status: 404 },
  { key: `DELETE ${BACKUP}`, what: "a backup that is not running", body: { name: NOWHERE }, status: 404 },
  { key: `DELETE ${BACKUP}/{name}`, what: "the same once more", twice: true, status: 404 },
  { key: "POST /api/v3/enterprise/restore", what: "an empty name", body: { backup_name: "" }, status: 400 },
  { key: "POST /api/v3/enterprise/restore", what: "an unknown backup", body: { backup_name: NOWHERE }, status: 404 },
  ...BAD_DURATIONS.flatMap((period): Situation[] => [
    { key: `POST ${ENTERPRISE}/table/retention_period`, what: `the duration "${period}"`, query: { duration: period }, status: 400 },
    { key: `POST ${CONFIGURE}/database/retention_period`, what: `the duration "${period}"`, query: { duration: period }, status: 400 },
    { key: `POST ${CONFIGURE}/database`, what: `the period "${period}"`, body: { retention_period: period }, status: 400 },
    { key: `PUT ${CONFIGURE}/database`, what: `the period "${period}"`, body: { retention_period: period }, status: 400 },
    { key: `PUT ${CONFIGURE}/table`, what: `the period "${period}"`, body: { retention_period: period }, status: 400 },
  ]),

  // Caches: distinct 400 other configuration, 409 the same; last 400 exists
  { key: `POST ${CONFIGURE}/distinct_cache`, what: "the same once more", twice: true, status: 409 },
  { key: `POST ${CONFIGURE}/distinct_cache`, what: "another one of the name", twice: true, body: { max_age: 7 }, status: 400 },
  { key: `POST ${CONFIGURE}/last_cache`, what: "the same once more", twice: true, status: 400 },
  { key: `POST ${CONFIGURE}/last_cache`, what: "another one of the name", twice: true, body: { count: 7 }, status: 400 },
  ...["distinct_cache", "last_cache"].flatMap((name) => [
    ...unknown(`POST ${CONFIGURE}/${name}`, "body", ["db", "table"]),
    ...unknown(`DELETE ${CONFIGURE}/${name}`, "query", ["db", "table", "name"]),
    { key: `DELETE ${CONFIGURE}/${name}`, what: "the same once more", twice: true, status: 404 },
  ]),

  // Tokens
  { key: `POST ${CONFIGURE}/token/named_admin`, what: "a name that is taken", twice: true, status: 409 },
  { key: `POST ${ENTERPRISE}/token`, what: "a name that is taken", twice: true, status: 409 },
  { key: `DELETE ${CONFIGURE}/token`, what: "the same once more", twice: true, status: 404 },
  ...unknown(`DELETE ${CONFIGURE}/token`, "query", ["token_name"]),
  ...unknown(`POST ${ENTERPRISE}/node/stop`, "body", ["node_id"]),
  ...unknown(`POST ${ENTERPRISE}/node/remove`, "body", ["node_id"]),
  { key: `POST ${ENTERPRISE}/node/remove`, what: "the same once more", twice: true, status: 404 },

  // Statements at a time: at least one, fewer than 16 only by force
  ...[0, -1, 15, 100_001, 16.5].map((max_concurrent_queries) => ({
    ...{ key: `PUT ${CONFIGURE}/query_concurrency_limit`, what: `the limit ${JSON.stringify(max_concurrent_queries)}` },
    ...{ body: { max_concurrent_queries }, status: 400 },
  })),

  // Triggers
  ...unknown(`POST ${CONFIGURE}/processing_engine_trigger`, "body", ["db"]),
  { key: `POST ${CONFIGURE}/processing_engine_trigger`, what: "a name that is taken", twice: true, status: 400 },
  { key: `POST ${CONFIGURE}/processing_engine_trigger`, what: "no such plugin", body: { plugin_filename: "none.py" }, status: 500 },
  ...["sometimes", "cron:* * *", "every:2y", "every:0s", "table:", "request:", ""].map((trigger_specification) => ({
    ...{ key: `POST ${CONFIGURE}/processing_engine_trigger`, what: `the specification "${trigger_specification}"` },
    ...{ body: { trigger_specification }, status: 400 },
  })),
  { key: `DELETE ${CONFIGURE}/processing_engine_trigger`, what: "the same once more", twice: true, status: 404 },
  ...["", "/enable", "/disable"].flatMap((path) => {
    return unknown(`${path === "" ? "DELETE" : "POST"} ${CONFIGURE}/processing_engine_trigger${path}`, "query", ["db", "trigger_name"]);
  }),
];
