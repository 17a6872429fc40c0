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

export interface PermitCounts {
  readonly limit: number;
  readonly held: number;
  readonly waiting: number;
  /** The most at a time so far. */
  readonly heldMax: number;
  readonly waitingMax: number;
  /** Waits that ended without a permit. */
  readonly givenUp: number;
}

const AT_ONCE: Permit = { ready: undefined, giveUp: () => {} };

/** A counting semaphore with a FIFO queue, whose size may change. */
export class Permits {
  private readonly waiters = new Set<Waiter>();
  private held = 0;
  private lent = 0;
  private heldMax = 0;
  private waitingMax = 0;
  private givenUp = 0;

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

  /** For metrics. */
  get counts(): PermitCounts {
    const { countMax, held, heldMax, waiters, waitingMax, givenUp } = this;
    return { limit: countMax, held, heldMax, waiting: waiters.size, waitingMax, givenUp };
  }

  /** Takes a permit, which the holder must `release` once. */
  take(): Permit {
    if (this.held < this.countMax) {
      this.hold();
      return AT_ONCE;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { resolve, reject };
    this.waiters.add(waiter);
    this.waitingMax = Math.max(this.waitingMax, this.waiters.size);
    const giveUp = (error: Error) => {
      if (!this.waiters.delete(waiter)) return;
      this.givenUp++;
      reject(error);
    };
    return { ready: promise, giveUp };
  }

  release(): void {
    this.held--;
    this.admit();
  }

  /** Lets another statement have the permit of a holder that only waits. Returns false if as many are lent as there are. */
  lend(): boolean {
    if (this.lent >= this.countMax) return false;
    this.lent++;
    this.release();
    return true;
  }

  /** The holder goes on, at once: there may be more holders than permits for a while. */
  takeBack(): void {
    this.lent--;
    this.hold();
  }

  /** Rejects all waiters. */
  refuseAll(error: Error): void {
    for (const { reject } of this.waiters) reject(error);
    this.waiters.clear();
  }

  private hold(): void {
    this.held++;
    if (this.held > this.heldMax) this.heldMax = this.held;
  }

  private admit(): void {
    for (const next of this.waiters) {
      if (this.held >= this.countMax) return;
      this.waiters.delete(next);
      this.hold();
      next.resolve();
    }
  }
}
