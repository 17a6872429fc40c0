// Rate limit of trigger logs: a token bucket per trigger, refilled at a rate that all triggers with non-full buckets share. A trigger that
// floods the log exhausts its own bucket only.

export interface LogBudgetLimits {
  /** Bytes of a full bucket. */
  readonly burstBytes: number;
  /** Bytes a second for one trigger. */
  readonly triggerRate: number;
  /** Bytes a second for all triggers whose buckets are not full, in equal shares. */
  readonly totalRate: number;
  /** Overdraft for lines of the engine, so that a plugin's output cannot suppress the reason of a failure. */
  readonly reserveBytes: number;
}

/** 7 days of retention at 8 KiB a second: at most 4.7 GiB of text before compression, however many triggers flood the log. */
export const LOG_BUDGET: LogBudgetLimits = { burstBytes: 512 << 10, triggerRate: 2 << 10, totalRate: 8 << 10, reserveBytes: 64 << 10 };

const SWEEP_MS = 1000;

/** Limits the log lines of all triggers. */
export class LogBudget {
  /** Buckets that are not full, by trigger. */
  private readonly buckets = new Map<string, { bytes: number; atMs: number }>();
  private sweptMs = 0;

  constructor(
    private readonly nowMs: () => number,
    private readonly limits = LOG_BUDGET,
  ) {}

  /** Takes `bytes` from the bucket of `key`; returns false, and takes nothing, if they are not available. */
  take(key: string, bytes: number, { isReserved }: { readonly isReserved: boolean }): boolean {
    const left = this.left(key) - bytes;
    if (left < (isReserved ? -this.limits.reserveBytes : 0)) return false;
    this.buckets.set(key, { bytes: left, atMs: this.nowMs() });
    return true;
  }

  /** Bytes in the bucket of `key` now. */
  left(key: string): number {
    this.sweep();
    const bucket = this.buckets.get(key);
    return bucket === undefined ? this.limits.burstBytes : this.filled(bucket);
  }

  private filled({ bytes, atMs }: { bytes: number; atMs: number }): number {
    const { burstBytes, triggerRate, totalRate } = this.limits;
    const rate = Math.min(triggerRate, totalRate / this.buckets.size);
    // a clock that was set back refills nothing
    return Math.min(burstBytes, bytes + (rate * Math.max(0, this.nowMs() - atMs)) / 1000);
  }

  /** Refills all buckets at the rate that applied since the last time, and forgets those that are full. */
  private sweep(): void {
    const nowMs = this.nowMs();
    if (Math.abs(nowMs - this.sweptMs) < SWEEP_MS) return;
    this.sweptMs = nowMs;
    const levels = [...this.buckets].map(([key, bucket]) => [key, this.filled(bucket)] as const);
    for (const [key, bytes] of levels) {
      if (bytes >= this.limits.burstBytes) this.buckets.delete(key);
      else this.buckets.set(key, { bytes, atMs: nowMs });
    }
  }
}
