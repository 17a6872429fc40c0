// Ends work that keeps a thread from its event loop for too long. Whatever a thread runs, its event loop has called: for a message, a
// timer, a call of DuckDB's that has ended, a chunk that DuckDB asks for. Each of these entries goes through `run`; all promises that it
// settles are followed before it returns, so that code behind an `await` is watched, too. What takes too long is thrown out of, from
// wherever it is in its JavaScript: no `catch` and no `finally` of it runs, and what it was changing may be half changed. The thread itself
// is well, and hears its messages again. A loop inside one call of WebAssembly cannot be ended like this.

import { drainMicrotasks } from "bun:jsc";
import { Script } from "node:vm";
import { assert } from "./assert.ts";

/** Where the event loop came in. */
export type LoopEntry = "message" | "timer" | "native" | "scan";

export interface LoopWatchOptions {
  /** Time that an entry may take, in milliseconds. */
  readonly limitMs: number;
  /** An entry has been cut short. Called once the thread is out of it. `label`: LoopWatch.label as it was then. */
  readonly onCut: (label: number | null) => void;
}

/** The name under which the watched script finds its work. */
const WORK = "__watchedWork";
const TIMEOUT_CODE = "ERR_SCRIPT_EXECUTION_TIMEOUT";

export class LoopWatch {
  private options: LoopWatchOptions | null = null;
  private script: Script | null = null;
  private work: () => void = () => {};
  private isInside = false;
  /** Whose work is done: what the work of one sets off, timers and calls, goes on as its own. Null: nobody's. */
  label: number | null = null;
  /** For tests that make a thread stick: called first in each entry. */
  onEntry: ((entry: LoopEntry) => void) | null = null;

  /** From now on. Before, and on threads that never start, `run` only calls and `resume` gives back its promise. */
  start(options: LoopWatchOptions): void {
    this.options = options;
    this.script = new Script(`${WORK}()`);
    Object.defineProperty(globalThis, WORK, { value: () => this.workAndFollow() });
  }

  /** From now on all work is done to its end. Not to be called in an entry: that one would still be cut. */
  stop(): void {
    assert(!this.isInside, "what is watched cannot end its own watch");
    this.script = null;
    this.options = null;
    this.work = () => {};
  }

  /** Runs `work`; false: it was cut short. What `work` throws is thrown. */
  run(entry: LoopEntry, work: () => void, label: number | null = null): boolean {
    const { script, options } = this;
    if (script === null || options === null || this.isInside) {
      work();
      return true;
    }
    this.isInside = true;
    this.label = label;
    this.work = () => {
      this.onEntry?.(entry);
      work();
    };
    try {
      script.runInThisContext({ timeout: options.limitMs });
      this.label = null;
      return true;
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code !== TIMEOUT_CODE) throw error;
    } finally {
      this.isInside = false;
    }
    options.onCut(this.label);
    // what else was to follow
    this.run(entry, () => {});
    return false;
  }

  /** What waits for the promise, which something outside of JavaScript settles, goes on in an entry of its own. */
  resume<T>(promise: Promise<T>): Promise<T> {
    if (this.script === null) return promise;
    const { label } = this;
    return new Promise((resolve, reject) =>
      promise.then(
        (value) => void this.run("native", () => resolve(value), label),
        (error) => void this.run("native", () => reject(error), label),
      ),
    );
  }

  private workAndFollow(): void {
    try {
      this.work();
    } finally {
      drainMicrotasks();
    }
  }
}

/** Of this thread. */
export const loopWatch = new LoopWatch();

/** Makes callbacks of timers entries. */
export function watchTimers(watch: LoopWatch): void {
  for (const name of ["setTimeout", "setInterval", "setImmediate"] as const) {
    const original = globalThis[name] as (callback: (...args: unknown[]) => void, ...rest: unknown[]) => unknown;
    const watched = (callback: (...args: unknown[]) => void, ...rest: unknown[]) => {
      const { label } = watch;
      return original((...args: unknown[]) => void watch.run("timer", () => callback(...args), label), ...rest);
    };
    Object.defineProperty(globalThis, name, { value: watched, configurable: true, writable: true });
  }
}
