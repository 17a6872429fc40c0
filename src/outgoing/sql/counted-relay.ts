// A connection to a database's server by way of this process. The client library keeps all rows that a server sends in answer to a
// statement, however large they are: here they are counted before it reads them.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { AnswerShare, answerMemory } from "../answer-memory.ts";
import { connectionError, connectsTo, type HostAddress } from "../resolve.ts";

/** Memory of a byte that is received: short cells are objects of some hundred bytes. */
const MEMORY_FACTOR = 4;

export interface RelayOptions {
  /** Of the server. */
  readonly addresses: readonly HostAddress[];
  readonly port: number;
  /** Received from the server. */
  readonly bytesMax: number;
}

/** A port of this machine that passes its first connection on to a server. To be closed. */
export class CountedRelay {
  /** Why the connection has ended, if it is known better here than to the client. */
  failure: Error | null = null;
  private readonly sockets: Socket[] = [];
  private receivedBytes = 0;
  private readonly share = new AnswerShare(answerMemory);
  private isClosed = false;

  private constructor(
    private readonly listener: ReturnType<typeof createServer>,
    private readonly options: RelayOptions,
  ) {
    listener.on("connection", (client) => this.pass(client));
  }

  static async open(options: RelayOptions): Promise<CountedRelay> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const listener = createServer().once("error", reject).listen(0, "127.0.0.1", 1, resolve);
    await promise;
    return new CountedRelay(listener, options);
  }

  get port(): number {
    return (this.listener.address() as AddressInfo).port;
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.listener.close();
    for (const socket of this.sockets) socket.destroy();
    this.share.end();
  }

  private pass(client: Socket): void {
    // the port is the client's alone
    if (this.sockets.length > 0 || this.isClosed) {
      client.destroy();
      return;
    }
    const server = connect({ host: "database", port: this.options.port, noDelay: true, ...connectsTo(this.options.addresses) });
    this.sockets.push(client, server);
    server.on("data", (bytes: Uint8Array) => this.count(bytes.length));
    server.on("error", (error) => this.end(connectionError(error)));
    client.on("error", (error) => this.end(error));
    server.on("close", () => client.destroySoon());
    client.on("close", () => server.destroySoon());
    client.pipe(server);
    server.pipe(client);
  }

  private count(bytes: number): void {
    this.receivedBytes += bytes;
    try {
      if (this.receivedBytes > this.options.bytesMax) throw new Error(`the answer is longer than ${this.options.bytesMax} bytes`);
      this.share.hold(this.receivedBytes * MEMORY_FACTOR);
    } catch (error) {
      this.end(error as Error);
    }
  }

  private end(error: Error): void {
    this.failure ??= error;
    this.close();
  }
}
