// Looks at the memory of a process while it runs a plugin. The limit that the process sets itself does not count memory that is shared or
// mapped from files, and not every system has it.
import { readFile } from "node:fs/promises";

const EVERY_MS = 250;
const PAGE_BYTES = 4096;
/** /proc/<pid>/statm | size | resident | shared | …, in pages */
const RESIDENT = 1;

export class ResidentWatch {
  private readonly timer: ReturnType<typeof setInterval> | undefined;

  /** `onTooMuch` is called once. On systems other than Linux the process's own limit is all there is. */
  constructor(pid: number, bytesMax: number, onTooMuch: () => void) {
    if (process.platform !== "linux") return;
    this.timer = setInterval(() => {
      readFile(`/proc/${pid}/statm`, "latin1").then(
        (text) => {
          if (Number(text.split(" ")[RESIDENT]) * PAGE_BYTES <= bytesMax) return;
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
