// Makes tasks ready before they are due: a thousand new tasks of one second would otherwise be compiled in that second, by code that has
// hardly run. Compiles each script, and once there are many, runs them without effects while the server is idle.

import { type Clock, pause } from "../triggers/clock.ts";

export interface RehearsalParts {
  readonly clock: Clock;
  /** Compiles a script for later runs. May fail: a run reports it. */
  readonly prepareScript: (script: string, signal: AbortSignal) => Promise<void>;
  /** False: scripts are compiled only. */
  readonly rehearses: boolean;
  /** True while statements run. */
  readonly isBusy: () => boolean;
  /** Called when nothing is left to rehearse, with the number of rehearsals so far. */
  readonly rehearsed: (count: number) => void;
}

/** Compiled scripts that wait, and those to rehearse; runs compile what has no place. Query workers keep about as many. */
const SCRIPTS_MAX = 1000;
/** So many scripts are many: the first runs of fewer end within a moment. */
const MANY = 32;
/** Rehearsals of each script: the last stage of compilation comes after thousands of runs. */
const ROUNDS = 3;
/** A rehearsal ends after this time: it is of no use to read all rows of a long range. */
const REHEARSAL_MS = 50;
/** All rehearsals of a process together. */
const ALL_MS = 5000;
/** Between two looks at a busy server, */
const POLL_MS = 5;
/** which has run enough after all this waiting. */
const WAIT_MS = 60_000;

/** The work of one process, one script after another. Owned: call `stop`. */
export class Rehearsals {
  /** Task ids by script. */
  private readonly waiting = new Map<string, string>();
  private readonly prepared: string[] = [];
  private readonly ending = new AbortController();
  private isAtWork = false;
  private count = 0;
  private spentMs = 0;
  private waitedMs = 0;

  constructor(
    private readonly parts: RehearsalParts,
    /** Runs the script of a task without effects, until the signal ends it. May fail. */
    private readonly rehearse: (taskID: string, signal: AbortSignal) => Promise<void>,
  ) {}

  add(taskID: string, script: string): void {
    if (this.waiting.size >= SCRIPTS_MAX || this.ending.signal.aborted) return;
    this.waiting.set(script, taskID);
    if (!this.isAtWork) void this.work();
  }

  stop(): void {
    this.waiting.clear();
    this.ending.abort();
  }

  private async work(): Promise<void> {
    this.isAtWork = true;
    const before = this.count;
    // all scripts of one turn are known before the first is compiled
    await Promise.resolve();
    for (;;) {
      const [next] = this.waiting;
      if (next !== undefined) await this.prepare(...next);
      else if (this.hasMore) await this.rehearseNext();
      else break;
    }
    this.isAtWork = false;
    if (this.count > before) this.parts.rehearsed(this.count);
  }

  private async prepare(script: string, taskID: string): Promise<void> {
    this.waiting.delete(script);
    if (this.prepared.length < SCRIPTS_MAX) this.prepared.push(taskID);
    await this.parts.prepareScript(script, this.ending.signal).catch(() => {});
  }

  private get hasMore(): boolean {
    const { prepared, count, spentMs, waitedMs, ending, parts } = this;
    const isMany = prepared.length >= MANY && count < prepared.length * ROUNDS;
    return parts.rehearses && isMany && spentMs < ALL_MS && waitedMs < WAIT_MS && !ending.signal.aborted;
  }

  private async rehearseNext(): Promise<void> {
    const { clock, isBusy } = this.parts;
    if (isBusy()) {
      this.waitedMs += POLL_MS;
      return pause(clock, POLL_MS, this.ending.signal);
    }
    const taskID = this.prepared[this.count++ % this.prepared.length]!;
    const end = new AbortController();
    const cancel = clock.after(REHEARSAL_MS, () => end.abort());
    const startMs = clock.nowMs();
    await this.rehearse(taskID, AbortSignal.any([this.ending.signal, end.signal])).catch(() => {});
    cancel();
    this.spentMs += Math.max(0, clock.nowMs() - startMs);
  }
}
