// DuckDB's asynchronous calls each hold a thread of the process's pool until they are done, which may be never. Here they wait for their
// turn, so that threads remain for the log and for files whatever queries do.
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import { loopWatch } from "../model/loop-watch.ts";

interface Waiter {
  readonly owner: object;
  readonly resolve: () => void;
  readonly reject: (error: TsdbError) => void;
}

export class NativeCalls {
  private free: number = LIMITS.nativeCallsMax;
  private readonly waiters: Waiter[] = [];
  private inFlight_ = 0;
  private isClosed = false;
  private onChange: (inFlight: number) => void = () => {};

  /** Calls that have been made and whose end this thread has not seen. A thread that is ended before takes the process with it. */
  get inFlight(): number {
    return this.inFlight_;
  }

  /** How many calls there may be at a time, and who is told how many there are; set before the first. */
  limit(callsMax: number, onChange: (inFlight: number) => void = () => {}): void {
    this.free = callsMax;
    this.onChange = onChange;
  }

  /** Makes the call when it is its turn, first come first served. @throws TsdbError cancelled when `cancel` came first */
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

  /** Counts a call that is made at once. */
  track<T>(call: Promise<T>): Promise<T> {
    this.onChange(++this.inFlight_);
    // not part of what waits for the call, which may be cut short
    const ended = () => {
      this.onChange(--this.inFlight_);
    };
    call.then(ended, ended);
    return loopWatch.resume(call);
  }

  /** Takes the owner's call out of the queue, if it waits there. */
  cancel(owner: object): void {
    const at = this.waiters.findIndex((waiter) => waiter.owner === owner);
    if (at < 0) return;
    const [waiter] = this.waiters.splice(at, 1);
    waiter!.reject(cancelled());
  }

  /** No call is made any more, but those of `track`. */
  close(): void {
    this.isClosed = true;
    for (const { reject } of this.waiters.splice(0)) reject(cancelled());
  }
}

function cancelled(): TsdbError {
  return new TsdbError("cancelled", "the query was cancelled");
}

export const nativeCalls = new NativeCalls();
