// What a token for one database sees of a real server through SQL, Arrow Flight and lists: its own database, and of any other neither
// tables nor columns, values, statements or names. permissions.test.ts says the same of the v1-style language.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { status } from "@grpc/grpc-js";
import { Action, ActionResult, Ticket } from "../../src/api/flight/wire/flight-messages.ts";
import { message, plain } from "../../src/api/flight/wire/protobuf.ts";
import { CreatePrepared, PreparedResult, packAny, unpackAny } from "../../src/api/flight/wire/sql-messages.ts";
import { FlightClient, ticketMessage } from "../support/flight/flight-server.ts";
import { descriptorOf, preparedCommand, sqlCommand, statementCommand } from "../support/flight/flight-sql.ts";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(60_000);

const UNAUTHORIZED = "unauthorized to perform requested action with the token";
const CONFIGURE = "/api/v3/configure";
const ENTERPRISE = "/api/v3/enterprise/configure";
/** The names and values of each database have its own mark, except for the names that statements here have to say. */
const OWN = "of_mine";
const OTHER = "of_other";
const LINES = (mark: string) => `t,k=${mark}_value,${mark}_key=x f=1,${mark}_field=1 1\n${mark}_table v=1 1`;

let server: TestServer;
let flight: FlightClient;
let admin: string;
let mine: string;
/** For every database of users. */
let all: string;

async function call(method: string, path: string, token: string | null, body?: object | string) {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(typeof body === "object" ? { "content-type": "application/json" } : {}),
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

async function succeed(method: string, path: string, body?: object | string): Promise<string> {
  const { status, text } = await call(method, path, admin, body);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
  return text;
}

async function token(token_name: string, resource_names: string[]): Promise<string> {
  const permissions = [{ resource_type: "db", resource_names, actions: ["*"] }];
  return (JSON.parse(await succeed("POST", `${ENTERPRISE}/token`, { token_name, permissions })) as { token: string }).token;
}

const ask = (q: string, token: string, db = "mine") =>
  call("GET", `/api/v3/query_sql?${new URLSearchParams({ db, q, format: "json" })}`, token);

beforeAll(async () => {
  server = await TestServer.start({ withAuth: true, withFlight: true });
  flight = new FlightClient(Number(server.flightAddress.split(":").at(-1)));
  admin = (JSON.parse((await call("POST", `${CONFIGURE}/token/admin`, null)).text) as { token: string }).token;
  for (const [db, mark] of [
    ["mine", OWN],
    ["other", OTHER],
    ["gone", OTHER],
  ] as const) {
    await succeed("POST", `/api/v3/write_lp?db=${db}&precision=ns`, LINES(mark));
    await succeed("POST", `${ENTERPRISE}/file_index`, { db, table: "t", columns: [`${mark}_key`] });
    // a statement that others have asked, in system.queries
    await succeed("GET", `/api/v3/query_sql?${new URLSearchParams({ db, q: `SELECT '${mark}_asked'` })}`);
  }
  await succeed("DELETE", `${CONFIGURE}/database?db=gone`);
  mine = await token("mine", ["mine"]);
  all = await token("all", ["*"]);
});
afterAll(async () => {
  flight.close();
  await server.dispose();
});

const SYSTEM = ["tables", "queries", "parquet_files", "influxdb_schema", "file_index", "last_caches", "distinct_caches"];
const INTERNAL = ["databases", "tokens", "nodes"];

const STATEMENTS = [
  ...SYSTEM.map((name) => `SELECT * FROM system.${name}`),
  ...INTERNAL.flatMap((name) => [
    `SELECT * FROM system.${name}`,
    `SELECT * FROM _internal.system.${name}`,
    `SELECT * FROM "_internal".${name}`,
  ]),
  ...["tables", "columns", "views", "schemata", "df_settings", "routines", "parameters"].map(
    (name) => `SELECT * FROM information_schema.${name}`,
  ),
  ...[
    "other.iox.t",
    "other.t",
    '"other"."iox"."t"',
    '"other/autogen".t',
    "public.other.t",
    "other..t",
    "iox.other.t",
    "gone.iox.t",
  ].flatMap((name) => [
    ...[
      `SELECT * FROM ${name}`,
      `SELECT count(*) FROM ${name}`,
      `DESCRIBE ${name}`,
      `SHOW COLUMNS FROM ${name}`,
      `EXPLAIN SELECT * FROM ${name}`,
    ],
    ...[
      `SELECT * FROM t JOIN ${name} o ON true`,
      `WITH x AS (SELECT * FROM ${name}) SELECT * FROM x`,
      `SELECT (SELECT max(k) FROM ${name})`,
    ],
    `SELECT k FROM t UNION ALL SELECT k FROM ${name}`,
  ]),
  ...["last_cache", "distinct_cache"].flatMap((name) =>
    ["other.t", "other.iox.t", "../other/t"].map((table) => `SELECT * FROM ${name}('${table}')`),
  ),
  ...[
    "SHOW TABLES",
    "SHOW DATABASES",
    "SHOW CATALOGS",
    "SHOW SCHEMAS",
    "SHOW ALL",
    "USE other",
    "SET schema = 'other'",
    "PRAGMA database_list",
  ],
  ...[
    "SELECT * FROM duckdb_tables()",
    "SELECT * FROM duckdb_columns()",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM pg_catalog.pg_tables",
  ],
  "SELECT current_database(), current_catalog, current_schema()",
];

describe("a token for one database", () => {
  test.each(STATEMENTS)("%s", async (statement) => {
    const { status, text } = await ask(statement, mine);
    expect([200, 400]).toContain(status);
    expect(text).not.toContain(OTHER);
    expect(text).not.toContain("_admin");
    const refused = await ask(statement, mine, "other");
    expect([refused.status, JSON.parse(refused.text)]).toEqual([403, { error: UNAUTHORIZED, code: "forbidden", message: UNAUTHORIZED }]);
  });

  test.each(SYSTEM.filter((name) => !/cache|parquet/.test(name)))("sees what is its own in system.%s", async (name) => {
    expect((await ask(`SELECT * FROM system.${name}`, mine)).text).toContain(OWN);
    expect((await ask(`SELECT * FROM system.${name}`, admin, "other")).text).toContain(OTHER);
  });

  test("the list of databases has its own, and deleted ones only for who may see all", async () => {
    const list = async (text: string) => {
      const path = `${CONFIGURE}/database?format=csv&show_deleted=true`;
      return (await call("GET", path, text)).text
        .trim()
        .split("\n")
        .slice(1)
        .map((line) => line.replace(/-\d.*,/, "-…,"));
    };
    expect(await list(mine)).toEqual(["mine,false"]);
    expect(await list(all)).toEqual(["mine,false", "other,false", "gone-…,true"]);
    expect(await list(admin)).toEqual(["_internal,false", "mine,false", "other,false", "gone-…,true"]);
  });

  test("changes nothing elsewhere, deleted databases and its own name elsewhere among it", async () => {
    const state = async () =>
      succeed("GET", `/api/v3/query_sql?${new URLSearchParams({ db: "_internal", q: "SELECT * FROM system.tables ORDER BY ALL" })}`);
    const before = await state();
    const fields: unknown[] = [];
    const requests: [method: string, path: string, body?: object | string][] = ["other", "gone", "_internal", "new"].flatMap((db) => [
      ["POST", `/api/v3/write_lp?db=${db}`, "t f=1"],
      ["POST", `/api/v2/write?bucket=${db}`, "t f=1"],
      ["POST", `/write?db=${db}`, "t f=1"],
      ["POST", `/write?db=mine&rp=${db}`, "t f=1"],
      ["POST", `${CONFIGURE}/database`, { db }],
      ["PUT", `${CONFIGURE}/database`, { db, retention_period: "1h" }],
      ["DELETE", `${CONFIGURE}/database?db=${db}`],
      ["DELETE", `${CONFIGURE}/database?db=${db}&data_only=true`],
      ["POST", `${CONFIGURE}/database/restore`, { db }],
      ["POST", `${CONFIGURE}/database/restore`, { db, new_name: "mine" }],
      ["POST", `${CONFIGURE}/database/retention_period?db=${db}&duration=1h`],
      ["DELETE", `${CONFIGURE}/database/retention_period?db=${db}`],
      ["POST", `${CONFIGURE}/table`, { db, table: "x", tags: [], fields }],
      ["PUT", `${CONFIGURE}/table`, { db, table: "t", retention_period: "1h" }],
      ["DELETE", `${CONFIGURE}/table?db=${db}&table=t`],
      ["POST", `${CONFIGURE}/table/restore`, { db, table: "t" }],
      ["POST", `${ENTERPRISE}/table/retention_period?db=${db}&table=t&duration=1h`],
      ["DELETE", `${ENTERPRISE}/table/retention_period?db=${db}&table=t`],
      ["POST", `${ENTERPRISE}/file_index`, { db, table: "t", columns: ["k"] }],
      ["DELETE", `${ENTERPRISE}/file_index`, { db, table: "t" }],
    ]);
    const got: string[] = [];
    for (const [method, path, body] of requests) {
      const { status, text } = await call(method, path, mine, body);
      // the names that no database can have are told so before anybody asks whose they are
      if (status !== 403 && !(status === 400 && path.includes("_internal"))) got.push(`${method} ${path}: ${status} ${text}`);
    }
    expect(got).toEqual([]);
    expect(await state()).toBe(before);
  });
});

test("a token for all databases has not the server's own", async () => {
  for (const name of [...SYSTEM, ...INTERNAL]) {
    for (const db of ["_internal", "%5finternal"]) {
      const { status } = await call("GET", `/api/v3/query_sql?db=${db}&q=${encodeURIComponent(`SELECT * FROM system.${name}`)}`, all);
      expect(status).toBe(403);
    }
  }
  expect((await call("PUT", `${CONFIGURE}/database`, all, { db: "_internal", retention_period: "1h" })).status).toBe(403);
  expect((await call("DELETE", `${CONFIGURE}/database?db=_internal`, all)).status).toBe(403);
});

describe("over Arrow Flight", () => {
  const Table = message("a table", { table: plain(3, "string") });
  const ticket = (bytes: Uint8Array) => Ticket.encode({ ticket: bytes });
  const table = Table.encode({ table: "t" });
  const NOTHING = new Uint8Array(0);
  const METADATA: [name: string, value: Uint8Array][] = [
    ...["CommandGetCatalogs", "CommandGetDbSchemas", "CommandGetTableTypes", "CommandGetSqlInfo", "CommandGetXdbcTypeInfo"].map(
      (name): [string, Uint8Array] => [name, NOTHING],
    ),
    ["CommandGetTables", NOTHING],
    ["CommandGetTables", new Uint8Array([5 << 3, 1])],
    ...["CommandGetPrimaryKeys", "CommandGetExportedKeys", "CommandGetImportedKeys"].map((name): [string, Uint8Array] => [name, table]),
  ];
  const send = async (method: string, request: Uint8Array, token: string | null, database: string | null) => {
    const headers = { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...(database === null ? {} : { database }) };
    const { code, details, messages } = await flight.call(method, request, { headers });
    return { code, text: details + messages.map((data) => data.toString("latin1")).join("") };
  };

  test("SHOW RETENTION POLICIES is about the token's database", async () => {
    const policies = (database: string, statement = "SHOW RETENTION POLICIES") => ticketMessage(statement, database, "influxql");
    const own = await send("DoGet", policies("mine"), mine, null);
    expect([own.code, own.text.includes("autogen"), own.text.includes(OTHER)]).toEqual([status.OK, true, false]);
    expect((await send("DoGet", policies("other"), mine, null)).code).toBe(status.PERMISSION_DENIED);
    expect((await send("DoGet", policies("mine", "SHOW RETENTION POLICIES ON other"), mine, null)).code).toBe(status.INVALID_ARGUMENT);
    expect((await send("DoGet", policies("mine"), null, null)).code).toBe(status.UNAUTHENTICATED);
  });

  test.each(METADATA)("%s is about the token's database", async (name, value) => {
    for (const [method, request] of [
      ["GetFlightInfo", descriptorOf(sqlCommand(name, value))],
      ["GetSchema", descriptorOf(sqlCommand(name, value))],
      ["DoGet", ticket(sqlCommand(name, value))],
    ] as const) {
      const own = await send(method, request, mine, "mine");
      expect([own.code, own.text.includes(OTHER)]).toEqual([status.OK, false]);
      for (const database of ["other", "gone", "_internal", "nowhere"]) {
        expect((await send(method, request, mine, database)).code).toBe(status.PERMISSION_DENIED);
      }
      expect((await send(method, request, all, "_internal")).code).toBe(status.PERMISSION_DENIED);
      expect((await send(method, request, null, "mine")).code).toBe(status.UNAUTHENTICATED);
      expect((await send(method, request, `${mine}x`, "mine")).code).toBe(status.UNAUTHENTICATED);
    }
  });

  test("the tables that GetTables finds are those of the database", async () => {
    const { text } = await send("DoGet", ticket(sqlCommand("CommandGetTables", NOTHING)), mine, "mine");
    expect(text).toContain(`${OWN}_table`);
  });

  test.each(STATEMENTS)("%s", async (text) => {
    const found = await send("DoGet", ticketMessage(text, "mine"), mine, null);
    expect(found.text).not.toContain(OTHER);
    for (const [method, request] of [
      ["DoGet", ticketMessage(text, "other")],
      ["DoGet", ticket(statementCommand(text))],
      ["GetFlightInfo", descriptorOf(statementCommand(text))],
      ["GetSchema", descriptorOf(statementCommand(text))],
    ] as const) {
      expect((await send(method, request, mine, "other")).code).toBe(status.PERMISSION_DENIED);
    }
  });

  test("a statement prepared by another client runs in the caller's database with the caller's token", async () => {
    const body = packAny(CreatePrepared, { query: "SELECT * FROM t" });
    const create = Action.encode({ type: "CreatePreparedStatement", body });
    const prepare = (token: string, database: string) =>
      flight.call("DoAction", create, { headers: { authorization: `Bearer ${token}`, database } });
    expect((await prepare(mine, "other")).code).toBe(status.PERMISSION_DENIED);
    const [result] = (await prepare(admin, "other")).messages;
    const { handle } = unpackAny(PreparedResult, ActionResult.decode(result!).body);
    const prepared = preparedCommand(handle);
    for (const [method, request] of [
      ["GetFlightInfo", descriptorOf(prepared)],
      ["DoGet", ticket(prepared)],
    ] as const) {
      expect((await send(method, request, mine, "other")).code).toBe(status.PERMISSION_DENIED);
      const own = await send(method, request, mine, "mine");
      expect([own.code, own.text.includes(OTHER)]).toEqual([status.OK, false]);
    }
  });
});
