// Runs of one trigger's plugin, with what its error behavior says when one fails: it is logged, runs again, or disables the trigger.
import type { TriggerDef } from "../model/triggers.ts";
import type { PluginFailure, PluginLogLevel, PluginPayload, PluginResponse } from "../plugins/plugin-call.ts";
import type { PluginRuntime } from "../plugins/plugin-runtime.ts";
import { type Clock, pause } from "./clock.ts";

/** Pauses before the second to the sixth run of a call with the error behavior `retry`. */
export const RETRY_PAUSES_MS: readonly number[] = [500, 1000, 2000, 4000, 8000];
/** While there is no Python or no plugin: it may come. */
export const NOT_READY_PAUSE_MS = 10_000;

export interface TriggerCallsParts {
  readonly trigger: TriggerDef;
  readonly database: string;
  readonly runtime: PluginRuntime;
  readonly clock: Clock;
  readonly log: (level: PluginLogLevel, text: string) => void;
  /** Disables the trigger, for its own error. */
  readonly disable: () => void;
}

/** `failed`: for good. `stopped`: the trigger or the server is stopped, or no client waits for the answer any more; the call does not
 *  count. */
export type CallResult =
  | { readonly kind: "done"; readonly response: PluginResponse | null }
  | { readonly kind: "failed"; readonly failure: PluginFailure }
  | { readonly kind: "stopped" };

export class TriggerCalls {
  /** Runs that have begun and not ended. */
  running = 0;
  private readonly stopped = new AbortController();
  private plugin: string | undefined;

  constructor(private readonly parts: TriggerCallsParts) {}

  get signal(): AbortSignal {
    return this.stopped.signal;
  }

  /** Ends what runs, and takes no more calls. Resolves when the plugin's processes are gone. */
  stop(): Promise<void> {
    this.stopped.abort();
    const { runtime, database, trigger } = this.parts;
    return runtime.stopTrigger(database, trigger.name);
  }

  /** Never rejects. With `waits` a call whose plugin cannot run at all waits until it can. */
  async run(payload: PluginPayload, { signal, waits = false }: { signal?: AbortSignal; waits?: boolean } = {}): Promise<CallResult> {
    const { trigger, clock, log, disable } = this.parts;
    const ended = signal === undefined ? this.signal : AbortSignal.any([this.signal, signal]);
    for (let retries = 0; ; ) {
      const outcome = await this.runOnce(payload, ended);
      if (outcome.failure === null) return { kind: "done", response: outcome.response };
      const { failure } = outcome;
      if (ended.aborted || failure.kind === "stopped") return { kind: "stopped" };
      log("error", failure.traceback ?? failure.message);
      if (failure.kind === "no-python" && waits) {
        await pause(clock, NOT_READY_PAUSE_MS, ended);
        continue;
      }
      const pauseMs = trigger.errorBehavior === "retry" ? RETRY_PAUSES_MS[retries] : undefined;
      if (pauseMs === undefined) {
        if (retries > 0) log("error", `gave up after ${retries + 1} runs`);
        if (trigger.errorBehavior === "disable") disable();
        return { kind: "failed", failure };
      }
      retries++;
      await pause(clock, pauseMs, ended);
    }
  }

  private async runOnce(
    payload: PluginPayload,
    signal: AbortSignal,
  ): Promise<{ failure: PluginFailure | null; response: PluginResponse | null }> {
    if (signal.aborted) return { failure: { kind: "stopped", message: "stopped", traceback: null }, response: null };
    const { runtime, trigger, database, log } = this.parts;
    this.running++;
    try {
      this.plugin ??= await runtime.locate(trigger.plugin, payload.kind);
      const caller = { kind: "trigger", database, trigger: trigger.name, runAsync: trigger.runAsync } as const;
      const call = { caller, plugin: this.plugin, payload, arguments: trigger.arguments };
      return await runtime.run(call, { signal, onLog: ({ level, text }) => log(level, text) });
    } catch (error) {
      // the plugin is not where it was: as good as no Python, since it may come back
      return { failure: { kind: "no-python", message: (error as Error).message, traceback: null }, response: null };
    } finally {
      this.running--;
    }
  }
}
