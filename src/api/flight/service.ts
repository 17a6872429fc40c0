// The RPCs of Arrow Flight and Flight SQL, without gRPC: message bytes in, message bytes out. The query service runs the statements; their
// answers are passed through message by message, without buffering.
import { TsdbError } from "../../model/errors.ts";
import type { QueryAnswer } from "../../model/query/query.ts";
import type { FlightBackend } from "./access.ts";
import type { MetadataCommand } from "./commands.ts";
import { Unimplemented } from "./grpc/status.ts";
import { arrowRequest, type LanguageStatement, languageOf } from "./languages.ts";
import { type BoundStatement, boundHandle, boundStatements, newHandle, receivePut } from "./parameters/prepared.ts";
import {
  Action,
  ActionResult,
  ActionType,
  BasicAuth,
  DESCRIPTOR,
  FlightDescriptor,
  FlightInfo,
  HandshakeMessage,
  PutResult,
  SchemaResult,
  Ticket,
} from "./wire/flight-messages.ts";
import { encapsulated, type IpcMessage, IpcSplitter } from "./wire/ipc-messages.ts";
import {
  ClosePrepared,
  CreatePrepared,
  decodeCommand,
  PreparedResult,
  PutPreparedResult,
  packAny,
  type SqlCommand,
  unpackAny,
} from "./wire/sql-messages.ts";
import { decodeTicket, statementTicket, ticketFor } from "./wire/ticket.ts";

/** One call. */
export interface Caller {
  readonly token: string | null;
  /** A header of the call; the first value if repeated. Names in lower case. */
  header(name: string): string | undefined;
  /** Aborts when the client disconnects or its deadline passes. */
  readonly signal: AbortSignal;
}

/** Headers that name the database of a Flight SQL call. */
const DATABASE_HEADERS = ["database", "bucket", "bucket-name", "iox-namespace-name"] as const;
const LANGUAGE_HEADER = "x-influxdata-query-language";
/** Requested type name of ordinary tables: some tools expect `TABLE`. */
const BASE_TYPE_HEADER = "x-influxdata-base-table-type";
const BASE_TYPES: readonly string[] = ["BASE TABLE", "TABLE"];

/** A password that cannot be sent back in a header is no token either. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

const ACTIONS = {
  CreatePreparedStatement: "Makes a prepared statement: ActionCreatePreparedStatementRequest, ActionCreatePreparedStatementResult.",
  ClosePreparedStatement: "Forgets a prepared statement: ActionClosePreparedStatementRequest.",
} as const;

/** The RPCs as functions over protobuf bytes. Requests and answers are messages without gRPC's framing; IPC messages are not decoded.
 *  Methods throw TsdbError, and Unimplemented for unknown RPCs and actions. */
export class FlightService {
  constructor(private readonly backend: FlightBackend) {}

  /** The token that the caller should send with later calls (null: none), and the reply. `first`: the client's first message, if any.
   *  Permissions are checked by later calls. @throws TsdbError bad_request */
  handshake(caller: Caller, first: Uint8Array | undefined): { token: string | null; reply: Uint8Array } {
    const message = HandshakeMessage.decode(first ?? new Uint8Array(0));
    const token = caller.token ?? passwordIn(message.payload);
    return { token: token !== null && TOKEN.test(token) ? token : null, reply: HandshakeMessage.encode(message) };
  }

  /** FlightDescriptor → FlightInfo. @throws TsdbError, Unimplemented */
  async getFlightInfo(caller: Caller, request: Uint8Array): Promise<Uint8Array> {
    const descriptor = FlightDescriptor.decode(request);
    const { command, bytes } = commandOf(descriptor);
    const database = databaseOf(caller);
    const language = languageOf(caller.header(LANGUAGE_HEADER));
    const schema = await this.schema(caller, database, command, language);
    const isForeign = command.is === "statement" && language !== "sql";
    const ticket = isForeign ? statementTicket(database, language, command.query) : ticketFor(database, bytes);
    return FlightInfo.encode({ schema, descriptor, endpoints: [{ ticket: { ticket } }], totalRecords: -1n, totalBytes: -1n });
  }

  /** FlightDescriptor → SchemaResult. @throws TsdbError, Unimplemented */
  async getSchema(caller: Caller, request: Uint8Array): Promise<Uint8Array> {
    const { command } = commandOf(FlightDescriptor.decode(request));
    const language = languageOf(caller.header(LANGUAGE_HEADER));
    return SchemaResult.encode({ schema: await this.schema(caller, databaseOf(caller), command, language) });
  }

  /** The messages of the answer to a Ticket, starting with the schema. @throws TsdbError, Unimplemented */
  async doGet(caller: Caller, request: Uint8Array): Promise<AsyncIterable<IpcMessage> | Iterable<IpcMessage>> {
    const asked = decodeTicket(Ticket.decode(request).ticket);
    if (asked.is === "statement") return this.run(caller, asked);
    const { command } = asked;
    const database = asked.database ?? databaseOf(caller);
    if (command.is === "statement") return this.run(caller, flightSql(database, { statement: command.query, params: {} }));
    if (command.is === "prepared") return this.runPrepared(caller, database, command.handle);
    await this.backend.check(caller.token, database);
    return this.metadata(caller, database, command);
  }

  listActions(): Uint8Array[] {
    return Object.entries(ACTIONS).map(([type, description]) => ActionType.encode({ type, description }));
  }

  /** Action → Results. @throws TsdbError, Unimplemented */
  async doAction(caller: Caller, request: Uint8Array): Promise<Uint8Array[]> {
    const { type, body } = Action.decode(request);
    if (type === "CreatePreparedStatement") {
      const { query, transactionId } = unpackAny(CreatePrepared, body);
      if (transactionId !== undefined && transactionId.length > 0) throw new Unimplemented("there are no transactions");
      const database = databaseOf(caller);
      await this.backend.check(caller.token, database);
      const handle = newHandle(query);
      const { columns, parameters } = await this.describe(caller, flightSql(database, boundStatements(handle).shape));
      const result = { handle, datasetSchema: encapsulated(columns), parameterSchema: encapsulated(parameters) };
      return [ActionResult.encode({ body: packAny(PreparedResult, result) })];
    }
    if (type === "ClosePreparedStatement") {
      await this.backend.check(caller.token, databaseOf(caller));
      boundStatements(unpackAny(ClosePrepared, body).handle);
      return [];
    }
    throw new Unimplemented(`the action ${JSON.stringify(type.slice(0, 100))} is unknown; there are ${Object.keys(ACTIONS).join(" and ")}`);
  }

  /** Binds the FlightData parameters of a prepared statement → PutResult with a handle that contains them. @throws TsdbError,
   *  Unimplemented */
  async doPut(caller: Caller, messages: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
    const { begun: prepared, parameters } = await receivePut(messages, async (descriptor) => {
      const { command } = commandOf(descriptor);
      if (command.is !== "prepared") throw new Unimplemented("only parameters of prepared statements can be put");
      await this.backend.check(caller.token, databaseOf(caller));
      return command;
    });
    const handle = boundHandle(prepared.handle, parameters);
    return PutResult.encode({ appMetadata: PutPreparedResult.encode({ handle }) });
  }

  private async run(caller: Caller, statement: LanguageStatement): Promise<AsyncIterable<IpcMessage>> {
    return messagesOf(await this.backend.query(arrowRequest(statement, caller.signal), caller.token));
  }

  /** Runs a handle for all rows of parameters and joins the answers. @throws TsdbError */
  private async runPrepared(caller: Caller, database: string, handle: Uint8Array): Promise<AsyncIterable<IpcMessage> | IpcMessage[]> {
    const { shape, runs } = await this.bound(caller, database, handle);
    const first = runs.next();
    if (first.done === true) return [(await this.describe(caller, flightSql(database, shape))).columns];
    return this.joined(caller, database, await this.run(caller, flightSql(database, first.value)), runs);
  }

  /** The executions of a handle, for a caller who may read the database: they take time and memory. @throws TsdbError */
  private async bound(caller: Caller, database: string, handle: Uint8Array): Promise<ReturnType<typeof boundStatements>> {
    await this.backend.check(caller.token, database);
    return boundStatements(handle);
  }

  /** Appends the answers of further statements with the same columns to an answer. */
  private async *joined(
    caller: Caller,
    database: string,
    first: AsyncIterable<IpcMessage>,
    others: Iterator<BoundStatement, void>,
  ): AsyncGenerator<IpcMessage> {
    let schema: Uint8Array | undefined;
    for await (const message of first) {
      schema ??= message.header.slice();
      yield message;
    }
    let row = 1;
    for (let next = others.next(); next.done !== true; next = others.next()) {
      row++;
      let isSchema = true;
      for await (const message of await this.run(caller, flightSql(database, next.value))) {
        if (!isSchema) yield message;
        else if (Buffer.compare(message.header, schema!) !== 0) {
          throw new TsdbError("bad_request", `with row ${row} of the parameters the answer has other columns than with the first`);
        }
        isSchema = false;
      }
    }
  }

  /** The schema messages of a statement's columns and of its unbound parameters. */
  private async describe(caller: Caller, statement: LanguageStatement): Promise<{ columns: IpcMessage; parameters: IpcMessage }> {
    const request = arrowRequest(statement, caller.signal);
    const found: IpcMessage[] = [];
    const answer = await this.backend.query({ ...request, describe: true }, caller.token);
    for await (const message of messagesOf(answer)) found.push(message);
    const [columns, parameters] = found;
    if (columns === undefined || parameters === undefined) throw new Error("BUG: a description has two schemas");
    return { columns, parameters };
  }

  /** The schema of a command's answer, as an IPC message with its prefix. */
  private async schema(
    caller: Caller,
    database: string,
    command: SqlCommand,
    language: LanguageStatement["language"],
  ): Promise<Uint8Array> {
    if (command.is === "statement" || command.is === "prepared") {
      const shape =
        command.is === "prepared" ? (await this.bound(caller, database, command.handle)).shape : { statement: command.query, params: {} };
      const { columns } = await this.describe(caller, { ...flightSql(database, shape), language });
      return encapsulated(columns);
    }
    await this.backend.check(caller.token, database);
    const { metadataSchema } = await import("./commands.ts");
    return metadataSchema(command);
  }

  private async metadata(caller: Caller, database: string, command: MetadataCommand): Promise<IpcMessage[]> {
    const baseType = caller.header(BASE_TYPE_HEADER) ?? BASE_TYPES[0]!;
    if (!BASE_TYPES.includes(baseType)) throw new TsdbError("bad_request", `${BASE_TYPE_HEADER} must be ${BASE_TYPES.join(" or ")}`);
    const { metadataAnswer, rowsOf } = await import("./commands.ts");
    const ask = async (statement: string) => {
      const request = arrowRequest(flightSql(database, { statement, params: {} }), caller.signal);
      const { body } = await this.backend.query(request, caller.token);
      return rowsOf(body instanceof Uint8Array ? body : await new Response(body).bytes());
    };
    return metadataAnswer(command, { baseType, ask });
  }
}

/** @throws TsdbError bad_request, Unimplemented */
function commandOf(descriptor: FlightDescriptor): { readonly command: SqlCommand; readonly bytes: Uint8Array } {
  const { type, command: bytes } = descriptor;
  if (type !== DESCRIPTOR.command) throw new Unimplemented("a flight descriptor must be a command of Flight SQL");
  const command = decodeCommand(bytes);
  if (command === null) throw new Unimplemented("the descriptor's command is none that is known of Flight SQL");
  return { command, bytes };
}

function flightSql(database: string, asked: BoundStatement): LanguageStatement {
  return { language: "sql", database, ...asked, isFlightSql: true };
}

/** The database named in the call's metadata. @throws TsdbError bad_request */
function databaseOf(caller: Caller): string {
  const given = DATABASE_HEADERS.flatMap((name) => {
    const value = caller.header(name);
    return value === undefined ? [] : [{ name, value }];
  });
  const [first] = given;
  if (first === undefined) throw new TsdbError("bad_request", "no 'database' header in request");
  if (given.some(({ value }) => value !== first.value)) {
    const names = given.map(({ name }) => name).join(", ");
    throw new TsdbError("bad_request", `More than one headers are found in request: ${names}. Please include only one of them`);
  }
  return first.value;
}

/** The password in a BasicAuth payload. */
function passwordIn(payload: Uint8Array): string | null {
  if (payload.length === 0) return null;
  try {
    const { password } = BasicAuth.decode(payload);
    return password === "" ? null : password;
  } catch {
    return null;
  }
}

async function* messagesOf({ body }: QueryAnswer): AsyncGenerator<IpcMessage> {
  const splitter = new IpcSplitter();
  if (body instanceof Uint8Array) yield* splitter.push(body);
  else for await (const bytes of body) yield* splitter.push(bytes);
  splitter.finish();
}
