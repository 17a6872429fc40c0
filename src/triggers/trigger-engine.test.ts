// The engine with a runtime and a clock of the test: which calls are made, when, and what becomes of those that fail.
import { afterEach, describe, expect, test } from "bun:test";
import { DONE, FakeClock, FakeRuntime, failed, settle } from "../../test/support/fake-runtime.ts";
import { FaultyDisk } from "../../test/support/faulty-disk.ts";
import { plainTables } from "../../test/support/plugin-rows.ts";
import { WritePath } from "../../test/support/write-path.ts";
import type { NewTrigger } from "../model/triggers.ts";
import { TRIGGER_KINDS } from "../model/triggers.ts";
import type { PluginOutcome } from "../plugins/plugin-call.ts";
import { cutThrough } from "./log-hold.ts";
import { LogReader } from "./log-reader.ts";
import { PositionFile } from "./positions.ts";
import { TriggerEngine } from "./trigger-engine.ts";
import { TriggerLog } from "./trigger-log.ts";
import { NamedTriggers } from "./trigger-service.ts";

const START_MS = Date.parse("2026-11-22T22:00:00.500Z");
const POSITIONS = "positions.json";

/** A server without sockets and threads. */
class World {
  readonly clock = new FakeClock(START_MS);
  readonly runtime = new FakeRuntime();
  readonly log: TriggerLog;
  service!: NamedTriggers;
  engine!: TriggerEngine;

  private constructor(
    readonly disk: FaultyDisk,
    readonly path: WritePath,
  ) {
    this.log = new TriggerLog(() => this.clock.nowMs());
  }

  static async open(disk = new FaultyDisk(), asyncCallsMax = 3): Promise<World> {
    const path = await WritePath.open(disk);
    const world = new World(disk, path);
    const { catalog, wal } = path;
    const { file } = await PositionFile.open(disk, POSITIONS);
    world.engine = new TriggerEngine({
      ...{ catalog, runtime: world.runtime, clock: world.clock, nodeId: "n", positions: file, log: world.log, asyncCallsMax },
      feed: new LogReader(path.kernel, disk, "wal"),
      report: () => {},
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
    return this.log.of(database).map(({ trigger, level, text }) => `${trigger} ${level}: ${text}`);
  }
}

const worlds: World[] = [];
afterEach(async () => {
  for (const { engine } of worlds.splice(0)) await engine.stop();
});

describe("write triggers", () => {
  test("rows from its creation on, in order, each once, of its database and table", async () => {
    const world = await World.open();
    await world.write("m v=1i 1");
    await world.create("all_tables", { name: "all" });
    await world.create("table:m", { name: "one" });
    await world.write("m v=2i 2\nn v=3i 3");
    await world.write("n v=4i 4");
    await world.write("m v=5i 5", { database: "other" });
    await world.write("m v=6i 6");
    const of = (name: string) => world.rows().filter((_, i) => (world.runtime.calls[i]!.caller as { trigger: string }).trigger === name);
    expect(of("all")).toEqual([{ m: [{ v: 2n }], n: [{ v: 3n }] }, { n: [{ v: 4n }] }, { m: [{ v: 6n }] }]);
    expect(of("one")).toEqual([{ m: [{ v: 2n }] }, { m: [{ v: 6n }] }]);
  });

  test("what comes while it runs comes together afterwards", async () => {
    const world = await World.open();
    await world.create("all_tables");
    const first = Promise.withResolvers<PluginOutcome>();
    world.runtime.answer = () => first.promise;
    await world.write("m v=1i 1");
    await world.write("m v=2i 2");
    await world.write("m v=3i 3");
    expect(world.rows()).toEqual([{ m: [{ v: 1n }] }]);
    world.runtime.answer = () => DONE;
    first.resolve(DONE);
    await settle();
    expect(world.rows()).toEqual([{ m: [{ v: 1n }] }, { m: [{ v: 2n }, { v: 3n }] }]);
  });

  test("asynchronous runs overlap up to the limit, and the position waits for the oldest", async () => {
    const world = await World.open(new FaultyDisk(), 2);
    await world.create("all_tables", { runAsync: true });
    const ends: PromiseWithResolvers<PluginOutcome>[] = [];
    world.runtime.answer = () => {
      ends.push(Promise.withResolvers());
      return ends.at(-1)!.promise;
    };
    for (let i = 1; i <= 3; i++) await world.write(`m v=${i}i ${i}`);
    expect(world.runtime.running).toBe(2);
    ends[1]!.resolve(DONE);
    await settle();
    expect([...world.engine.positions().values()]).toEqual([0]);
    expect(world.rows().at(-1)).toEqual({ m: [{ v: 3n }] });
    ends[0]!.resolve(DONE);
    await settle();
    expect([...world.engine.positions().values()]).toEqual([2]);
  });

  test("a disabled one sees nothing; enabled it sees what is written from then on", async () => {
    const world = await World.open();
    await world.create("all_tables", { isDisabled: true });
    await world.write("m v=1i 1");
    await world.service.enable({ database: "db", name: "t" });
    await world.write("m v=2i 2");
    await world.service.disable({ database: "db", name: "t" });
    await world.write("m v=3i 3");
    expect(world.rows()).toEqual([{ m: [{ v: 2n }] }]);
    expect(world.runtime.stopped).toEqual(["db/t"]);
  });

  test("disabling interrupts what runs, and that is no failure of it", async () => {
    const world = await World.open();
    await world.create("all_tables", { errorBehavior: "DISABLE" });
    world.runtime.answer = () => new Promise(() => {});
    await world.write("m v=1i 1");
    expect(world.runtime.running).toBe(1);
    await world.service.disable({ database: "db", name: "t" });
    await settle();
    expect([world.runtime.running, world.logged()]).toEqual([0, []]);
    expect(world.path.catalog.triggers.find(1, "t")!.state).toBe("disabled");
  });

  test("a deleted database's does not run; restored it goes on", async () => {
    const world = await World.open();
    await world.create("all_tables");
    const deleted = { kind: "soft_delete", of: "database", id: 1, name: "db-1", deletedMs: 1, hardDeleteMs: null } as const;
    world.path.catalog.apply([deleted]);
    await settle();
    expect([world.runtime.stopped, world.engine.positions().size]).toEqual([["db/t"], 0]);
    world.path.catalog.apply([{ kind: "restore", of: "database", id: 1, name: "db" }]);
    await world.write("m v=2i 2");
    expect(world.rows()).toEqual([{ m: [{ v: 2n }] }]);
    expect(world.runtime.calls[0]!.caller).toEqual({ kind: "trigger", database: "db", trigger: "t", runAsync: false });
  });

  test("its own rows do not come back to it, and the log says so once", async () => {
    const world = await World.open();
    await world.create("all_tables");
    world.runtime.answer = async ({ caller }) => {
      if (world.runtime.calls.length < 3) await world.path.write("m v=9i 9", { writer: world.engine.writerOf(caller) });
      return DONE;
    };
    await world.write("m v=1i 1");
    await world.write("m v=2i 2");
    await world.write("m v=3i 3");
    expect(world.rows()).toEqual([{ m: [{ v: 1n }] }, { m: [{ v: 2n }] }, { m: [{ v: 3n }] }]);
    expect(world.logged()).toEqual([
      "t warn: writes rows that it is triggered by: they are stored, and the trigger does not see its own rows",
    ]);
  });

  test("two triggers that call each other come to an end, and the log says so", async () => {
    const world = await World.open();
    await world.create("table:a", { name: "ab" });
    await world.create("table:b", { name: "ba" });
    world.runtime.answer = async ({ caller }) => {
      const table = (caller as { trigger: string }).trigger === "ab" ? "b" : "a";
      // what it writes becomes durable before it returns
      await world.path.write(`${table} v=1i 1`, { writer: world.engine.writerOf(caller) });
      const def = world.path.catalog.findTable(1, table)!;
      world.engine.noteRows(1, def.id, world.path.wal.lastSequence);
      setImmediate(() => world.engine.logged(world.path.wal.durableSequence));
      return DONE;
    };
    await world.write("a v=1i 1");
    for (let i = 0; i < 30; i++) await settle();
    expect(world.runtime.calls.length).toBe(17);
    expect(world.logged()).toEqual([expect.stringContaining("triggers call each other in a circle")]);
  });
});

describe("failures", () => {
  test("log: the call counts, and the next one comes", async () => {
    const world = await World.open();
    await world.create("all_tables");
    world.runtime.answer = () => failed("exception", "ValueError: x");
    await world.write("m v=1i 1");
    await world.write("m v=2i 2");
    expect(world.rows()).toEqual([{ m: [{ v: 1n }] }, { m: [{ v: 2n }] }]);
    expect(world.logged()).toEqual(["t error: ValueError: x", "t error: ValueError: x"]);
  });

  test("retry: the same rows five times more, with growing pauses, and then the next", async () => {
    const world = await World.open();
    await world.create("all_tables", { errorBehavior: "Retry" });
    world.runtime.answer = () => failed();
    await world.write("m v=1i 1");
    const counts: number[] = [];
    for (const milliseconds of [499, 1, 1000, 2000, 4000, 8000, 100_000]) {
      await world.clock.advance(milliseconds);
      counts.push(world.runtime.calls.length);
    }
    expect(counts).toEqual([1, 2, 3, 4, 5, 6, 6]);
    expect(world.logged().at(-1)).toBe("t error: gave up after 6 runs");
    world.runtime.answer = () => DONE;
    await world.write("m v=2i 2");
    expect(world.rows().slice(5)).toEqual([{ m: [{ v: 1n }] }, { m: [{ v: 2n }] }]);
  });

  test("retry: one that succeeds ends it", async () => {
    const world = await World.open();
    await world.create("every:10s", { errorBehavior: "retry" });
    world.runtime.answer = () => (world.runtime.calls.length < 3 ? failed() : DONE);
    await world.clock.advance(15_000);
    expect(world.runtime.calls.length).toBe(3);
  });

  test("disable: it is disabled for good, and enabling it again lets it see new rows", async () => {
    const world = await World.open();
    await world.create("all_tables", { errorBehavior: "disable" });
    world.runtime.answer = () => failed("memory", "it took more than 1 GiB");
    await world.write("m v=1i 1");
    await world.write("m v=2i 2");
    expect(world.rows()).toEqual([{ m: [{ v: 1n }] }]);
    expect(world.logged()).toEqual(["t error: it took more than 1 GiB", "t error: the trigger is disabled after this error"]);
    await settle();
    const again = await World.open(world.disk.afterKill());
    expect(again.path.catalog.triggers.find(1, "t")!.state).toBe("failed");
    await again.write("m v=3i 3");
    expect(again.rows()).toEqual([]);
    await again.service.enable({ database: "db", name: "t" });
    await again.write("m v=4i 4");
    expect(again.rows()).toEqual([{ m: [{ v: 4n }] }]);
  });

  test("without Python, or without the plugin, rows wait", async () => {
    const world = await World.open();
    await world.create("all_tables", { errorBehavior: "disable" });
    world.runtime.answer = () => failed("no-python", "there is no Python: install python3");
    await world.write("m v=1i 1");
    await world.clock.advance(10_000);
    world.runtime.answer = () => DONE;
    await world.clock.advance(10_000);
    expect(world.rows()).toEqual([{ m: [{ v: 1n }] }, { m: [{ v: 1n }] }, { m: [{ v: 1n }] }]);
    expect(world.path.catalog.triggers.find(1, "t")!.state).toBe("enabled");
  });

  test("the runtime's lines are logged in their order", async () => {
    const world = await World.open();
    await world.create("all_tables");
    world.runtime.answer = (_, { onLog }) => {
      onLog({ level: "info", text: "one" });
      onLog({ level: "warn", text: "two" });
      return DONE;
    };
    await world.write("m v=1i 1");
    expect(world.logged()).toEqual(["t info: one", "t warn: two"]);
    expect(world.logged(2)).toEqual([]);
  });
});

describe("schedules", () => {
  test("every: on multiples of the period, once each", async () => {
    const world = await World.open();
    await world.create("every:10s");
    await world.clock.advance(9499);
    expect(world.times()).toEqual([]);
    await world.clock.advance(20_001);
    expect(world.times()).toEqual(["2026-11-22T22:00:10.000Z", "2026-11-22T22:00:20.000Z", "2026-11-22T22:00:30.000Z"]);
  });

  test("cron: six fields", async () => {
    const world = await World.open();
    await world.create("cron:15 */2 * * * *");
    await world.clock.advance(300_000);
    expect(world.times()).toEqual(["2026-11-22T22:00:15.000Z", "2026-11-22T22:02:15.000Z", "2026-11-22T22:04:15.000Z"]);
  });

  test("times that a run takes too long for are passed over, and counted in the log", async () => {
    const world = await World.open();
    await world.create("every:10s");
    const end = Promise.withResolvers<PluginOutcome>();
    world.runtime.answer = () => end.promise;
    await world.clock.advance(45_000);
    expect(world.times()).toEqual(["2026-11-22T22:00:10.000Z"]);
    world.runtime.answer = () => DONE;
    end.resolve(DONE);
    await world.clock.advance(10_000);
    expect(world.times()).toEqual(["2026-11-22T22:00:10.000Z", "2026-11-22T22:00:50.000Z"]);
    expect(world.logged()).toEqual(["t warn: the run for 2026-11-22T22:00:10.000Z took so long that 3 times were passed over"]);
  });

  test("asynchronous runs overlap", async () => {
    const world = await World.open();
    await world.create("every:10s", { runAsync: true });
    world.runtime.answer = () => new Promise(() => {});
    await world.clock.advance(30_000);
    expect(world.runtime.running).toBe(3);
  });

  test("a clock that is set forward misses times, one that is set back repeats them, and both go on", async () => {
    const world = await World.open();
    await world.create("every:1h");
    world.clock.set(Date.parse("2026-11-23T04:30:00Z"));
    await world.clock.advance(30_000);
    expect(world.times()).toEqual(["2026-11-22T23:00:00.000Z"]);
    await world.clock.advance(3_600_000);
    world.clock.set(Date.parse("2026-11-23T03:59:00Z"));
    await world.clock.advance(120_000);
    expect(world.times()).toEqual(["2026-11-22T23:00:00.000Z", "2026-11-23T05:00:00.000Z", "2026-11-23T04:00:00.000Z"]);
  });

  test("stopping ends it", async () => {
    const world = await World.open();
    await world.create("every:10s");
    await world.service.delete({ database: "db", name: "t" }, false);
    await world.clock.advance(60_000);
    expect(world.times()).toEqual([]);
  });
});

describe("requests", () => {
  const request = { query: {}, headers: {}, body: new Uint8Array(), signal: new AbortController().signal };

  test("the trigger that was made last has the path, of all databases", async () => {
    const world = await World.open();
    await world.create("request:p", { name: "first" });
    await world.create("request:p", { name: "second" });
    expect(world.engine.find("q")).toBe(null);
    await world.engine.find("p")!.run(request);
    await world.service.delete({ database: "db", name: "second" }, false);
    await world.engine.find("p")!.run(request);
    await world.service.disable({ database: "db", name: "first" });
    expect(world.engine.find("p")).toBe(null);
    expect(world.runtime.calls.map(({ caller }) => (caller as { trigger: string }).trigger)).toEqual(["second", "first"]);
  });

  test("a failure is the caller's answer; a stop is another", async () => {
    const world = await World.open();
    await world.create("request:p");
    world.runtime.answer = () => failed("exception", "KeyError: 'x'");
    await expect(world.engine.find("p")!.run(request)).rejects.toMatchObject({ kind: "plugin", message: "KeyError: 'x'" });
    world.runtime.answer = () => new Promise(() => {});
    const running = world.engine.find("p")!.run(request);
    running.catch(() => {});
    await settle();
    await world.service.disable({ database: "db", name: "t" });
    await expect(running).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("a client that leaves ends its run, and is no error of the trigger", async () => {
    const world = await World.open();
    await world.create("request:p", { errorBehavior: "disable" });
    world.runtime.answer = () => new Promise(() => {});
    const leaving = new AbortController();
    const running = world.engine.find("p")!.run({ ...request, signal: leaving.signal });
    running.catch(() => {});
    await settle();
    leaving.abort();
    await expect(running).rejects.toMatchObject({ kind: "cancelled" });
    expect([world.runtime.running, world.logged()]).toEqual([0, []]);
  });

  test("too many at a time are refused, and the others run", async () => {
    const world = await World.open();
    await world.create("request:p", { runAsync: true });
    const end = Promise.withResolvers<PluginOutcome>();
    world.runtime.answer = () => end.promise;
    const route = world.engine.find("p")!;
    const running = Array.from({ length: 100 }, () => route.run(request));
    await expect(route.run(request)).rejects.toMatchObject({ kind: "overloaded" });
    end.resolve(DONE);
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual(Array(100).fill(200));
    expect((await route.run(request)).status).toBe(200);
  });
});

describe("what users may do", () => {
  const REFUSED: [what: string, over: Partial<NewTrigger>, kind: string, message: string][] = [
    ["another of the name", {}, "bad_request", "Cannot overwrite Processing Engine Trigger t in Database db"],
    ["no database", { name: "u", database: "nodb" }, "unknown_database", "nodb"],
    ["no behavior", { name: "u", errorBehavior: "explode" }, "bad_request", "unknown error_behavior 'explode'"],
    ["no name", { name: "" }, "bad_request", "name cannot be empty"],
    ["a name with a line break", { name: "a\nb" }, "bad_request", "control characters"],
    ["a long name", { name: "é".repeat(600) }, "bad_request", "1200 bytes, max 1024"],
    ["long arguments", { name: "u", arguments: { a: "x".repeat(70_000) } }, "bad_request", "max 65536"],
    ["an unknown server", { name: "u", nodes: ["n", "x"] }, "not_found", "node not found: x"],
    ["no specification", { name: "u", specification: "bad" }, "bad_request", "failed to parse trigger from bad"],
  ];

  test.each(REFUSED)("create: %s", async (_, over, kind, message) => {
    const world = await World.open();
    await world.create("all_tables");
    const before = world.path.catalog.version;
    await expect(world.create(over.specification ?? "all_tables", over)).rejects.toMatchObject({
      kind,
      message: expect.stringContaining(message),
    });
    expect(world.path.catalog.version).toBe(before);
  });

  test("a plugin that cannot be found makes no trigger", async () => {
    const world = await World.open();
    world.runtime.locate = () => Promise.reject(new Error("no such file"));
    await expect(world.create("all_tables")).rejects.toThrow("no such file");
    expect(world.path.catalog.triggers.count).toBe(0);
  });

  test("kinds that the server does not take", async () => {
    const world = await World.open();
    const { catalog } = world.path;
    const parts = {
      catalog,
      runtime: world.runtime,
      isExecuting: () => false,
      durableSequence: () => 0,
      isNode: () => true,
      nowMs: () => 0,
    };
    const service = new NamedTriggers({ ...parts, kinds: new Set(["schedule"]) });
    const trigger = { database: "db", name: "t", plugin: "p.py", runAsync: false, errorBehavior: "log", arguments: null, nodes: null };
    for (const [specification, kind] of [
      ["all_tables", "wal"],
      ["request:p", "request"],
    ] as const) {
      await expect(service.create({ ...trigger, specification, isDisabled: false })).rejects.toMatchObject({
        ...{ kind: "bad_request", message: `invalid request: server is configured to reject ${kind} plugin triggers` },
      });
    }
  });

  test("deleting one that runs needs force", async () => {
    const world = await World.open();
    await world.create("all_tables");
    world.runtime.answer = () => new Promise(() => {});
    await world.write("m v=1i 1");
    const name = { database: "db", name: "t" };
    await expect(world.service.delete(name, false)).rejects.toMatchObject({
      ...{ kind: "bad_request", message: "Cannot delete running plugin t. Disable it first or use --force." },
    });
    await world.service.delete(name, true);
    await settle();
    expect([world.runtime.running, world.path.catalog.triggers.count]).toEqual([0, 0]);
  });

  test("one that does not exist", async () => {
    const world = await World.open();
    await world.create("all_tables");
    const missing = { kind: "not_found", message: "the requested resource was not found: u" };
    const name = { database: "db", name: "u" };
    await expect(world.service.delete(name, false)).rejects.toMatchObject(missing);
    await expect(world.service.enable(name)).rejects.toMatchObject(missing);
    await expect(world.service.disable(name)).rejects.toMatchObject(missing);
  });

  test("enabling and disabling twice is as once", async () => {
    const world = await World.open();
    await world.create("all_tables");
    const name = { database: "db", name: "t" };
    const { version } = world.path.catalog;
    await world.service.enable(name);
    expect(world.path.catalog.version).toBe(version);
    await world.service.disable(name);
    await world.service.disable(name);
    expect(world.path.catalog.version).toBe(version + 1);
  });
});

describe("a crash", () => {
  test("loses no rows: what was not handled comes again, what was saved does not", async () => {
    const world = await World.open();
    await world.create("all_tables");
    await world.write("m v=1i 1");
    await world.write("m v=2i 2");
    await world.clock.advance(1000);
    world.runtime.answer = () => new Promise(() => {});
    await world.write("m v=3i 3");
    const again = await World.open(world.disk.afterKill());
    await settle();
    expect(again.rows()).toEqual([{ m: [{ v: 3n }] }]);
  });

  test("before the position was saved: rows come a second time", async () => {
    const world = await World.open();
    await world.create("all_tables");
    await world.write("m v=1i 1");
    const again = await World.open(world.disk.afterKill());
    await settle();
    expect(again.rows()).toEqual([{ m: [{ v: 1n }] }]);
  });

  test("a stop in order repeats nothing", async () => {
    const world = await World.open();
    await world.create("all_tables");
    await world.write("m v=1i 1");
    await world.engine.stop();
    const again = await World.open(world.disk.afterKill());
    await again.write("m v=2i 2");
    expect(again.rows()).toEqual([{ m: [{ v: 2n }] }]);
  });

  test("a damaged file of positions repeats rows, and is told of", async () => {
    const world = await World.open();
    await world.create("all_tables");
    await world.write("m v=1i 1");
    await world.engine.stop();
    const disk = world.disk.afterKill();
    await disk.truncate(POSITIONS, 5);
    expect((await PositionFile.open(disk, POSITIONS)).problem).toContain("is damaged");
    const again = await World.open(disk);
    await settle();
    expect(again.rows()).toEqual([{ m: [{ v: 1n }] }]);
  });
});

describe("the log is kept for triggers that are behind", () => {
  async function behind(): Promise<World> {
    const world = await World.open();
    await world.create("all_tables");
    world.runtime.answer = () => new Promise(() => {});
    for (let i = 1; i <= 3; i++) {
      await world.write(`m v=${i}i ${i}`);
      // as a flush does, without cutting
      world.path.wal.rotate();
    }
    return world;
  }
  const hold = (world: World, bytesMax: number, isFull = false) =>
    cutThrough(3, { engine: world.engine, wal: world.path.wal, bytesMax, isDiskFull: () => isFull });

  test("up to the limit all of it", async () => {
    const world = await behind();
    expect(await hold(world, 1 << 30)).toBe(0);
    expect(world.logged()).toEqual([]);
  });

  test("beyond the limit the oldest rows are passed over, and the log says which", async () => {
    const world = await behind();
    const [, second, third] = await world.path.wal.closedSegments();
    expect(await hold(world, second!.bytes + third!.bytes)).toBe(1);
    expect(world.logged()).toEqual([
      expect.stringMatching(/^t error: rows of frames 1 to 1 of the log were passed over: .*--trigger-log-limit/),
    ]);
    expect(await hold(world, third!.bytes)).toBe(2);
  });

  test("on a full disk nothing of it", async () => {
    const world = await behind();
    expect(await hold(world, 1 << 30, true)).toBe(3);
    expect(world.logged()).toEqual([expect.stringContaining("the disk is full")]);
  });

  test("for none that is done, disabled or deleted", async () => {
    const world = await behind();
    await world.service.disable({ database: "db", name: "t" });
    expect(await hold(world, 0)).toBe(3);
  });
});
