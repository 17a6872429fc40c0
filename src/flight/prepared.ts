// Prepared statements. A handle holds the whole statement and its parameters, so the server keeps nothing: handles outlive a restart, need
// no closing, and work on any server with the same data.
import { TsdbError } from "../model/errors.ts";
import type { QueryParams } from "../model/query.ts";
import { readRow } from "./arrow-row.ts";
import { bindRow } from "./bound-params.ts";
import { FlightData, type FlightDescriptor, PreparedHandle } from "./flight-messages.ts";
import type { IpcMessage } from "./ipc-messages.ts";
import { packAny, unpackAny } from "./sql-messages.ts";
import { paramMessages, paramValues } from "./ticket.ts";

/** A row of parameters in Arrow's form; what comes of it travels in tickets, and those have limits. */
const PARAMETER_BYTES_MAX = 1 << 20;

export interface PreparedStatement {
  readonly statement: string;
  readonly params: QueryParams;
}

export function newHandle({ statement, params }: PreparedStatement): Uint8Array<ArrayBuffer> {
  return packAny(PreparedHandle, { query: statement, params: paramMessages(params) });
}

/** @throws TsdbError bad_request for a handle that is none of ours */
export function preparedStatement(handle: Uint8Array): PreparedStatement {
  const { query, params } = unpackAny(PreparedHandle, handle);
  return { statement: query, params: paramValues(params) };
}

/** The handle for the same statement with these parameters. @throws TsdbError bad_request */
export function boundHandle(handle: Uint8Array, parameters: readonly IpcMessage[]): Uint8Array<ArrayBuffer> {
  const { statement } = preparedStatement(handle);
  return newHandle({ statement, params: bindRow(statement, readRow(parameters)) });
}

/** What a DoPut brings: the descriptor of its first message, and the Arrow messages of all. @throws TsdbError bad_request, too_large */
export async function receivePut(messages: AsyncIterable<Uint8Array>): Promise<{ descriptor: FlightDescriptor; parameters: IpcMessage[] }> {
  const parameters: IpcMessage[] = [];
  let descriptor: FlightDescriptor | undefined;
  let bytes = 0;
  for await (const encoded of messages) {
    const data = FlightData.decode(encoded);
    descriptor ??= data.descriptor;
    if (descriptor === undefined) throw new TsdbError("bad_request", "the first message of a DoPut must have a flight descriptor");
    if (data.header.length === 0) continue;
    bytes += encoded.length;
    if (bytes > PARAMETER_BYTES_MAX) {
      throw new TsdbError("too_large", `parameters take at most ${PARAMETER_BYTES_MAX} bytes, got ${bytes} and perhaps more`);
    }
    parameters.push(data);
  }
  if (descriptor === undefined) throw new TsdbError("bad_request", "a DoPut without messages");
  return { descriptor, parameters };
}
