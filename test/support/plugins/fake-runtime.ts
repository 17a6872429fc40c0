// A plugin runtime without Python, for tests of triggers: the test determines the outcome of runs.
import type { PluginCall, PluginFailureKind, PluginOutcome } from "../../../src/plugins/plugin-call.ts";
import type { PluginRun, PluginRuntime } from "../../../src/plugins/plugin-runtime.ts";

export const DONE: PluginOutcome = { failure: null, response: null, writes: [] };

/** The outcome of a call that failed. */
export function failed(kind: PluginFailureKind = "exception", message = "it failed"): PluginOutcome {
  return { failure: { kind, message, traceback: null }, response: null, writes: [] };
}

/** A plugin runtime whose outcomes the test determines. */
export class FakeRuntime implements PluginRuntime {
  /** In the order in which runs began. */
  readonly calls: PluginCall[] = [];
  readonly stopped: string[] = [];
  running = 0;
  /** What a run does. */
  answer: (call: PluginCall, run: PluginRun) => PluginOutcome | Promise<PluginOutcome> = () => DONE;
  locate: PluginRuntime["locate"] = (filename) => Promise.resolve(`/plugins/${filename}`);

  pathOf(filename: string): string {
    return `/plugins/${filename}`;
  }

  async run(call: PluginCall, run: PluginRun): Promise<PluginOutcome> {
    this.calls.push(call);
    this.running++;
    const stop = Promise.withResolvers<PluginOutcome>();
    const onAbort = () => stop.resolve(failed("stopped", "stopped"));
    run.signal.addEventListener("abort", onAbort);
    try {
      return await Promise.race([this.answer(call, run), stop.promise]);
    } finally {
      run.signal.removeEventListener("abort", onAbort);
      this.running--;
    }
  }

  async stopTrigger(database: string, trigger: string): Promise<void> {
    this.stopped.push(`${database}/${trigger}`);
  }

  async stop(): Promise<void> {
    this.stopped.push("all");
  }
}

/** A clock that advances on command. */
export class FakeClock {
  private readonly timers = new Set<{ atMs: number; run: () => void }>();

  constructor(private ms = 0) {}

  nowMs(): number {
    return this.ms;
  }

  after(milliseconds: number, run: () => void): () => void {
    const timer = { atMs: this.ms + milliseconds, run };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  /** Sets the clock without firing timers, like an administrator's change of the system time. */
  set(ms: number): void {
    const by = ms - this.ms;
    this.ms = ms;
    for (const timer of this.timers) timer.atMs += by;
  }

  /** Advances time; timers fire in order. */
  async advance(milliseconds: number): Promise<void> {
    const endMs = this.ms + milliseconds;
    await settle();
    for (;;) {
      const [next] = [...this.timers].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.timers.delete(next);
      this.ms = Math.max(this.ms, next.atMs);
      next.run();
      await settle();
    }
    this.ms = endMs;
  }
}

/** Runs pending promise callbacks. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}
