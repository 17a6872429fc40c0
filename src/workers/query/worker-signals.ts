// What main and a query worker tell each other without a message, which a worker would hear only when it comes back to its event loop:
//
// | last look that the worker has answered | its calls of DuckDB under way | one word for each statement ... |
//
// A look is main's question whether the worker is there (pulse.ts). A statement's word: SENT, then BEGUN by the worker or WITHDRAWN by
// main, the first of them; STOPPED is added by main, and read in the midst of the worker's loops.

const LOOK = 0;
const CALLS = 1;
const FIRST_PLACE = 2;

const SENT = 0;
const BEGUN = 1;
const WITHDRAWN = 2;
const STOPPED = 4;

/** The worker's side, and what both have. */
export class WorkerSignals {
  protected readonly words: Int32Array;

  constructor(readonly buffer: SharedArrayBuffer) {
    this.words = new Int32Array(buffer);
  }

  /** The worker is at its event loop. */
  answer(look: number): void {
    Atomics.store(this.words, LOOK, look);
  }

  /** So many calls are under way from now on. */
  setNativeCalls(count: number): void {
    Atomics.store(this.words, CALLS, count);
  }

  /** False: main has given the statement to another worker. */
  begin(place: number): boolean {
    return (Atomics.or(this.words, place, BEGUN) & WITHDRAWN) === 0;
  }

  isStopped(place: number): boolean {
    return (Atomics.load(this.words, place) & STOPPED) !== 0;
  }
}

/** Main's side, which gives out the places. */
export class StatementSignals extends WorkerSignals {
  private readonly free: number[] = [];
  private nextPlace = FIRST_PLACE;

  /** @param statementsMax statements that have a place at a time */
  constructor(statementsMax: number) {
    super(new SharedArrayBuffer((FIRST_PLACE + statementsMax) * Int32Array.BYTES_PER_ELEMENT));
  }

  get answered(): number {
    return Atomics.load(this.words, LOOK);
  }

  get nativeCalls(): number {
    return Atomics.load(this.words, CALLS);
  }

  /** Null: there is none left, and the statement goes without. */
  take(): number | null {
    const place = this.free.pop() ?? (this.nextPlace < this.words.length ? this.nextPlace++ : null);
    if (place !== null) Atomics.store(this.words, place, SENT);
    return place;
  }

  /** Once the worker has said its last word of the statement. */
  giveBack(place: number): void {
    this.free.push(place);
  }

  stop(place: number): void {
    Atomics.or(this.words, place, STOPPED);
  }

  hasBegun(place: number): boolean {
    return (Atomics.load(this.words, place) & BEGUN) !== 0;
  }

  /** True: the worker will not begin the statement any more. */
  withdraw(place: number): boolean {
    return Atomics.compareExchange(this.words, place, SENT, WITHDRAWN) === SENT;
  }
}
