// The engine with a fake runtime and clock: which calls are made, when, and how failures are handled.
import { describe, expect, test } from "bun:test";
import { DONE, failed, settle } from "../../test/support/plugins/fake-runtime.ts";
import { stopWorlds, TriggerWorld } from "../../test/support/plugins/trigger-world.ts";
import { FaultyDisk } from "../../test/support/storage/faulty-disk.ts";
import type { PluginOutcome } from "../plugins/plugin-call.ts";

stopWorlds();

describe("write triggers", () => {
  test("rows from its creation on, in order, each once, of its database and table", async () => {
    const world = await TriggerWorld.open();
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

  test("rows written during a run are delivered together after it", async () => {
    const world = await TriggerWorld.open();
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

  test("two groups of the log that become durable in one moment: the second one is not missed", async () => {
    const world = await TriggerWorld.open();
    await world.create("table:m");
    const { path, engine } = world;
    const { wal, catalog } = path;
    await path.write("n v=1i 1");
    const first = wal.durableSequence;
    await path.write("m v=2i 2");
    engine.logged(first);
    const { id } = catalog.findDatabase("db")!;
    engine.noteRows(id, catalog.findTable(id, "m")!.id, wal.lastSequence);
    engine.logged(wal.durableSequence);
    await settle();
    expect(world.rows()).toEqual([{ m: [{ v: 2n }] }]);
  });

  test("the position moves over rows of other tables, and the log need not be kept for these", async () => {
    const world = await TriggerWorld.open();
    await world.create("table:m");
    for (let i = 1; i <= 3; i++) await world.write(`n v=${i}i ${i}`);
    expect([...world.engine.positions().values()]).toEqual([3]);
    await world.write("m v=4i 4");
    expect([world.rows(), [...world.engine.positions().values()]]).toEqual([[{ m: [{ v: 4n }] }], [4]]);
  });

  test("asynchronous runs overlap up to the limit, and the position waits for the oldest", async () => {
    const world = await TriggerWorld.open(new FaultyDisk(), 2);
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

  test("a disabled trigger receives nothing; once enabled it receives rows written from then on", async () => {
    const world = await TriggerWorld.open();
    await world.create("all_tables", { isDisabled: true });
    await world.write("m v=1i 1");
    await world.service.enable({ database: "db", name: "t" });
    await world.write("m v=2i 2");
    await world.service.disable({ database: "db", name: "t" });
    await world.write("m v=3i 3");
    expect(world.rows()).toEqual([{ m: [{ v: 2n }] }]);
    expect(world.runtime.stopped).toEqual(["db/t"]);
  });

  test("disabling interrupts a run without counting as a failure", async () => {
    const world = await TriggerWorld.open();
    await world.create("all_tables", { errorBehavior: "DISABLE" });
    world.runtime.answer = () => new Promise(() => {});
    await world.write("m v=1i 1");
    expect(world.runtime.running).toBe(1);
    await world.service.disable({ database: "db", name: "t" });
    await settle();
    expect([world.runtime.running, world.logged()]).toEqual([0, []]);
    expect(world.path.catalog.triggers.find(1, "t")!.state).toBe("disabled");
  });

  test("a trigger of a deleted database does not run; after restoring it continues", async () => {
    const world = await TriggerWorld.open();
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

  test("rows that it has handled do not come again after its database is restored or renamed, nor after a crash then", async () => {
    const world = await TriggerWorld.open();
    await world.create("all_tables");
    const { catalog } = world.path;
    const remove = () =>
      catalog.apply([{ kind: "soft_delete", of: "database", id: 1, name: "db-1", deletedMs: 1, hardDeleteMs: null } as const]);
    const restore = (name: string) => catalog.apply([{ kind: "restore", of: "database", id: 1, name }]);
    await world.write("m v=1i 1");
    remove();
    await settle();
    restore("db");
    await settle();
    await world.write("m v=2i 2");
    remove();
    restore("other");
    await settle();
    await world.write("m v=3i 3", { database: "other" });
    expect(world.rows()).toEqual([1n, 2n, 3n].map((v) => ({ m: [{ v }] })));
    // a run that is interrupted comes again
    const answer = world.runtime.answer;
    world.runtime.answer = () => new Promise(() => {});
    await world.write("m v=4i 4", { database: "other" });
    remove();
    await world.clock.advance(1000);
    await catalog.durable(catalog.version);
    const again = await TriggerWorld.open(world.disk.afterKill());
    again.runtime.answer = answer;
    again.path.catalog.apply([{ kind: "restore", of: "database", id: 1, name: "db" }]);
    await settle();
    expect(again.rows()).toEqual([{ m: [{ v: 4n }] }]);
  });

  test("a trigger does not receive its own rows, and the log says so once", async () => {
    const world = await TriggerWorld.open();
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

  test("a loop of two triggers ends, and the log says so", async () => {
    const world = await TriggerWorld.open();
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
  test("log: the call counts as handled, and the next one follows", async () => {
    const world = await TriggerWorld.open();
    await world.create("all_tables");
    world.runtime.answer = () => failed("exception", "ValueError: x");
    await world.write("m v=1i 1");
    await world.write("m v=2i 2");
    expect(world.rows()).toEqual([{ m: [{ v: 1n }] }, { m: [{ v: 2n }] }]);
    expect(world.logged()).toEqual(["t error: ValueError: x", "t error: ValueError: x"]);
  });

  test("retry: five retries of the same rows with growing pauses, then the next rows", async () => {
    const world = await TriggerWorld.open();
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

  test("retry: ends with the first success", async () => {
    const world = await TriggerWorld.open();
    await world.create("every:10s", { errorBehavior: "retry" });
    world.runtime.answer = () => (world.runtime.calls.length < 3 ? failed() : DONE);
    await world.clock.advance(15_000);
    expect(world.runtime.calls.length).toBe(3);
  });

  test("disable: the trigger stays disabled until it is enabled, and then receives new rows", async () => {
    const world = await TriggerWorld.open();
    await world.create("all_tables", { errorBehavior: "disable" });
    world.runtime.answer = () => failed("memory", "it took more than 1 GiB");
    await world.write("m v=1i 1");
    await world.write("m v=2i 2");
    expect(world.rows()).toEqual([{ m: [{ v: 1n }] }]);
    expect(world.logged()).toEqual(["t error: it took more than 1 GiB", "t error: the trigger is disabled after this error"]);
    await settle();
    const again = await TriggerWorld.open(world.disk.afterKill());
    expect(again.path.catalog.triggers.find(1, "t")!.state).toBe("failed");
    await again.write("m v=3i 3");
    expect(again.rows()).toEqual([]);
    await again.service.enable({ database: "db", name: "t" });
    await again.write("m v=4i 4");
    expect(again.rows()).toEqual([{ m: [{ v: 4n }] }]);
  });

  test("without Python, or without the plugin, rows wait", async () => {
    const world = await TriggerWorld.open();
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
    const world = await TriggerWorld.open();
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
    const world = await TriggerWorld.open();
    await world.create("every:10s");
    await world.clock.advance(9499);
    expect(world.times()).toEqual([]);
    await world.clock.advance(20_001);
    expect(world.times()).toEqual(["2026-11-22T22:00:10.000Z", "2026-11-22T22:00:20.000Z", "2026-11-22T22:00:30.000Z"]);
  });

  test("cron: six fields", async () => {
    const world = await TriggerWorld.open();
    await world.create("cron:15 */2 * * * *");
    await world.clock.advance(300_000);
    expect(world.times()).toEqual(["2026-11-22T22:00:15.000Z", "2026-11-22T22:02:15.000Z", "2026-11-22T22:04:15.000Z"]);
  });

  test("firings missed during a long run are skipped and counted in the log", async () => {
    const world = await TriggerWorld.open();
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
    const world = await TriggerWorld.open();
    await world.create("every:10s", { runAsync: true });
    world.runtime.answer = () => new Promise(() => {});
    await world.clock.advance(30_000);
    expect(world.runtime.running).toBe(3);
  });

  test("setting the clock forward skips firings, setting it back repeats them", async () => {
    const world = await TriggerWorld.open();
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
    const world = await TriggerWorld.open();
    await world.create("every:10s");
    await world.service.delete({ database: "db", name: "t" }, false);
    await world.clock.advance(60_000);
    expect(world.times()).toEqual([]);
  });
});

describe("requests", () => {
  const request = { query: {}, headers: {}, body: new Uint8Array(), signal: new AbortController().signal };

  test("the newest trigger of all databases has the path", async () => {
    const world = await TriggerWorld.open();
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

  test("a failed run and a stopped trigger have different answers", async () => {
    const world = await TriggerWorld.open();
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

  test("a disconnecting client ends its run, without an error of the trigger", async () => {
    const world = await TriggerWorld.open();
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

  test("requests over the limit are refused, and the others run", async () => {
    const world = await TriggerWorld.open();
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
