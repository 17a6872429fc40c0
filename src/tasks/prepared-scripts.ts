// Compiles scripts of tasks before their runs are due: a thousand new tasks of one second would otherwise be compiled in that second. Once
// there are many, it also runs what is common to them, so that their first runs find compiled code.

/** Scripts that wait; runs compile what has no place. Query workers keep about as many. */
const WAITING_MAX = 1000;
/** So many scripts are many: the first runs of fewer end within a moment. */
const MANY = 32;

/** Compiles one script after another. Owned: call `stop`. */
export class PreparedScripts {
  private readonly waiting = new Set<string>();
  private readonly ending = new AbortController();
  private isBusy = false;
  private count = 0;
  private isWarm = false;

  constructor(
    /** May fail: a run reports it. */
    private readonly prepare: (script: string, signal: AbortSignal) => Promise<void>,
    /** Runs something; false: nothing is left to run. May fail, and is not called again. */
    private readonly warm: (signal: AbortSignal) => Promise<boolean>,
  ) {}

  add(script: string): void {
    if (this.waiting.size >= WAITING_MAX || this.ending.signal.aborted) return;
    this.waiting.add(script);
    if (!this.isBusy) void this.work();
  }

  stop(): void {
    this.waiting.clear();
    this.ending.abort();
  }

  private async work(): Promise<void> {
    this.isBusy = true;
    // all scripts of one turn are known before the first is compiled
    await Promise.resolve();
    do {
      for (const script of this.waiting) {
        this.waiting.delete(script);
        this.count++;
        await this.prepare(script, this.ending.signal).catch(() => {});
      }
    } while (await this.warmUp());
    this.isBusy = false;
  }

  /** Runs one of the things to be warm. False: there is none, and no script waits. */
  private async warmUp(): Promise<boolean> {
    const { signal } = this.ending;
    if (!this.isWarm && this.count >= MANY && !signal.aborted) this.isWarm = !(await this.warm(signal).catch(() => false));
    return this.waiting.size > 0 || (!this.isWarm && this.count >= MANY && !signal.aborted);
  }
}
