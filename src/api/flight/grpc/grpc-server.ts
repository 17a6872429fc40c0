// Connects the service to @grpc/grpc-js, which handles raw bytes here: this folder encodes and decodes the messages. Converts calls,
// answers (with back-pressure) and errors (to statuses). Unregistered methods are UNIMPLEMENTED.
import type { Duplex } from "node:stream";
import {
  type ConnectionInjector,
  type handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
  type ServerWritableStream,
  type ServiceDefinition,
  status,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { FlightService } from "../service.ts";
import { encodeFlightData } from "../wire/flight-data.ts";
import { type Conversation, messagesOf } from "./client-messages.ts";
import { type AnyCall, GrpcCall } from "./grpc-call.ts";
import { ReceivedBytes } from "./received-bytes.ts";
import { type RpcOutcome, rpcFailure, rpcOutcome } from "./status.ts";
import { MendedConnection } from "./stream-windows.ts";

/** Maximum size of a received message, gRPC's default. A statement has at most 1 MiB. */
const RECEIVED_BYTES_MAX = 4 << 20;
/** Limit for incompletely received messages of all connections. */
const WAITING_BYTES_MAX = 64 << 20;
/** Limit per connection. */
const STREAMS_MAX = 100;
/** Timeout of connections without calls; clients reconnect for their next call. */
const CONNECTION_IDLE_MS = 300_000;
/** Timeout of the next message of a client that sends many. */
const MESSAGE_IDLE_MS = 60_000;
const SHUTDOWN_POLL_MS = 10;

type Shape = "unary" | "server stream" | "bidi stream";
const METHODS = {
  Handshake: "bidi stream",
  GetFlightInfo: "unary",
  GetSchema: "unary",
  DoGet: "server stream",
  DoPut: "bidi stream",
  DoAction: "server stream",
  ListActions: "server stream",
} as const satisfies Record<string, Shape>;
type MethodName = keyof typeof METHODS;

const asIs = (bytes: Buffer) => bytes;
const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const pathOf = (name: MethodName) => `/arrow.flight.protocol.FlightService/${name}`;

const DEFINITION: ServiceDefinition = Object.fromEntries(
  (Object.entries(METHODS) as [MethodName, Shape][]).map(([name, shape]) => [
    name,
    {
      path: pathOf(name),
      requestStream: shape === "bidi stream",
      responseStream: shape !== "unary",
      requestSerialize: asBuffer,
      requestDeserialize: asIs,
      responseSerialize: asBuffer,
      responseDeserialize: asIs,
    },
  ]),
);

/** An ended call, for metrics. */
export interface EndedCall {
  /** The method's path. */
  readonly path: string;
  readonly outcome: RpcOutcome;
  /** From its arrival to its last message. */
  readonly seconds: number;
  /** Of its messages. */
  readonly bytes: number;
}

export interface GrpcOptions {
  readonly onCall?: ((call: EndedCall) => void) | undefined;
  /** Receives every internal error, for the log. */
  readonly report: (error: unknown, where: string) => void;
  /** For tests. */
  readonly connectionIdleMs?: number | undefined;
  readonly messageIdleMs?: number | undefined;
}

/** Serves the Flight RPCs on connections passed to it; does not listen itself. Errors become gRPC statuses. */
export class GrpcServer {
  private readonly received = new ReceivedBytes(WAITING_BYTES_MAX);
  private readonly server: Server;
  private readonly connections: ConnectionInjector;
  private readonly running = new Set<GrpcCall>();
  private readonly open = new Set<Duplex>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly service: FlightService,
    private readonly options: GrpcOptions,
  ) {
    this.server = new Server({
      "grpc.max_receive_message_length": RECEIVED_BYTES_MAX,
      "grpc.max_send_message_length": -1,
      "grpc.max_concurrent_streams": STREAMS_MAX,
      "grpc.max_connection_idle_ms": options.connectionIdleMs ?? CONNECTION_IDLE_MS,
      interceptors: [this.received.intercept],
    });
    this.server.addService(DEFINITION, this.implementation());
    // the port in front of it terminates TLS
    this.connections = this.server.createConnectionInjector(ServerCredentials.createInsecure());
  }

  /** Serves a connection whose client speaks HTTP/2. */
  accept(socket: Duplex): void {
    const connection = new MendedConnection(socket);
    this.open.add(connection);
    connection.once("close", () => this.open.delete(connection));
    this.connections.injectConnection(connection);
  }

  /** Number of running calls. */
  get activeCount(): number {
    return this.running.size;
  }

  /** Bytes of incompletely received messages. */
  get waitingBytes(): number {
    return this.received.waitingBytes;
  }

  /** Accepts no more calls; running ones have `graceMs` to finish, those that wait for their clients end. */
  async stop(graceMs: number): Promise<void> {
    this.stopping.abort();
    this.connections.drain(graceMs);
    const deadlineMs = performance.now() + graceMs;
    while (this.isSending() && performance.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, SHUTDOWN_POLL_MS));
    this.connections.destroy();
    this.server.forceShutdown();
  }

  /** True while answers of ended calls are still in transit. */
  private isSending(): boolean {
    if (this.running.size > 0 || this.received.openStreams > 0) return true;
    return [...this.open].some(({ writableLength }) => writableLength > 0);
  }

  private implementation(): UntypedServiceImplementation {
    const { service } = this;
    return {
      Handshake: this.stream("Handshake", async (call: Conversation, caller) => {
        const { token, reply } = service.handshake(caller, (await this.messages(call, caller).next()).value);
        const metadata = new Metadata();
        if (token !== null) metadata.set("authorization", `Bearer ${token}`);
        call.sendMetadata(metadata);
        await caller.write(call, reply);
      }),
      GetFlightInfo: this.unary("GetFlightInfo", (caller, request) => service.getFlightInfo(caller, request)),
      GetSchema: this.unary("GetSchema", (caller, request) => service.getSchema(caller, request)),
      DoGet: this.stream("DoGet", async (call: Subscription, caller) => {
        for await (const message of await service.doGet(caller, call.request)) await caller.write(call, encodeFlightData(message));
      }),
      DoPut: this.stream("DoPut", async (call: Conversation, caller) =>
        caller.write(call, await service.doPut(caller, this.messages(call, caller))),
      ),
      DoAction: this.stream("DoAction", async (call: Subscription, caller) => {
        for (const result of await service.doAction(caller, call.request)) await caller.write(call, result);
      }),
      ListActions: this.stream("ListActions", async (call: Subscription, caller) => {
        for (const type of service.listActions()) await caller.write(call, type);
      }),
    } satisfies Record<MethodName, unknown>;
  }

  private messages(call: Conversation, { signal }: GrpcCall): AsyncGenerator<Buffer> {
    return messagesOf(call, { signal, stopping: this.stopping.signal, idleMs: this.options.messageIdleMs ?? MESSAGE_IDLE_MS });
  }

  private unary(name: MethodName, answer: (caller: GrpcCall, request: Buffer) => Promise<Uint8Array>): handleUnaryCall<Buffer, Uint8Array> {
    return (call, callback) => {
      const caller = this.begin(call);
      answer(caller, call.request).then(
        (reply) => {
          this.end(caller, { name, code: status.OK, bytes: reply.length });
          callback(null, reply);
        },
        (error) => {
          const failure = this.failure(error, name, caller);
          this.end(caller, { name, code: failure.code, bytes: 0 });
          callback(failure);
        },
      );
    };
  }

  /** Answers with a stream, whether the client sends one message or many. */
  private stream<C extends StreamCall>(name: MethodName, answer: (call: C, caller: GrpcCall) => Promise<void>): (call: C) => void {
    return (call) => {
      const caller = this.begin(call);
      answer(call, caller).then(
        () => {
          this.end(caller, { name, code: status.OK, bytes: caller.bytes });
          call.end();
        },
        (error) => {
          const failure = this.failure(error, name, caller);
          this.end(caller, { name, code: failure.code, bytes: caller.bytes });
          call.emit("error", failure);
        },
      );
    };
  }

  private begin(call: AnyCall): GrpcCall {
    const caller = new GrpcCall(call);
    this.running.add(caller);
    return caller;
  }

  private end(caller: GrpcCall, { name, code, bytes }: { readonly name: MethodName; readonly code: status; readonly bytes: number }): void {
    caller.end();
    this.running.delete(caller);
    const outcome = rpcOutcome(caller.signal.aborted ? status.CANCELLED : code);
    const seconds = (performance.now() - caller.startedMs) / 1000;
    this.options.onCall?.({ path: pathOf(name), outcome, seconds, bytes });
  }

  /** An error in the form that grpc-js converts to a status. */
  private failure(error: unknown, where: string, caller: GrpcCall): Error & { code: number; details: string } {
    const { code, details, isOurs } = rpcFailure(error);
    if (isOurs && !caller.signal.aborted) this.options.report(error, where);
    return Object.assign(new Error(details), { code, details });
  }
}

/** One client message, answered by many. */
type Subscription = ServerWritableStream<Buffer, Uint8Array>;
type StreamCall = Subscription | Conversation;
