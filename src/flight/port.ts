// The port: takes connections, plain or TLS, and looks at their first bytes. Those that open as HTTP/2 are gRPC's; all others are passed on
// to the HTTP port byte by byte, because client libraries know one address for reading and writing.
import { connect as connectTcp, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { TsdbError } from "../model/errors.ts";

/** PEM texts. */
/** PEM texts. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
  /** Older versions are refused. */
  readonly minimum?: "tls-1.2" | "tls-1.3";
}

export interface PortOptions {
  readonly hostname: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly tls: Tls | null;
  /** Where HTTP/1 is spoken, in the same way (plain or TLS). */
  readonly http: { readonly hostname: string; readonly port: number };
  /** Takes a connection that has begun with HTTP/2's preface, which it will read again. */
  readonly onHttp2: (connection: Socket) => void;
}

/** `PRI * HTTP/2.0…` is what every HTTP/2 client begins with; no method of HTTP/1 begins like this. */
const PREFACE_START = Buffer.from("PRI * HTTP/2");
/** Of TLS, the first that the client offers too: those that speak gRPC offer HTTP/2 alone, all others HTTP/1.1 as well. */
const PROTOCOLS = ["http/1.1", "h2"];
/** How long a connection may say nothing. */
const FIRST_BYTES_MS = 30_000;

export class Port {
  /** Of connections that are passed on. */
  private readonly relayed = new Set<Socket>();
  private readonly waiting = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly options: PortOptions,
  ) {}

  /** @throws TsdbError config when the address cannot be listened on */
  static async listen(options: PortOptions): Promise<Port> {
    const { hostname, port, tls } = options;
    let opened: Port | undefined;
    const take = (socket: Socket) => opened?.take(socket);
    // without Nagle's pause between small messages
    const server =
      tls === null
        ? createTcpServer({ noDelay: true }, take)
        : createTlsServer(
            {
              ...{ cert: tls.cert, key: tls.key, ALPNProtocols: PROTOCOLS, noDelay: true },
              minVersion: tls.minimum === "tls-1.3" ? "TLSv1.3" : "TLSv1.2",
            },
            take,
          );
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
    for (const socket of this.waiting) socket.destroy();
  }

  /** Ends the connections that are passed on. */
  destroy(): void {
    for (const socket of this.relayed) socket.destroy();
  }

  private take(socket: Socket): void {
    const seen: Buffer[] = [];
    this.waiting.add(socket);
    const timer = setTimeout(() => socket.destroy(), FIRST_BYTES_MS);
    const leave = () => {
      clearTimeout(timer);
      this.waiting.delete(socket);
    };
    socket.on("error", () => socket.destroy());
    socket.once("close", leave);
    const look = (bytes: Buffer) => {
      seen.push(bytes);
      const start = Buffer.concat(seen);
      const isPreface = start.subarray(0, PREFACE_START.length).equals(PREFACE_START.subarray(0, start.length));
      if (isPreface && start.length < PREFACE_START.length) return;
      socket.off("data", look);
      socket.off("close", leave);
      leave();
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
        // what is written to it already still leaves
        to.end();
      });
      from.pipe(to);
    }
  }
}
