// Watches the memory of the process, for allocations that no limit counts: values collected by DuckDB's aggregates, results of functions
// over many rows, and texts of scripts.
export interface MemoryWatchOptions {
  /** Limit, not counting the kernel's memory. */
  readonly bytesMax: number;
  /** Limit with the kernel's memory. */
  readonly residentBytesMax: number;
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
/** What they may still take meanwhile, before others are stopped too. */
const GROWTH = 1 + 1 / 16;
/** Collections take at most a third of the time. */
const BETWEEN_COLLECTIONS = 2;

/** Compares the memory of the process with its limits. After `isOver` returned true it returns false for two seconds, unless memory grows
 *  further: stopped statements need time to free theirs. */
export class MemoryWatch {
  private restUntilMs = 0;
  private collectUntilMs = 0;
  /** Resident when statements were stopped first, before the rest. */
  private stoppedBytes = 0;

  constructor(private readonly options: MemoryWatchOptions) {}

  /** True if statements must be stopped now. What ended statements have left is collected first: the heap's own collection may be far off,
   *  and until then every statement would be stopped for the memory of one. */
  isOver(): boolean {
    const { collect, nowMs, residentBytes } = this.options;
    if (!this.isAbove()) return false;
    const startMs = nowMs();
    if (startMs >= this.collectUntilMs) {
      collect();
      this.collectUntilMs = nowMs() + BETWEEN_COLLECTIONS * (nowMs() - startMs);
      if (!this.isAbove()) return false;
    }
    if (!this.isResting) this.stoppedBytes = residentBytes();
    this.restUntilMs = nowMs() + REST_MS;
    return true;
  }

  private get isResting(): boolean {
    return this.options.nowMs() < this.restUntilMs;
  }

  private isAbove(): boolean {
    const { bytesMax, residentBytesMax, residentBytes, kernelBytes } = this.options;
    const bytes = residentBytes();
    if (this.isResting && bytes <= GROWTH * this.stoppedBytes) return false;
    return bytes > residentBytesMax || bytes - kernelBytes() > bytesMax;
  }
}
