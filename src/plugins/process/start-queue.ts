// Starts interpreters a few at a time: a start blocks the main thread for milliseconds, and the interpreter takes a processor for tens of
// them. Fifty triggers of one table would otherwise stop writes for their sum.

/** Concurrent starts. */
const STARTS_MAX = 2;
/** A start that takes longer gives way to the next one. */
const TURN_MS_MAX = 1000;

export interface Starting {
  /** Settles when the interpreter waits for calls, or has ended. */
  readonly started: Promise<void>;
}

/** The turns of starts. */
export class StartQueue {
  private starts = 0;
  private readonly waiting: (() => void)[] = [];

  /** Runs `start` when it is its turn, in the order of the calls. @throws what `start` throws */
  async run<Process extends Starting>(start: () => Process): Promise<Process> {
    if (this.starts >= STARTS_MAX) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.starts++;
    let process: Process;
    try {
      process = start();
    } catch (error) {
      this.pass();
      throw error;
    }
    const timer = setTimeout(() => passOnce(), TURN_MS_MAX);
    let hasPassed = false;
    const passOnce = () => {
      clearTimeout(timer);
      if (hasPassed) return;
      hasPassed = true;
      this.pass();
    };
    void process.started.then(passOnce, passOnce);
    return process;
  }

  /** Hands the turn to the next start. */
  private pass(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.starts--;
    else next();
  }
}
