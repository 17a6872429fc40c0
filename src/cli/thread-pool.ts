// Bun makes file calls and native calls on one pool of threads, as many as the machine has processors, and reads its size from the
// environment once, before a program's first line. DuckDB holds a thread of it for as long as it computes: on two processors two long
// queries would stop every write, because its sync finds no thread. So the process replaces itself, before anything is loaded.
import { LIMITS } from "../model/limits.ts";

const VARIABLE = "UV_THREADPOOL_SIZE";

/** Starts the program anew, same process id, with room for long native calls; does nothing when it has been. Takes some 10 ms. */
export function enlargeThreadPool(): void {
  if (Number(process.env[VARIABLE]) >= LIMITS.poolThreads || typeof process.execve !== "function") return;
  // a compiled program finds its script in itself
  const script = Bun.main.startsWith("/$bunfs/") ? [] : [...process.execArgv, Bun.main];
  process.execve(process.execPath, [process.execPath, ...script, ...process.argv.slice(2)], {
    ...process.env,
    [VARIABLE]: String(LIMITS.poolThreads),
  });
}
