// Compiles scripts of tasks before their runs are due: a thousand new tasks of one second would otherwise be compiled in that second.

/** Scripts that wait; runs compile what has no place. Query workers keep about as many. */
const WAITING_MAX = 1000;

/** Compiles one script after another. Owned: call `stop`. */
export class PreparedScripts {
  private readonly waiting = new Set<string>();
  private readonly ending = new AbortController();
  private isBusy = false;

  /** @param prepare may fail: a run reports it */
  constructor(private readonly prepare: (script: string, signal: AbortSignal) => Promise<void>) {}

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
    for (const script of this.waiting) {
      this.waiting.delete(script);
      await this.prepare(script, this.ending.signal).catch(() => {});
    }
    this.isBusy = false;
  }
}
