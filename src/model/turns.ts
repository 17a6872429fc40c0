// Long work of a statement in steps: others of the worker have their turn in between, and a statement that is cancelled stops.
import { TsdbError } from "./errors.ts";
import type { Steps } from "./steps.ts";

/** Without a pause. */
const TURN_MS = 5;

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

  /** Null: it is not time for a pause yet. */
  pause(): Promise<void> | null {
    if (performance.now() < this.pauseAtMs) return null;
    return new Promise((resolve) => setImmediate(resolve)).then(() => {
      this.pauseAtMs = performance.now() + this.turnMs;
      this.check();
    });
  }

  /** What steps end with. They are left when the statement is cancelled. */
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
      // without effect when they have ended
      steps.return(null as T);
    }
  }
}
