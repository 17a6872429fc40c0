// The triggers that run on this server: follows the catalog, starting those that are enabled and stopping the others.
import type { EngineRoute, EngineService, TriggerDef } from "../model/triggers.ts";
import type { TriggerWriter } from "../model/write.ts";
import type { PluginCaller, PluginLogLevel } from "../plugins/plugin-call.ts";
import type { PluginRuntime } from "../plugins/plugin-runtime.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { Clock } from "./clock.ts";
import type { LogFeed } from "./log-feed.ts";
import { namedTables } from "./named-tables.ts";
import type { PositionFile } from "./positions.ts";
import { RunningTrigger } from "./running-trigger.ts";
import { parseTriggerSpec } from "./spec.ts";
import type { TriggerLog } from "./trigger-log.ts";

export interface TriggerEngineParts {
  readonly catalog: Catalog;
  readonly runtime: PluginRuntime;
  readonly feed: LogFeed;
  readonly clock: Clock;
  readonly nodeId: string;
  /** Null: nothing is kept past the process. */
  readonly positions: PositionFile | null;
  readonly log: TriggerLog;
  /** The server's log. */
  readonly report: (level: PluginLogLevel, text: string, details: Readonly<Record<string, unknown>>) => void;
  /** The newest durable frame at the start: what came before may have rows for any trigger. */
  readonly startSequence: number;
  /** Those that run have changed. */
  readonly onRunning: (triggerIds: readonly number[]) => void;
  /** Calls of an asynchronous trigger at a time. */
  readonly asyncCallsMax: number;
}

const SAVE_MS = 1000;

export class TriggerEngine implements EngineService {
  private readonly running = new Map<number, RunningTrigger>();
  /** Stops under way, by trigger: a name that is used again waits for them. */
  private readonly stopping = new Map<string, Promise<void>>();
  private durable: number;
  /** The newest frames with rows of them. */
  private readonly lastOfDatabase = new Map<number, number>();
  private readonly lastOfTable = new Map<number, number>();
  private isStopped = false;
  private cancelSave: () => void = () => {};
  private saving: Promise<void> = Promise.resolve();

  constructor(private readonly parts: TriggerEngineParts) {
    this.durable = parts.startSequence;
    parts.catalog.onTriggerChanges(() => this.follow());
    this.follow();
    this.saveLater();
  }

  /** Frames up to here are durable. Called for each group of the log. */
  logged(sequence: number): void {
    this.durable = sequence;
    for (const { writes } of this.running.values()) writes?.wake();
  }

  /** A frame has rows of the table. */
  noteRows(databaseId: number, tableId: number, sequence: number): void {
    this.lastOfDatabase.set(databaseId, sequence);
    this.lastOfTable.set(tableId, sequence);
  }

  /** The newest durable frame. */
  get durableSequence(): number {
    return this.durable;
  }

  isExecuting(triggerId: number): boolean {
    return (this.running.get(triggerId)?.calls.running ?? 0) > 0;
  }

  find(path: string): EngineRoute | null {
    let found: RunningTrigger | null = null;
    // the one that was made last
    for (const each of this.running.values()) if (each.requests?.path === path && each.trigger.id > (found?.trigger.id ?? 0)) found = each;
    return found?.requests ?? null;
  }

  /** Undefined: no trigger writes. */
  writerOf(caller: PluginCaller): TriggerWriter | undefined {
    if (caller.kind !== "trigger") return undefined;
    for (const { trigger, database, writes } of this.running.values()) {
      if (trigger.name !== caller.trigger || database !== caller.database) continue;
      return { triggerId: trigger.id, depth: (writes?.depth ?? 0) + 1 };
    }
    return undefined;
  }

  /** Write triggers and how far they have come: frames behind that are wanted. */
  positions(): Map<number, number> {
    const found = new Map<number, number>();
    for (const [id, { writes }] of this.running) if (writes !== null) found.set(id, writes.position);
    return found;
  }

  /** Of the log frames up to `sequence` are given up: triggers that have not seen them do not see them any more. */
  passOver(sequence: number, reason: string): void {
    for (const { trigger, writes } of this.running.values()) {
      if (writes === null || writes.position >= sequence) continue;
      this.write(trigger, "error", `rows of frames ${writes.position + 1} to ${sequence} of the log were passed over: ${reason}`);
      writes.skip(sequence);
    }
  }

  /** Interrupts what runs. Resolves when all processes are gone and positions are saved. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.parts.catalog.onTriggerChanges(() => {});
    this.cancelSave();
    await Promise.all([...this.running.values()].map((each) => each.stop().catch(() => {})));
    await this.parts.runtime.stop();
    await this.save();
  }

  /** Starts and stops triggers as the catalog has them. */
  private follow(): void {
    if (this.isStopped) return;
    const { catalog, nodeId } = this.parts;
    const wanted = new Map<number, TriggerDef>();
    for (const def of catalog.liveTriggers()) if (def.state === "enabled" && runsOn(def, nodeId)) wanted.set(def.id, def);
    for (const [id, each] of this.running) {
      const def = wanted.get(id);
      if (def === each.trigger && catalog.databaseById(def.databaseId)?.name === each.database) wanted.delete(id);
      else this.end(id, each);
    }
    for (const def of wanted.values()) this.begin(def);
    this.parts.onRunning([...this.running.keys()]);
  }

  private begin(trigger: TriggerDef): void {
    const { catalog, runtime, clock, feed, asyncCallsMax } = this.parts;
    const database = catalog.databaseById(trigger.databaseId)!.name;
    const spec = parseTriggerSpec(trigger.specification);
    const owner = () => {
      const { databaseId } = trigger;
      if (spec.kind !== "writes" || spec.table === null) return { databaseId, tableId: null };
      const table = catalog.findTable(databaseId, spec.table);
      return table === undefined ? null : { databaseId, tableId: table.id };
    };
    const running = new RunningTrigger({
      ...{ trigger, database, spec, runtime, clock },
      log: (level, text) => this.write(trigger, level, text),
      disable: () => this.disable(trigger),
      writes: {
        feed,
        wanted: owner,
        named: (rows) => namedTables(catalog, rows),
        lastSequence: () => this.lastSequence(owner()),
        durableSequence: () => this.durable,
        callsMax: trigger.runAsync ? asyncCallsMax : 1,
      },
      position: this.positionOf(trigger),
    });
    this.running.set(trigger.id, running);
    const before = this.stopping.get(keyOf(trigger));
    if (before === undefined) running.start();
    else void before.then(() => running.start());
  }

  /** Never behind the log: what it has lost of its end is not waited for. */
  private positionOf({ id, sequence }: TriggerDef): number {
    return Math.min(Math.max(sequence, this.parts.positions?.of(id) ?? 0), this.durable);
  }

  private lastSequence(owner: { databaseId: number; tableId: number | null } | null): number {
    if (owner === null) return 0;
    const last = owner.tableId === null ? this.lastOfDatabase.get(owner.databaseId) : this.lastOfTable.get(owner.tableId);
    return last ?? this.parts.startSequence;
  }

  private end(id: number, each: RunningTrigger): void {
    this.running.delete(id);
    const key = keyOf(each.trigger);
    const done = each
      .stop()
      .catch((error: unknown) => this.write(each.trigger, "error", `cannot stop its processes: ${(error as Error).message}`))
      .then(() => {
        if (this.stopping.get(key) === done) this.stopping.delete(key);
      });
    this.stopping.set(key, done);
  }

  private disable(trigger: TriggerDef): void {
    if (this.running.get(trigger.id)?.trigger !== trigger) return;
    this.write(trigger, "error", "the trigger is disabled after this error");
    try {
      this.parts.catalog.apply([{ kind: "disable_trigger", id: trigger.id, state: "failed" }]).durable.catch(() => {});
    } catch (error) {
      this.write(trigger, "error", `the trigger cannot be disabled: ${(error as Error).message}`);
    }
  }

  private write(trigger: TriggerDef, level: PluginLogLevel, text: string): void {
    const { log, report, catalog } = this.parts;
    const entry = log.add({ databaseId: trigger.databaseId, trigger: trigger.name, level, text });
    report(level, entry.text, { database: catalog.databaseById(trigger.databaseId)?.name ?? "", trigger: trigger.name });
  }

  private saveLater(): void {
    if (this.parts.positions === null) return;
    this.cancelSave = this.parts.clock.after(SAVE_MS, () => {
      void this.save().then(() => {
        if (!this.isStopped) this.saveLater();
      });
    });
  }

  /** Positions of disabled triggers need not be kept: enabling sets another. Those of deleted databases come back with them. */
  private save(): Promise<void> {
    const { positions, catalog, report } = this.parts;
    if (positions === null) return Promise.resolve();
    const found = this.positions();
    for (const { id } of catalog.triggers.all()) if (!found.has(id) && positions.of(id) > 0) found.set(id, positions.of(id));
    const keep = this.saving.then(() => positions.save(found));
    this.saving = keep.catch((error: unknown) => {
      report("error", "cannot save how far triggers have come; they see rows again after a crash", { err: error });
    });
    return this.saving;
  }
}

function keyOf({ databaseId, name }: TriggerDef): string {
  return `${databaseId}/${name}`;
}

/** `nodes:a,b`, or all of them. */
function runsOn({ nodes }: TriggerDef, nodeId: string): boolean {
  return nodes === "all" || nodes.slice("nodes:".length).split(",").includes(nodeId);
}
