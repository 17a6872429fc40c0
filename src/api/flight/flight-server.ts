// Arrow Flight on its port; runs in a worker thread or in a test.

import type { FlightBackend } from "./access.ts";
import { type EndedCall, GrpcServer } from "./grpc/grpc-server.ts";
import { Port, type PortOptions } from "./grpc/port.ts";
import { FlightService } from "./service.ts";

export interface FlightServerOptions extends Omit<PortOptions, "onHttp2"> {
  /** Receives every internal error, for the log. */
  readonly report: (error: unknown, where: string) => void;
  readonly onCall?: (call: EndedCall) => void;
  /** Timeouts of gRPC connections without calls, and of calls without messages; for tests. */
  readonly connectionIdleMs?: number;
  readonly messageIdleMs?: number;
}

/** Arrow Flight listening on one address: the port, gRPC, and the service. */
export class FlightServer {
  private constructor(
    private readonly grpc: GrpcServer,
    private readonly listener: Port,
  ) {}

  /** @throws TsdbError config if the address cannot be bound */
  static async start(options: FlightServerOptions, backend: FlightBackend): Promise<FlightServer> {
    const grpc = new GrpcServer(new FlightService(backend), options);
    return new FlightServer(grpc, await Port.listen({ ...options, onHttp2: (connection) => grpc.accept(connection) }));
  }

  get port(): number {
    return this.listener.port;
  }

  /** Number of running calls. */
  get activeCount(): number {
    return this.grpc.activeCount;
  }

  /** Bytes of incompletely received messages. */
  get waitingBytes(): number {
    return this.grpc.waitingBytes;
  }

  /** Accepts no more connections and calls; running ones have `graceMs` to finish. */
  async stop(graceMs: number): Promise<void> {
    this.listener.close();
    await this.grpc.stop(graceMs);
    this.listener.destroy();
  }
}
