// Gives memory that nobody has used for a while back to the system. Extents that threads free stay mapped: reused, they cost nothing, but
// after a large statement or a burst of writes the process would keep what it once needed.
import type { Kernel } from "./kernel.ts";
import { canReturnPages, returnPages } from "./system-pages.ts";

/** Extents that are free for one to two of these go back. */
const PERIOD_MS = 5000;

/** The return of the kernel's pages, on one thread of the process. */
export class PageReturn {
  private timer: ReturnType<typeof setInterval> | undefined;
  private isRunning = false;

  constructor(private readonly kernel: Kernel) {}

  start(): void {
    this.timer = setInterval(() => this.begin(), PERIOD_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private begin(): void {
    if (this.isRunning || !canReturnPages()) return;
    this.isRunning = true;
    this.step(this.kernel.extents.age((ptr, bytes) => returnPages(this.kernel, ptr, bytes)));
  }

  /** One step in each turn of the event loop. */
  private step(steps: Iterator<void, number>): void {
    this.isRunning = steps.next().done !== true;
    if (this.isRunning) setImmediate(() => this.step(steps));
  }
}
