// Where this server keeps to other words than the OpenAPI files: seed-v3.md, which wins, or v3-facts.md, which says what the vendor's
// server does where the files are silent or wrong. Whatever is not here is as the files say.
import type { Operation } from "./extract.ts";
import type { StrictSchema } from "./schema.ts";

interface Status {
  readonly status: number;
  readonly why: string;
}

/** Statuses that the files leave out of operations throughout. */
const GENERAL: readonly (Status & { readonly where: (operation: Operation) => boolean })[] = [
  { status: 401, where: () => true, why: "seed, Endpoints: every endpoint may answer 401 when credentials are missing or invalid" },
  { status: 403, where: () => true, why: "seed, Authentication: insufficient permission gives 403" },
  { status: 400, where: () => true, why: "seed, Errors: malformed request; facts 0.3: so is an invalid Authorization header" },
  { status: 413, where: hasBody, why: "facts 0.4: every body has the same limit" },
  { status: 415, where: takesJson, why: "facts 0.4: another content type than JSON" },
];

/** Statuses that the files leave out of one operation. */
const OF_OPERATION: Readonly<Record<string, readonly Status[]>> = {
  "POST /api/v3/configure/database": [{ status: 422, why: "facts 0.5: more databases than there may be" }],
  "DELETE /api/v3/configure/database": [{ status: 409, why: "facts 3.3: deleted before, to be dropped at the same time" }],
  "POST /api/v3/configure/table": [
    { status: 409, why: "facts 3.1: there is a table of this name" },
    { status: 422, why: "facts 0.5: more columns or tables than there may be" },
  ],
  "POST /api/v3/configure/distinct_cache": [{ status: 404, why: "seed, Errors: unknown database or table" }],
  "POST /api/v3/configure/token/admin": [{ status: 409, why: "facts 5.2: works once" }],
  "DELETE /api/v3/configure/token": [{ status: 405, why: "facts 5.1: the operator's token stays" }],
  "POST /api/v3/enterprise/configure/token": [{ status: 409, why: "facts 5.1: the name is taken" }],
  "POST /api/v3/configure/processing_engine_trigger": [
    { status: 422, why: "as many triggers as there may be" },
    { status: 500, why: "facts 6.1: the plugin cannot be used" },
  ],
  "POST /api/v3/configure/processing_engine_trigger/enable": [{ status: 500, why: "facts 6.1: the plugin cannot be used" }],
  "POST /api/v3/enterprise/backup": [{ status: 404, why: "seed, Errors: what is not found; here the parent" }],
  "POST /api/v3/enterprise/restore": [{ status: 404, why: "seed, Errors: what is not found; here the backup" }],
  "DELETE /api/v3/enterprise/restore/{id}": [{ status: 503, why: "seed, Errors: without the upgraded engine" }],
  "POST /api/v3/row_delete_requests": [
    { status: 404, why: "seed, Errors: unknown database or table" },
    { status: 413, why: "facts 0.4: the files do not say that there is a body" },
    { status: 415, why: "facts 0.4: the files do not say that there is a body" },
    { status: 422, why: "facts 8.3: as many as may be pending" },
  ],
  "POST /api/v3/configure/user": [
    { status: 409, why: "facts 5.5: once" },
    { status: 429, why: "as many passwords are hashed as may be" },
  ],
  "POST /api/v3/authorize": [{ status: 429, why: "waits between failed attempts" }],
  "POST /api/v3/authorize/reset-password": [{ status: 429, why: "waits between failed attempts" }],
  "POST /api/v3/users": [
    { status: 409, why: "the name is taken" },
    { status: 422, why: "as many users as there may be" },
    { status: 429, why: "as many passwords are hashed as may be" },
  ],
  "GET /api/v3/users/{id}": [{ status: 404, why: "no user has the id" }],
  "GET /ready": [{ status: 503, why: "facts 0.5" }],
  // what the seed says of the native endpoint alone; a limit of the schema is the same on all three
  "POST /write": [{ status: 422, why: "seed, Errors: write endpoints" }],
  "POST /api/v2/write": [{ status: 422, why: "seed, Errors: write endpoints" }],
};

/** Statuses that an operation may answer. */
export function statusesOf(key: string, operation: Operation): Set<number> {
  const general = GENERAL.filter(({ where }) => where(operation));
  return new Set([
    ...Object.keys(operation.answers).map(Number),
    ...[...general, ...(OF_OPERATION[key] ?? [])].map(({ status }) => status),
  ]);
}

const REJECTIONS: StrictSchema = {
  type: "array",
  maxItems: 100,
  items: {
    type: "object",
    properties: { original_line: { type: "string" }, line_number: { type: "integer" }, error_message: { type: "string" } },
    required: ["original_line", "line_number", "error_message"],
    additionalProperties: false,
  },
};
const ERROR: StrictSchema = { type: "object", properties: { error: { type: "string" } }, required: ["error"], additionalProperties: false };
/** Beside `error` what v2 clients read. */
const REFUSED: StrictSchema = {
  ...ERROR,
  properties: { ...ERROR.properties, code: { type: "string", pattern: "^(unauthorized|forbidden)$" }, message: { type: "string" } },
  required: ["error", "code", "message"],
};
const REJECTED: StrictSchema = { ...ERROR, properties: { ...ERROR.properties, data: REJECTIONS } };
/** The form of the native endpoint with accept_partial=false: facts 1.2. */
const REJECTED_WHOLE: StrictSchema = {
  ...ERROR,
  properties: { ...ERROR.properties, data: REJECTIONS.items! },
  required: ["error", "data"],
};

const TOKEN: StrictSchema = {
  type: "object",
  properties: {
    id: { type: "integer" },
    name: { type: "string" },
    token: { type: "string", pattern: "^apiv3_[A-Za-z0-9_-]{86}$" },
    hash: { type: "string", pattern: "^[0-9a-f]{128}$" },
    created_at: { type: "string", format: "date-time" },
    expiry: { type: "string", format: "date-time", nullable: true },
  },
  required: ["id", "name", "token", "hash", "created_at", "expiry"],
  additionalProperties: false,
};

const SERIES: StrictSchema = {
  type: "object",
  properties: {
    name: { type: "string" },
    columns: { type: "array", items: { type: "string" } },
    values: { type: "array", items: { type: "array" } },
  },
  required: ["name", "columns", "values"],
};
const RESULTS: StrictSchema = {
  type: "object",
  properties: {
    results: {
      type: "array",
      items: {
        type: "object",
        properties: { series: { type: "array", items: SERIES } },
        required: ["series"],
        additionalProperties: false,
      },
    },
  },
  required: ["results"],
  additionalProperties: false,
};
const V1_RESULT: StrictSchema = {
  type: "object",
  properties: {
    statement_id: { type: "integer" },
    error: { type: "string" },
    series: { type: "array", items: { ...SERIES, required: ["columns"] } },
  },
  required: ["statement_id"],
};
/** Answers to v1 statements. */
export const V1_RESULTS: StrictSchema = {
  type: "object",
  // not required: 1.x leaves it out where there was no statement
  properties: { results: { type: "array", items: V1_RESULT } },
  additionalProperties: false,
};
const ROWS: StrictSchema = { type: "array", items: { type: "object" } };
const PING: StrictSchema = {
  type: "object",
  properties: {
    version: { type: "string", pattern: "^v3\\.\\d+\\.\\d+$" },
    revision: { type: "string" },
    process_id: { type: "string", pattern: "^[0-9a-f-]{36}$" },
  },
  required: ["version", "revision", "process_id"],
  additionalProperties: false,
};

const MADE: StrictSchema = { type: "object" };
const DAY: StrictSchema = { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" };
const LINES: StrictSchema = { type: "array", items: { type: "string" } };
const DRY_RUN: StrictSchema = {
  type: "object",
  properties: { log_lines: LINES, database_writes: { type: "object" }, errors: LINES },
  required: ["log_lines", "database_writes", "errors"],
  additionalProperties: false,
};
const DRY_SCHEDULE: StrictSchema = {
  ...DRY_RUN,
  properties: { ...DRY_RUN.properties, trigger_time: { type: "string", format: "date-time", nullable: true } },
  required: [...DRY_RUN.required!, "trigger_time"],
};

const integer: StrictSchema = { type: "integer" };
const string: StrictSchema = { type: "string" };
const USER: StrictSchema = {
  type: "object",
  properties: {
    ...{ userId: integer, username: string, displayName: string, requiresPasswordReset: { type: "boolean" } },
    ...{ createdAt: integer, updatedAt: integer, deletedAt: integer, operatorToken: string, oauthId: string },
    // not of the files: they do not say how an invited user gets in
    temporaryPassword: string,
  },
  required: ["userId", "createdAt", "updatedAt"],
  additionalProperties: false,
};
const SIGNED_IN: StrictSchema = {
  type: "object",
  properties: { token: string, tokenType: string, expiresAt: integer, refreshToken: string, refreshExpiresAt: integer, user: USER },
  required: ["token", "tokenType", "expiresAt", "refreshToken", "refreshExpiresAt", "user"],
  additionalProperties: false,
};
const ROLE: StrictSchema = {
  type: "object",
  properties: {
    ...{ id: integer, name: string, isRequiredRole: { type: "boolean" }, description: string, createdAt: integer, updatedAt: integer },
  },
  required: ["id", "name", "isRequiredRole", "createdAt", "updatedAt"],
  additionalProperties: false,
};
const count: StrictSchema = { type: "integer", minimum: 0 };
const LEVEL: StrictSchema = {
  type: "object",
  properties: { total: count, processed: count },
  required: ["total", "processed"],
  additionalProperties: false,
};
const ROW_DELETE: StrictSchema = {
  type: "object",
  properties: {
    ...{ sequence: count, db_id: count, table_id: count, db_name: string, table_name: string, delete_predicate: string },
    ...{ db_name_stale: { type: "boolean" }, table_name_stale: { type: "boolean" }, min_time: integer, max_time: integer },
    ...{ created_at: integer, completed_at: integer, aborted_at: integer, abort_reason: string },
    disposition: { type: "string", enum: ["pending", "completed", "aborted"] },
    progress: {
      type: "object",
      properties: {
        sequence_id: count,
        in_range: {
          type: "object",
          properties: { l1: LEVEL, l2: LEVEL, l3: LEVEL, l4: LEVEL },
          required: ["l1", "l2", "l3", "l4"],
          additionalProperties: false,
        },
        out_of_range: LEVEL,
      },
      required: ["sequence_id", "in_range", "out_of_range"],
      additionalProperties: false,
    },
  },
  required: [
    ...["sequence", "db_id", "table_id", "db_name", "table_name", "db_name_stale", "table_name_stale"],
    ...["delete_predicate", "created_at", "disposition"],
  ],
  additionalProperties: false,
};
const listOf = (items: StrictSchema): StrictSchema => {
  return { type: "object", properties: { items: { type: "array", items } }, required: ["items"], additionalProperties: false };
};

/** Bodies in JSON, where the description has another schema, or one without constraints; by operation and status. */
const BODIES: Readonly<Record<string, { readonly schema: StrictSchema; readonly why: string }>> = {
  "GET /api/v3/configure/database 200": {
    schema: { ...ROWS, items: { type: "object", properties: { "iox::database": { type: "string" } }, required: ["iox::database"] } },
    why: "facts 3.2: rows as of a query; the files' form is wrong",
  },
  "POST /api/v3/configure/token/admin 201": { schema: TOKEN, why: "facts 5.1: the files require no member" },
  "POST /api/v3/configure/token/admin/regenerate 201": { schema: TOKEN, why: "facts 5.1" },
  "POST /api/v3/configure/token/named_admin 201": { schema: TOKEN, why: "facts 5.1" },
  "POST /api/v3/enterprise/configure/token 201": { schema: TOKEN, why: "facts 5.3: as of every other token; the files show the request" },
  "POST /api/v3/configure/distinct_cache 201": { schema: MADE, why: "facts 4.1: what the catalog has of it; clients only print it" },
  "POST /api/v3/configure/last_cache 201": { schema: MADE, why: "facts 4.2" },
  "POST /api/v3/plugin_test/wal 200": { schema: DRY_RUN, why: "facts 6.4: the files do not show it" },
  "POST /api/v3/plugin_test/schedule 200": { schema: DRY_SCHEDULE, why: "facts 6.4" },
  "GET /api/v3/engine/{request_path} 200": { schema: MADE, why: "the plugin's" },
  "POST /api/v3/engine/{request_path} 200": { schema: MADE, why: "the plugin's" },
  "GET /api/v3/export/databases 200": { schema: LINES, why: "seed, Export: a list" },
  "GET /api/v3/export/tables 200": { schema: LINES, why: "seed, Export: a list" },
  "GET /api/v3/export/windows 200": { schema: { ...LINES, items: DAY }, why: "seed, Export: a list of 24-hour windows" },
  "POST /api/v3/authorize 200": { schema: SIGNED_IN, why: "facts 5.5: the files do not show it" },
  "POST /api/v3/authorize/refresh 200": { schema: SIGNED_IN, why: "facts 5.5" },
  "POST /api/v3/authorize/reset-password 200": { schema: SIGNED_IN, why: "facts 5.5" },
  "POST /api/v3/configure/user 200": { schema: USER, why: "facts 5.5" },
  "GET /api/v3/users 200": { schema: listOf(USER), why: "facts 5.5: as lists of roles" },
  "POST /api/v3/users 200": { schema: USER, why: "facts 5.5" },
  "GET /api/v3/users/{id} 200": { schema: USER, why: "facts 5.5" },
  "GET /api/v3/roles 200": { schema: listOf(ROLE), why: "facts 5.5" },
  "POST /api/v3/row_delete_requests 200": { schema: ROW_DELETE, why: "facts 8.3: the files do not show it" },
  "GET /api/v3/row_delete_requests 200": { schema: { type: "array", items: ROW_DELETE }, why: "facts 8.3" },
  "POST /write 400": { schema: REJECTED, why: "seed, Write, rule 4" },
  "POST /api/v3/write_lp 400": {
    schema: { oneOf: [REJECTED, REJECTED_WHOLE] },
    why: "seed, Write, rule 4; facts 1.2 for accept_partial=false",
  },
  "GET /query 200": { schema: V1_RESULTS, why: "facts 2.6" },
  "POST /query 200": { schema: V1_RESULTS, why: "facts 2.6" },
  "GET /ping 200": { schema: PING, why: "seed, Resources: server info" },
  "POST /ping 200": { schema: PING, why: "seed, Resources: server info" },
};

/** Where `format` may ask for rows instead of the seed's results: facts 2.2. */
const QUERIES = /^(GET|POST) \/api\/v3\/query_(sql|influxql|tsdbql) 200$/;
/** The words of clients of the v2 line: facts 1.4. */
const V2_ERROR: StrictSchema = {
  type: "object",
  properties: { code: { type: "string" }, message: { type: "string" } },
  required: ["code", "message"],
  additionalProperties: false,
};

/** What a body in JSON has to be. */
export function bodyOf(key: string, status: number, operation: Operation): StrictSchema {
  const own = BODIES[`${key} ${status}`];
  if (own !== undefined) return own.schema;
  if (QUERIES.test(`${key} ${status}`)) return { oneOf: [RESULTS, ROWS] };
  // a request without a token is refused before anybody looks whose words it wants
  const error = status === 401 || status === 403 ? REFUSED : ERROR;
  if (status >= 400) return key === "POST /api/v2/write" ? { oneOf: [V2_ERROR, error] } : error;
  const listed = operation.answers[String(status)]?.["application/json"];
  if (listed === undefined) throw new Error(`${key} ${status}: a body in JSON that nothing is said of`);
  return listed;
}

/** Media types of an answer beside those of the files. */
export const MORE_TYPES: Readonly<Record<string, readonly string[]>> = {
  // facts 2.2
  "GET /api/v3/configure/database": ["application/jsonl", "text/csv", "text/plain", "application/vnd.apache.parquet"],
  "GET /api/v3/query_sql": ["text/plain"],
  "POST /api/v3/query_sql": ["text/plain"],
  "GET /api/v3/query_influxql": ["text/plain"],
  "POST /api/v3/query_influxql": ["text/plain"],
  // facts 4.1
  "POST /api/v3/configure/distinct_cache": ["application/json"],
  "POST /api/v3/configure/last_cache": ["application/json"],
  // facts 6.2: what the plugin answers
  "GET /api/v3/engine/{request_path}": ["application/json"],
  "POST /api/v3/engine/{request_path}": ["application/json"],
  // facts 6.4
  "POST /api/v3/plugin_test/wal": ["application/json"],
  "POST /api/v3/plugin_test/schedule": ["application/json"],
  // facts 5.5: what these answer
  "POST /api/v3/configure/user": ["application/json"],
  "POST /api/v3/authorize": ["application/json"],
  "POST /api/v3/authorize/refresh": ["application/json"],
  "POST /api/v3/authorize/reset-password": ["application/json"],
  // facts 8.3
  "POST /api/v3/row_delete_requests": ["application/json"],
  "GET /api/v3/row_delete_requests": ["application/json"],
  "GET /api/v3/users": ["application/json"],
  "POST /api/v3/users": ["application/json"],
  "GET /api/v3/users/{id}": ["application/json"],
  "GET /api/v3/roles": ["application/json"],
  "GET /metrics": ["text/plain"],
  "GET /ready": ["text/plain"],
};

function hasBody({ body }: Operation): boolean {
  return Object.keys(body).length > 0;
}

function takesJson({ body }: Operation): boolean {
  return Object.hasOwn(body, "application/json");
}
