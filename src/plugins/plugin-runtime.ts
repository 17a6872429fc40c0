// The runtime of plugins as triggers and routes see it.
import type { PluginCall, PluginLogLine, PluginOutcome, PluginPayload } from "./plugin-call.ts";

export interface PluginRun {
  readonly signal: AbortSignal;
  /** In order, while the plugin runs; the last one before the run resolves. */
  readonly onLog: (line: PluginLogLine) => void;
}

export interface PluginRuntime {
  /** Never rejects: what goes wrong is the outcome's failure. Runs of one trigger wait for each other unless it has `runAsync`: then as
   *  many overlap as --async-trigger-concurrency-limit says, and more wait. */
  run(call: PluginCall, run: PluginRun): Promise<PluginOutcome>;
  /** KeyboardInterrupt in what runs for the trigger, then the end of its processes and its cache. Runs end with the failure `stopped`. */
  stopTrigger(database: string, trigger: string): Promise<void>;
  /** All triggers, as `stopTrigger`. */
  stop(): Promise<void>;
  /** For creating a trigger: where the plugin `filename` is, found below --plugin-dir or downloaded for `gh:`, and checked to be Python
   *  that defines the entry point. Nothing of it runs.
   *  @throws TsdbError plugin: no --plugin-dir, no Python (says what to install), no such file, a syntax error, no entry point */
  locate(filename: string, kind: PluginPayload["kind"]): Promise<string>;
  /** Where the plugin of a trigger is, by the name that `locate` took: nothing is looked at. @throws TsdbError as `locate` without files */
  pathOf(filename: string): string;
}
