// The RPCs of Arrow Flight and Flight SQL, without gRPC: bytes of messages in, bytes of messages out. Statements are the query service's;
// their answers pass through message by message, as the engine makes them.
import type { QueryAnswer, QueryService } from "../model/query.ts";
import type { Access } from "./access.ts";
import { BasicAuth, HandshakeMessage, Ticket } from "./flight-messages.ts";
import { type IpcMessage, IpcSplitter } from "./ipc-messages.ts";
import { arrowRequest, type LanguageStatement } from "./languages.ts";
import { Unimplemented } from "./status.ts";
import { decodeTicket } from "./ticket.ts";

/** What the RPCs need from the rest of the server. */
export interface FlightBackend extends Access, QueryService {}

/** One call. */
export interface Caller {
  readonly token: string | null;
  /** A header of the call; the first, when it came more than once. Names in lower case. */
  header(name: string): string | undefined;
  /** Aborts when the client goes away or its deadline passes. */
  readonly signal: AbortSignal;
}

export class FlightService {
  constructor(private readonly backend: FlightBackend) {}

  /** The token that the caller should send from now on, and the message to answer with. `first`: the client's first message, if it sent
   *  one. Who may do what is checked by the calls that follow. @throws TsdbError bad_request */
  handshake(caller: Caller, first: Uint8Array | undefined): { token: string | null; reply: Uint8Array } {
    const message = HandshakeMessage.decode(first ?? new Uint8Array(0));
    const token = caller.token ?? passwordIn(message.payload);
    return { token, reply: HandshakeMessage.encode(message) };
  }

  /** The messages of the answer to a Ticket: the schema first. @throws TsdbError, Unimplemented */
  async doGet(caller: Caller, ticket: Uint8Array): Promise<AsyncIterable<IpcMessage>> {
    const request = decodeTicket(Ticket.decode(ticket).ticket);
    if (request.is === "command") throw new Unimplemented(`Flight SQL command ${request.command.is}`);
    return this.run(caller, request);
  }

  async getFlightInfo(_caller: Caller, _descriptor: Uint8Array): Promise<Uint8Array> {
    throw new Unimplemented("GetFlightInfo");
  }

  async getSchema(_caller: Caller, _descriptor: Uint8Array): Promise<Uint8Array> {
    throw new Unimplemented("GetSchema");
  }

  async doAction(_caller: Caller, _action: Uint8Array): Promise<Uint8Array[]> {
    throw new Unimplemented("DoAction");
  }

  listActions(): Uint8Array[] {
    return [];
  }

  async doPut(_caller: Caller, _messages: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
    throw new Unimplemented("DoPut");
  }

  private async run(caller: Caller, statement: LanguageStatement): Promise<AsyncIterable<IpcMessage>> {
    const request = arrowRequest(statement, caller.signal);
    await this.backend.check(caller.token, statement.database);
    return messagesOf(await this.backend.query(request));
  }
}

/** The password of a BasicAuth payload. */
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
