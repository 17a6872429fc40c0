// Turns of the main thread's event loop that answers leave to others. A worker sends the next part of an answer as soon as one was taken,
// and the loop handles messages as long as there are any: a client that reads as fast as the answer comes would keep it from all sockets.

/** Milliseconds of a turn in which answers are passed on. */
const TURN_MS = 1;

/** Limits the time that all answers together take of a turn. */
export class AnswerTurns {
  /** Null: nothing was passed on in this turn yet. */
  private beganMs: number | null = null;
  private waiting: (() => void)[] = [];

  /** @param nowMs a monotonic clock @param nextTurn calls back after the event loop has looked at all sockets */
  constructor(
    private readonly nowMs: () => number,
    private readonly nextTurn: (call: () => void) => void,
  ) {}

  /** Returns true if the turn has time left; otherwise calls back in the next one, where it may be asked again. */
  mayGoOn(call: () => void): boolean {
    if (this.beganMs === null) {
      this.beganMs = this.nowMs();
      this.nextTurn(() => this.begin());
      return true;
    }
    if (this.waiting.length === 0 && this.nowMs() - this.beganMs < TURN_MS) return true;
    this.waiting.push(call);
    return false;
  }

  private begin(): void {
    const { waiting } = this;
    this.waiting = [];
    this.beganMs = null;
    for (const call of waiting) call();
  }
}
