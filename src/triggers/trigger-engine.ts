// The triggers that run on this server: follows the catalog, starts enabled triggers and stops the others.
import type { EngineRoute, EngineService, TriggerDef } from "../model/triggers.ts";
import type { TriggerWriter } from "../model/write.ts";
import type { PluginCaller, PluginLogLevel } from "../plugins/plugin-call.ts";
import type { PluginRuntime } from "../plugins/plugin-runtime.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { Clock } from "./clock.ts";
import type { TriggerLog } from "./log/trigger-log.ts";
import type { LogFeed } from "./log-feed.ts";
import { namedTables } from "./named-tables.ts";
import type { PositionFile } from "./positions.ts";
import { RowNotes } from "./row-notes.ts";
import { RunningTrigger } from "./running-trigger.ts";
import { parseTriggerSpec } from "./spec.ts";
import type { WriteTrigger } from "./write-trigger.ts";
import { WriteTriggers } from "./write-triggers.ts";

export interface TriggerEngineParts {
  readonly catalog: Catalog;
  readonly runtime: PluginRuntime;
  readonly feed: LogFeed;
  readonly clock: Clock;
  readonly nodeId: string;
  /** Null: positions are not persisted. */
  readonly positions: PositionFile | null;
  readonly log: TriggerLog;
  /** Positions cannot be saved. */
  readonly onSaveFailure: (error: unknown) => void;
  /** The newest durable frame at the start; earlier frames may have rows for any trigger. */
  readonly startSequence: number;
  /** The set of running triggers has changed. */
  readonly onRunning: (triggerIds: readonly number[]) => void;
  /** Maximum concurrent calls of an asynchronous trigger. */
  readonly asyncCallsMax: number;
}

const SAVE_MS = 1000;

/** Runs the triggers of one server. Owned: call `stop`. */
export class TriggerEngine implements EngineService {
  private readonly running = new Map<number, RunningTrigger>();
  /** Pending stops, by trigger: a trigger that reuses a name waits for them. */
  private readonly stopping = new Map<string, Promise<void>>();
  /** Write triggers that do not run any more, by id: their positions count when they run again. */
  private readonly ended = new Map<number, WriteTrigger>();
  private readonly writeTriggers = new WriteTriggers();
  private readonly rows: RowNotes;
  private durable: number;
  private isStopped = false;
  private cancelSave: () => void = () => {};
  private saving: Promise<void> = Promise.resolve();

  constructor(private readonly parts: TriggerEngineParts) {
    this.durable = parts.startSequence;
    this.rows = new RowNotes(parts.startSequence);
    parts.catalog.onTriggerChanges(() => this.follow());
    this.follow();
    this.saveLater();
  }

  /** Frames up to here are durable. Called for each group of the log. */
  logged(sequence: number): void {
    this.durable = sequence;
    // only these: thousands of triggers cost a write nothing if none is called
    for (const writes of this.writeTriggers.of(this.rows.take(sequence), this.parts.catalog)) writes.wake();
  }

  /** Call it for each table of a frame. */
  noteRows(databaseId: number, tableId: number, sequence: number): void {
    this.rows.note(databaseId, tableId, sequence);
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
    // the newest trigger has precedence
    for (const each of this.running.values()) if (each.requests?.path === path && each.trigger.id > (found?.trigger.id ?? 0)) found = each;
    return found?.requests ?? null;
  }

  /** Undefined: the caller is not a running trigger. */
  writerOf(caller: PluginCaller): TriggerWriter | undefined {
    if (caller.kind !== "trigger") return undefined;
    for (const { trigger, database, writes } of this.running.values()) {
      if (trigger.name !== caller.trigger || database !== caller.database) continue;
      return { triggerId: trigger.id, depth: (writes?.depth ?? 0) + 1 };
    }
    return undefined;
  }

  /** Positions of write triggers: later frames must be retained. */
  positions(): Map<number, number> {
    const found = new Map<number, number>();
    for (const [id, { writes }] of this.running) {
      writes?.settle();
      if (writes !== null) found.set(id, writes.position);
    }
    return found;
  }

  /** Frames up to `sequence` are no longer retained: triggers that have not seen them skip them. */
  passOver(sequence: number, reason: string): void {
    for (const { trigger, writes } of this.running.values()) {
      if (writes === null || writes.position >= sequence) continue;
      this.write(trigger, "error", `rows of frames ${writes.position + 1} to ${sequence} of the log were passed over: ${reason}`);
      writes.skip(sequence);
    }
  }

  /** Interrupts all runs. Resolves when all processes have ended and positions are saved. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.parts.catalog.onTriggerChanges(() => {});
    this.cancelSave();
    await Promise.all([...this.running.values()].map((each) => each.stop().catch(() => {})));
    await this.parts.runtime.stop();
    await this.save();
  }

  /** Starts and stops triggers to match the catalog. */
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
    for (const id of this.ended.keys()) if (catalog.triggers.withId(id) === undefined) this.ended.delete(id);
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
      logPlugin: ({ level, text }) => this.write(trigger, level, text, true),
      disable: () => this.disable(trigger),
      writes: {
        feed,
        wanted: owner,
        named: (rows) => namedTables(catalog, rows),
        lastSequence: () => {
          const found = owner();
          return found === null ? 0 : this.rows.last(found);
        },
        durableSequence: () => this.durable,
        callsMax: trigger.runAsync ? asyncCallsMax : 1,
      },
      position: this.positionOf(trigger),
    });
    this.running.set(trigger.id, running);
    if (running.writes !== null) this.writeTriggers.add(trigger.databaseId, running.table, running.writes);
    const before = this.stopping.get(keyOf(trigger));
    if (before === undefined) running.start();
    else void before.then(() => this.startAfterStop(running));
  }

  /** A run that was ending may have moved the position. */
  private startAfterStop(running: RunningTrigger): void {
    running.writes?.skip(this.positionOf(running.trigger));
    running.start();
  }

  /** At most the end of the log, which may have lost frames in a crash. */
  private positionOf({ id, sequence }: TriggerDef): number {
    return Math.min(Math.max(sequence, this.handled(id)), this.durable);
  }

  /** Of a trigger that does not run: the frame up to which it has seen the log; 0: none. */
  private handled(id: number): number {
    return this.ended.get(id)?.position ?? this.parts.positions?.of(id) ?? 0;
  }

  private end(id: number, each: RunningTrigger): void {
    this.running.delete(id);
    if (each.writes !== null) {
      this.writeTriggers.remove(each.trigger.databaseId, each.table, each.writes);
      this.ended.set(id, each.writes);
    }
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

  private write({ databaseId, name }: TriggerDef, level: PluginLogLevel, text: string, isOfPlugin = false): void {
    this.parts.log.add({ databaseId, trigger: name, level, text, isOfPlugin });
  }

  private saveLater(): void {
    this.cancelSave = this.parts.clock.after(SAVE_MS, () => {
      void this.save().then(() => {
        if (!this.isStopped) this.saveLater();
      });
    });
  }

  /** Includes positions of triggers in deleted databases, which may be restored; those of disabled triggers are not needed. */
  private save(): Promise<void> {
    const { positions, catalog, onSaveFailure } = this.parts;
    const found = this.positions();
    if (positions === null) return Promise.resolve();
    for (const { id } of catalog.triggers.all()) if (!found.has(id) && this.handled(id) > 0) found.set(id, this.handled(id));
    const keep = this.saving.then(() => positions.save(found));
    this.saving = keep.catch(onSaveFailure);
    return this.saving;
  }
}

function keyOf({ databaseId, name }: TriggerDef): string {
  return `${databaseId}/${name}`;
}

/** `nodes:a,b`, or `all`. */
function runsOn({ nodes }: TriggerDef, nodeId: string): boolean {
  return nodes === "all" || nodes.slice("nodes:".length).split(",").includes(nodeId);
}
