// Sends many small bodies over many connections with as little work of its own as possible: requests are built before, answers are looked
// through for their end only. A client library would measure itself.
import { tsbsCpu } from "../data/tsbs-cpu.ts";

declare const self: Worker;

export interface SocketLoad {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly hosts: number;
  /** Lines, which are sent once each. */
  readonly rows: number;
  readonly bodyLines: number;
}

export type FromSocketLoad =
  /** `latenciesMs`: of each body, ascending. */
  | { readonly type: "done"; readonly milliseconds: number; readonly latenciesMs: Float64Array }
  | { readonly type: "failed"; readonly message: string };

self.onmessage = async ({ data }: MessageEvent<SocketLoad>) => {
  try {
    self.postMessage(await run(data));
  } catch (error) {
    self.postMessage({ type: "failed", message: (error as Error).message } satisfies FromSocketLoad);
  }
};

async function run(load: SocketLoad): Promise<FromSocketLoad> {
  const requests = requestsOf(load);
  const latenciesMs = new Float64Array(requests.length);
  let next = 0;
  const startMs = performance.now();
  const connection = () => connect(load.url, () => (next < requests.length ? next++ : null), requests, latenciesMs);
  await Promise.all(Array.from({ length: load.connections }, connection));
  return { type: "done", milliseconds: performance.now() - startMs, latenciesMs: latenciesMs.sort() };
}

function requestsOf({ url, headers, hosts, rows, bodyLines }: SocketLoad): Buffer[] {
  const { host, pathname, search } = new URL(url);
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n${more.join("")}content-length: `;
  const bodies = tsbsCpu({ hosts, rows, seed: 1, bodyLines });
  return Array.from(bodies, (body) => Buffer.concat([Buffer.from(`${head}${body.length}\r\n\r\n`), body]));
}

/** One connection: a request at a time, until `take` returns null. @throws Error for any answer but 204 */
function connect(url: string, take: () => number | null, requests: readonly Buffer[], latenciesMs: Float64Array): Promise<void> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let current = 0;
  let sentMs = 0;
  let unsent: Buffer | null = null;
  let text = "";
  type Socket = Bun.Socket<undefined>;
  const write = (socket: Socket, bytes: Buffer): void => {
    const count = socket.write(bytes);
    unsent = count < bytes.length ? bytes.subarray(count) : null;
  };
  const send = (socket: Socket): void => {
    const index = take();
    if (index === null) {
      resolve();
      socket.end();
      return;
    }
    current = index;
    sentMs = performance.now();
    write(socket, requests[index]!);
  };
  const data = (socket: Socket, bytes: Buffer): void => {
    text += bytes.toString("latin1");
    if (!text.endsWith("\r\n\r\n")) return;
    if (!text.startsWith("HTTP/1.1 204")) {
      reject(new Error(`${url} answered ${text.slice(0, 500)}`));
      socket.end();
      return;
    }
    text = "";
    latenciesMs[current] = performance.now() - sentMs;
    send(socket);
  };
  const drain = (socket: Socket): void => {
    if (unsent !== null) write(socket, unsent);
  };
  const closed = (): void => reject(new Error(`${url} closed a connection`));
  void Bun.connect({
    hostname,
    port: Number(port),
    socket: { open: send, data, drain, close: closed, error: (_, error) => reject(error) },
  }).catch(reject);
  return promise;
}
