// Runs the plugin of one trigger, and applies its error behavior to failures: log, retry, or disable the trigger.
import type { TriggerDef } from "../model/triggers.ts";
import type { PluginFailure, PluginLogLevel, PluginLogLine, PluginPayload, PluginResponse } from "../plugins/plugin-call.ts";
import type { PluginRuntime } from "../plugins/plugin-runtime.ts";
import { type Clock, pause } from "./clock.ts";

/** Pauses before the retries of a call with the error behavior `retry`. */
const RETRY_PAUSES_MS: readonly number[] = [500, 1000, 2000, 4000, 8000];
/** Pause between attempts while Python or the plugin is missing. */
export const NOT_READY_PAUSE_MS = 10_000;

export interface TriggerCallsParts {
  readonly trigger: TriggerDef;
  readonly database: string;
  readonly runtime: PluginRuntime;
  readonly clock: Clock;
  readonly log: (level: PluginLogLevel, text: string) => void;
  /** Receives the lines that the plugin's code logs. */
  readonly logPlugin: (line: PluginLogLine) => void;
  /** Disables the trigger because of its error. */
  readonly disable: () => void;
}

/** `failed`: after all retries. `stopped`: the trigger or the server was stopped, or the client has disconnected; the call does not
 *  count. */
export type CallResult =
  | { readonly kind: "done"; readonly response: PluginResponse | null }
  | { readonly kind: "failed"; readonly failure: PluginFailure }
  | { readonly kind: "stopped" };

/** Calls the plugin of one trigger. */
export class TriggerCalls {
  /** Number of current runs. */
  running = 0;
  private readonly stopped = new AbortController();
  private plugin: string | undefined;

  constructor(private readonly parts: TriggerCallsParts) {}

  get signal(): AbortSignal {
    return this.stopped.signal;
  }

  /** Ends all runs and accepts no more calls. Resolves when the plugin's processes have ended. */
  stop(): Promise<void> {
    this.stopped.abort();
    const { runtime, database, trigger } = this.parts;
    return runtime.stopTrigger(database, trigger.name);
  }

  /** Never rejects. With `waits` a call waits while Python or the plugin is missing. */
  async run(payload: PluginPayload, { signal, waits = false }: { signal?: AbortSignal; waits?: boolean } = {}): Promise<CallResult> {
    const { trigger, clock, log, disable } = this.parts;
    const ended = signal === undefined ? this.signal : AbortSignal.any([this.signal, signal]);
    for (let retries = 0; ; ) {
      const outcome = await this.runOnce(payload, ended);
      if (outcome.failure === null) return { kind: "done", response: outcome.response };
      const { failure } = outcome;
      if (ended.aborted || failure.kind === "stopped") return { kind: "stopped" };
      log("error", textOf(failure));
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
    const { runtime, trigger, database, logPlugin } = this.parts;
    this.running++;
    try {
      this.plugin ??= await runtime.locate(trigger.plugin, payload.kind);
      const caller = { kind: "trigger", database, trigger: trigger.name, runAsync: trigger.runAsync } as const;
      const call = { caller, plugin: this.plugin, payload, arguments: trigger.arguments };
      return await runtime.run(call, { signal, onLog: logPlugin });
    } catch (error) {
      // the plugin is missing: handled as missing Python, because it may be restored
      return { failure: { kind: "no-python", message: (error as Error).message, traceback: null }, response: null };
    } finally {
      this.running--;
    }
  }
}

/** The traceback of an exception ends with its message; other failures have a cause that the traceback does not tell. */
function textOf({ kind, message, traceback }: PluginFailure): string {
  if (traceback === null) return message;
  return kind === "exception" ? traceback : `${message}\n${traceback}`;
}
