// Listens: puts the app behind Bun's HTTP server, with the limits and the end that the app does not know.
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
  /** A connection that is silent for longer is closed; queries lift it for themselves. At most 255. */
  readonly idleTimeoutSeconds?: number;
}

export interface HttpServer {
  readonly hostname: string;
  readonly port: number;
  /** `http://127.0.0.1:8181`, without a slash at the end. */
  readonly url: string;
  /** Stops accepting and waits for running requests, at most `graceMs`; then closes what is left. */
  stop(graceMs: number): Promise<void>;
}

/** @throws TsdbError config when the address cannot be listened on */
export function startHttpServer(app: App, options: ListenOptions): HttpServer {
  const server = listen(app, options);
  // Routes reach the server through their context, to lift the idle limit of one request.
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
      // The routes refuse large bodies themselves, with a body that says why; Bun's own refusal is empty.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      reusePort: false,
      fetch: app.fetch,
      // Only for what escapes the app's own handler, as a stream that broke after its first bytes: reported there, and not told to clients.
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

/** As the runtime wants it: the number on the wire, of which its types know nothing. */
function oldestVersion(minimum: "tls-1.2" | "tls-1.3" = "tls-1.2"): object {
  return { minVersion: minimum === "tls-1.3" ? 0x0304 : 0x0303 };
}

/** How often to look whether a request still runs. */
const STOP_POLL_MS = 20;

/** A connection without a request, or with half the head of one, is not waited for: only its idle limit would end it. */
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
