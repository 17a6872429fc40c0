// Measures a statement's planning time, and its time of computing and encoding. Time in which its client reads does not count.

export interface StatementTimes {
  readonly planMs: number;
  readonly computeMs: number;
}

/** Runs from its creation. */
export class StatementClock {
  private readonly startMs = performance.now();
  private planMs = 0;
  private computeMs = 0;
  private resumedMs = this.startMs;

  /** Call it when the statement begins to read; returns the milliseconds of planning. */
  planned(): number {
    this.resumedMs = performance.now();
    this.planMs = this.resumedMs - this.startMs;
    return this.planMs;
  }

  /** Pauses while the client reads. */
  pause(): void {
    this.computeMs += performance.now() - this.resumedMs;
  }

  resume(): void {
    this.resumedMs = performance.now();
  }

  times(): StatementTimes {
    return { planMs: this.planMs, computeMs: this.computeMs };
  }
}
