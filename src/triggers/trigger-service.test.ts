// Triggers as users make, change and delete them; what a crash leaves of their places in the log, and how the log is kept for them.
import { describe, expect, test } from "bun:test";
import { settle } from "../../test/support/plugins/fake-runtime.ts";
import { POSITIONS, stopWorlds, TriggerWorld } from "../../test/support/plugins/trigger-world.ts";
import { LIMITS } from "../model/limits.ts";
import type { NewTrigger } from "../model/triggers.ts";
import { cutThrough } from "./log-hold.ts";
import { PositionFile } from "./positions.ts";
import { NamedTriggers } from "./trigger-service.ts";

stopWorlds();

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
    const world = await TriggerWorld.open();
    await world.create("all_tables");
    const before = world.path.catalog.version;
    await expect(world.create(over.specification ?? "all_tables", over)).rejects.toMatchObject({
      kind,
      message: expect.stringContaining(message),
    });
    expect(world.path.catalog.version).toBe(before);
  });

  test("one over the limit of triggers, of disabled ones too", async () => {
    const world = await TriggerWorld.open();
    await world.create("table:m", { isDisabled: true });
    const { catalog } = world.path;
    const [first] = catalog.triggers.all();
    const more = Array.from({ length: LIMITS.triggersMax - 2 }, (_, i) => ({ ...first!, id: first!.id + 1 + i, name: `t${i}` }));
    await catalog.apply(more.map((trigger) => ({ kind: "create_trigger" as const, trigger }))).durable;
    await world.create("table:m", { name: "last" });
    await expect(world.create("table:m", { name: "more" })).rejects.toMatchObject({
      ...{ kind: "limit_exceeded", message: "Adding a new trigger would exceed limit of 5000 triggers" },
    });
    expect(catalog.triggers.count).toBe(5000);
  });

  test("a missing plugin creates no trigger", async () => {
    const world = await TriggerWorld.open();
    world.runtime.locate = () => Promise.reject(new Error("no such file"));
    await expect(world.create("all_tables")).rejects.toThrow("no such file");
    expect(world.path.catalog.triggers.count).toBe(0);
  });

  test("kinds of triggers that the server rejects", async () => {
    const world = await TriggerWorld.open();
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

  test("deleting a running trigger requires force", async () => {
    const world = await TriggerWorld.open();
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

  test("a trigger that does not exist", async () => {
    const world = await TriggerWorld.open();
    await world.create("all_tables");
    const missing = { kind: "not_found", message: "the requested resource was not found: u" };
    const name = { database: "db", name: "u" };
    await expect(world.service.delete(name, false)).rejects.toMatchObject(missing);
    await expect(world.service.enable(name)).rejects.toMatchObject(missing);
    await expect(world.service.disable(name)).rejects.toMatchObject(missing);
  });

  test("enabling and disabling are idempotent", async () => {
    const world = await TriggerWorld.open();
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
  test("loses no rows: unhandled rows are delivered again, saved ones are not", async () => {
    const world = await TriggerWorld.open();
    await world.create("all_tables");
    await world.write("m v=1i 1");
    await world.write("m v=2i 2");
    await world.clock.advance(1000);
    world.runtime.answer = () => new Promise(() => {});
    await world.write("m v=3i 3");
    const again = await TriggerWorld.open(world.disk.afterKill());
    await settle();
    expect(again.rows()).toEqual([{ m: [{ v: 3n }] }]);
  });

  test("before the position was saved: rows are delivered again", async () => {
    const world = await TriggerWorld.open();
    await world.create("all_tables");
    await world.write("m v=1i 1");
    const again = await TriggerWorld.open(world.disk.afterKill());
    await settle();
    expect(again.rows()).toEqual([{ m: [{ v: 1n }] }]);
  });

  test("an orderly stop repeats nothing", async () => {
    const world = await TriggerWorld.open();
    await world.create("all_tables");
    await world.write("m v=1i 1");
    await world.engine.stop();
    const again = await TriggerWorld.open(world.disk.afterKill());
    await again.write("m v=2i 2");
    expect(again.rows()).toEqual([{ m: [{ v: 2n }] }]);
  });

  test("a damaged position file is reported, and rows are delivered again", async () => {
    const world = await TriggerWorld.open();
    await world.create("all_tables");
    await world.write("m v=1i 1");
    await world.engine.stop();
    const disk = world.disk.afterKill();
    await disk.truncate(POSITIONS, 5);
    expect((await PositionFile.open(disk, POSITIONS)).problem).toContain("is damaged");
    const again = await TriggerWorld.open(disk);
    await settle();
    expect(again.rows()).toEqual([{ m: [{ v: 1n }] }]);
  });
});

describe("log retention for triggers that lag", () => {
  async function behind(): Promise<TriggerWorld> {
    const world = await TriggerWorld.open();
    await world.create("all_tables");
    world.runtime.answer = () => new Promise(() => {});
    for (let i = 1; i <= 3; i++) {
      await world.write(`m v=${i}i ${i}`);
      // as a flush does, without cutting
      world.path.wal.rotate();
    }
    return world;
  }
  const hold = (world: TriggerWorld, bytesMax: number, isFull = false) =>
    cutThrough(3, { engine: world.engine, wal: world.path.wal, bytesMax, isDiskFull: () => isFull });

  test("all of it up to the limit", async () => {
    const world = await behind();
    expect(await hold(world, 1 << 30)).toBe(0);
    expect(world.logged()).toEqual([]);
  });

  test("beyond the limit the oldest rows are skipped, and the log says which", async () => {
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

  test("nothing for triggers that are up to date, disabled or deleted", async () => {
    const world = await behind();
    await world.service.disable({ database: "db", name: "t" });
    expect(await hold(world, 0)).toBe(3);
  });
});
