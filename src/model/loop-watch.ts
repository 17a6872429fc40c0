// Stops work that keeps a thread from its event loop for too long. All JavaScript of a thread is entered from its event loop: by a message,
// a timer, a completed DuckDB call, or DuckDB's request for a chunk. Each of these entries goes through `run`, which also drains the
// microtasks of settled promises before it returns, so that code after an `await` is covered. An entry that exceeds the limit is terminated
// wherever it is: its `catch` and `finally` blocks do not run, and data being changed may be inconsistent. The thread survives and handles
// its next message. A loop within a single WebAssembly call cannot be terminated this way.

import { drainMicrotasks } from "bun:jsc";
import { Script } from "node:vm";
import { assert } from "./assert.ts";

/** The kind of event that entered JavaScript. */
export type LoopEntry = "message" | "timer" | "native" | "scan";

export interface LoopWatchOptions {
  /** Time limit of an entry in milliseconds. */
  readonly limitMs: number;
  /** Called after an entry was terminated, outside of it. `label`: the value of LoopWatch.label at that moment. */
  readonly onCut: (label: number | null) => void;
}

/** Global name under which the watched script finds its callback. */
const WORK = "__watchedWork";
const TIMEOUT_CODE = "ERR_SCRIPT_EXECUTION_TIMEOUT";

/** Watches the entries of one thread. Inactive until `start`. */
export class LoopWatch {
  private options: LoopWatchOptions | null = null;
  private script: Script | null = null;
  private work: () => void = () => {};
  private isInside = false;
  /** Identifies the statement being worked on; timers and calls inherit it from the work that started them. Null: none. */
  label: number | null = null;
  /** Test hook that simulates a stuck thread: called first in each entry. */
  onEntry: ((entry: LoopEntry) => void) | null = null;

  /** Starts watching. Before that, and on threads that never start, `run` only calls and `resume` returns its argument. */
  start(options: LoopWatchOptions): void {
    this.options = options;
    this.script = new Script(`${WORK}()`);
    Object.defineProperty(globalThis, WORK, { value: () => this.workAndFollow() });
  }

  /** Stops watching: later entries run to their end. Must not be called within an entry, which could still be terminated. */
  stop(): void {
    assert(!this.isInside, "what is watched cannot end its own watch");
    this.script = null;
    this.options = null;
    this.work = () => {};
  }

  /** Runs `work`; returns false if it was terminated. Exceptions of `work` propagate. */
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
    // drain the remaining microtasks
    this.run(entry, () => {});
    return false;
  }

  /** Code that awaits the returned promise runs in an entry of its own; for promises that are settled outside of JavaScript. */
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

/** The watch of this thread. */
export const loopWatch = new LoopWatch();

/** Turns callbacks of timers into entries. */
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
