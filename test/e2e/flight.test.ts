// Arrow Flight of a real server: what Flight SQL finds in it, answers too large for one message, its port, and its end.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createServer } from "node:net";
import { join } from "node:path";
import { status } from "@grpc/grpc-js";
import { tableFromIPC } from "apache-arrow";
import {
  Action,
  ActionResult,
  Any,
  DESCRIPTOR,
  FlightData,
  FlightDescriptor,
  FlightInfo,
  SchemaResult,
  Ticket,
} from "../../src/api/flight/wire/flight-messages.ts";
import { encapsulated } from "../../src/api/flight/wire/ipc-messages.ts";
import { message, plain } from "../../src/api/flight/wire/protobuf.ts";
import { CreatePrepared, PreparedResult, packAny, unpackAny } from "../../src/api/flight/wire/sql-messages.ts";
import { type CallEnd, FlightClient, ticketMessage } from "../support/flight-server.ts";
import { RawHttp2 } from "../support/raw-http2.ts";
import { plainEnvironment, TestServer } from "../support/server.ts";
import { metric, store } from "./client.ts";

setDefaultTimeout(60_000);

const SQL = "type.googleapis.com/arrow.flight.protocol.sql.";
const OneText = message("one text", { text: plain(1, "string") });
const OneBytes = message("one list of bytes", { bytes: plain(1, "bytes") });
const IN_DB = { headers: { database: "d" } };

let server: TestServer;
let client: FlightClient;
beforeAll(async () => {
  server = await TestServer.start({ withFlight: true });
  client = new FlightClient(portOf(server));
  await store(server, "d", "cpu,host=a,region=eu v=1.5,n=3i 1000000000\ncpu,host=b v=2.5,n=4i 2000000001\nMem,host=a used=7u 1");
});
afterAll(async () => {
  client.close();
  await server.dispose();
});

const portOf = ({ flightAddress }: TestServer) => Number(flightAddress.split(":").at(-1));
const command = (name: string, value: Uint8Array = new Uint8Array(0)) => Any.encode({ typeUrl: SQL + name, value });
const statement = (text: string) => command("CommandStatementQuery", OneText.encode({ text }));
const descriptor = (bytes: Uint8Array) => FlightDescriptor.encode({ type: DESCRIPTOR.command, command: bytes });

function tableOf({ messages, code, details }: CallEnd) {
  if (code !== status.OK) throw new Error(`${status[code]}: ${details}`);
  return tableFromIPC(Buffer.concat(messages.map((data) => encapsulated(FlightData.decode(data)))));
}
const rowsOf = (end: CallEnd) => tableOf(end).toArray().map((row) => ({ ...row.toJSON() })); // biome-ignore format: one step

const fieldsOf = (schema: Uint8Array) =>
  tableFromIPC(schema).schema.fields.map(({ name, type, metadata, nullable }) => [
    ...[name, String(type), metadata.get("iox::column::type")],
    // of tables that are made for the statement nothing is promised
    metadata.size > 0 && nullable,
  ]);

/** Info first, then its ticket, as drivers do. */
async function run(asks: Uint8Array, who = client): Promise<object[]> {
  const [info] = (await answered(who.call("GetFlightInfo", descriptor(asks), IN_DB))).messages;
  const { endpoints, schema } = FlightInfo.decode(info!);
  const [result] = (await answered(who.call("GetSchema", descriptor(asks), IN_DB))).messages;
  expect(fieldsOf(SchemaResult.decode(result!).schema)).toEqual(fieldsOf(schema));
  const end = await answered(who.call("DoGet", Ticket.encode(endpoints[0]!.ticket!)));
  // what was said before it was run is what came
  expect(fieldsOf(encapsulated(FlightData.decode(end.messages[0]!)))).toEqual(fieldsOf(schema));
  return rowsOf(end);
}

async function answered(call: Promise<CallEnd>): Promise<CallEnd> {
  const end = await call;
  if (end.code !== status.OK) throw new Error(`${status[end.code]}: ${end.details}`);
  return end;
}

describe("Flight SQL", () => {
  test.each([
    ["SELECT host, v, n FROM cpu ORDER BY time", [{ host: "a", v: 1.5, n: 3n }, { host: "b", v: 2.5, n: 4n }]], // biome-ignore format: a row
    ["SELECT region, count(*) AS c FROM cpu GROUP BY region ORDER BY region", [{ region: "eu", c: 1n }, { region: null, c: 1n }]], // biome-ignore format: a row
    ["SELECT host FROM cpu WHERE v > 100", []],
    ['SELECT used FROM "Mem"', [{ used: 7n }]],
    ["SELECT date_bin(INTERVAL '1 minute', time) AS t, max(v) AS m FROM cpu GROUP BY t", [{ t: 0, m: 2.5 }]],
  ])("%s", async (text, rows) => expect(await run(statement(text))).toEqual(rows));

  test("tables are those that SQL shows", async () => {
    const shown = await server.sql<{ table_schema: string; table_name: string; table_type: string }>("d", "SHOW TABLES");
    const found = (await run(command("CommandGetTables"))) as Record<string, unknown>[];
    const key = (schema: unknown, name: unknown, type: unknown) => `${schema}.${name} ${type}`;
    expect(found.map((row) => key(row["db_schema_name"], row["table_name"], row["table_type"]))).toEqual(
      shown.map((row) => key(row.table_schema, row.table_name, row.table_type)).sort(),
    );
    expect(found.filter((row) => row["db_schema_name"] === "iox").map((row) => row["table_name"])).toEqual(["Mem", "cpu"]);
  });

  test("columns of every table are as a statement answers them", async () => {
    const rows = (await run(command("CommandGetTables", new Uint8Array([5 << 3, 1])))) as Record<string, unknown>[];
    expect(rows.length).toBeGreaterThan(10);
    for (const row of rows) {
      const name = `"${row["db_schema_name"]}"."${row["table_name"]}"`;
      const [answer] = (await answered(client.call("GetSchema", descriptor(statement(`SELECT * FROM ${name}`)), IN_DB))).messages;
      expect([name, fieldsOf(row["table_schema"] as Uint8Array)]).toEqual([name, fieldsOf(SchemaResult.decode(answer!).schema)]);
    }
  });

  test("a prepared statement outlives the server", async () => {
    await using own = await TestServer.start({ withFlight: true });
    await store(own, "d", "cpu v=1.5 1");
    let who = new FlightClient(portOf(own));
    const body = packAny(CreatePrepared, { query: "SELECT v FROM cpu WHERE v > 1" });
    const [result] = (await answered(who.call("DoAction", Action.encode({ type: "CreatePreparedStatement", body }), IN_DB))).messages;
    const { handle } = unpackAny(PreparedResult, ActionResult.decode(result!).body);
    const asks = command("CommandPreparedStatementQuery", OneBytes.encode({ bytes: handle }));
    expect(await run(asks, who)).toEqual([{ v: 1.5 }]);
    who.close();
    await own.restart();
    who = new FlightClient(portOf(own));
    expect(await run(asks, who)).toEqual([{ v: 1.5 }]);
    who.close();
  });

  test("system.queries and the metrics know them", async () => {
    const before = await metric(server, 'tsdb_queries_total{outcome="answered"}');
    await run(statement("SELECT 'marked' AS mark"));
    const rows = await server.sql("d", "SELECT query_type FROM system.queries WHERE query_text = 'SELECT ''marked'' AS mark'");
    // what was only asked about is not listed
    expect(rows).toEqual([{ query_type: "flightsql" }]);
    expect(await metric(server, 'tsdb_queries_total{outcome="answered"}')).toBeGreaterThan(before);
  });
});

test("a batch too large for a client's message comes in several", async () => {
  const columns = Array.from({ length: 490 }, (_, i) => `f${i}=${i}i`).join(",");
  const lines = Array.from({ length: 2100 }, (_, i) => `wide ${columns} ${i + 1}`);
  for (let start = 0; start < lines.length; start += 700) await store(server, "wide", lines.slice(start, start + 700).join("\n"));
  const end = await client.call("DoGet", Ticket.encode({ ticket: Buffer.from('{"database":"wide","sql_query":"SELECT * FROM wide"}') }));
  const sizes = end.messages.map(({ length }) => length);
  expect(Math.max(...sizes)).toBeLessThan(4 << 20);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(2100 * 491 * 8);
  const table = tableOf(end);
  expect(table.numRows).toBe(2100);
  expect(
    table
      .getChild("f489")!
      .toArray()
      .every((value: bigint) => value === 489n),
  ).toBe(true);
});

describe("the port", () => {
  const MAIN = join(import.meta.dir, "../../src/main.ts");

  async function withTakenPort(run: (port: number) => Promise<void>): Promise<void> {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    try {
      await run((taken.address() as { port: number }).port);
    } finally {
      taken.close();
    }
  }

  test("one that was asked for and is taken ends the start", () =>
    withTakenPort(async (port) => {
      const flags = ["serve", "--object-store", "memory", "--data-dir", join(server.dataDir, "other"), "--http-bind", "127.0.0.1:0"];
      const child = Bun.spawn([process.execPath, MAIN, ...flags, "--flight-bind", `127.0.0.1:${port}`], {
        env: plainEnvironment(),
        stdout: "pipe",
        stderr: "pipe",
      });
      const [code, error] = await Promise.all([child.exited, new Response(child.stderr).text()]);
      expect([code, error.trim()]).toEqual([2, expect.stringContaining(`tsdb: cannot listen on 127.0.0.1:${port}`)]);
    }));

  test("none is listened on when it is off", async () => {
    await using quiet = await TestServer.start();
    expect(quiet.output).toContain("Arrow Flight is off");
    expect(quiet.flightAddress).toBe("");
  });

  test("the same one after a restart", async () => {
    await using own = await TestServer.start({ withFlight: true });
    const { flightAddress } = own;
    await own.restart(["--flight-bind", flightAddress]);
    expect(own.flightAddress).toBe(flightAddress);
    const answer = await fetch(`http://${flightAddress}/ping`);
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
  });
});

test("a server that stops lets an answer finish", async () => {
  await using own = await TestServer.start({ withFlight: true });
  const lines = Array.from({ length: 50_000 }, (_, i) => `big v=${i}i ${i + 1}`);
  await store(own, "d", lines.join("\n"));
  // reads no more than a connection's first window before the server has heard that it is to stop
  const reader = (await RawHttp2.open(portOf(own))).begin(1 << 30).call("DoGet", ticketMessage("SELECT * FROM big"));
  await reader.until(() => reader.dataBytes >= 65_535);
  const stopped = own.stop();
  await own.untilOutput(/stopping/);
  reader.enlarge(1 << 30);
  expect(await stopped).toBe(0);
  await reader.until(() => reader.isClosed);
  expect(tableOf({ messages: reader.messagesOf(1), code: status.OK, details: "" }).numRows).toBe(50_000);
});
