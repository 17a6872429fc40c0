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

/** A counting semaphore with a FIFO queue. */
export class Permits {
  private readonly waiters = new Set<Waiter>();

  constructor(private free: number) {}

  get waitingCount(): number {
    return this.waiters.size;
  }

  /** Takes a permit, which the holder must `release` once. */
  take(): Permit {
    if (this.free > 0) {
      this.free--;
      return AT_ONCE;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { resolve, reject };
    this.waiters.add(waiter);
    return { ready: promise, giveUp: (error) => void (this.waiters.delete(waiter) && reject(error)) };
  }

  release(): void {
    const [next] = this.waiters;
    if (next === undefined) {
      this.free++;
      return;
    }
    this.waiters.delete(next);
    next.resolve();
  }

  /** Rejects all waiters. */
  refuseAll(error: Error): void {
    for (const { reject } of this.waiters) reject(error);
    this.waiters.clear();
  }
}
