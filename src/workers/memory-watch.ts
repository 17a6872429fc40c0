// Watches the memory of the process, for allocations that no limit counts: values collected by DuckDB's aggregates, and results of
// functions over many rows.
export interface MemoryWatchOptions {
  /** Limit, not counting the kernel's memory. */
  readonly bytesMax: number;
  /** Resident memory of the process. */
  readonly residentBytes: () => number;
  /** Current size of the kernel's memory. */
  readonly kernelBytes: () => number;
  readonly nowMs: () => number;
}

/** Stopped statements need this time to free their memory. */
const REST_MS = 2000;

/** Compares the memory of the process with a limit. After `isOver` returned true it returns false for two seconds: stopped statements
 *  need time to free their memory. */
export class MemoryWatch {
  private restUntilMs = 0;

  constructor(private readonly options: MemoryWatchOptions) {}

  /** True if statements must be stopped now. */
  isOver(): boolean {
    const { bytesMax, residentBytes, kernelBytes, nowMs } = this.options;
    if (nowMs() < this.restUntilMs || residentBytes() - kernelBytes() <= bytesMax) return false;
    this.restUntilMs = nowMs() + REST_MS;
    return true;
  }
}
