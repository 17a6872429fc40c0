// Flight SQL at the level of messages, for tests that inspect each of them: commands as bytes, answers as Arrow tables.
import { status } from "@grpc/grpc-js";
import { type Table, tableFromIPC } from "apache-arrow";
import {
  Action,
  ActionResult,
  Any,
  DESCRIPTOR,
  FlightData,
  FlightDescriptor,
  FlightInfo,
} from "../../../src/api/flight/wire/flight-messages.ts";
import { encapsulated } from "../../../src/api/flight/wire/ipc-messages.ts";
import { type MessageOf, message, plain } from "../../../src/api/flight/wire/protobuf.ts";
import { CreatePrepared, PreparedResult, packAny, unpackAny } from "../../../src/api/flight/wire/sql-messages.ts";
import type { CallEnd, FlightClient } from "./flight-server.ts";

const SQL = "type.googleapis.com/arrow.flight.protocol.sql.";
const OneText = message("one text", { text: plain(1, "string") });
const OneBytes = message("one list of bytes", { bytes: plain(1, "bytes") });

/** Headers that select the database `d`. */
export const IN_DB = { headers: { database: "d" } };

/** The port of a Flight address. */
export function portOf({ flightAddress }: { readonly flightAddress: string }): number {
  return Number(flightAddress.split(":").at(-1));
}

/** A Flight SQL message, packed into Any. */
export function sqlCommand(name: string, value: Uint8Array = new Uint8Array(0)): Uint8Array {
  return Any.encode({ typeUrl: SQL + name, value });
}

/** The command that runs a statement. */
export function statementCommand(text: string): Uint8Array {
  return sqlCommand("CommandStatementQuery", OneText.encode({ text }));
}

/** The command that runs a prepared statement. */
export function preparedCommand(handle: Uint8Array): Uint8Array {
  return sqlCommand("CommandPreparedStatementQuery", OneBytes.encode({ bytes: handle }));
}

/** The request of a call: the descriptor of a command. */
export function descriptorOf(command: Uint8Array): Uint8Array {
  return FlightDescriptor.encode({ type: DESCRIPTOR.command, command });
}

/** @throws Error with the status and its text for a call that failed */
export async function answered(call: Promise<CallEnd>): Promise<Buffer[]> {
  const { messages, code, details } = await call;
  if (code !== status.OK) throw new Error(`${status[code]}: ${details}`);
  return messages;
}

/** The messages of a DoGet. */
export function tableOf(messages: readonly Uint8Array[]): Table {
  return tableFromIPC(Buffer.concat(messages.map((data) => encapsulated(FlightData.decode(data)))));
}

/** The FlightInfo of a command. */
export async function infoOf(client: FlightClient, command: Uint8Array, options = IN_DB): Promise<MessageOf<typeof FlightInfo>> {
  const [info] = await answered(client.call("GetFlightInfo", descriptorOf(command), options));
  return FlightInfo.decode(info!);
}

/** Prepares a statement. */
export async function prepare(client: FlightClient, query: string): Promise<MessageOf<typeof PreparedResult>> {
  const body = packAny(CreatePrepared, { query });
  const [result] = await answered(client.call("DoAction", Action.encode({ type: "CreatePreparedStatement", body }), IN_DB));
  return unpackAny(PreparedResult, ActionResult.decode(result!).body);
}
