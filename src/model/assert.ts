// Invariants. A failed assert is our bug, never the client's: it has no error kind and ends as a 500 with a log entry.

/** Throws when `condition` is false; `message` states what was got. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`BUG: ${message}`);
}

/** Marks a switch branch that the types say cannot be reached. */
export function unreachable(value: never): never {
  throw new Error(`BUG: unreachable value ${JSON.stringify(value)}`);
}
