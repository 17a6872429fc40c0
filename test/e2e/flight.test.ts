// Arrow Flight of a real server: what Flight SQL finds in it, answers too large for one message, its port, and its end.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createServer } from "node:net";
import { join } from "node:path";
import { tableFromIPC } from "apache-arrow";
import { FlightData, SchemaResult, Ticket } from "../../src/api/flight/wire/flight-messages.ts";
import { encapsulated } from "../../src/api/flight/wire/ipc-messages.ts";
import { FlightClient, ticketMessage } from "../support/flight/flight-server.ts";
import {
  answered,
  descriptorOf,
  IN_DB,
  infoOf,
  portOf,
  prepare,
  preparedCommand,
  sqlCommand,
  statementCommand,
  tableOf,
} from "../support/flight/flight-sql.ts";
import { PROGRAM } from "../support/servers/program.ts";
import { RawHttp2 } from "../support/servers/raw-http2.ts";
import { plainEnvironment, TestServer } from "../support/servers/server.ts";
import { metric, store } from "./client.ts";

setDefaultTimeout(60_000);

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

const fieldsOf = (schema: Uint8Array) =>
  tableFromIPC(schema).schema.fields.map(({ name, type, metadata, nullable }) => [
    ...[name, String(type), metadata.get("iox::column::type")],
    // of tables that are made for the statement nothing is promised
    metadata.size > 0 && nullable,
  ]);

/** Info first, then its ticket, as drivers do. */
async function run(asks: Uint8Array, who = client): Promise<object[]> {
  const { endpoints, schema } = await infoOf(who, asks);
  const [result] = await answered(who.call("GetSchema", descriptorOf(asks), IN_DB));
  expect(fieldsOf(SchemaResult.decode(result!).schema)).toEqual(fieldsOf(schema));
  const messages = await answered(who.call("DoGet", Ticket.encode(endpoints[0]!.ticket!)));
  // what was said before it was run is what came
  expect(fieldsOf(encapsulated(FlightData.decode(messages[0]!)))).toEqual(fieldsOf(schema));
  return tableOf(messages)
    .toArray()
    .map((row) => ({ ...row.toJSON() }));
}

describe("Flight SQL", () => {
  test.each([
    ["SELECT host, v, n FROM cpu ORDER BY time", [{ host: "a", v: 1.5, n: 3n }, { host: "b", v: 2.5, n: 4n }]], // biome-ignore format: a row
    ["SELECT region, count(*) AS c FROM cpu GROUP BY region ORDER BY region", [{ region: "eu", c: 1n }, { region: null, c: 1n }]], // biome-ignore format: a row
    ["SELECT host FROM cpu WHERE v > 100", []],
    ['SELECT used FROM "Mem"', [{ used: 7n }]],
    ["SELECT date_bin(INTERVAL '1 minute', time) AS t, max(v) AS m FROM cpu GROUP BY t", [{ t: 0, m: 2.5 }]],
  ])("%s", async (text, rows) => expect(await run(statementCommand(text))).toEqual(rows));

  test("tables are those that SQL shows", async () => {
    const shown = await server.sql<{ table_schema: string; table_name: string; table_type: string }>("d", "SHOW TABLES");
    const found = (await run(sqlCommand("CommandGetTables"))) as Record<string, unknown>[];
    const key = (schema: unknown, name: unknown, type: unknown) => `${schema}.${name} ${type}`;
    expect(found.map((row) => key(row["db_schema_name"], row["table_name"], row["table_type"]))).toEqual(
      shown.map((row) => key(row.table_schema, row.table_name, row.table_type)).sort(),
    );
    expect(found.filter((row) => row["db_schema_name"] === "iox").map((row) => row["table_name"])).toEqual(["Mem", "cpu"]);
  });

  test("columns of every table are as a statement answers them", async () => {
    const rows = (await run(sqlCommand("CommandGetTables", new Uint8Array([5 << 3, 1])))) as Record<string, unknown>[];
    expect(rows.length).toBeGreaterThan(10);
    for (const row of rows) {
      const name = `"${row["db_schema_name"]}"."${row["table_name"]}"`;
      const [answer] = await answered(client.call("GetSchema", descriptorOf(statementCommand(`SELECT * FROM ${name}`)), IN_DB));
      expect([name, fieldsOf(row["table_schema"] as Uint8Array)]).toEqual([name, fieldsOf(SchemaResult.decode(answer!).schema)]);
    }
  });

  test("system.queries and the metrics know them", async () => {
    const before = await metric(server, 'tsdb_queries_total{outcome="answered"}');
    await run(statementCommand("SELECT 'marked' AS mark"));
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
  const messages = await answered(client.call("DoGet", ticketMessage("SELECT * FROM wide", "wide")));
  const sizes = messages.map(({ length }) => length);
  expect(Math.max(...sizes)).toBeLessThan(4 << 20);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(2100 * 491 * 8);
  const table = tableOf(messages);
  expect(table.numRows).toBe(2100);
  expect(
    table
      .getChild("f489")!
      .toArray()
      .every((value: bigint) => value === 489n),
  ).toBe(true);
});

describe("the port", () => {
  async function withTakenPort(run: (port: number) => Promise<void>): Promise<void> {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    try {
      await run((taken.address() as { port: number }).port);
    } finally {
      taken.close();
    }
  }

  test("a taken port that was asked for ends the start", () =>
    withTakenPort(async (port) => {
      const flags = ["serve", "--object-store", "memory", "--data-dir", join(server.dataDir, "other"), "--http-bind", "127.0.0.1:0"];
      const child = Bun.spawn([...PROGRAM, ...flags, "--flight-bind", `127.0.0.1:${port}`], {
        env: plainEnvironment(),
        stdout: "pipe",
        stderr: "pipe",
      });
      const [code, error] = await Promise.all([child.exited, new Response(child.stderr).text()]);
      expect([code, error.trim()]).toEqual([2, expect.stringContaining(`tsdb: cannot listen on 127.0.0.1:${port}`)]);
    }));

  test("no port is listened on when Flight is off", async () => {
    await using quiet = await TestServer.start();
    expect(quiet.output).toContain("Arrow Flight is off");
    expect(quiet.flightAddress).toBe("");
  });

  test("the same one after a restart, where a prepared statement still runs", async () => {
    await using own = await TestServer.start({ withFlight: true });
    await store(own, "d", "cpu v=1.5 1");
    let who = new FlightClient(portOf(own));
    const asks = preparedCommand((await prepare(who, "SELECT v FROM cpu WHERE v > 1")).handle);
    expect(await run(asks, who)).toEqual([{ v: 1.5 }]);
    who.close();
    const { flightAddress } = own;
    await own.restart(["--flight-bind", flightAddress]);
    expect(own.flightAddress).toBe(flightAddress);
    who = new FlightClient(portOf(own));
    expect(await run(asks, who)).toEqual([{ v: 1.5 }]);
    who.close();
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
  expect(tableOf(reader.messagesOf(1)).numRows).toBe(50_000);
});
