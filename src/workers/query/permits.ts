// Limits the number of concurrent statements; others wait in order of arrival.
interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export interface Permit {
  /** Undefined: granted immediately. */
  readonly ready: Promise<void> | undefined;
  /** Ends the wait with this error; no effect if already granted. */
  giveUp(error: Error): void;
}

const AT_ONCE: Permit = { ready: undefined, giveUp: () => {} };

/** A counting semaphore with a FIFO queue, whose size may change. */
export class Permits {
  private readonly waiters = new Set<Waiter>();
  private held = 0;

  constructor(private countMax: number) {}

  /** The number of holders at a time. */
  get limit(): number {
    return this.countMax;
  }

  /** With more, those that wait have their turn at once. With fewer, holders keep theirs; the next wait until enough have ended. */
  resize(countMax: number): void {
    this.countMax = countMax;
    this.admit();
  }

  get waitingCount(): number {
    return this.waiters.size;
  }

  /** Takes a permit, which the holder must `release` once. */
  take(): Permit {
    if (this.held < this.countMax) {
      this.held++;
      return AT_ONCE;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { resolve, reject };
    this.waiters.add(waiter);
    return { ready: promise, giveUp: (error) => void (this.waiters.delete(waiter) && reject(error)) };
  }

  release(): void {
    this.held--;
    this.admit();
  }

  /** Rejects all waiters. */
  refuseAll(error: Error): void {
    for (const { reject } of this.waiters) reject(error);
    this.waiters.clear();
  }

  private admit(): void {
    for (const next of this.waiters) {
      if (this.held >= this.countMax) return;
      this.waiters.delete(next);
      this.held++;
      next.resolve();
    }
  }
}
