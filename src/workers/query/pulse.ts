// Whether a worker comes back to its event loop. Main asks by a message, a look, and the worker answers through shared memory
// (worker-signals.ts), so that a main thread that is late itself does not take a worker for silent that has answered.

/** Between two looks at a worker that has something to do. */
export const LOOK_MS = 50;
/** A worker that is silent for longer gets no statement while another one is not. */
export const SILENT_MS = 100;
/** Time that main itself was away is not the worker's. */
const ELAPSED_MS_MAX = 2 * LOOK_MS;

/** How long one worker has been silent, in milliseconds. Time in which the main thread itself was late does not count. */
export class Pulse {
  private asked = 0;
  private lookedMs: number | null = null;
  private silentMs_ = 0;

  /** For how long the worker has not answered, as far as main was there to see it. */
  get silentMs(): number {
    return this.silentMs_;
  }

  get isSilent(): boolean {
    return this.silentMs_ > SILENT_MS;
  }

  /** @param answered the last look that was answered. Returns the number of the look to ask for now; null: the last one is still open. */
  look(answered: number, nowMs: number): number | null {
    const elapsedMs = this.lookedMs === null ? 0 : Math.min(nowMs - this.lookedMs, ELAPSED_MS_MAX);
    this.lookedMs = nowMs;
    if (answered !== this.asked) {
      this.silentMs_ += elapsedMs;
      return null;
    }
    this.silentMs_ = 0;
    this.asked += 1;
    return this.asked;
  }

  /** The worker has nothing to do, and is not looked at. */
  rest(): void {
    this.lookedMs = null;
    this.silentMs_ = 0;
  }
}
