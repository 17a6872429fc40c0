// What the runtime and the C library read from the environment once, before a program's first line. The process replaces itself with what
// it needs there, before anything is loaded.
//
// Threads: Bun makes file calls and native calls on one pool, as many threads as the machine has processors. DuckDB holds a thread of it
// for as long as it computes: on two processors two long queries would stop every write, because its sync finds no thread.
//
// Memory: glibc gives large blocks back to the system when they are freed, but each of them that comes and goes raises its idea of
// "large", up to 32 MiB; from then on every thread's arena keeps up to twice that of free memory, for good. What is set is not raised.
//
// For tests: TSDB_POISON_MEMORY=1 fills memory with a pattern (kernel/memory/poison.ts); DuckDB's allocator and the C library do so too,
// if told.
//
// Heads of requests: Bun refuses those of more than 16 KiB, with an empty answer. Dashboards send statements that are longer by GET.
import { LIMITS } from "../model/limits.ts";

const POOL_THREADS = "UV_THREADPOOL_SIZE";
const MALLOC: Readonly<Record<string, number>> = {
  MALLOC_MMAP_THRESHOLD_: 2 << 20,
  MALLOC_TRIM_THRESHOLD_: 4 << 20,
};

/** With the patterns of kernel/memory/poison.ts: the C library writes the complement of the number into new memory, the number into freed
 *  one. */
const POISON: Readonly<Record<string, string>> = { DUCKDB_JE_MALLOC_CONF: "junk:true", MALLOC_PERTURB_: "90" };

const RUNTIME_OPTIONS = "BUN_OPTIONS";
const HEAD_OPTION = "--max-http-header-size";

/** Starts the program anew, same process id, in the environment that it needs; does nothing when it has been. Takes some 10 ms. */
export function completeEnvironment(): void {
  const missing = missingVariables(process.env);
  if (missing === null || typeof process.execve !== "function") return;
  // a compiled program finds its script in itself
  const script = Bun.main.startsWith("/$bunfs/") ? [] : [...process.execArgv, Bun.main];
  process.execve(process.execPath, [process.execPath, ...script, ...process.argv.slice(2)], { ...process.env, ...missing });
}

/** Variables to be added; null: none. What somebody has set stays, unless it would be too few threads. */
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
