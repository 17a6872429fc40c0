// How many statements run at a time: the others wait in the order in which they came.
interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export interface Permit {
  /** Undefined: it is there at once. */
  readonly ready: Promise<void> | undefined;
  /** Ends the wait with this error; nothing when there is none. */
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

  /** The holder gives it back by `release`, once. */
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

  /** Nobody waits any more. */
  refuseAll(error: Error): void {
    for (const { reject } of this.waiters) reject(error);
    this.waiters.clear();
  }
}
