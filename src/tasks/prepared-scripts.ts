// Compiles scripts of tasks before their runs are due: a thousand new tasks of one second would otherwise be compiled in that second. The
// first of a process also run once ahead, without storing anything: code that has not run before takes two to three times as long.
import type { Task } from "../metadata/resources/tasks.ts";

export interface PreparedParts {
  /** May fail: a run reports it. */
  readonly prepare: (task: Task, signal: AbortSignal) => Promise<void>;
  /** Runs the script without effect. May fail. */
  readonly rehearse: (task: Task, signal: AbortSignal) => Promise<void>;
  readonly mayRehearse: () => boolean;
}

/** Scripts that wait; runs compile what has no place. Query workers keep about as many. */
const WAITING_MAX = 1000;
/** The runtime has compiled what most scripts use after about a hundred runs. */
export const REHEARSALS_MAX = 200;
/** A rehearsal that takes longer is ended: it reads much, and the others have the same code. */
const REHEARSAL_MS_MAX = 100;

/** Prepares one script after another. Owned: call `stop`. */
export class PreparedScripts {
  /** By script. */
  private readonly waiting = new Map<string, Task>();
  private readonly ending = new AbortController();
  private isBusy = false;
  private rehearsals = 0;

  constructor(private readonly parts: PreparedParts) {}

  add(task: Task): void {
    if (this.waiting.size >= WAITING_MAX || this.ending.signal.aborted) return;
    this.waiting.set(task.flux, task);
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
    for (const [script, task] of this.waiting) {
      this.waiting.delete(script);
      await this.make(task).catch(() => {});
    }
    this.isBusy = false;
  }

  private async make(task: Task): Promise<void> {
    const { signal } = this.ending;
    await this.parts.prepare(task, signal);
    if (this.rehearsals >= REHEARSALS_MAX || !this.parts.mayRehearse()) return;
    this.rehearsals += 1;
    await this.parts.rehearse(task, AbortSignal.any([signal, AbortSignal.timeout(REHEARSAL_MS_MAX)]));
  }
}
