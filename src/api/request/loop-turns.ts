// Turns of the event loop that large bodies leave to others. A body of a few megabytes is received and stored in one turn if its bytes are
// there: up to 4 ms in which no statement arrives and no answer leaves. While clients ask statements, it is done in several, and a small
// statement has the right of way: its answer would wait for whatever turn is under way when the worker has it.

/** Statements within this time count as present. */
const PRESENT_MS = 1000;
/** Bodies let a statement pass for as long as a small one takes. */
export const YIELD_MS = 4;
/** Bytes of a body between two turns. */
export const TURN_BYTES = 256 * 1024;

/** Splits the work on large bodies. Pausing makes the runtime buffer what it has received, which costs a fifth more per body: without
 *  statements it is omitted. */
export class LoopTurns {
  private lastMs = Number.NEGATIVE_INFINITY;
  private readonly waiting: (() => void)[] = [];
  /** Those that may be small and have not been answered, the oldest first. */
  private readonly begun = new Set<{ readonly atMs: number }>();
  /** Since when bodies have let statements pass; null: they do not. */
  private yieldingMs: number | null = null;
  /** Until then they go first: they get at least half of the time, whatever clients ask. */
  private ownMs = Number.NEGATIVE_INFINITY;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly step = () => {
    if (this.yields()) return;
    const resume = this.waiting.shift()!;
    if (this.waiting.length > 0) setImmediate(this.step);
    resume();
  };

  /** @param nowMs a monotonic clock */
  constructor(private readonly nowMs: () => number) {}

  /** A client has asked a statement. */
  noteStatement(): void {
    this.lastMs = this.nowMs();
  }

  /** A client has asked a statement that bodies let pass, unless it takes long. The returned function is to be called when its
   *  answer is there. */
  beginStatement(): () => void {
    this.noteStatement();
    const statement = { atMs: this.lastMs };
    this.begun.add(statement);
    return () => {
      this.begun.delete(statement);
      // the answer leaves in this turn, bodies go on in the next one
      if (this.yieldingMs !== null && !this.hasSmall(this.nowMs())) this.goOn();
    };
  }

  /** Undefined if nobody asks statements. Otherwise resolves after the event loop has looked at all sockets, for one caller in each of its
   *  turns, in their order, and when no small statement is under way. */
  next(): Promise<void> | undefined {
    if (this.nowMs() - this.lastMs > PRESENT_MS) return undefined;
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (this.waiting.length === 1) setImmediate(this.step);
    });
  }

  /** True if bodies wait: until the statements are answered, or for YIELD_MS. */
  private yields(): boolean {
    const nowMs = this.nowMs();
    if (nowMs < this.ownMs || !this.hasSmall(nowMs)) return false;
    this.yieldingMs = nowMs;
    this.timer = setTimeout(() => this.goOn(), YIELD_MS);
    return true;
  }

  private goOn(): void {
    clearTimeout(this.timer);
    const nowMs = this.nowMs();
    this.ownMs = nowMs + (nowMs - this.yieldingMs!);
    this.yieldingMs = null;
    setImmediate(this.step);
  }

  /** True if a statement began so short a time ago that it may be a small one. */
  private hasSmall(nowMs: number): boolean {
    for (const statement of this.begun) {
      if (nowMs - statement.atMs < YIELD_MS) return true;
      this.begun.delete(statement);
    }
    return false;
  }
}

/** The turns of the main thread's event loop. */
export const loopTurns = new LoopTurns(() => performance.now());
