// A debugging aid: with TSDB_POISON_MEMORY=1 in the environment, uninitialized and freed memory is filled with a pattern. A read of such
// bytes then shows an unlikely number; without the pattern it mostly sees zeros, or, on a server that has run for a while, stale data.
// Slow: every block is written once more.
//
// DuckDB's allocator has a setting with the same patterns (jemalloc: junk), and so has the C library. Both must be in the environment
// before the process starts: cli/process/environment.ts adds them, `npm run test:poisoned` sets them.

/** Pattern of uninitialized memory. */
export const FRESH = 0xa5;
/** Pattern of freed memory. */
export const FREED = 0x5a;

/** Of larger blocks only both ends are filled: tests move arrays of gigabytes. */
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

// The runtime offers no other memory that is not zeroed: typed arrays always are.
if (isOn) {
  Buffer.allocUnsafe = (bytes: number) => Buffer.alloc(bytes, FRESH);
  Buffer.allocUnsafeSlow = (bytes: number) => Buffer.alloc(bytes, FRESH);
}
