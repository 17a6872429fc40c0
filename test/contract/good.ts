// A good request for each operation of the contract, with every parameter and member that it may have. What stands here is what a schema
// cannot say: which names there are, and what a statement or a line looks like.
import { DATABASE, REQUEST_PLUGIN, REQUIREMENTS, SCHEDULE_PLUGIN, TABLE, type World, WRITES_PLUGIN } from "./world.ts";

export interface Good {
  /** Where the operation's own has something that the request chooses. */
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Members of a body in JSON or of a form, or the body. */
  readonly body?: Readonly<Record<string, unknown>> | string | Uint8Array<ArrayBuffer>;
}

type Make = (world: World) => Good | Promise<Good>;

const LINES = "written,host=a v=1 1";
const SQL = `SELECT * FROM ${TABLE}`;
const TSDBQL = `SELECT v FROM ${DATABASE}..${TABLE}`;
const PARAMS = { h: "a" };
const V1_QUERY = {
  ...{ db: DATABASE, q: TSDBQL, epoch: "ms", pretty: "true", chunked: "false", chunk_size: "1", rp: "autogen" },
};

const query = (members: Readonly<Record<string, string>>): Make => {
  return () => ({ query: members });
};
const onTable = { db: DATABASE, table: TABLE };

/** The token has sent a statement. */
const afterStatement: Make = async (world) => {
  await world.succeed({ method: "GET", path: `/api/v3/query_sql?db=${DATABASE}&q=SELECT+1` });
  return {};
};

/** Of a new table, because without a name a cache is called after its columns. */
const distinctCache = async (world: World) => {
  const owner = { db: DATABASE, table: await world.freshTable() };
  return { ...owner, name: world.fresh(), columns: ["host"], max_cardinality: 1000, max_age: 3600 };
};
const lastCache = async (world: World) => {
  const owner = { db: DATABASE, table: await world.freshTable() };
  return { ...owner, name: world.fresh(), key_columns: ["host"], value_columns: ["v"], count: 2, ttl: 3600 };
};

/** Makes a cache to be deleted. */
const cacheOf = (path: string, make: typeof distinctCache | typeof lastCache): Make => {
  return async (world) => {
    const { db, table, name, ...rest } = await make(world);
    await world.post(path, { db, table, name, ...rest });
    return { query: { db, table, name } };
  };
};

const TRIGGER = "/api/v3/configure/processing_engine_trigger";
const trigger = (world: World, trigger_specification: string, plugin_filename: string, wants_body = "no") => ({
  ...{ db: DATABASE, trigger_name: world.fresh(), trigger_specification, plugin_filename, disabled: false },
  ...{ trigger_settings: { run_async: false, error_behavior: "log" }, trigger_arguments: { wants_body }, node_spec: "all" },
});
const someTrigger = async (world: World) => {
  const made = trigger(world, "every:1d", SCHEDULE_PLUGIN);
  await world.post(TRIGGER, made);
  return { db: DATABASE, trigger_name: made.trigger_name };
};
const SCHEDULED = "def process_scheduled_call(local, time, args=None): pass\n";
/** A trigger with a plugin of its own; its name. */
const triggerOf = async (world: World, file: string, plugin = file) => {
  await world.post("/api/v3/plugins/files", { plugin_name: file, content: SCHEDULED });
  const made = { ...trigger(world, "every:1d", plugin), disabled: true };
  await world.post(TRIGGER, made);
  return made.trigger_name;
};
/** Of a trigger that answers. */
const requestPath = async (world: World, wantsBody: string) => {
  const path = world.fresh();
  await world.post(TRIGGER, trigger(world, `request:${path}`, REQUEST_PLUGIN, wantsBody));
  return `/api/v3/engine/${path}`;
};

const BACKUP = "/api/v3/enterprise/backup";
const RESTORE = "/api/v3/enterprise/restore";
const FULL = { type: "full", force: true };
/** Until the job has ended. */
const ended = async (world: World, path: string) => {
  for (;;) {
    const { text } = await world.succeed({ method: "GET", path });
    if ((JSON.parse(text) as { status: string }).status !== "in_progress") return;
    await Bun.sleep(2);
  }
};
const finishedBackup = async (world: World) => {
  const name = world.fresh();
  await world.post(BACKUP, { ...FULL, name });
  await ended(world, `${BACKUP}/${name}`);
  return name;
};
/** As many files as take a backup or a restore longer than a request. */
const FILES = 20;
const LARGE = "large";
const largeWorlds = new WeakSet<World>();
const largeBackup = async (world: World) => {
  if (largeWorlds.has(world)) return LARGE;
  largeWorlds.add(world);
  for (let i = 0; i < FILES; i++) {
    await world.write(DATABASE, `files v=${i} ${i}`);
    await world.post(BACKUP, { ...FULL, name: LARGE });
    await ended(world, `${BACKUP}/${LARGE}`);
  }
  return LARGE;
};
/** It waits for others. */
const startedBackup = async (world: World) => {
  const name = world.fresh();
  await largeBackup(world);
  for (const before of ["a", "b", "c"]) await world.post(BACKUP, { ...FULL, name: `${name}-${before}` });
  await world.post(BACKUP, { ...FULL, name });
  return name;
};
const startedRestore = async (world: World) => {
  const backup_name = await largeBackup(world);
  await world.restored();
  const { text } = await world.post(RESTORE, { backup_name });
  return (JSON.parse(text) as { restore_id: string }).restore_id;
};
/** A file of the server's own, into a table that has its columns. */
const imported: Make = async (world) => {
  const statement = new URLSearchParams({ db: DATABASE, q: `SELECT time, host, v FROM ${TABLE}`, format: "parquet" });
  const { bytes } = await world.succeed({ method: "GET", path: `/api/v3/query_sql?${statement}` });
  const form = new FormData();
  form.set("database", DATABASE);
  form.set("table", await world.freshTable());
  form.set("column_metadata", JSON.stringify({ column_mapping: { host: "tag", v: "f64", time: "time" } }));
  form.set("file_bytes", new Blob([bytes as Uint8Array<ArrayBuffer>]), "readings.parquet");
  const request = new Request("http://localhost", { method: "POST", body: form });
  return { headers: { "Content-Type": request.headers.get("content-type")! }, body: await request.bytes() };
};
const ROW_DELETES = "/api/v3/row_delete_requests";
const rowDelete = async (world: World) => ({
  db: DATABASE,
  table: await world.freshTable(),
  min_time: 0,
  max_time: "2030-01-01T00:00:00Z",
  predicate: "host = 'a'",
});
/** Of a request that can be aborted. */
const ofRowDelete = (rest = ""): Make => {
  return async (world) => {
    const { text } = await world.post(ROW_DELETES, await rowDelete(world));
    return { path: `${ROW_DELETES}/${(JSON.parse(text) as { sequence: number }).sequence}${rest}` };
  };
};
const ofUser = (rest = ""): Make => {
  return async (world) => ({ path: `/api/v3/users/${(await world.freshUser()).userId}${rest}` });
};

export const GOOD: Readonly<Record<string, Make>> = {
  "GET /health": () => ({}),
  "GET /api/v1/health": () => ({}),
  "GET /ready": () => ({}),
  "GET /ping": () => ({}),
  "POST /ping": () => ({}),
  "GET /metrics": () => ({}),
  "GET /debug/pprof": () => ({}),
  "GET /debug/pprof/{profile}": () => ({ path: "/debug/pprof/heap", query: { debug: "1" } }),

  "POST /api/v3/write_lp": () => ({
    query: { db: DATABASE, precision: "nanosecond", accept_partial: "false", no_sync: "true" },
    headers: { "Content-Type": "text/plain" },
    body: LINES,
  }),
  "POST /api/v2/write": () => ({
    query: { bucket: DATABASE, precision: "ns", accept_partial: "true" },
    headers: { "Content-Type": "text/plain; charset=utf-8", "Content-Encoding": "identity", Accept: "application/json" },
    body: LINES,
  }),
  "POST /write": () => ({
    query: { db: DATABASE, precision: "ns", u: "anybody", rp: "autogen", consistency: "all" },
    headers: { "Content-Type": "text/plain; charset=utf-8", "Content-Encoding": "identity", Accept: "application/json" },
    body: LINES,
  }),

  "GET /api/v3/query_sql": () => ({
    query: { db: DATABASE, q: SQL, format: "json", params: JSON.stringify(PARAMS) },
    headers: { Accept: "application/json", "Content-Type": "application/json" },
  }),
  "POST /api/v3/query_sql": () => ({
    headers: { Accept: "application/json", "Content-Type": "application/json" },
    body: { db: DATABASE, q: SQL, format: "json", params: PARAMS },
  }),
  "GET /api/v3/query_influxql": () => ({
    query: { db: DATABASE, q: TSDBQL, format: "json", params: JSON.stringify(PARAMS) },
    headers: { Accept: "application/json" },
  }),
  "POST /api/v3/query_influxql": () => ({
    headers: { Accept: "application/json", "Content-Type": "application/json" },
    body: { db: DATABASE, q: TSDBQL, format: "json", params: PARAMS },
  }),
  "GET /api/v3/query_tsdbql": () => ({
    query: { db: DATABASE, q: TSDBQL, format: "json", params: JSON.stringify(PARAMS) },
    headers: { Accept: "application/json" },
  }),
  "POST /api/v3/query_tsdbql": () => ({
    headers: { Accept: "application/json", "Content-Type": "application/json" },
    body: { db: DATABASE, q: TSDBQL, format: "json", params: PARAMS },
  }),
  "GET /query": () => ({ query: { ...V1_QUERY, u: "anybody" }, headers: { Accept: "application/json" } }),
  "POST /query": () => {
    return { headers: { Accept: "application/json" }, body: { ...V1_QUERY, pretty: true, chunked: false, chunk_size: 5 } };
  },

  "GET /api/v3/export/databases": query({}),
  "GET /api/v3/export/tables": query({ db: DATABASE }),
  "GET /api/v3/export/windows": query(onTable),
  "GET /api/v3/export/window_data": query({ ...onTable, windows: "1970-01-01" }),
  "POST /api/v3/enterprise/backup": (world) => ({ body: { type: "full", name: world.fresh(), force: true } }),
  "GET /api/v3/enterprise/backup": query({}),
  "DELETE /api/v3/enterprise/backup": async (world) => ({ body: { name: await startedBackup(world) } }),
  "GET /api/v3/enterprise/backup/{name}": async (world) => ({ path: `${BACKUP}/${await finishedBackup(world)}` }),
  "DELETE /api/v3/enterprise/backup/{name}": async (world) => ({ path: `${BACKUP}/${await finishedBackup(world)}` }),
  "POST /api/v3/enterprise/restore": async (world) => {
    const backup_name = await finishedBackup(world);
    await world.restored();
    return { body: { backup_name } };
  },
  "GET /api/v3/enterprise/restore": query({}),
  "GET /api/v3/enterprise/restore/{id}": async (world) => ({ path: `${RESTORE}/${await startedRestore(world)}` }),
  "DELETE /api/v3/enterprise/restore/{id}": async (world) => ({ path: `${RESTORE}/${await startedRestore(world)}` }),
  "GET /api/v3/enterprise/import": query({}),
  "POST /api/v3/enterprise/import": imported,
  "GET /api/v3/query_sql_telemetry": afterStatement,
  "POST /api/v3/query_sql_telemetry": afterStatement,
  "GET /api/v3/configure/database": query({ format: "json", show_deleted: "true" }),
  "POST /api/v3/configure/database": (world) => ({ body: { db: world.fresh(), retention_period: "7d" } }),
  // without a period it is kept for ever
  "PUT /api/v3/configure/database": () => ({ body: { db: DATABASE, retention_period: "100y" } }),
  "DELETE /api/v3/configure/database": async (world) => ({
    // remove_tables goes only with data_only
    query: { db: await world.freshDatabase(), data_only: "true", hard_delete_at: "2100-01-01T00:00:00Z" },
  }),
  "DELETE /api/v3/configure/database/retention_period": query({ db: DATABASE }),
  "POST /api/v3/configure/database/retention_period": query({ db: DATABASE, duration: "100y" }),
  "POST /api/v3/configure/database/restore": async (world) => {
    const db = await world.freshDatabase();
    await world.send({ method: "DELETE", path: `/api/v3/configure/database?db=${db}` });
    return { body: { db, new_name: world.fresh() } };
  },
  "POST /api/v3/configure/table": (world) => ({
    body: {
      db: DATABASE,
      table: world.fresh(),
      tags: ["host", "room"],
      fields: [
        { name: "v", type: "float64" },
        { name: "n", type: "int64" },
      ],
      retention_period: "30d",
    },
  }),
  "PUT /api/v3/configure/table": () => ({ body: { ...onTable, retention_period: "100y" } }),
  "DELETE /api/v3/configure/table": async (world) => ({
    query: { db: DATABASE, table: await world.freshTable(), data_only: "true", hard_delete_at: "2100-01-01T00:00:00Z" },
  }),
  "POST /api/v3/configure/table/restore": async (world) => {
    const table = await world.freshTable();
    await world.send({ method: "DELETE", path: `/api/v3/configure/table?db=${DATABASE}&table=${table}` });
    return { body: { db: DATABASE, table, new_name: world.fresh() } };
  },
  "POST /api/v3/enterprise/configure/table/retention_period": query({ ...onTable, duration: "100y" }),
  "DELETE /api/v3/enterprise/configure/table/retention_period": query(onTable),

  "POST /api/v3/configure/token/admin": () => ({}),
  "POST /api/v3/configure/token/admin/regenerate": () => ({}),
  "POST /api/v3/configure/token/named_admin": (world) => ({ body: { token_name: world.fresh(), expiry_secs: 3600 } }),
  "POST /api/v3/enterprise/configure/token": (world) => ({
    body: {
      token_name: world.fresh(),
      permissions: [{ resource_type: "db", resource_names: [DATABASE], actions: ["read", "write"] }],
      expiry_secs: 3600,
    },
  }),
  "DELETE /api/v3/configure/token": async (world) => {
    const name = world.fresh();
    await world.post("/api/v3/configure/token/named_admin", { token_name: name });
    return { query: { token_name: name } };
  },
  "POST /api/v3/configure/user": ({ user }) => ({ body: { ...user, displayName: "First" } }),
  "POST /api/v3/authorize": ({ user }) => ({ body: { ...user } }),
  "POST /api/v3/authorize/refresh": async (world) => ({ body: { refreshToken: (await world.signIn()).refreshToken } }),
  "POST /api/v3/authorize/logout": async (world) => ({ body: { refreshToken: (await world.signIn()).refreshToken } }),
  "POST /api/v3/authorize/reset-password": async (world) => {
    const { username, password } = await world.freshUser();
    return { body: { username, password, newPassword: "another password" } };
  },
  "POST /api/v3/authorize/oauth": async (world) => {
    // of a user without a password, who needs no new one
    const oauthId = `subject ${world.fresh()}`;
    await world.post("/api/v3/users", { oauthId });
    return { body: { code: oauthId, codeVerifier: "v".repeat(43), redirectUri: "http://127.0.0.1/" } };
  },
  "GET /api/v3/auth/oauth/config": query({}),
  "GET /api/v3/users": query({}),
  "POST /api/v3/users": (world) => {
    const username = world.fresh();
    return { body: { username, displayName: "New", password: "some password", oauthId: `of ${username}`, roleIds: [2, 3] } };
  },
  "GET /api/v3/users/{id}": ofUser(),
  "PATCH /api/v3/users/{id}": async (world) => ({ ...(await ofUser()(world)), body: { displayName: "Changed" } }),
  "DELETE /api/v3/users/{id}": ofUser(),
  "POST /api/v3/users/{id}/require-password-reset": ofUser("/require-password-reset"),
  "GET /api/v3/users/{id}/roles": ofUser("/roles"),
  "PUT /api/v3/users/{id}/roles": async (world) => ({ ...(await ofUser("/roles")(world)), body: { roleIds: [3] } }),
  "GET /api/v3/users_by_oauth_id/{oauth_id}": async (world) => {
    return { path: `/api/v3/users_by_oauth_id/${encodeURIComponent((await world.freshUser()).oauthId)}` };
  },
  "GET /api/v3/roles": query({}),
  "GET /api/v3/roles/{id}/permissions": () => ({ path: "/api/v3/roles/2/permissions" }),
  "GET /api/v3/roles_by_name/{roleName}": () => ({ path: "/api/v3/roles_by_name/Auditor" }),
  "POST /api/v3/enterprise/configure/node/stop": () => ({ body: { node_id: "node0" } }),
  "POST /api/v3/enterprise/configure/node/remove": async (world) => {
    await world.post("/api/v3/enterprise/configure/node/stop", { node_id: "node0" });
    return { body: { node_id: "node0", force_finalize: false } };
  },
  "GET /api/v3/configure/query_concurrency_limit": query({}),
  "PUT /api/v3/configure/query_concurrency_limit": () => ({ query: { force: "false" }, body: { max_concurrent_queries: 500 } }),
  "DELETE /api/v3/configure/query_concurrency_limit": query({}),

  "POST /api/v3/row_delete_requests": async (world) => ({ body: await rowDelete(world) }),
  "GET /api/v3/row_delete_requests": query({
    ...{ ...onTable, disposition: "pending", min_sequence: "1", max_sequence: "1000000", include_progress: "true" },
  }),
  "GET /api/v3/row_delete_requests/{seq}": ofRowDelete(),
  "POST /api/v3/row_delete_requests/{seq}/abort": async (world) => ({
    ...(await ofRowDelete("/abort")(world)),
    body: { reason: "too broad" },
  }),

  "POST /api/v3/configure/distinct_cache": async (world) => ({ body: await distinctCache(world) }),
  "DELETE /api/v3/configure/distinct_cache": cacheOf("/api/v3/configure/distinct_cache", distinctCache),
  "POST /api/v3/configure/last_cache": async (world) => ({ body: await lastCache(world) }),
  "DELETE /api/v3/configure/last_cache": cacheOf("/api/v3/configure/last_cache", lastCache),
  "POST /api/v3/enterprise/configure/file_index": () => ({ body: { ...onTable, columns: ["host"] } }),
  "DELETE /api/v3/enterprise/configure/file_index": async (world) => {
    // without a table the database's is meant
    for (const owner of [onTable, { db: DATABASE }])
      await world.post("/api/v3/enterprise/configure/file_index", { ...owner, columns: ["host"] });
    return { body: onTable };
  },

  "POST /api/v3/configure/processing_engine_trigger": (world) => ({ body: trigger(world, "every:1d", SCHEDULE_PLUGIN) }),
  "DELETE /api/v3/configure/processing_engine_trigger": async (world) => ({ query: { ...(await someTrigger(world)), force: "true" } }),
  "POST /api/v3/configure/processing_engine_trigger/disable": async (world) => ({ query: await someTrigger(world) }),
  "POST /api/v3/configure/processing_engine_trigger/enable": async (world) => ({ query: await someTrigger(world) }),
  "GET /api/v3/engine/{request_path}": async (world) => ({ path: await requestPath(world, "no") }),
  // whatever comes is the plugin's
  "POST /api/v3/engine/{request_path}": async (world) => ({
    ...{ path: await requestPath(world, "yes"), headers: { "Content-Type": "application/json" }, body: '{"a":1}' },
  }),

  "POST /api/v3/plugins/files": (world) => ({ body: { plugin_name: `${world.fresh()}.py`, content: "x = 1\n" } }),
  "PUT /api/v3/plugins/files": async (world) => {
    const name = await triggerOf(world, `${world.fresh()}.py`);
    return { body: { plugin_name: name, content: SCHEDULED } };
  },
  "PUT /api/v3/plugins/directory": async (world) => {
    const folder = world.fresh();
    const name = await triggerOf(world, `${folder}/__init__.py`, folder);
    return { body: { plugin_name: name, files: [{ relative_path: "__init__.py", content: SCHEDULED }] } };
  },
  // these need no index: the one is installed already, the other names none
  "POST /api/v3/configure/plugin_environment/install_packages": () => ({ body: { packages: ["pip"] } }),
  "POST /api/v3/configure/plugin_environment/install_requirements": () => ({ body: { requirements_location: REQUIREMENTS } }),
  "POST /api/v3/plugin_test/wal": () => ({
    body: {
      ...{ filename: WRITES_PLUGIN, database: DATABASE, input_lp: LINES, cache_name: "c", input_arguments: { k: "v" } },
    },
  }),
  "POST /api/v3/plugin_test/schedule": () => ({
    body: { filename: SCHEDULE_PLUGIN, database: DATABASE, schedule: "0 * * * * *", cache_name: "c", input_arguments: { k: "v" } },
  }),
};

/** Members that the files leave out, or require where this server does not; with why. */
export const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  // the files forget that a database has to be named
  "PUT /api/v3/configure/database": ["db"],
  // the files do not say what these bodies have
  "POST /api/v3/configure/user": ["username", "password"],
  "POST /api/v3/authorize": ["username", "password"],
  "POST /api/v3/authorize/refresh": ["refreshToken"],
  "POST /api/v3/authorize/reset-password": ["username", "password", "newPassword"],
  // a user has a name or a subject
  "POST /api/v3/users": ["username"],
  "POST /api/v3/row_delete_requests": ["db", "table"],
  // facts 2.1: the statement may name its database
  "POST /api/v3/query_influxql": ["q"],
};

/** `METHOD path: place.name` of which any value will do, or whose absence: with the reason. */
export const LENIENT: readonly { readonly what: RegExp; readonly why: string }[] = [
  { what: /^(GET|POST) \/query: /, why: "1.x reads what it can and takes the default for the rest; facts 2.6" },
  { what: /header\.Content-Type/, why: "facts 0.4: only bodies in JSON of configuration have to say what they are" },
  {
    what: /^POST .*\/(last|distinct)_cache: body\.(name|max_\w+|key_columns|value_columns|count|ttl|node_spec)=null$/,
    why: "facts 4: optional; null is absent, as everywhere",
  },
  { what: /^POST \/(write|api\/v2\/write).*header\.Accept/, why: "the answer has one form, whatever the client takes" },
  { what: /query\.(u|consistency|rp)\b/, why: "facts 0.3, seed: ignored" },
  { what: /processing_engine_trigger: body\.trigger_arguments=null$/, why: "facts 6.1: optional; null is none" },
  { what: /^(GET|POST) \/api\/v3\/engine\//, why: "seed: query, headers and body are passed to the plugin" },
  {
    what: /plugin_test.*body\.(cache_name|input_arguments|schedule)=null$/,
    why: "facts 6.4: optional; null is absent",
  },
  { what: /retention_period=null$/, why: "facts 3.1: null is for ever" },
  { what: /^POST \/(write|api\/v2\/write): query\.precision=""$/, why: "an empty precision is none: clients of both lines send it" },
  { what: /^POST \/api\/v3\/query_sql: body\.(format|params)=null$/, why: "facts 2.1: optional; null is absent" },
  { what: /^POST \/api\/v3\/query_(influxql|tsdbql): body\.(db|format|params)=null$/, why: "facts 2.1: optional; null is absent" },
];
