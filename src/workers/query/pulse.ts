// Detects workers that do not return to their event loop. Main sends a message (a look), and the worker answers through shared memory
// (worker-signals.ts), so that a delayed main thread does not take an answer for missing.

/** Interval between two looks at a busy worker. */
export const LOOK_MS = 50;
/** A worker that is silent for longer gets no statements while another one answers. */
export const SILENT_MS = 100;
/** Maximum time counted between two calls: delays of main itself do not count against the worker. */
const ELAPSED_MS_MAX = 2 * LOOK_MS;

/** How long one worker has been silent, in milliseconds. Time in which the main thread itself was delayed does not count. */
export class Pulse {
  private asked = 0;
  private lookedMs: number | null = null;
  private silentMs_ = 0;

  /** Time without an answer, as far as main was running. */
  get silentMs(): number {
    return this.silentMs_;
  }

  get isSilent(): boolean {
    return this.silentMs_ > SILENT_MS;
  }

  /** @param answered the last look that was answered. Returns the number of the next look to send; null if the last one is still
   *  unanswered. */
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

  /** The worker is idle and is not checked. */
  rest(): void {
    this.lookedMs = null;
    this.silentMs_ = 0;
  }
}
