// A raw client: sends any bytes, collects what comes back, and waits for conditions instead of for time.
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { createApp } from "../../src/api/app.ts";
import { type HttpServer, type ListenOptions, startHttpServer } from "../../src/api/server.ts";
import { type FakeOptions, type Fakes, fakes } from "./fakes.ts";

export interface Listening extends Fakes {
  readonly server: HttpServer;
  open(): Promise<RawClient>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A real server over fake services, on a free port of loopback. */
export function listening(options: FakeOptions = {}, listen: Partial<ListenOptions> = {}): Listening {
  const made = fakes(options);
  const server = startHttpServer(createApp(made.services), { hostname: "127.0.0.1", port: 0, ...listen });
  const clients: RawClient[] = [];
  return {
    ...made,
    server,
    open: async () => {
      const client = await RawClient.open(server.port);
      clients.push(client);
      return client;
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) client.destroy();
      await server.stop(0);
    },
  };
}

/** A TCP connection that sends and receives bytes. */
export class RawClient {
  received = "";
  closed = false;

  private constructor(readonly socket: Socket) {
    socket.setEncoding("latin1");
    socket.on("data", (data) => {
      this.received += String(data);
    });
    socket.on("error", () => {}); // a reset is seen as closed
    socket.on("close", () => {
      this.closed = true;
    });
  }

  static open(port: number): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => resolve(new RawClient(socket)));
      socket.once("error", reject);
    });
  }

  /** Through TLS, whose handshake is done when it resolves. */
  static openTls(port: number, ca: string): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connectTls({ port, host: "127.0.0.1", ca, servername: "localhost" }, () => resolve(new RawClient(socket)));
      socket.once("error", reject);
    });
  }

  send(...parts: (string | Uint8Array)[]): this {
    for (const part of parts) this.socket.write(part);
    return this;
  }

  /** Waits for the bytes of the next answer to hold `text`, and returns all received so far. */
  async until(text: string): Promise<string> {
    await eventually(() => this.received.includes(text) || this.closed);
    return this.received;
  }

  async untilClosed(): Promise<string> {
    await eventually(() => this.closed);
    return this.received;
  }

  destroy(): void {
    this.socket.destroy();
  }
}

/** A request's head. The host is filled in; lines are joined with CRLF. */
export function head(line: string, ...headers: string[]): string {
  return `${[`${line} HTTP/1.1`, "Host: localhost", ...headers].join("\r\n")}\r\n\r\n`;
}

/** Turns the event loop until `condition` holds; the test's own time limit is the only clock. */
export async function eventually(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

/** One turn of the event loop, timers and sockets included. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

/** Turns the event loop until `value` has not changed for `turns` turns: its writer waits for something else. */
export async function settled(value: () => number, turns = 100): Promise<number> {
  let last = value();
  for (let quiet = 0; quiet < turns; quiet++) {
    await turn();
    if (value() !== last) {
      last = value();
      quiet = 0;
    }
  }
  return last;
}
