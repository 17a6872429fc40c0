// Prepared statements. A handle contains the statement and its parameters, so the server keeps no state: handles survive a restart, need no
// closing, and work on any server with the same data.
import { TsdbError } from "../../../model/errors.ts";
import type { QueryParams } from "../../../model/query/query.ts";
import { FlightData, type FlightDescriptor, ParameterRow, PreparedHandle } from "../wire/flight-messages.ts";
import type { IpcMessage } from "../wire/ipc-messages.ts";
import type { MessageOf } from "../wire/protobuf.ts";
import { packAny, unpackAny } from "../wire/sql-messages.ts";
import { paramMessage, paramValue } from "../wire/ticket.ts";
import { checkCounts, readRows } from "./arrow-rows.ts";
import { formOf } from "./parameter-kinds.ts";
import { numberPlaceholders, Placeholders } from "./placeholders.ts";

/** Limit for parameters in Arrow form; their values are sent back in tickets, whose size is limited. */
const PARAMETER_BYTES_MAX = 1 << 20;

/** A statement and the values of its placeholders. */
export interface BoundStatement {
  readonly statement: string;
  readonly params: QueryParams;
}

/** The handle for a statement without parameter values. @throws TsdbError bad_query */
export function newHandle(query: string): Uint8Array<ArrayBuffer> {
  return packAny(PreparedHandle, { query: numberPlaceholders(query) });
}

/** The handle for the same statement with these parameters. @throws TsdbError bad_request */
export function boundHandle(handle: Uint8Array, parameters: readonly IpcMessage[]): Uint8Array<ArrayBuffer> {
  const { query } = unpackAny(PreparedHandle, handle);
  const { columns, rows } = readRows(parameters);
  const names = new Placeholders(query).namesFor(columns.map(({ name }) => name));
  return packAny(PreparedHandle, {
    query,
    columns: columns.map(({ kind }, i) => ({ name: names[i]!, kind })),
    rows: rows.map((row) => ParameterRow.encode({ values: row.map((value) => paramMessage("", value)) })),
  });
}

/** The executions of a handle: the statement once per row of parameters or, without parameters, once. Each is made when it is asked for: a
 *  small handle may stand for a thousand long statements. `shape`: an execution that determines the result columns.
 *  @throws TsdbError bad_request for a handle that this server did not create; `runs` too */
export function boundStatements(handle: Uint8Array): { readonly shape: BoundStatement; readonly runs: Iterator<BoundStatement, void> } {
  const { query, columns, rows } = unpackAny(PreparedHandle, handle);
  const plain = { statement: query, params: {} };
  if (columns.length === 0) return { shape: plain, runs: [plain].values() };
  checkCounts({ rowCount: rows.length, columnCount: columns.length });
  const placeholders = new Placeholders(query);
  const [first, ...others] = rows;
  if (first === undefined) return { shape: plain, runs: [].values() };
  const bound = (row: Uint8Array) => boundTo(ParameterRow.decode(row).values, columns, placeholders);
  const shape = bound(first);
  const runs = function* () {
    yield shape;
    for (const row of others) yield bound(row);
  };
  return { shape, runs: runs() };
}

type Handle = MessageOf<typeof PreparedHandle>;

function boundTo(values: MessageOf<typeof ParameterRow>["values"], columns: Handle["columns"], placeholders: Placeholders): BoundStatement {
  const row = columns.map(({ name, kind }, i) => {
    const value = values[i] === undefined ? null : paramValue(values[i]);
    return { name, value, form: formOf(kind, value) };
  });
  const forms = new Map(row.filter(({ form }) => form !== "").map(({ name, form }) => [name, form]));
  return { statement: placeholders.inForms(forms), params: Object.fromEntries(row.map(({ name, value }) => [name, value])) };
}

/** Reads a DoPut: what its first message says, and the Arrow messages.
 *
 *  @param begin reads the descriptor, before further messages are waited for: clients send no more until they have an answer
 *  @throws TsdbError bad_request, too_large */
export async function receivePut<Begun>(
  messages: AsyncIterable<Uint8Array>,
  begin: (descriptor: FlightDescriptor) => Promise<Begun>,
): Promise<{ begun: Begun; parameters: IpcMessage[] }> {
  const parameters: IpcMessage[] = [];
  let begun: { readonly is: Begun } | undefined;
  let bytes = 0;
  for await (const encoded of messages) {
    const data = FlightData.decode(encoded);
    if (begun === undefined) {
      if (data.descriptor === undefined) throw new TsdbError("bad_request", "the first message of a DoPut must have a flight descriptor");
      begun = { is: await begin(data.descriptor) };
    }
    if (data.header.length === 0) continue;
    bytes += encoded.length;
    if (bytes > PARAMETER_BYTES_MAX) {
      throw new TsdbError("too_large", `parameters take at most ${PARAMETER_BYTES_MAX} bytes, got at least ${bytes}`);
    }
    parameters.push(data);
  }
  if (begun === undefined) throw new TsdbError("bad_request", "a DoPut without messages");
  return { begun: begun.is, parameters };
}
