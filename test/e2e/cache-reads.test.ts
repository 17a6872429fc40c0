// Caches of a real server read by SQL: over HTTP in every format, by the command line, over Flight; what is refused, and what the server
// says of it.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { status } from "@grpc/grpc-js";
import { tableFromIPC } from "apache-arrow";
import { SchemaResult } from "../../src/api/flight/wire/flight-messages.ts";
import { createCache, deleteCache } from "../support/caches/caches.ts";
import { FlightClient, ticketMessage } from "../support/flight/flight-server.ts";
import {
  answered,
  descriptorOf,
  IN_DB,
  portOf,
  prepare,
  preparedCommand,
  statementCommand,
  tableOf,
} from "../support/flight/flight-sql.ts";
import { PROGRAM } from "../support/servers/program.ts";
import { plainEnvironment, TestServer } from "../support/servers/server.ts";
import { metric, post, query, store } from "./client.ts";

setDefaultTimeout(60_000);

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ withFlight: true, flags: ["--query-workers", "2"] });
  await store(
    server,
    "d",
    [
      'cpu,host=a,zone=x f=1.5,i=1i,s="old" 1000000001',
      'cpu,host=b,zone=x f=2.5,i=9007199254740993i,s="b" 2000000002',
      "cpu,host=a,zone=x f=3.5 3000000003",
      "cpu,host=c f=4.5,u=18446744073709551615u,t=true 4000000004",
      "cpu,zone=y f=5.5 5000000005",
      "mem,host=a used=1 1000000000",
    ].join("\n"),
  );
  await createCache(server, "last", "d", { table: "cpu", name: "by_host", key_columns: ["host"] });
  await createCache(server, "last", "d", { table: "cpu", name: "two", key_columns: ["zone"], value_columns: ["f"], count: 2 });
  await createCache(server, "distinct", "d", { table: "cpu", name: "places", columns: ["zone", "host"] });
  await createCache(server, "last", "d", { table: "mem" });
});
afterAll(() => server.dispose());

/** The newest row of each host; a row without a host has no key. Times are texts in JSON. */
const NEWEST = [
  { host: "a", zone: "x", f: 3.5, i: null, s: null, u: null, t: null, time: "1970-01-01T00:00:03.000000003" },
  { host: "b", zone: "x", f: 2.5, i: 9007199254740993n, s: "b", u: null, t: null, time: "1970-01-01T00:00:02.000000002" },
  { host: "c", zone: null, f: 4.5, i: null, s: null, u: 18446744073709551615n, t: true, time: "1970-01-01T00:00:04.000000004" },
];
const BY_HOST = "SELECT * FROM last_cache('cpu', 'by_host')";
const NAMES = Object.keys(NEWEST[0]!);

const CELLS = NEWEST.map((row) => Object.values(row).map((value) => (value === null ? "" : String(value))));

/** As JSON has them: without NULL, and with numbers too large for JavaScript. */
const asJson = (rows: readonly object[]) => {
  const replace = (_: string, value: unknown) => (value === null ? undefined : typeof value === "bigint" ? `<${value}>` : value);
  return rows.map((row) => JSON.stringify(row, replace).replace(/"<(\d+)>"/g, "$1"));
};

describe("over HTTP", () => {
  test("caches as JSON", async () => {
    const { text } = await query(server, "d", BY_HOST, { format: "json" });
    expect(text).toBe(`[${asJson(NEWEST).join(",")}]`);
  });

  test("caches as JSONL", async () => {
    const { text } = await query(server, "d", BY_HOST, { format: "jsonl" });
    expect(text.trimEnd().split("\n")).toEqual(asJson(NEWEST));
  });

  test("caches as CSV", async () => {
    const { text } = await query(server, "d", BY_HOST, { format: "csv" });
    expect(text).toBe(`${[NAMES, ...CELLS].map((row) => row.join(",")).join("\n")}\n`);
  });

  test("caches as a table for people", async () => {
    const { text } = await query(server, "d", BY_HOST, { format: "pretty" });
    const lines = text.split("\n").filter((line) => line.startsWith("|"));
    const cells = lines.map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim())); // biome-ignore format: one step
    expect(cells).toEqual([NAMES, ...CELLS]);
  });

  test("caches as Arrow and Parquet", async () => {
    const arrow = tableFromIPC(await (await post(server, "d", BY_HOST, { format: "arrow" })).bytes());
    expect(arrow.schema.fields.map(({ name }) => name)).toEqual(NAMES);
    expect(arrow.toArray().map((row) => [row.host, row.zone, row.f, row.i, row.u])).toEqual(
      NEWEST.map(({ host, zone, f, i, u }) => [host, zone, f, i, u]),
    );
    const parquet = Buffer.from(await (await post(server, "d", BY_HOST, { format: "parquet" })).bytes());
    expect([parquet.subarray(0, 4).toString(), parquet.subarray(-4).toString()]).toEqual(["PAR1", "PAR1"]);
  });

  test.each<[sql: string, rows: object[]]>([
    ["SELECT host, f FROM last_cache('cpu', 'by_host') WHERE host IN ('a', 'z')", [{ host: "a", f: 3.5 }]],
    // newest first within a key, and rows without the key are in none
    ["SELECT * FROM last_cache('cpu', 'two')", [
      { zone: "x", f: 3.5, time: "1970-01-01T00:00:03.000000003" },
      { zone: "x", f: 2.5, time: "1970-01-01T00:00:02.000000002" },
      { zone: "y", f: 5.5, time: "1970-01-01T00:00:05.000000005" },
    ]],
    ["SELECT * FROM last_cache('mem')", [{ host: "a", used: 1, time: "1970-01-01T00:00:01" }]],
    ["SELECT * FROM distinct_cache('cpu')", [{ host: "c" }, { zone: "x", host: "a" }, { zone: "x", host: "b" }, { zone: "y" }]],
    ["SELECT host FROM distinct_cache('cpu', 'places') WHERE zone = 'x' ORDER BY host DESC", [{ host: "b" }, { host: "a" }]],
    ["SELECT zone, count(*) AS n FROM distinct_cache('cpu') GROUP BY zone ORDER BY zone", [{ zone: "x", n: 2 }, { zone: "y", n: 1 }, { n: 1 }]],
    ["SELECT max(f) AS m, min(time) AS t FROM last_cache('cpu', 'by_host')", [{ m: 4.5, t: "1970-01-01T00:00:02.000000002" }]],
    ["SELECT c.f, l.f AS newest FROM cpu c JOIN last_cache('cpu', 'by_host') l ON l.host = c.host WHERE c.time < l.time", [{ f: 1.5, newest: 3.5 }]],
    ["WITH l AS (SELECT * FROM last_cache('cpu', 'by_host')) SELECT d.zone, l.f FROM distinct_cache('cpu') d JOIN l USING (host) WHERE d.zone = 'x' ORDER BY l.f", [{ zone: "x", f: 2.5 }, { zone: "x", f: 3.5 }]],
    ["SELECT date_bin(INTERVAL '1 day', time) AS day, sum(f) AS s FROM last_cache('cpu', 'by_host') GROUP BY 1", [{ day: "1970-01-01T00:00:00", s: 10.5 }]],
  ])("%s", async (sql, rows) => expect(await server.sql<object>("d", sql)).toEqual(rows)); // biome-ignore format: rows

  test("parameters stand for values, not for names", async () => {
    const params = { h: "b" };
    const found = await query(server, "d", "SELECT f FROM last_cache('cpu', 'by_host') WHERE host = $h", { format: "json", params });
    expect(found.text).toBe('[{"f":2.5}]');
    const { status, text } = await query(server, "d", "SELECT f FROM last_cache($h)", { params });
    expect([status, text]).toEqual([400, "Error during planning: first argument must be the table name as a string"]);
  });

  test("EXPLAIN shows what is read", async () => {
    const [row] = await server.sql<{ plan: string }>("d", "EXPLAIN ANALYZE SELECT f FROM last_cache('cpu', 'by_host') WHERE host = 'a'");
    expect(row!.plan).toMatch(/reads\n\s+rows of last_cache\('cpu', 'by_host'\): host = 'a'/);
  });

  test.each([
    ["d", "last_cache('cpu')", "could not find last value cache for the given arguments"],
    ["d", "last_cache('cpu', 'places')", "could not find last value cache for the given arguments"],
    ["d", "distinct_cache('mem')", "could not find distinct value cache for the given arguments"],
    ["d", "distinct_cache('cpu', 'no')", "could not find distinct value cache for the given arguments"],
    ["d", "last_cache('CPU', 'by_host')", "provided table name (CPU) is invalid"],
    ["_internal", "last_cache('cpu', 'by_host')", "provided table name (cpu) is invalid"],
  ])("%s: %s is refused", async (database, call, message) => {
    const answers = [`SELECT * FROM ${call}`, `EXPLAIN SELECT 1 FROM ${call} AS x`, `SELECT (SELECT count(*) FROM ${call})`];
    for (const sql of answers) {
      const { status, text } = await query(server, database, sql);
      expect([status, text]).toEqual([400, `Error during planning: ${message}`]);
    }
  });

  test("a cache of the same name with other columns is another one", async () => {
    const sql = "SELECT * FROM last_cache('mem', 'again') WHERE host = 'a'";
    await createCache(server, "last", "d", { table: "mem", name: "again", key_columns: ["host"] });
    expect(Object.keys((await server.sql("d", sql))[0]!)).toEqual(["host", "used", "time"]);
    await deleteCache(server, "last", "d", "mem", "again");
    expect((await query(server, "d", sql)).text).toContain("could not find last value cache");
    await store(server, "d", "mem,host=a free=2 1000000000");
    await createCache(server, "last", "d", { table: "mem", name: "again", key_columns: ["host"], value_columns: ["free"] });
    expect(await server.sql("d", sql)).toEqual([{ host: "a", free: 2, time: "1970-01-01T00:00:01" }]);
    await deleteCache(server, "last", "d", "mem", "again");
  });

  test("metrics count them, and how long reads take, by both names", async () => {
    const name = "values_cache_query_duration_seconds_count";
    const reads = await metric(server, `tsdb_last_${name}`);
    await server.sql("d", BY_HOST);
    expect(await metric(server, `tsdb_last_${name}`)).toBe(reads + 1);
    expect(await metric(server, `influxdb3_last_${name}`)).toBe(reads + 1);
    expect(await metric(server, 'tsdb_caches\\{kind="last"\\}')).toBe(3);
    expect(await metric(server, 'tsdb_caches\\{kind="distinct"\\}')).toBe(1);
  });
});

test("the command line shows them", async () => {
  const args = ["query", "--host", server.url, "-d", "d", "--format", "csv", "SELECT host, f FROM last_cache('cpu', 'by_host')"];
  const { stdout, exitCode } = Bun.spawnSync([...PROGRAM, ...args], { env: plainEnvironment() });
  expect([stdout.toString(), exitCode]).toEqual(["host,f\na,3.5\nb,2.5\nc,4.5\n", 0]);
});

describe("over Flight", () => {
  let client: FlightClient;
  beforeAll(() => {
    client = new FlightClient(portOf(server));
  });
  afterAll(() => client.close());

  test("caches by a Flight ticket", async () => {
    const rows = tableOf(await answered(client.call("DoGet", ticketMessage(BY_HOST)))).toArray();
    expect(rows.map((row) => [row.host, row.f])).toEqual(NEWEST.map(({ host, f }) => [host, f]));
    const { code, details } = await client.call("DoGet", ticketMessage("SELECT * FROM last_cache('cpu', 'no')"));
    expect([status[code], details]).toEqual([
      "INVALID_ARGUMENT",
      expect.stringContaining("could not find last value cache for the given arguments"),
    ]);
  });

  test("a statement is described as it is answered, prepared or not", async () => {
    const describe = async (asks: Uint8Array) => {
      const [schema] = await answered(client.call("GetSchema", descriptorOf(asks), IN_DB));
      return tableFromIPC(SchemaResult.decode(schema!).schema).schema.fields.map(({ name, type }) => `${name} ${type}`);
    };
    const { fields } = tableOf(await answered(client.call("DoGet", ticketMessage(BY_HOST)))).schema;
    const wanted = fields.map(({ name, type }) => `${name} ${type}`);
    expect(await describe(statementCommand(BY_HOST))).toEqual(wanted);
    expect(await describe(preparedCommand((await prepare(client, BY_HOST)).handle))).toEqual(wanted);
  });
});

test("a token reads the caches of its databases alone", async () => {
  await using own = await TestServer.start({ withAuth: true, withFlight: true, flags: ["--edition", "enterprise"] });
  const call = async (method: string, path: string, token: string | null, body?: string) => {
    const headers = { ...(token === null ? {} : { authorization: `Bearer ${token}` }), "content-type": "application/json" };
    const response = await fetch(own.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
    return { status: response.status, text: await response.text() };
  };
  const configure = "/api/v3/configure";
  const admin = (JSON.parse((await call("POST", `${configure}/token/admin`, null)).text) as { token: string }).token;
  for (const db of ["mine", "theirs"]) {
    expect((await call("POST", `/api/v3/write_lp?db=${db}`, admin, `t,h=${db} v=1`)).status).toBe(204);
    expect((await call("POST", `${configure}/last_cache`, admin, JSON.stringify({ db, table: "t" }))).status).toBe(201);
  }
  const permission = { resource_type: "db", resource_names: ["mine"], actions: ["read"] };
  const made = await call(
    "POST",
    "/api/v3/enterprise/configure/token",
    admin,
    JSON.stringify({ token_name: "m", permissions: [permission] }),
  );
  const { token } = JSON.parse(made.text) as { token: string };
  const read = (db: string) => {
    const query = new URLSearchParams({ db, q: "SELECT h FROM last_cache('t')", format: "json" });
    return call("GET", `/api/v3/query_sql?${query}`, token);
  };
  expect(await read("mine")).toEqual({ status: 200, text: '[{"h":"mine"}]' });
  expect((await read("theirs")).status).toBe(403);
  const client = new FlightClient(portOf(own));
  const headers = { authorization: `Bearer ${token}` };
  const codes = ["mine", "theirs"].map(async (db) => {
    const { code } = await client.call("DoGet", ticketMessage("SELECT h FROM last_cache('t')", db), { headers });
    return status[code];
  });
  expect(await Promise.all(codes)).toEqual(["OK", "PERMISSION_DENIED"]);
  client.close();
});
