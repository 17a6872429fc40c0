// One app behind all the ways a request comes in by: the HTTP port and the port of Arrow Flight, which passes HTTP on, each with and
// without TLS. Requests are bytes; nothing between a test and the server corrects them.
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { createApp } from "../../src/api/app.ts";
import { Port } from "../../src/api/flight/grpc/port.ts";
import { startHttpServer } from "../../src/api/server.ts";
import type { AppServices } from "../../src/api/services.ts";
import { CERTIFICATE, PRIVATE_KEY } from "./certificate.ts";

export interface Listener {
  readonly name: string;
  readonly port: number;
  readonly isTls: boolean;
}

export interface Listeners {
  readonly all: readonly Listener[];
  [Symbol.asyncDispose](): Promise<void>;
}

const HOSTNAME = "127.0.0.1";
const TLS = { cert: CERTIFICATE, key: PRIVATE_KEY };

/** Starts the listeners of an application on free ports. */
export async function listen(services: AppServices): Promise<Listeners> {
  const all: Listener[] = [];
  const stops: (() => unknown)[] = [];
  for (const tls of [null, TLS]) {
    const isTls = tls !== null;
    const server = startHttpServer(createApp(services), { hostname: HOSTNAME, port: 0, ...(tls === null ? {} : { tls }) });
    const options = { hostname: HOSTNAME, port: 0, tls, http: { hostname: HOSTNAME, port: server.port } };
    // gRPC has its own tests
    const port = await Port.listen({ ...options, onHttp2: (connection) => connection.destroy() });
    const suffix = isTls ? " with TLS" : "";
    all.push({ name: `HTTP${suffix}`, port: server.port, isTls }, { name: `the Flight port${suffix}`, port: port.port, isTls });
    stops.push(
      () => port.close(),
      () => port.destroy(),
      () => server.stop(0),
    );
  }
  return {
    all,
    [Symbol.asyncDispose]: async () => {
      for (const stop of stops) await stop();
    },
  };
}

/** Sends the bytes and resolves to all that comes until the server closes the connection: the last request has to ask for that. */
export function exchange({ port, isTls }: Listener, bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    const options = { host: HOSTNAME, port };
    const send = () => socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
    const socket: Socket = isTls ? connectTls({ ...options, rejectUnauthorized: false }, send) : connect(options, send);
    socket.on("data", (piece: Buffer) => pieces.push(piece));
    socket.on("error", () => {}); // a reset is an end too
    socket.on("close", () => resolve(Buffer.concat(pieces).toString("latin1")));
  });
}

/** The statuses of all answers. Bodies of these tests have no status line. */
export function statusesOf(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
