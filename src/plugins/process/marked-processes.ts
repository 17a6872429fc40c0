// Ends what plugins have started and what has left their process group, as daemons do: found by a variable of the environment, which
// processes inherit (Linux).
import { readdir, readFile } from "node:fs/promises";

/** Name of the variable; the value is that of one Python process: `<server>/<number>`. */
export const MARK = "TSDB_PLUGIN_PROCESS";

const ROUND_MS = 2;
/** A killed process is found until it has ended, and processes that fork need several rounds. */
const ROUNDS_MAX = 100;

/** Searches once for all that end at the same time. */
export class MarkedProcesses {
  private wanted = new Set<string>();
  private searching: Promise<void> | null = null;

  /** Resolves when no process has the mark. Never rejects; does nothing on systems other than Linux. */
  kill(mark: string): Promise<void> {
    if (process.platform !== "linux") return Promise.resolve();
    this.wanted.add(mark);
    this.searching ??= this.search();
    return this.searching;
  }

  private async search(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS)); // those that end together
    const marks = this.wanted;
    this.wanted = new Set();
    this.searching = null;
    for (let round = 0; round < ROUNDS_MAX && (await killMarked(marks)) > 0; round++) {
      await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
    }
  }
}

/** Returns how many were found. */
async function killMarked(marks: ReadonlySet<string>): Promise<number> {
  let count = 0;
  for (const name of await readdir("/proc").catch(() => [])) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    // those of other users cannot be read, and are none of ours
    const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
    const variable = environment.split("\0").find((each) => each.startsWith(`${MARK}=`));
    if (variable === undefined || !marks.has(variable.slice(MARK.length + 1))) continue;
    count++;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it has ended
    }
  }
  return count;
}
