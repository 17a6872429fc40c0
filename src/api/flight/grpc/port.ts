// The port: takes connections, plain or TLS, and looks at their first bytes. Those that open as HTTP/2 are gRPC's; all others are passed on
// to the HTTP port byte by byte, because client libraries know one address for reading and writing.
import { connect as connectTcp, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { TsdbError } from "../../../model/errors.ts";
import { CIPHERS, type Tls } from "../../../model/tls.ts";

export interface PortOptions {
  readonly hostname: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly tls: Tls | null;
  /** Where HTTP/1 is spoken, in the same way (plain or TLS). */
  readonly http: { readonly hostname: string; readonly port: number };
  /** Takes a connection that has begun with HTTP/2's preface, which it will read again. */
  readonly onHttp2: (connection: Socket) => void;
  /** Bounds on connections that have not said yet what they speak; for tests. */
  readonly waiting?: { readonly milliseconds: number; readonly max: number };
}

/** `PRI * HTTP/2.0…` is what every HTTP/2 client begins with; no method of HTTP/1 begins like this. */
const PREFACE_START = Buffer.from("PRI * HTTP/2");
/** Of TLS, the first that the client offers too: those that speak gRPC offer HTTP/2 alone, all others HTTP/1.1 as well. */
const PROTOCOLS = ["http/1.1", "h2"];
/** How long a connection may take from its begin, through the TLS handshake, to the bytes that say what it speaks; and how many may be on
 *  their way there: one more, and the oldest is ended, so that those who say nothing keep nobody out. */
const WAITING = { milliseconds: 10_000, max: 1000 };
/** How long a client may take nothing of what is left for it when the HTTP port has ended the connection. */
const LAST_BYTES_MS = 60_000;

/** A listening TCP port that serves gRPC and HTTP/1.1, told apart by the first bytes of a connection. */
export class Port {
  /** Of connections that are passed on. */
  private readonly relayed = new Set<Socket>();
  /** Connections that have not said yet what they speak, the oldest first, with what ends them. */
  private readonly waiting = new Map<Socket, Timer>();

  private constructor(
    private readonly server: Server,
    private readonly options: PortOptions,
  ) {}

  /** @throws TsdbError config when the address cannot be listened on */
  static async listen(options: PortOptions): Promise<Port> {
    const { hostname, port, tls } = options;
    let opened: Port | undefined;
    // without Nagle's pause between small messages
    const server =
      tls === null
        ? createTcpServer({ noDelay: true })
        : createTlsServer({
            ...{ cert: tls.cert, key: tls.key, ciphers: CIPHERS, ALPNProtocols: PROTOCOLS, noDelay: true },
            minVersion: tls.minimum === "tls-1.3" ? "TLSv1.3" : "TLSv1.2",
          });
    // with TLS before the handshake, which the runtime lets hang for ever and leaves open when it fails
    server.on("connection", (socket: Socket) => opened?.bound(socket));
    server.on(tls === null ? "connection" : "secureConnection", (socket: Socket) => opened?.take(socket));
    server.on("tlsClientError", (_error: Error, socket: Socket) => void socket.destroy());
    await new Promise<void>((resolve, reject) => {
      const fail = (cause: Error) =>
        reject(new TsdbError("config", `cannot listen on ${hostname}:${port}: ${cause.message}`, { hostname, port }, { cause }));
      server.once("error", fail);
      server.listen({ host: hostname, port }, () => {
        server.off("error", fail);
        resolve();
      });
    });
    // an error of one connection (a broken TLS handshake) is no error of the port
    server.on("error", () => {});
    opened = new Port(server, options);
    return opened;
  }

  get port(): number {
    const address = this.server.address();
    return typeof address === "object" && address !== null ? address.port : this.options.port;
  }

  /** Takes no more connections. Those that are gRPC's are gRPC's to end. */
  close(): void {
    this.server.close();
    for (const socket of this.waiting.keys()) socket.destroy();
  }

  /** Ends the connections that are passed on. */
  destroy(): void {
    for (const socket of this.relayed) socket.destroy();
  }

  /** Bounds the time until a connection says what it speaks. */
  private bound(socket: Socket): void {
    const { milliseconds, max } = this.options.waiting ?? WAITING;
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.unbound(socket));
    const [oldest] = this.waiting.keys();
    if (oldest !== undefined && this.waiting.size >= max) {
      this.unbound(oldest);
      oldest.destroy();
    }
    const timer = setTimeout(() => socket.destroy(), milliseconds);
    this.waiting.set(socket, timer);
  }

  private unbound(socket: Socket): void {
    clearTimeout(this.waiting.get(socket));
    this.waiting.delete(socket);
  }

  private take(socket: Socket): void {
    const seen: Buffer[] = [];
    const look = (bytes: Buffer) => {
      seen.push(bytes);
      const start = Buffer.concat(seen);
      const isPreface = start.subarray(0, PREFACE_START.length).equals(PREFACE_START.subarray(0, start.length));
      if (isPreface && start.length < PREFACE_START.length) return;
      socket.off("data", look);
      this.unbound(socket);
      socket.pause();
      socket.unshift(start);
      if (isPreface) this.options.onHttp2(socket);
      else this.relay(socket);
      socket.resume();
    };
    socket.on("data", look);
  }

  private relay(socket: Socket): void {
    const { http, tls } = this.options;
    const target = { host: http.hostname, port: http.port };
    // its certificate is ours, for another name than the loopback address
    const other = tls === null ? connectTcp(target) : connectTls({ ...target, rejectUnauthorized: false });
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      this.relayed.add(from);
      from.on("error", () => to.destroy());
      from.once("close", () => {
        this.relayed.delete(from);
        // what is written to it already still leaves, as long as somebody takes it
        to.end();
        to.setTimeout(LAST_BYTES_MS, () => to.destroy());
      });
      from.pipe(to);
    }
  }
}
