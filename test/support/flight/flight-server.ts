// Arrow Flight with a backend supplied by the test, and a client that works on bytes.
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { type Access, authorized } from "../../../src/api/flight/access.ts";
import { FlightServer, type FlightServerOptions } from "../../../src/api/flight/flight-server.ts";
import { Ticket } from "../../../src/api/flight/wire/flight-messages.ts";
import { ArrowEncoder } from "../../../src/encode/arrow/arrow-encoder.ts";
import type { QueryAnswer, QueryService } from "../../../src/model/query/query.ts";
import type { ResultSchema } from "../../../src/model/query/result-batch.ts";

export const NO_HTTP = { hostname: "127.0.0.1", port: 1 };

/** A server on a free port; internal errors go to `reported`. */
export async function startFlight(
  query: QueryService["query"],
  options: Partial<FlightServerOptions & Access> = {},
): Promise<{ server: FlightServer; reported: unknown[] }> {
  const reported: unknown[] = [];
  const { check = () => {}, ...given } = options;
  const server = await FlightServer.start(
    { hostname: "127.0.0.1", port: 0, tls: null, http: NO_HTTP, report: (error) => void reported.push(error), ...given },
    authorized({ check }, { query }),
  );
  return { server, reported };
}

const ROWS = 8192;
/** Bytes of one batch of `batches`. */
export const BATCH_BYTES = ROWS * 8;

/** A stream of batches of 64 KiB, created on demand; `onBatch` may throw, which ends the stream with an error, or return false. */
export function batches(onBatch: (made: number) => boolean | undefined, onCancel: () => void = () => {}): QueryAnswer {
  const encoder = new ArrowEncoder("ipc", { join: null });
  const schema: ResultSchema = { fields: [{ name: "v", type: { kind: "float", bits: 64 } }], tableName: "t" };
  const values = new Float64Array(ROWS);
  let made = -1;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (made++ < 0) return controller.enqueue(encoder.begin(schema));
        if (onBatch(made) !== false) return controller.enqueue(encoder.rows({ rowCount: ROWS, columns: [{ validity: null, values }] })!);
        controller.enqueue(encoder.end()!);
        controller.close();
      },
      cancel: onCancel,
    },
    { highWaterMark: 0 },
  );
  return { contentType: "", body };
}

/** The request of a DoGet for a statement. */
export function ticketMessage(statement: string, database = "d", language = "sql"): Uint8Array<ArrayBuffer> {
  const members = { database, sql_query: statement, query_type: language };
  return Ticket.encode({ ticket: new TextEncoder().encode(JSON.stringify(members)) });
}

export interface CallEnd {
  readonly messages: Buffer[];
  readonly code: status;
  readonly details: string;
}

const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** A separate connection. */
export class FlightClient {
  private readonly client: Client;

  constructor(port: number, ca?: string) {
    const trusted = ca === undefined ? credentials.createInsecure() : credentials.createSsl(Buffer.from(ca));
    // certificates are issued for a name
    this.client = new Client(`localhost:${port}`, trusted, { "grpc.max_receive_message_length": -1, "grpc.use_local_subchannel_pool": 1 });
  }

  /** `cancelAfter`: number of messages after which the client cancels. */
  call(
    method: string,
    request: Uint8Array,
    { headers = {}, deadline, cancelAfter }: { headers?: Record<string, string>; deadline?: number; cancelAfter?: number } = {},
  ): Promise<CallEnd> {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    return new Promise((resolve) => {
      const path = `/arrow.flight.protocol.FlightService/${method}`;
      const options = deadline === undefined ? {} : { deadline };
      const call = this.client.makeServerStreamRequest<Uint8Array, Buffer>(path, asBuffer, asBuffer, request, metadata, options);
      const messages: Buffer[] = [];
      call.on("data", (message: Buffer) => {
        messages.push(message);
        if (messages.length === cancelAfter) call.cancel();
      });
      call.on("end", () => resolve({ messages, code: status.OK, details: "" }));
      call.on("error", ({ code, details }: ServiceError) => resolve({ messages, code, details }));
    });
  }

  /** A DoPut of all these messages, or a call of another method with such streams. `isUnended`: the client sends no end of its messages. */
  put(
    messages: readonly Uint8Array[],
    { headers = {}, isUnended = false, method = "DoPut" }: { headers?: Record<string, string>; isUnended?: boolean; method?: string } = {},
  ): Promise<CallEnd> {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    return new Promise((resolve) => {
      const path = `/arrow.flight.protocol.FlightService/${method}`;
      const call = this.client.makeBidiStreamRequest<Uint8Array, Buffer>(path, asBuffer, asBuffer, metadata, {});
      const answers: Buffer[] = [];
      call.on("data", (message: Buffer) => answers.push(message));
      call.on("end", () => resolve({ messages: answers, code: status.OK, details: "" }));
      call.on("error", ({ code, details }: ServiceError) => resolve({ messages: answers, code, details }));
      for (const message of messages) call.write(message);
      if (!isUnended) call.end();
    });
  }

  close(): void {
    this.client.close();
  }
}
