// A server of triggers without sockets, threads and Python: log, catalog and engine on a disk and clock controlled by the test.
import { afterEach } from "bun:test";
import type { NewTrigger } from "../../../src/model/triggers.ts";
import { TRIGGER_KINDS } from "../../../src/model/triggers.ts";
import type { TriggerLogLine } from "../../../src/triggers/log/trigger-log.ts";
import { LogReader } from "../../../src/triggers/log-reader.ts";
import { PositionFile } from "../../../src/triggers/positions.ts";
import { TriggerEngine } from "../../../src/triggers/trigger-engine.ts";
import { NamedTriggers } from "../../../src/triggers/trigger-service.ts";
import { FaultyDisk } from "../storage/faulty-disk.ts";
import { WritePath } from "../storage/write-path.ts";
import { FakeClock, FakeRuntime, settle } from "./fake-runtime.ts";
import { plainTables } from "./plugin-rows.ts";

const START_MS = Date.parse("2026-11-22T22:00:00.500Z");
export const POSITIONS = "positions.json";

/** A server without sockets and threads. */
export class TriggerWorld {
  readonly clock = new FakeClock(START_MS);
  readonly runtime = new FakeRuntime();
  private readonly lines: TriggerLogLine[] = [];
  service!: NamedTriggers;
  engine!: TriggerEngine;

  private constructor(
    readonly disk: FaultyDisk,
    readonly path: WritePath,
  ) {}

  static async open(disk = new FaultyDisk(), asyncCallsMax = 3): Promise<TriggerWorld> {
    const path = await WritePath.open(disk);
    const world = new TriggerWorld(disk, path);
    const { catalog, wal } = path;
    const { file } = await PositionFile.open(disk, POSITIONS);
    world.engine = new TriggerEngine({
      ...{ catalog, runtime: world.runtime, clock: world.clock, nodeId: "n", positions: file, asyncCallsMax },
      log: { add: (line) => world.lines.push(line) },
      feed: new LogReader(path.kernel, disk, "wal"),
      onSaveFailure: () => {},
      startSequence: wal.durableSequence,
      onRunning: () => {},
    });
    world.service = new NamedTriggers({
      ...{ catalog, runtime: world.runtime, kinds: new Set(TRIGGER_KINDS), nowMs: () => world.clock.nowMs() },
      isExecuting: (id) => world.engine.isExecuting(id),
      durableSequence: () => wal.durableSequence,
      isNode: (nodeId) => nodeId === "n",
    });
    worlds.push(world);
    return world;
  }

  async create(specification: string, over: Partial<NewTrigger> = {}): Promise<void> {
    if (this.path.catalog.findDatabase("db") === undefined) {
      await this.path.catalog.apply([{ kind: "create_database", id: 1, namespace: 0, name: "db" }]).durable;
    }
    const defaults = { database: "db", name: "t", plugin: "p.py", runAsync: false, errorBehavior: "log", arguments: null, nodes: null };
    await this.service.create({ ...defaults, specification, isDisabled: false, ...over });
    await settle();
  }

  async write(lines: string, over: Parameters<WritePath["write"]>[1] = {}): Promise<void> {
    const { path, engine } = this;
    await path.write(lines, over);
    const { catalog, wal } = path;
    const database = catalog.findDatabase(over.database ?? "db")!;
    for (const table of catalog.tables(database.id)) {
      if (lines.split("\n").some((line) => line.startsWith(table.name))) engine.noteRows(database.id, table.id, wal.lastSequence);
    }
    engine.logged(wal.durableSequence);
    await settle();
  }

  /** Rows of each call, without their times. */
  rows(): unknown[] {
    return this.runtime.calls.map(({ payload }) => {
      if (payload.kind !== "writes") return payload;
      return Object.fromEntries(
        Object.entries(plainTables(payload.tables)).map(([table, rows]) => [table, rows.map(({ time: _, ...row }) => row)]),
      );
    });
  }

  times(): string[] {
    return this.runtime.calls.flatMap(({ payload }) => (payload.kind === "schedule" ? [new Date(payload.timeMs).toISOString()] : []));
  }

  logged(database = 1): string[] {
    const lines = this.lines.filter(({ databaseId }) => databaseId === database);
    return lines.map(({ trigger, level, text }) => `${trigger} ${level}: ${text}`);
  }
}

const worlds: TriggerWorld[] = [];

/** Call once per file: ends what its tests have opened. */
export function stopWorlds(): void {
  afterEach(async () => {
    for (const { engine } of worlds.splice(0)) await engine.stop();
  });
}
