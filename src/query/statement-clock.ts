// How long a statement takes: to be planned, and then to be computed and encoded. Time in which its client takes the bytes does not count.

export interface StatementTimes {
  readonly planMs: number;
  readonly computeMs: number;
}

/** Runs from the moment it is made. */
export class StatementClock {
  private readonly startMs = performance.now();
  private planMs = 0;
  private computeMs = 0;
  private resumedMs = this.startMs;

  /** Called when the statement begins to read; returns the milliseconds of planning. */
  planned(): number {
    this.resumedMs = performance.now();
    this.planMs = this.resumedMs - this.startMs;
    return this.planMs;
  }

  /** From now on the client's time runs. */
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
