// An answer that cannot be encoded, from its schema on or somewhere in the midst of it: whatever asked for it over Arrow Flight ends with a
// status, the answer's rows so far are no whole one, and the server goes on. The faults are asked for by a comment of the statement
// (src/workers/query/faults.ts).
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { status } from "@grpc/grpc-js";
import { ParameterRow, PreparedHandle, Ticket } from "../../src/api/flight/wire/flight-messages.ts";
import { packAny } from "../../src/api/flight/wire/sql-messages.ts";
import { paramMessage } from "../../src/api/flight/wire/ticket.ts";
import { type CallEnd, FlightClient, ticketMessage } from "../support/flight/flight-server.ts";
import { descriptorOf, IN_DB, portOf, preparedCommand, statementCommand } from "../support/flight/flight-sql.ts";
import { plainEnvironment, TestServer } from "../support/servers/server.ts";
import { store } from "./client.ts";

setDefaultTimeout(60_000);

let server: TestServer;
let client: FlightClient;
beforeAll(async () => {
  server = await TestServer.start({ withFlight: true, env: { ...plainEnvironment(), TSDB_FAULTS: "30000" } });
  client = new FlightClient(portOf(server));
  await store(server, "d", "cpu v=1i 1");
});
afterAll(async () => {
  client.close();
  await server.dispose();
});

const failing = (statement: string, parts: number) => `${statement} /* fault:encode:${parts} */`;
const ROW = "SELECT v FROM cpu";
/** 8 MB in some 60 batches: many times what is under way between the threads. */
const ROWS = "SELECT * FROM generate_series(1, 1000000)";
const INTERNAL = { code: status.INTERNAL, details: "internal error" };

async function isWell(): Promise<void> {
  const { code, messages } = await client.call("DoGet", ticketMessage(ROW));
  expect([code, messages.length]).toEqual([status.OK, 2]);
}

const get = (statement: string) => client.call("DoGet", ticketMessage(statement));

describe("an answer whose encoder fails", () => {
  test.each([
    ["before its schema", ROW, 0, 0],
    ["behind its schema", ROW, 1, 0],
    ["at its end", ROW, 2, 0],
    ["before the schema of many rows", ROWS, 0, 0],
    ["at the first of many batches", ROWS, 1, 0],
    ["in the midst of many batches", ROWS, 40, 2],
  ])("%s ends with a status", async (_, statement, parts, messagesLeast) => {
    const { messages, ...end } = await get(failing(statement, parts));
    expect(end).toEqual(INTERNAL);
    expect(messages.length).toBeGreaterThanOrEqual(messagesLeast);
    await isWell();
  });
});

const handle = (query: string, rows: number) => {
  const values = Array.from({ length: rows }, (_, i) => ParameterRow.encode({ values: [paramMessage("", BigInt(i))] }));
  return packAny(PreparedHandle, { query, columns: [{ name: "1", kind: "int" }], rows: values });
};

test.each<[what: string, call: () => Promise<CallEnd>]>([
  ["a description", () => client.call("GetFlightInfo", descriptorOf(statementCommand(failing(ROW, 0))), IN_DB)],
  ["its schema alone", () => client.call("GetSchema", descriptorOf(statementCommand(failing(ROW, 1))), IN_DB)],
  [
    "a prepared statement of several rows",
    () => client.call("DoGet", Ticket.encode({ ticket: preparedCommand(handle(failing("SELECT $1 AS x", 1), 3)) }), IN_DB),
  ],
])("%s ends with a status", async (_, call) => {
  const { code, details } = await call();
  expect({ code, details }).toEqual(INTERNAL);
  await isWell();
});

test("many at a time, beside answers that are whole", async () => {
  const calls = Array.from({ length: 24 }, (_, i) => get(i % 2 === 0 ? failing(ROWS, i * 2) : ROW));
  const codes = (await Promise.all(calls)).map(({ code }) => code);
  expect(codes).toEqual(codes.map((_, i) => (i % 2 === 0 ? status.INTERNAL : status.OK)));
});
