// Signals between main and a query worker in shared memory, effective before the worker returns to its event loop:
//
//   | last look that the worker has answered | its DuckDB calls in flight | one word for each statement ... |
//
// A look is main's check whether the worker responds (pulse.ts). A statement's word: SENT, then either BEGUN by the worker or WITHDRAWN by
// main, whichever is first; main may add STOPPED, which the worker's loops check.

const LOOK = 0;
const CALLS = 1;
const FIRST_PLACE = 2;

const SENT = 0;
const BEGUN = 1;
const WITHDRAWN = 2;
const STOPPED = 4;

/** The worker's side, and the common part. */
export class WorkerSignals {
  protected readonly words: Int32Array;

  constructor(readonly buffer: SharedArrayBuffer) {
    this.words = new Int32Array(buffer);
  }

  /** Answers a look: the worker is at its event loop. */
  answer(look: number): void {
    Atomics.store(this.words, LOOK, look);
  }

  /** Publishes the number of calls in flight. */
  setNativeCalls(count: number): void {
    Atomics.store(this.words, CALLS, count);
  }

  /** Returns false if main has withdrawn the statement. */
  begin(place: number): boolean {
    return (Atomics.or(this.words, place, BEGUN) & WITHDRAWN) === 0;
  }

  isStopped(place: number): boolean {
    return (Atomics.load(this.words, place) & STOPPED) !== 0;
  }
}

/** Main's side, which allocates the words. */
export class StatementSignals extends WorkerSignals {
  private readonly free: number[] = [];
  private nextPlace = FIRST_PLACE;

  /** @param statementsMax maximum statements with a word at a time */
  constructor(statementsMax: number) {
    super(new SharedArrayBuffer((FIRST_PLACE + statementsMax) * Int32Array.BYTES_PER_ELEMENT));
  }

  get answered(): number {
    return Atomics.load(this.words, LOOK);
  }

  get nativeCalls(): number {
    return Atomics.load(this.words, CALLS);
  }

  /** Returns null if none is left: the statement then runs without a word. */
  take(): number | null {
    const place = this.free.pop() ?? (this.nextPlace < this.words.length ? this.nextPlace++ : null);
    if (place !== null) Atomics.store(this.words, place, SENT);
    return place;
  }

  /** Call after the worker's last message about the statement. */
  giveBack(place: number): void {
    this.free.push(place);
  }

  stop(place: number): void {
    Atomics.or(this.words, place, STOPPED);
  }

  hasBegun(place: number): boolean {
    return (Atomics.load(this.words, place) & BEGUN) !== 0;
  }

  /** Returns true if the worker will not start the statement. */
  withdraw(place: number): boolean {
    return Atomics.compareExchange(this.words, place, SENT, WITHDRAWN) === SENT;
  }
}
