// Arrow Flight on its port: what a thread runs, be it a worker's or a test's.

import type { FlightBackend } from "./access.ts";
import { GrpcServer } from "./grpc/grpc-server.ts";
import { Port, type PortOptions } from "./grpc/port.ts";
import { FlightService } from "./service.ts";

export interface FlightServerOptions extends Omit<PortOptions, "onHttp2"> {
  /** Called with every error of ours, for the log. */
  readonly report: (error: unknown, where: string) => void;
  /** How long a gRPC connection may be without a call; for tests. */
  readonly connectionIdleMs?: number;
}

/** Arrow Flight listening on one address: the port, gRPC behind it, and the service. */
export class FlightServer {
  private constructor(
    private readonly grpc: GrpcServer,
    private readonly listener: Port,
  ) {}

  /** @throws TsdbError config when the address cannot be listened on */
  static async start(options: FlightServerOptions, backend: FlightBackend): Promise<FlightServer> {
    const grpc = new GrpcServer(new FlightService(backend), { report: options.report, connectionIdleMs: options.connectionIdleMs });
    return new FlightServer(grpc, await Port.listen({ ...options, onHttp2: (connection) => grpc.accept(connection) }));
  }

  get port(): number {
    return this.listener.port;
  }

  /** Calls that run. */
  get activeCount(): number {
    return this.grpc.activeCount;
  }

  /** Bytes of messages that have not come whole yet. */
  get waitingBytes(): number {
    return this.grpc.waitingBytes;
  }

  /** Takes no more connections and calls; those that run have `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.listener.close();
    await this.grpc.stop(graceMs);
    this.listener.destroy();
  }
}
