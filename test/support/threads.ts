// Counts the threads of a process on Linux by their names.
import { readdirSync, readFileSync } from "node:fs";

/** The runtime starts another thread of its pool whenever a call finds all of them busy, and keeps them: each has a name of its own. A
 *  thread of DuckDB has the name of the thread that started it. */
const POOL_NAME = "Bun Pool";

export interface Threads {
  readonly pool: number;
  /** Includes DuckDB's. */
  readonly others: number;
}

/** The threads of a process. */
export function threadsOf(pid: number): Threads {
  const names = readdirSync(`/proc/${pid}/task`).map((thread) => nameOf(`/proc/${pid}/task/${thread}/comm`));
  const pool = new Set(names.filter((name) => name.startsWith(POOL_NAME))).size;
  return { pool, others: names.filter((name) => name !== "").length - pool };
}

/** Empty if the thread has just ended. */
function nameOf(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
}
