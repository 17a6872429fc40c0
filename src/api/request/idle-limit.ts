// How long a connection may be silent. A query may be silent for longer than an idle client, so it lifts the limit; Bun keeps the
// lifted limit for the whole connection, so the handler that lifts it has to set it again, or idle connections stay open for ever.
import type { Server } from "bun";

const LIMIT_SECONDS = new WeakMap<Server<unknown>, number>();

/** Remembers what `server` was started with. */
export function noteIdleLimit(server: Server<unknown>, seconds: number): void {
  LIMIT_SECONDS.set(server, seconds);
}

/** Lets the connection of `request` be silent until the returned function is called.
 *  Without a socket (`server` is null) it does nothing. */
export function liftIdleLimit(server: Server<unknown> | null, request: Request): () => void {
  const seconds = server === null ? undefined : LIMIT_SECONDS.get(server);
  if (server === null || seconds === undefined) return () => {};
  server.timeout(request, 0);
  return () => server.timeout(request, seconds);
}
