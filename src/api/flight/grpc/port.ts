// The listening port: accepts connections, plain or TLS, and inspects their first bytes. HTTP/2 connections go to gRPC; all others are
// relayed to the HTTP port byte by byte, because client libraries use one address for reading and writing.
import { connect as connectTcp, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { TsdbError } from "../../../model/errors.ts";
import { CIPHERS, type Tls } from "../../../model/tls.ts";

export interface PortOptions {
  readonly hostname: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly tls: Tls | null;
  /** The HTTP/1 port, with the same TLS setting. */
  readonly http: { readonly hostname: string; readonly port: number };
  /** Receives a connection that starts with the HTTP/2 preface, which it can read again. */
  readonly onHttp2: (connection: Socket) => void;
  /** Limits for connections whose protocol is still unknown; for tests. */
  readonly waiting?: { readonly milliseconds: number; readonly max: number };
}

/** All HTTP/2 clients start with `PRI * HTTP/2.0…`, which no HTTP/1 method does. */
const PREFACE_START = Buffer.from("PRI * HTTP/2");
/** TLS selects its first protocol among those the client offers: gRPC clients offer only HTTP/2, all others include HTTP/1.1. */
const PROTOCOLS = ["http/1.1", "h2"];
/** Time from accepting a connection, through the TLS handshake, to the bytes that reveal its protocol; and the maximum number of such
 *  connections: beyond it the oldest is closed, so that silent clients keep nobody out. */
const WAITING = { milliseconds: 10_000, max: 1000 };
/** Timeout for a client that does not read the remaining bytes after the HTTP port has closed the connection. */
const LAST_BYTES_MS = 60_000;

/** A listening TCP port that serves gRPC and HTTP/1.1, distinguished by the first bytes of a connection. */
export class Port {
  /** Relayed connections. */
  private readonly relayed = new Set<Socket>();
  /** Connections of unknown protocol, oldest first, with their timers. */
  private readonly waiting = new Map<Socket, Timer>();

  private constructor(
    private readonly server: Server,
    private readonly options: PortOptions,
  ) {}

  /** @throws TsdbError config if the address cannot be bound */
  static async listen(options: PortOptions): Promise<Port> {
    const { hostname, port, tls } = options;
    let opened: Port | undefined;
    // without Nagle's delay between small messages
    const server =
      tls === null
        ? createTcpServer({ noDelay: true })
        : createTlsServer({
            ...{ cert: tls.cert, key: tls.key, ciphers: CIPHERS, ALPNProtocols: PROTOCOLS, noDelay: true },
            minVersion: tls.minimum === "tls-1.3" ? "TLSv1.3" : "TLSv1.2",
          });
    // with TLS already before the handshake, which the runtime never times out, and after a failure leaves open
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
    // an error of one connection (a failed TLS handshake) is not an error of the port
    server.on("error", () => {});
    opened = new Port(server, options);
    return opened;
  }

  get port(): number {
    const address = this.server.address();
    return typeof address === "object" && address !== null ? address.port : this.options.port;
  }

  /** Accepts no more connections. Open gRPC connections are closed by GrpcServer. */
  close(): void {
    this.server.close();
    for (const socket of this.waiting.keys()) socket.destroy();
  }

  /** Closes the relayed connections. */
  destroy(): void {
    for (const socket of this.relayed) socket.destroy();
  }

  /** Limits the time until a connection reveals its protocol. */
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
    // the certificate is our own, issued for another name than the loopback address
    const other = tls === null ? connectTcp(target) : connectTls({ ...target, rejectUnauthorized: false });
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      this.relayed.add(from);
      from.on("error", () => to.destroy());
      from.once("close", () => {
        this.relayed.delete(from);
        // pending writes are still delivered if the client reads them
        to.end();
        to.setTimeout(LAST_BYTES_MS, () => to.destroy());
      });
      from.pipe(to);
    }
  }
}
