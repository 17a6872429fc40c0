// Receives small bodies. Each is read as a whole, so its progress is invisible: a deadline ends slow ones.
import { patienceMs, tooSlow } from "./pace.ts";

interface Arrival {
  readonly startedMs: number;
  readonly bytes: number;
  readonly reject: (error: Error) => void;
}

/** Interval between checks for overdue bodies. */
const CHECK_MS = 1000;

/** Bodies that are read as a whole, each with a deadline. Durations are in milliseconds. */
export class Arrivals {
  private readonly expected = new Set<Arrival>();
  private timer: ReturnType<typeof setInterval> | undefined;

  /** @param nowMs a monotonic clock */
  constructor(
    private readonly nowMs: () => number,
    private readonly checkMs: number = CHECK_MS,
  ) {}

  /** Number of bodies being received. */
  get count(): number {
    return this.expected.size;
  }

  /** Passes the body to `take` when it has arrived; `take` is not called after a rejection. @throws TsdbError too_slow; what `coming` or
   *  `take` throws */
  take(coming: Promise<Uint8Array>, bytes: number, take: (bytes: Uint8Array) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const arrival = { startedMs: this.nowMs(), bytes, reject };
      this.expected.add(arrival);
      this.timer ??= setInterval(() => this.check(), this.checkMs).unref();
      coming.then(
        (value) => {
          if (!this.expected.delete(arrival)) return; // it was overdue
          try {
            take(value);
            resolve();
          } catch (error) {
            reject(error);
          }
        },
        (error) => {
          this.expected.delete(arrival);
          reject(error);
        },
      );
    });
  }

  private check(): void {
    const now = this.nowMs();
    for (const arrival of this.expected) {
      const elapsedMs = now - arrival.startedMs;
      if (elapsedMs <= patienceMs(arrival.bytes)) continue;
      this.expected.delete(arrival);
      arrival.reject(tooSlow(elapsedMs));
    }
    if (this.expected.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
