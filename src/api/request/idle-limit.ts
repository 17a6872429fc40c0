// Idle timeout of connections. A query may be silent for longer than an idle client, so its handler disables the timeout; Bun keeps the
// setting for the whole connection, so the handler must restore it, or idle connections would stay open forever.
import type { Server } from "bun";

const LIMIT_SECONDS = new WeakMap<Server<unknown>, number>();

/** Records the timeout that `server` was started with. */
export function noteIdleLimit(server: Server<unknown>, seconds: number): void {
  LIMIT_SECONDS.set(server, seconds);
}

/** Disables the idle timeout of the request's connection until the returned function is called. No effect without a socket (`server` is
 *  null). */
export function liftIdleLimit(server: Server<unknown> | null, request: Request): () => void {
  const seconds = server === null ? undefined : LIMIT_SECONDS.get(server);
  if (server === null || seconds === undefined) return () => {};
  server.timeout(request, 0);
  return () => server.timeout(request, seconds);
}
