// Tracks readers: a statement takes one pin for all its scans, and data replaced or dropped later is freed when the last pin that could see
// it is released. Used for buffer segments, dictionaries and files.
import type { Reclaimer } from "../../model/reclaimer.ts";

/** Keeps the state of the moment it was taken readable. */
export interface Pin {
  /** Idempotent. */
  release(): void;
}

interface Deferred {
  /** Number of the newest pin that may read it. */
  readonly lastPin: number;
  readonly free: () => void;
}

/** The pins of the server, on the main thread. */
export class Pins implements Reclaimer {
  private lastPin = 0;
  /** Open pins by number, hence oldest first: number → time it was taken. */
  private readonly open = new Map<number, number>();
  /** Ascending by lastPin. */
  private readonly waiting: Deferred[] = [];

  /** @param nowMs a monotonic clock */
  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  get openCount(): number {
    return this.open.size;
  }

  /** Number of callbacks that wait for a pin. */
  get waitingCount(): number {
    return this.waiting.length;
  }

  /** Age of the oldest open pin in milliseconds; 0 when none is open. */
  get oldestAgeMs(): number {
    for (const takenMs of this.open.values()) return this.nowMs() - takenMs;
    return 0;
  }

  take(): Pin {
    const number = ++this.lastPin;
    this.open.set(number, this.nowMs());
    return {
      release: () => {
        if (this.open.delete(number)) this.run();
      },
    };
  }

  /** Runs `free` once no pin taken before this call is open: immediately, or inside the release of the last one. */
  defer(free: () => void): void {
    if (this.open.size === 0) free();
    else this.waiting.push({ lastPin: this.lastPin, free });
  }

  private run(): void {
    if (this.waiting.length === 0) return;
    let oldest = Number.POSITIVE_INFINITY;
    for (const number of this.open.keys()) {
      oldest = number;
      break;
    }
    let ready = 0;
    while (ready < this.waiting.length && this.waiting[ready]!.lastPin < oldest) ready++;
    for (const { free } of this.waiting.splice(0, ready)) free();
  }
}
