// A switch for tests and for looking for faults: with TSDB_POISON_MEMORY=1 in the environment, memory that is handed out undefined, and
// memory that is given back, holds a pattern. What reads bytes that nobody wrote then shows numbers that nobody would write; without the
// switch they are mostly zeros, or, on a server that has run for a while, somebody's data. Slow: every block is written once more.
//
// DuckDB's allocator has a switch of its own with the same patterns (jemalloc: junk), and so has the C library. They must be in the
// environment before the process starts: cli/process-environment.ts adds them, `npm run test:poisoned` has them.

/** Of memory that is handed out. */
export const FRESH = 0xa5;
/** Of memory that was given back. */
export const FREED = 0x5a;

/** Of larger blocks both ends are filled: tests move arrays of gigabytes about. */
const WHOLE_MAX = 1 << 20;

const isOn = process.env["TSDB_POISON_MEMORY"] === "1";

/** Fills [ptr, ptr + bytes) if the switch is on. */
export function poison(memory: WebAssembly.Memory, ptr: number, bytes: number, pattern: number): void {
  if (!isOn) return;
  const block = new Uint8Array(memory.buffer, ptr, bytes);
  if (bytes <= WHOLE_MAX) block.fill(pattern);
  else {
    block.fill(pattern, 0, WHOLE_MAX / 2);
    block.fill(pattern, bytes - WHOLE_MAX / 2);
  }
}

// The runtime's only way to memory that is not zeroed: typed arrays always are.
if (isOn) {
  Buffer.allocUnsafe = (bytes: number) => Buffer.alloc(bytes, FRESH);
  Buffer.allocUnsafeSlow = (bytes: number) => Buffer.alloc(bytes, FRESH);
}
