// The runtime of plugins as triggers and routes see it.
import type { PluginCall, PluginLogLine, PluginOutcome, PluginPayload } from "./plugin-call.ts";

export interface PluginRun {
  readonly signal: AbortSignal;
  /** In order, while the plugin runs; the last one before the run resolves. */
  readonly onLog: (line: PluginLogLine) => void;
}

export interface PluginRuntime {
  /** Never rejects: errors are the outcome's failure. Runs of one trigger are sequential unless it has `runAsync`; then at most
   *  --async-trigger-concurrency-limit of them overlap. */
  run(call: PluginCall, run: PluginRun): Promise<PluginOutcome>;
  /** Interrupts the trigger's runs, ends its processes and drops its cache. Runs end with the failure `stopped`. */
  stopTrigger(database: string, trigger: string): Promise<void>;
  /** All triggers, as `stopTrigger`. */
  stop(): Promise<void>;
  /** For creating a trigger: finds the plugin `filename` below --plugin-dir, or downloads it for `gh:`, and checks that it is valid Python
   *  with the entry point. The plugin is not executed.
   *  @throws TsdbError plugin: no --plugin-dir, no Python (says what to install), no such file, a syntax error, no entry point */
  locate(filename: string, kind: PluginPayload["kind"]): Promise<string>;
  /** The path of a trigger's plugin, by the name passed to `locate`, without access to the disk. @throws TsdbError plugin, bad_request */
  pathOf(filename: string): string;
}
