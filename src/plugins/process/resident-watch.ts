// Polls the resident memory of a process and its descendants during a run. RLIMIT_DATA, which the process sets itself, does not count
// shared and file-backed memory, applies to each descendant separately, and does not exist on every system.
import { readdir, readFile } from "node:fs/promises";

const EVERY_MS = 250;
const PAGE_BYTES = 4096;
/** /proc/<pid>/statm | size | resident | shared | …, in pages */
const RESIDENT = 1;
/** A plugin that has more is over any memory limit. */
const PROCESSES_MAX = 1000;

/** Stops a run whose processes use too much memory. */
export class ResidentWatch {
  private readonly timer: ReturnType<typeof setInterval> | undefined;

  /** `onTooMuch` is called once. Does nothing on systems other than Linux. */
  constructor(pid: number, bytesMax: number, onTooMuch: () => void) {
    if (process.platform !== "linux") return;
    this.timer = setInterval(() => {
      residentBytes(pid).then(
        (bytes) => {
          if (bytes <= bytesMax) return;
          this.stop();
          onTooMuch();
        },
        () => this.stop(), // it has ended
      );
    }, EVERY_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }
}

/** Of the process and its descendants; pages that they share count once for each. @throws Error if the process has ended */
async function residentBytes(root: number): Promise<number> {
  let bytes = await ownBytes(root);
  const pids = await childrenOf(root);
  for (let i = 0; i < pids.length; i++) {
    if (i >= PROCESSES_MAX) return Number.POSITIVE_INFINITY;
    bytes += await ownBytes(pids[i]!).catch(() => 0);
    pids.push(...(await childrenOf(pids[i]!)));
  }
  return bytes;
}

async function ownBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/statm`, "latin1");
  return Number(text.split(" ")[RESIDENT]) * PAGE_BYTES;
}

/** A kernel without these files has none to tell. */
async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, "latin1").catch(() => "")));
  return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
}
