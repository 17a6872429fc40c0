// The interface through which the engine logs lines of triggers and plugins.
import type { PluginLogLevel } from "../../plugins/plugin-call.ts";

export interface TriggerLogLine {
  readonly databaseId: number;
  readonly trigger: string;
  readonly level: PluginLogLevel;
  readonly text: string;
  /** True: logged by the plugin's code; false: by the engine about the trigger. */
  readonly isOfPlugin: boolean;
}

export interface TriggerLog {
  /** Never throws: a line that cannot be kept is counted. */
  add(line: TriggerLogLine): void;
}
