// Environment variables that the runtime and the C library read once, before a program's first line. The process replaces itself with one
// that has them, before anything is loaded.
//
// Threads: Bun runs file I/O and native calls on one pool with as many threads as the machine has processors. DuckDB occupies a thread
// while it computes: on two processors, two long queries would block every write, because its sync finds no thread.
//
// Memory: glibc returns large blocks to the system when they are freed, but each such block raises its threshold for "large", up to 32 MiB;
// from then on every thread's arena permanently keeps up to twice that of free memory. Setting the threshold disables this adjustment.
//
// For tests: TSDB_POISON_MEMORY=1 fills memory with a pattern (kernel/memory/poison.ts); DuckDB's allocator and the C library need settings
// of their own for it.
//
// Request heads: Bun rejects those above 16 KiB, with an empty answer. Dashboards send longer statements by GET.
import { LIMITS } from "../../model/limits.ts";

const POOL_THREADS = "UV_THREADPOOL_SIZE";
const MALLOC: Readonly<Record<string, number>> = {
  MALLOC_MMAP_THRESHOLD_: 2 << 20,
  MALLOC_TRIM_THRESHOLD_: 4 << 20,
};

/** The patterns of kernel/memory/poison.ts: the C library writes the complement of the number into new memory, the number into freed
 *  memory. */
const POISON: Readonly<Record<string, string>> = { DUCKDB_JE_MALLOC_CONF: "junk:true", MALLOC_PERTURB_: "90" };

const RUNTIME_OPTIONS = "BUN_OPTIONS";
const HEAD_OPTION = "--max-http-header-size";

/** Restarts the program with the same process id in the required environment; no effect if that has been done. Takes 40 ms. */
export function completeEnvironment(): void {
  const missing = missingVariables(process.env);
  if (missing === null || typeof process.execve !== "function") return;
  // a compiled program contains its script
  const script = Bun.main.startsWith("/$bunfs/") ? [] : [...process.execArgv, Bun.main];
  process.execve(process.execPath, [process.execPath, ...script, ...process.argv.slice(2)], { ...process.env, ...missing });
}

/** Variables to add; null if none. Values set by the user are kept, unless they mean too few threads. */
export function missingVariables(env: Readonly<Record<string, string | undefined>>): Record<string, string> | null {
  const missing: Record<string, string> = {};
  if (!(Number(env[POOL_THREADS]) >= LIMITS.poolThreads)) missing[POOL_THREADS] = String(LIMITS.poolThreads);
  for (const [name, bytes] of Object.entries(MALLOC)) if (env[name] === undefined) missing[name] = String(bytes);
  if (env["TSDB_POISON_MEMORY"] === "1")
    for (const [name, value] of Object.entries(POISON)) if (env[name] === undefined) missing[name] = value;
  const options = env[RUNTIME_OPTIONS] ?? "";
  if (!options.includes(HEAD_OPTION)) missing[RUNTIME_OPTIONS] = `${options} ${HEAD_OPTION}=${LIMITS.requestHeadBytesMax}`.trim();
  return Object.keys(missing).length === 0 ? null : missing;
}
