// Limits DuckDB's asynchronous calls. Each occupies a thread of the process's pool until it ends, possibly never; queuing them here keeps
// threads free for the log and for files, whatever queries do.
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import { loopWatch } from "../model/loop-watch.ts";

interface Waiter {
  readonly owner: object;
  readonly resolve: () => void;
  readonly reject: (error: TsdbError) => void;
}

/** The queue of native calls of one thread. */
export class NativeCalls {
  private free: number = LIMITS.nativeCallsMax;
  private readonly waiters: Waiter[] = [];
  private inFlight_ = 0;
  private isClosed = false;
  private onChange: (inFlight: number) => void = () => {};

  /** Calls started and not known to have ended. Terminating the thread before they end would crash the process. */
  get inFlight(): number {
    return this.inFlight_;
  }

  /** Sets the maximum concurrent calls and a listener for their number; call it before the first. */
  limit(callsMax: number, onChange: (inFlight: number) => void = () => {}): void {
    this.free = callsMax;
    this.onChange = onChange;
  }

  /** Makes the call when a slot is free, first come first served. @throws TsdbError cancelled if `cancel` was called first */
  async run<T>(owner: object, call: () => Promise<T>): Promise<T> {
    if (this.isClosed) throw cancelled();
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve, reject) => this.waiters.push({ owner, resolve, reject }));
    try {
      return await this.track(call());
    } finally {
      const next = this.waiters.shift();
      if (next === undefined) this.free += 1;
      else next.resolve();
    }
  }

  /** Counts a call that is made without queuing. */
  track<T>(call: Promise<T>): Promise<T> {
    this.onChange(++this.inFlight_);
    // must not be part of what awaits the call, which may be terminated
    const ended = () => {
      this.onChange(--this.inFlight_);
    };
    call.then(ended, ended);
    return loopWatch.resume(call);
  }

  /** Removes the owner's call from the queue, if it is waiting. */
  cancel(owner: object): void {
    const at = this.waiters.findIndex((waiter) => waiter.owner === owner);
    if (at < 0) return;
    const [waiter] = this.waiters.splice(at, 1);
    waiter!.reject(cancelled());
  }

  /** Starts no more calls, except those of `track`. */
  close(): void {
    this.isClosed = true;
    for (const { reject } of this.waiters.splice(0)) reject(cancelled());
  }
}

function cancelled(): TsdbError {
  return new TsdbError("cancelled", "the query was cancelled");
}

export const nativeCalls = new NativeCalls();
