// The process's memory, for what no limit counts: values that aggregates of the engine gather, and what a function makes of many rows.
export interface MemoryWatchOptions {
  /** Beside the kernel's memory. */
  readonly bytesMax: number;
  /** Of the process, resident. */
  readonly residentBytes: () => number;
  /** The kernel's memory as far as it has grown. */
  readonly kernelBytes: () => number;
  readonly nowMs: () => number;
}

/** What has been stopped needs a moment to let go. */
const REST_MS = 2000;

/** Compares the memory of the process with a limit. After `isOver` was true it is false for two seconds: what was stopped needs a moment
 *  to free its memory. */
export class MemoryWatch {
  private restUntilMs = 0;

  constructor(private readonly options: MemoryWatchOptions) {}

  /** Whether statements must be stopped now. */
  isOver(): boolean {
    const { bytesMax, residentBytes, kernelBytes, nowMs } = this.options;
    if (nowMs() < this.restUntilMs || residentBytes() - kernelBytes() <= bytesMax) return false;
    this.restUntilMs = nowMs() + REST_MS;
    return true;
  }
}
