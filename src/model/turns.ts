// Runs a statement's long work in steps: other statements of the worker run in between, and a cancelled statement stops.
import { TsdbError } from "./errors.ts";
import type { Steps } from "./steps.ts";

/** Maximum time without a pause. */
const TURN_MS = 5;

/** The cooperative scheduling of one statement. */
export class Turns {
  private pauseAtMs: number;

  constructor(
    private readonly signal: AbortSignal,
    private readonly turnMs = TURN_MS,
  ) {
    this.pauseAtMs = performance.now() + turnMs;
  }

  /** @throws TsdbError cancelled */
  check(): void {
    if (this.signal.aborted) throw new TsdbError("cancelled", "the query was cancelled");
  }

  /** A promise to await if a pause is due, else null. */
  pause(): Promise<void> | null {
    if (performance.now() < this.pauseAtMs) return null;
    return new Promise((resolve) => setImmediate(resolve)).then(() => {
      this.pauseAtMs = performance.now() + this.turnMs;
      this.check();
    });
  }

  /** Runs all steps and returns their result. A cancelled statement's steps are abandoned. */
  async run<T>(steps: Steps<T>): Promise<T>;
  async run<T>(steps: Steps<T> | null): Promise<T | null>;
  async run<T>(steps: Steps<T> | null): Promise<T | null> {
    if (steps === null) return null;
    try {
      for (;;) {
        const { done, value } = steps.next();
        if (done) return value;
        const pause = this.pause();
        if (pause !== null) await pause;
      }
    } finally {
      // no effect if they have ended
      steps.return(null as T);
    }
  }
}
