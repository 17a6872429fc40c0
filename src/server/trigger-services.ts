// Triggers of one server, put together: the engine that runs them, what users change, and how they hold on to the log.
import { TsdbError } from "../model/errors.ts";
import { type EngineService, TRIGGER_KINDS, type TriggerService } from "../model/triggers.ts";
import type { TriggerWriter, WriteService } from "../model/write.ts";
import type { PluginCaller } from "../plugins/plugin-call.ts";
import type { PluginRuntime } from "../plugins/plugin-runtime.ts";
import type { Wal } from "../storage/wal/wal.ts";
import { SYSTEM_CLOCK } from "../triggers/clock.ts";
import { StoredTriggerLog } from "../triggers/log/stored-log.ts";
import { cutThrough } from "../triggers/log-hold.ts";
import { PositionFile } from "../triggers/positions.ts";
import { TriggerEngine } from "../triggers/trigger-engine.ts";
import { NamedTriggers } from "../triggers/trigger-service.ts";
import { LogThreadClient } from "../workers/triggers/log-thread-client.ts";
import type { Foundation } from "./foundation.ts";

export interface TriggersParts {
  readonly foundation: Foundation;
  readonly wal: Wal;
  readonly writes: WriteService;
  /** Null: the server was started without --plugin-dir, and runs no triggers. */
  readonly runtime: PluginRuntime | null;
  readonly asyncCallsMax: number;
  readonly positions: PositionFile | null;
}

const NO_PLUGINS: Pick<PluginRuntime, "locate"> = {
  locate: () => Promise.reject(new TsdbError("plugin", "Plugin error: Node not configured with plugin directory")),
};

/** What write triggers have seen, as the folder says it; null: nothing is kept. @throws TsdbError io */
export async function openPositions({ config, storage, paths, logs }: Foundation): Promise<PositionFile | null> {
  if (config.objectStore === "memory" || config.readOnly) return null;
  const { file, problem } = await PositionFile.open(storage.walDisk, paths.triggerPositions);
  if (problem !== null) logs("triggers").error(problem);
  return file;
}

/** The services of triggers. Owned: call `stop`. */
export class Triggers {
  readonly service: TriggerService;
  private engine: TriggerEngine | null = null;
  private readonly feed: LogThreadClient;
  private readonly log: StoredTriggerLog;

  constructor(private readonly parts: TriggersParts) {
    const { foundation, wal, runtime, writes } = parts;
    const { config, catalog, kernel, paths, logs } = foundation;
    const serverLog = logs("triggers");
    this.log = new StoredTriggerLog({
      ...{ catalog, writes, clock: SYSTEM_CLOCK },
      report: (level, text, details) => serverLog[level](text, { ...details }),
    });
    this.feed = new LogThreadClient(kernel.shared, paths.wal);
    this.service = new NamedTriggers({
      ...{ catalog, kinds: config.plugins?.triggerKinds ?? new Set(TRIGGER_KINDS), nowMs: () => Date.now() },
      runtime: runtime ?? NO_PLUGINS,
      isExecuting: (id) => this.engine?.isExecuting(id) ?? false,
      durableSequence: () => wal.durableSequence,
      isNode: (nodeId) => nodeId === config.nodeId,
    });
  }

  /** Runs the triggers that are enabled, unless there is nothing to run them. */
  start(): void {
    const { runtime } = this.parts;
    if (runtime !== null) this.engine = this.startEngine(runtime);
  }

  get requests(): EngineService {
    return this.engine ?? { find: () => null };
  }

  /** Frames up to here are durable. */
  logged(sequence: number): void {
    this.engine?.logged(sequence);
  }

  noteRows(databaseId: number, tableId: number, sequence: number): void {
    this.engine?.noteRows(databaseId, tableId, sequence);
  }

  /** How the rows that a plugin writes are marked. */
  writerOf(caller: PluginCaller): TriggerWriter | undefined {
    return this.engine?.writerOf(caller);
  }

  /** How far a flush may cut the log. @throws TsdbError io */
  async cutThrough(flushed: number): Promise<number> {
    const { engine } = this;
    const { storage } = this.parts.foundation;
    if (engine === null) return flushed;
    return cutThrough(flushed, {
      ...{ engine, wal: this.parts.wal, bytesMax: this.parts.foundation.config.plugins?.triggerLogBytesMax ?? 0 },
      isDiskFull: () => storage.space.problem !== null,
    });
  }

  /** Plugins get a KeyboardInterrupt. */
  async stop(): Promise<void> {
    await this.engine?.stop();
    await this.log.flush();
    this.feed.close();
  }

  private startEngine(runtime: PluginRuntime): TriggerEngine {
    const { foundation, wal, asyncCallsMax, positions } = this.parts;
    const { config, catalog, logs } = foundation;
    return new TriggerEngine({
      ...{ catalog, runtime, feed: this.feed, clock: SYSTEM_CLOCK, nodeId: config.nodeId, positions, asyncCallsMax, log: this.log },
      onSaveFailure: (error) =>
        logs("triggers").error("cannot save how far triggers have come; they see rows again after a crash", { err: error }),
      startSequence: wal.durableSequence,
      onRunning: (triggerIds) => this.feed.keepOnly(triggerIds),
    });
  }
}
