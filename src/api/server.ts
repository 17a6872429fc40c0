// Runs the app behind Bun's HTTP server, with connection limits and an orderly shutdown.
import type { Server } from "bun";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import { CIPHERS, type Tls } from "../model/tls.ts";
import type { App } from "./app.ts";
import { noteIdleLimit } from "./request/idle-limit.ts";

export interface ListenOptions {
  readonly hostname: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly tls?: Tls;
  /** A connection without traffic is closed after this time; queries disable it. At most 255. */
  readonly idleTimeoutSeconds?: number;
}

export interface HttpServer {
  readonly hostname: string;
  readonly port: number;
  /** `http://127.0.0.1:8181`, without a trailing slash. */
  readonly url: string;
  /** Stops accepting and waits for running requests, at most `graceMs`; then closes the remaining connections. */
  stop(graceMs: number): Promise<void>;
}

/** @throws TsdbError config if the address cannot be bound */
export function startHttpServer(app: App, options: ListenOptions): HttpServer {
  const server = listen(app, options);
  // Routes access the server through their context, to disable the idle timeout of a request.
  app.server = server;
  noteIdleLimit(server, options.idleTimeoutSeconds ?? LIMITS.connectionIdleSeconds);
  const { url } = server;
  return {
    hostname: options.hostname,
    port: server.port ?? options.port,
    url: url.origin,
    stop: (graceMs) => stop(server, graceMs),
  };
}

function listen(app: App, { hostname, port, tls, idleTimeoutSeconds = LIMITS.connectionIdleSeconds }: ListenOptions): Server<undefined> {
  try {
    return Bun.serve({
      hostname: hostname.replace(/^\[(.*)\]$/, "$1"),
      port,
      ...(tls === undefined ? {} : { tls: { cert: tls.cert, key: tls.key, ciphers: CIPHERS, ...oldestVersion(tls.minimum) } }),
      idleTimeout: idleTimeoutSeconds,
      // The routes reject large bodies themselves, with an explanation; Bun's own answer is empty.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      reusePort: false,
      fetch: app.fetch,
      // Only for errors outside of the app's handler, such as a stream that fails after its first bytes: reported there, hidden from
      // clients.
      error: () => new Response("internal error", { status: 500 }),
    });
  } catch (error) {
    throw new TsdbError(
      "config",
      `cannot listen on ${hostname}:${port}: ${(error as Error).message}`,
      { hostname, port },
      { cause: error },
    );
  }
}

/** In the runtime's form: the protocol's number, which its types do not declare. */
function oldestVersion(minimum: "tls-1.2" | "tls-1.3" = "tls-1.2"): object {
  return { minVersion: minimum === "tls-1.3" ? 0x0304 : 0x0303 };
}

/** Interval between checks for running requests. */
const STOP_POLL_MS = 20;

/** Connections without a request, or with an incomplete request head, are not waited for: only their idle timeout would end them. */
async function stop(server: Server<undefined>, graceMs: number): Promise<void> {
  const endMs = performance.now() + graceMs;
  let hasEnded = false;
  const ended = server.stop(false).then(() => {
    hasEnded = true;
  });
  while (!hasEnded && server.pendingRequests > 0 && performance.now() < endMs) {
    await Promise.race([ended, Bun.sleep(Math.min(STOP_POLL_MS, graceMs))]);
  }
  if (!hasEnded) await server.stop(true);
}
