// Invariants. A failed assert is a bug of the server, never the client's fault: it has no error kind and results in a 500 with a log entry.

/** Throws if `condition` is false; `message` states the actual value. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`BUG: ${message}`);
}

/** Marks a switch branch that the type system excludes. */
export function unreachable(value: never): never {
  throw new Error(`BUG: unreachable value ${JSON.stringify(value)}`);
}
