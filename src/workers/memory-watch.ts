// Watches the memory of the process, for allocations that no limit counts: values collected by DuckDB's aggregates, results of functions
// over many rows, and texts of scripts.
export interface MemoryWatchOptions {
  /** Limit, not counting the kernel's memory. */
  readonly bytesMax: number;
  /** Resident memory of the process. */
  readonly residentBytes: () => number;
  /** Current size of the kernel's memory. */
  readonly kernelBytes: () => number;
  /** Frees the memory of values that nothing refers to. */
  readonly collect: () => void;
  readonly nowMs: () => number;
}

/** Stopped statements need this time to free their memory. */
const REST_MS = 2000;
/** A limit that is reached again so soon after a collection has not been reached by garbage. */
const COLLECT_MS = 500;

/** Compares the memory of the process with a limit. After `isOver` returned true it returns false for two seconds: stopped statements
 *  need time to free their memory. */
export class MemoryWatch {
  private restUntilMs = 0;
  private collectUntilMs = 0;

  constructor(private readonly options: MemoryWatchOptions) {}

  /** True if statements must be stopped now. What ended statements have left is collected first: the heap's own collection may be far off,
   *  and until then every statement would be stopped for the memory of one. */
  isOver(): boolean {
    const now = this.options.nowMs();
    if (now < this.restUntilMs || !this.isAbove()) return false;
    if (now >= this.collectUntilMs) {
      this.options.collect();
      this.collectUntilMs = this.options.nowMs() + COLLECT_MS;
      if (!this.isAbove()) return false;
    }
    this.restUntilMs = this.options.nowMs() + REST_MS;
    return true;
  }

  private isAbove(): boolean {
    const { bytesMax, residentBytes, kernelBytes } = this.options;
    return residentBytes() - kernelBytes() > bytesMax;
  }
}
