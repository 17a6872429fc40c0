// The raw bytes of a real server's answers, in every binary format, from every place that rows come from, while another database is read:
// the server's memory holds patterns wherever nobody wrote (src/kernel/memory/poison.ts), and nothing of them may leave.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readParquet } from "parquet-wasm/esm";
import { FlightData, FlightInfo, Ticket } from "../../src/api/flight/wire/flight-messages.ts";
import { loadParquetLibrary } from "../../src/encode/parquet/library.ts";
import { FlightClient, ticketMessage } from "../support/flight/flight-server.ts";
import { answered, descriptorOf, IN_DB, sqlCommand, statementCommand } from "../support/flight/flight-sql.ts";
import { checkIpcMessages, checkIpcStream, type SlotCount } from "../support/flight/ipc-bytes.ts";
import { plainEnvironment, TestServer } from "../support/servers/server.ts";
import { compacted, EAGER_COMPACTION } from "../support/storage/golden-folder.ts";
import { store } from "./client.ts";

setDefaultTimeout(120_000);

const ROWS = 4200;
const START_S = 1_600_000_000;
const SECRET = 777_000_777_000;

/** A field in every second row, every third, and so on; a tag that some rows lack; texts longer than a view; columns that come late. */
function line(i: number): string {
  const fields = [
    ...[`v=${i}i`, i % 2 ? `i=${i}i` : "", i % 3 ? `f=${i / 4}` : "", i % 4 ? `u=${i}u` : "", i % 5 === 0 ? `b=${i % 2 === 0}` : ""],
    ...[
      i % 7 ? `s="a text of more than twelve bytes ${i}"` : "",
      i > ROWS / 2 && i % 3 === 0 ? `late=${i}` : "",
      i % 40 === 0 ? `rare=${i}i` : "",
    ],
  ];
  const tags = `host=h${i % 5}${i % 3 ? `,region=r${i % 2}` : ""}`;
  return `m,${tags} ${fields.filter((field) => field !== "").join()} ${START_S + i}000000000`;
}

const half = (condition: string, value: string) => `SELECT CASE WHEN ${condition} THEN ${value} END AS a FROM m`;
const odd = (value: string) => half("v % 2 = 0", value);
const RANGE = `time >= '2020-09-13T12:26:40Z' AND time < '2020-09-13T13:26:40Z'`;

/** `isWhole`: no row has a NULL of fixed width. */
const SQL: [statement: string, isWhole?: true][] = [
  // rows as they lie, DuckDB not asked
  ["SELECT time, host, region, i, f, u, b, s, late, rare FROM m"],
  ["SELECT * FROM m ORDER BY time DESC LIMIT 100"],
  ["SELECT i, f, late, rare FROM m WHERE host = 'h1'"],
  ["SELECT u, b, s FROM m WHERE f > 100 AND region = 'r0'"],
  ["SELECT DISTINCT ON (host, region) host, region, i, f, u, b, s, late, rare FROM m ORDER BY host, region, time DESC"],
  // through DuckDB's expressions, joins, windows
  ["SELECT i + 1 AS i, f * 2 AS f, NOT b AS b, upper(s) AS s, u + 1 AS u, late / 2 AS l, rare FROM m"],
  ["SELECT lead(v, 2000) OVER (ORDER BY time) AS a, sum(v) FILTER (WHERE v < 0) OVER () AS c FROM m"],
  ["SELECT sum(v) FILTER (WHERE v < 0) OVER (PARTITION BY host) AS a, lag(s, 500) OVER (ORDER BY time) AS s FROM m"],
  ["SELECT median(f) OVER (PARTITION BY i % 50) AS m, stddev(i) OVER (PARTITION BY v) AS d FROM m"],
  ["SELECT a.i, b.i AS j, b.s, b.late FROM m a LEFT JOIN (SELECT * FROM m WHERE v < 10) b ON a.v = b.v"],
  ["SELECT i, rare FROM m UNION ALL SELECT NULL, v FROM m"],
  ["SELECT try_cast(s AS BIGINT) AS a, NULL AS n FROM m"],
  // aggregates of the storage, and of DuckDB
  [
    "SELECT date_bin(INTERVAL '7 seconds', time) AS t, host, max(i) AS i, min(f) AS f, avg(u) AS u, sum(rare) AS r, max(b) AS b FROM m GROUP BY t, host",
  ],
  [
    "SELECT date_bin(INTERVAL '1 second', time) AS t, first_value(s ORDER BY time) AS s, last_value(i ORDER BY time) AS i, min(late) AS l FROM m GROUP BY t",
  ],
  [
    `SELECT date_bin_gapfill(INTERVAL '500 milliseconds', time) AS t, avg(f) AS a, locf(min(rare)) AS l, interpolate(avg(late)) AS p, max(s) AS s FROM m WHERE ${RANGE} GROUP BY t`,
  ],
  ["SELECT host, region, array_agg(i) AS l, array_agg(s) AS s FROM m GROUP BY host, region"],
  // every type
  ["SELECT arrow_cast(nullif(v % 100, 3), 'Int8') AS a, arrow_cast(nullif(v % 100, 3), 'UInt16') AS b FROM m"],
  ["SELECT arrow_cast(nullif(v % 100, 3), 'Float32') AS c, arrow_cast(nullif(v % 100, 3), 'UInt8') AS d FROM m"],
  ["SELECT arrow_cast(nullif(v % 100, 3), 'Int16') AS c, arrow_cast(nullif(v % 100, 3), 'UInt32') AS d FROM m"],
  ...["CAST(v AS DECIMAL(38, 0))", "CAST(v AS DECIMAL(18, 2))", "CAST(v AS DECIMAL(9, 1))", "CAST(v AS HUGEINT)"].map((v): [string] => [
    odd(v),
  ]),
  ...["arrow_cast(v, 'Int32')", "v % 3 = 0", "CAST(time AS DATE)", "CAST(time AS TIME)"].map((v): [string] => [odd(v)]),
  [
    "SELECT arrow_cast(CASE WHEN v % 2 = 0 THEN time END, 'Timestamp(Second, None)') AS a, arrow_cast(CASE WHEN v % 2 = 0 THEN time END, 'Timestamp(ms)') AS b FROM m",
  ],
  ...["tz(time, 'Europe/Berlin')", "INTERVAL '1 day' * v", "arrow_cast(v, 'Duration(Second)')"].map((v): [string] => [odd(v)]),
  ...["make_array(v, NULL, i)", "make_array(make_array(f), NULL)", "map(make_array('k', 'l'), make_array(i, v))"].map((v): [string] => [
    odd(v),
  ]),
  [odd("named_struct('a', i, 'b', s, 'c', make_array(f), 'd', named_struct('e', u, 'f', b))")],
  ["SELECT arrow_cast(make_array(f, f), 'FixedSizeList(2, Float64)') AS a FROM m"],
  [odd("sha256(s)"), true],
  // tables of ours
  ["SELECT * FROM information_schema.columns"],
  ["SELECT * FROM system.queries"],
  ["SELECT * FROM last_cache('m', 'newest')"],
  ["SELECT i, rare, late, host FROM last_cache('m', 'newest') WHERE host = 'h3'"],
  ["SELECT * FROM distinct_cache('m', 'places')", true],
];

const V1: [statement: string, isWhole?: true][] = [
  ["SELECT i, f, u, b, s, late, rare FROM m"],
  ["SELECT i, rare FROM m GROUP BY host, region"],
  [`SELECT mean(f) AS a, max(rare) AS r, last(s) AS s FROM m WHERE ${RANGE} GROUP BY time(500ms), host`],
  [`SELECT mean(f) AS a, sum(rare) AS r FROM m WHERE ${RANGE} GROUP BY time(500ms) fill(none)`],
  ["SELECT top(f, 3) AS t, host, i FROM m"],
  ["SELECT difference(f) AS d FROM m GROUP BY host", true],
  ["SELECT a, r FROM (SELECT mean(f) AS a, max(rare) AS r FROM m WHERE time > 0 GROUP BY time(20s), host)"],
  ["SHOW TAG VALUES WITH KEY = host", true],
];

const whole = ([statement, isWhole]: readonly [string, true?]): [string, boolean] => [statement, isWhole === true];

let server: TestServer;
let client: FlightClient;

beforeAll(async () => {
  await loadParquetLibrary();
  server = await TestServer.start({
    ...{ withFlight: true, env: { ...plainEnvironment(), TSDB_POISON_MEMORY: "1" } },
    flags: ["--gen0-duration", "1h", "--compaction-check-interval", "24h", "--query-workers", "1"],
  });
  client = flightClient();
  const rows = Array.from({ length: ROWS }, (_, i) => line(i));
  // several bodies: some lack columns that earlier ones had
  for (let i = 0; i < ROWS; i += 150) await store(server, "d", rows.slice(i, i + 150).join("\n"));
  const secrets = Array.from(
    { length: ROWS },
    (_, i) => `t,who=nobody-${i % 50} v=${SECRET + i}i,s="a password of another user ${i}" ${START_S + i}000000000`,
  );
  await store(server, "secret", secrets.join("\n"));
  const cache = (kind: string, body: object) =>
    fetch(`${server.url}/api/v3/configure/${kind}`, {
      ...{ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ db: "d", table: "m", ...body }) },
    });
  expect((await cache("last_cache", { name: "newest", key_columns: ["host", "region"], count: 3, ttl: 3e9 })).status).toBe(201);
  expect((await cache("distinct_cache", { name: "places", columns: ["host", "region"], max_age: 3e9 })).status).toBe(201);
});
afterAll(async () => {
  client.close();
  await server.dispose();
});

const flightClient = () => new FlightClient(Number(server.flightAddress.split(":").at(-1)));

async function get(path: string, parameters: Record<string, string>, headers: Record<string, string> = {}): Promise<Uint8Array> {
  const response = await fetch(`${server.url}${path}?${new URLSearchParams(parameters)}`, { headers });
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${parameters["q"]}: ${response.status} ${new TextDecoder().decode(bytes)}`);
  return bytes;
}

/** Leaves its rows in memory that the next statement gets. */
async function readSecrets(): Promise<void> {
  await get("/api/v3/query_sql", { db: "secret", format: "json", q: "SELECT v, v * 2 AS w, upper(s) AS s, who FROM t" });
}

async function flightMessages(request: Uint8Array): Promise<{ header: Uint8Array; body: Uint8Array }[]> {
  const { messages, details } = await client.call("DoGet", request);
  if (messages.length === 0) throw new Error(details);
  return messages.map((bytes) => {
    const data = FlightData.decode(bytes);
    // nothing but these two, whose lengths are these: what is written is what is read
    const known = [data.header, data.body].reduce((sum, part) => sum + (part.length === 0 ? 0 : part.length + varintBytes(part.length)), 0);
    expect(bytes.length).toBe(known + 1 + (data.body.length === 0 ? 0 : 2));
    return data;
  });
}

const varintBytes = (value: number): number => (value < 128 ? 1 : 1 + varintBytes(value >>> 7));

/** Eight bytes of memory that nobody wrote, or that was given back; what the secrets are made of. */
function expectNothingStrange(bytes: Uint8Array): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const secret = Buffer.alloc(8);
  for (const pattern of [0xa5, 0x5a]) expect(buffer.includes(Buffer.alloc(8, pattern))).toBe(false);
  secret.writeBigInt64LE(BigInt(SECRET));
  expect(buffer.includes(secret.subarray(2, 8))).toBe(false);
  expect(buffer.includes("password")).toBe(false);
  expect(buffer.includes(String(SECRET).slice(0, 9))).toBe(false);
}

function expectSeen({ rows, nullSlots }: SlotCount, isWhole: boolean): void {
  expect(rows).toBeGreaterThan(0);
  if (!isWhole) expect(nullSlots).toBeGreaterThan(0);
}

/** Patterns as numbers of 64 bits. */
const STRANGE = [0xa5, 0x5a].flatMap((byte) => {
  const view = new DataView(new Uint8Array(8).fill(byte).buffer);
  return [String(view.getBigInt64(0)), String(view.getBigUint64(0)), String(view.getFloat64(0))];
});

const STATES: [state: string, enter: () => Promise<void>][] = [
  ["in memory", async () => {}],
  ["flushed", () => restart()],
  [
    "compacted",
    async () => {
      await restart(["--query-workers", "1", ...EAGER_COMPACTION]);
      await compacted(server);
    },
  ],
  [
    "compacted, and half of them written again",
    () => store(server, "d", Array.from({ length: ROWS / 2 }, (_, i) => line(i * 2)).join("\n")),
  ],
];

async function restart(flags?: readonly string[]): Promise<void> {
  await server.restart(flags);
  client.close();
  client = flightClient();
}

describe.each(STATES)("rows %s", (_, enter) => {
  beforeAll(enter);

  test.each(SQL.map(whole))("%s", async (statement, isWhole) => {
    await readSecrets();
    expectSeen(checkIpcStream(await get("/api/v3/query_sql", { db: "d", q: statement, format: "arrow" })), isWhole);
    await readSecrets();
    expectSeen(checkIpcMessages(await flightMessages(ticketMessage(statement))), isWhole);
    for (const format of ["json", "pretty"]) {
      const text = new TextDecoder().decode(await get("/api/v3/query_sql", { db: "d", q: statement, format }));
      expect(STRANGE.filter((number) => text.includes(number))).toEqual([]);
    }
  });

  test.each(V1.map(whole))("v1 language: %s", async (statement, isWhole) => {
    await readSecrets();
    expectSeen(checkIpcStream(await get("/api/v3/query_tsdbql", { db: "d", q: statement, format: "arrow" })), isWhole);
    expectNothingStrange(await get("/query", { db: "d", q: statement }, { accept: "application/x-msgpack" }));
    const text = new TextDecoder().decode(await get("/query", { db: "d", q: statement }));
    expect(STRANGE.filter((number) => text.includes(number))).toEqual([]);
  });

  test("Parquet: pages, dictionaries, statistics", async () => {
    for (const [statement] of SQL.slice(0, 16)) {
      await readSecrets();
      const file = await get("/api/v3/query_sql", { db: "d", q: statement, format: "parquet" });
      expectNothingStrange(file);
      expectNothingStrange(readParquet(file).intoIPCStream());
    }
  });
});

describe("what Flight SQL answers itself", () => {
  const COMMANDS = ["Catalogs", "DbSchemas", "Tables", "TableTypes", "SqlInfo", "XdbcTypeInfo"];
  test.each(COMMANDS)("%s", async (name) => {
    // of tables with their schemas
    const value = name === "Tables" ? new Uint8Array([5 << 3, 1]) : new Uint8Array(0);
    await expectAnswer(sqlCommand(`CommandGet${name}`, value));
  });

  test("Flight info and messages of a statement show no stray bytes", () => expectAnswer(statementCommand("SELECT i, f, late FROM m")));

  async function expectAnswer(command: Uint8Array): Promise<void> {
    const [info] = await answered(client.call("GetFlightInfo", descriptorOf(command), IN_DB));
    expectNothingStrange(info!);
    const [endpoint] = FlightInfo.decode(info!).endpoints;
    checkIpcMessages(await flightMessages(Ticket.encode(endpoint!.ticket!)));
  }
});
