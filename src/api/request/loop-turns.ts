// Turns of the event loop that large bodies leave to others. A body of a few megabytes is received and stored in one turn if its bytes are
// there: up to 4 ms in which no statement arrives and no answer leaves. While clients ask statements, it is done in several.

/** Statements within this time count as present. */
const PRESENT_MS = 1000;
/** Bytes of a body between two turns. */
export const TURN_BYTES = 256 * 1024;

/** Splits the work on large bodies. Pausing makes the runtime buffer what it has received, which costs a fifth more per body: without
 *  statements it is omitted. */
export class LoopTurns {
  private lastMs = Number.NEGATIVE_INFINITY;
  private readonly waiting: (() => void)[] = [];
  private readonly step = () => {
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

  /** Undefined if nobody asks statements. Otherwise resolves after the event loop has looked at all sockets, for one caller in each of its
   *  turns, in their order. */
  next(): Promise<void> | undefined {
    if (this.nowMs() - this.lastMs > PRESENT_MS) return undefined;
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (this.waiting.length === 1) setImmediate(this.step);
    });
  }
}

/** The turns of the main thread's event loop. */
export const loopTurns = new LoopTurns(() => performance.now());
