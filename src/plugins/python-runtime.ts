// Runs plugins in Python processes: one per trigger, several for an asynchronous trigger, and one for each dry run.
import { LIMITS } from "../model/limits.ts";
import type { PluginFiles } from "./files/plugin-files.ts";
import type { PluginCall, PluginCaller, PluginLogLevel, PluginOutcome, PluginPayload } from "./plugin-call.ts";
import type { PluginHost } from "./plugin-host.ts";
import type { PluginRun, PluginRuntime } from "./plugin-runtime.ts";
import { GroupReaper } from "./process/group-reaper.ts";
import type { Interpreter } from "./process/interpreter.ts";
import { MarkedProcesses } from "./process/marked-processes.ts";
import { callFrame } from "./process/payload.ts";
import { PluginProcess, stopped } from "./process/plugin-process.ts";
import { RunRequests } from "./process/run-requests.ts";
import { SharedValues } from "./process/shared-values.ts";
import { StartQueue } from "./process/start-queue.ts";
import { TriggerProcesses } from "./process/trigger-processes.ts";

export interface PythonRuntimeOptions {
  readonly files: PluginFiles;
  readonly interpreter: Interpreter;
  readonly host: PluginHost;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly memoryBytesMax: number;
  /** 0 = no limit. */
  readonly timeMsMax: number;
  /** Maximum concurrent runs of an asynchronous trigger. */
  readonly asyncRunsMax: number;
  /** Of all triggers and dry runs. */
  readonly processesMax: number;
  /** Receives the output of plugins, for the server's log. */
  readonly onPrinted: (of: string, text: string, level: PluginLogLevel) => void;
}

const GLOBAL_SCOPE = "global";
/** Default ttl of values that tests cache. */
const TEST_TTL_SECONDS = 1800;
/** A client waits for a request: a third of a processor that the server wants too, for other plugins a tenth. */
const REQUEST_NICENESS = 5;
const NICENESS = 10;
/** Maximum concurrent dry runs. */
const TESTS_MAX = 2;

/** The runtime of all plugins of one server. */
export class PythonRuntime implements PluginRuntime {
  private readonly triggers = new Map<string, TriggerProcesses>();
  private readonly values = new SharedValues({ bytesMax: LIMITS.pluginValueBytesMax, nowMs: () => performance.now() });
  /** Differs from that of a server that was killed: its processes may not have ended yet. */
  private readonly server = crypto.randomUUID();
  private readonly reaper = new GroupReaper(`${this.server}/`);
  private readonly marked = new MarkedProcesses();
  private startCount = 0;
  private readonly starts = new StartQueue();
  private isStopped = false;

  constructor(private readonly options: PythonRuntimeOptions) {}

  async run(call: PluginCall, run: PluginRun): Promise<PluginOutcome> {
    if (this.isStopped) return { failure: stopped(), response: null, writes: [] };
    const { caller } = call;
    const scope = scopeOf(caller);
    const isTest = caller.kind === "test";
    const frame = callFrame(call, caller.kind === "trigger" && !caller.runAsync ? null : scope, isTest ? `${scope}\0global` : GLOBAL_SCOPE);
    const defaultTtlSeconds = isTest ? TEST_TTL_SECONDS : null;
    const requests = new RunRequests({ host: this.options.host, values: this.values, caller, defaultTtlSeconds });
    return this.processesOf(call).run({ ...run, frame, requests });
  }

  async stopTrigger(database: string, trigger: string): Promise<void> {
    const scope = scopeOf({ kind: "trigger", database, trigger, runAsync: false });
    const processes = this.triggers.get(scope);
    this.triggers.delete(scope);
    await processes?.stop();
    this.values.deleteScope(scope);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    const all = [...this.triggers.values()];
    this.triggers.clear();
    await Promise.all(all.map((processes) => processes.stop()));
    await this.reaper.stop();
  }

  /** Replaces all processes, so that they use the current virtual environment. */
  renew(): void {
    this.options.interpreter.forget();
    for (const processes of this.triggers.values()) processes.renew();
  }

  locate(filename: string, kind: PluginPayload["kind"]): Promise<string> {
    return this.options.files.locate(filename, kind);
  }

  pathOf(filename: string): string {
    return this.options.files.pathOf(filename);
  }

  private processesOf({ caller, payload }: PluginCall): TriggerProcesses {
    // dry runs of all plugins share one pool, whose processes run a single call each
    const key = caller.kind === "test" ? "tests" : scopeOf(caller);
    let processes = this.triggers.get(key);
    if (processes === undefined) {
      const of = caller.kind === "test" ? "test" : `${caller.database}/${caller.trigger}`;
      const isOnce = caller.kind === "test";
      const processesMax = isOnce ? TESTS_MAX : caller.runAsync ? this.options.asyncRunsMax : 1;
      const niceness = payload.kind === "request" ? REQUEST_NICENESS : NICENESS;
      processes = new TriggerProcesses({ processesMax, isOnce, start: (signal) => this.start(of, niceness, signal) });
      this.triggers.set(key, processes);
    }
    return processes;
  }

  /** @throws TsdbError plugin without Python; Error if the operating system cannot start a process, or `signal` is aborted */
  private async start(of: string, niceness: number, signal: AbortSignal): Promise<PluginProcess> {
    const { interpreter, files, memoryBytesMax, timeMsMax, onPrinted } = this.options;
    const { path } = await interpreter.find();
    await this.makePlace();
    const process = await this.starts.run(() => {
      signal.throwIfAborted();
      return new PluginProcess({
        ...{ python: path, folder: files.folder, environment: this.environment(), memoryBytesMax, timeMsMax, niceness },
        ...{ mark: `${this.server}/${this.startCount++}`, marked: this.marked },
        onPrinted: (text, level) => onPrinted(of, text, level),
      });
    });
    this.reaper.add(process.pid, path);
    void process.ended.then(() => this.reaper.remove(process.pid));
    return process;
  }

  /** The server's, tokens included: published plugins read theirs and their configuration's folder from these variables. */
  private environment(): PythonRuntimeOptions["environment"] {
    const { environment, files, interpreter } = this.options;
    const folders = { PLUGIN_DIR: files.folder, INFLUXDB3_PLUGIN_DIR: files.folder };
    return { ...folders, ...(interpreter.hasVirtualEnv ? { VIRTUAL_ENV: interpreter.virtualEnv } : {}), ...environment };
  }

  /** Ends the process with the longest idle time if the limit is reached; processes with cached values come last.
   *  @throws Error if all are busy */
  private async makePlace(): Promise<void> {
    const { processesMax } = this.options;
    const all = [...this.triggers.values()];
    // the process that is to be started is counted
    if (all.reduce((sum, { count }) => sum + count, 0) <= processesMax) return;
    const idle = all.flatMap((processes) => processes.idle);
    idle.sort((a, b) => Number(a.cachedValues > 0) - Number(b.cachedValues > 0) || a.idleSinceMs - b.idleSinceMs);
    if (idle.length === 0) throw new Error(`${processesMax} processes of plugins are busy`);
    await idle[0]!.evict();
  }
}

function scopeOf(caller: PluginCaller): string {
  return caller.kind === "test" ? `test\0${caller.cacheName}` : `trigger\0${caller.database}\0${caller.trigger}`;
}
