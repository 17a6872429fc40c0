// When runs start, what is kept of them, and what is made again after a server was killed: on a clock of the test's, over a real catalog.
import { expect, test } from "bun:test";
import { settle } from "../../test/support/plugins/fake-runtime.ts";
import { MINUTE_MS, TaskWorld } from "../../test/support/tasks/task-world.ts";
import { TsdbError } from "../model/errors.ts";

test("runs start on multiples of the period, and a while later with an offset", async () => {
  const world = await TaskWorld.start();
  await world.create(`{name: "a", every: 7m}`);
  await world.create(`{name: "b", every: 10m, offset: 30s}`);
  await world.pass(29 * MINUTE_MS);
  // the 28,494,000 minutes from 1970 to noon are 4,070,571 periods and 3 minutes
  expect(world.times("a")).toEqual(["12:04:00", "12:11:00", "12:18:00", "12:25:00"]);
  expect(world.times("b")).toEqual(["12:10:00", "12:20:00"]);
  world.started.length = 0;
  await world.pass(MINUTE_MS);
  expect(world.times()).toEqual([]);
  await world.pass(30_000);
  expect(world.times()).toEqual(["12:30:00"]);
});

test("a task has as many runs on their way as it may, and what ends first does not hide what has not ended", async () => {
  const world = await TaskWorld.start();
  world.endsAtOnce = false;
  const one = await world.create(`{name: "one", every: 1m}`);
  const two = await world.create(`{name: "two", every: 1m, concurrency: 2}`);
  await world.pass(3 * MINUTE_MS);
  expect([world.times("one"), world.times("two")]).toEqual([["12:01:00"], ["12:01:00", "12:02:00"]]);
  const second = world.started.find(({ name, now }) => name === "two" && now.includes("12:02"))!;
  second.end();
  await settle();
  expect(world.state(two)).toMatchObject({ latestCompleted: "2024-03-05T12:00:00Z", doneAhead: ["2024-03-05T12:02:00Z"] });
  expect(world.times("two")).toEqual(["12:01:00", "12:02:00", "12:03:00"]);
  // the two that were on their way are made again, the one in between is not
  await world.killAndRestart();
  expect([world.times("one"), world.times("two")]).toEqual([["12:01:00"], ["12:01:00", "12:03:00"]]);
  for (const { end } of [...world.started]) end();
  await settle();
  expect(world.state(two)).toMatchObject({ latestCompleted: "2024-03-05T12:03:00Z", doneAhead: [], lastRunStatus: "success" });
  expect(world.state(one).latestCompleted).toBe("2024-03-05T12:01:00Z");
});

test("times that a server was down are made up for in order, those of inactive tasks and older schedules are not", async () => {
  const world = await TaskWorld.start();
  const task = await world.create(`{name: "a", every: 1m}`);
  const off = await world.create(`{name: "off", every: 1m}`, { status: "inactive" });
  await world.pass(MINUTE_MS);
  await world.killAndRestart(3 * MINUTE_MS + 1000);
  expect(world.times()).toEqual(["12:02:00", "12:03:00", "12:04:00"]);
  world.started.length = 0;
  await world.line.tasks.update(off.id, { status: "active" });
  await settle();
  await world.pass(MINUTE_MS);
  expect([world.times("a"), world.times("off")]).toEqual([["12:05:00"], ["12:05:00"]]);
  world.started.length = 0;
  await world.line.tasks.update(task.id, { flux: task.flux.replace("1m", "10s"), every: "10s" });
  await settle();
  expect(world.times("a")).toEqual([]);
  await world.pass(20_000);
  expect(world.times("a")).toEqual(["12:05:10", "12:05:20"]);
});

test("what has ended is a point and a state, and is not made again", async () => {
  const world = await TaskWorld.start();
  const task = await world.create(`{name: "a \\"b\\"", every: 1m}`);
  await world.pass(2 * MINUTE_MS);
  expect(world.lines.length).toBe(2);
  expect(world.lines[1]).toMatch(
    new RegExp(
      `^runs,status=success,taskID=${task.id} runID="[0-9a-f]{16}",name="a \\\\"b\\\\"",startedAt="2024-03-05T12:02:00.000Z",.*scheduledFor="2024-03-05T12:02:00Z",requestedAt="",flux="import .* \\d{19}$`,
      "s",
    ),
  );
  await world.killAndRestart();
  expect(world.times()).toEqual([]);
  expect(world.state(task)).toEqual({
    ...{ latestCompleted: "2024-03-05T12:02:00Z", doneAhead: [], lastRunStatus: "success", lastRunError: null },
    lastSuccess: "2024-03-05T12:02:00Z",
  });
});

test("points that cannot be written are written later, and the runs are shown as started until then", async () => {
  const world = await TaskWorld.start();
  const task = await world.create(`{name: "a", every: 1m}`);
  world.writeFails = true;
  await world.pass(MINUTE_MS);
  const filter = { afterMs: null, beforeMs: null, limit: 10 };
  expect((await world.scheduler.list(task, filter)).map(({ status }) => status)).toEqual(["started"]);
  expect(world.state(task).latestCompleted).toBe("2024-03-05T12:00:00Z");
  world.writeFails = false;
  await world.pass(1000);
  expect([world.lines.length, world.state(task).latestCompleted]).toEqual([1, "2024-03-05T12:01:00Z"]);
  expect(await world.scheduler.list(task, filter)).toEqual([]);
});

test("what the bucket of one organization does not take holds up nobody's runs", async () => {
  const world = await TaskWorld.start();
  const other = await world.line.organizations.create({ name: "other", description: "", ownerID: world.userID });
  const ours = await world.create(`{name: "ours", every: 1m}`);
  const theirs = await world.create(`{name: "theirs", every: 1m}`, { orgID: other.id });
  const wrongType = { lineNumber: 1, originalLine: "runs", errorMessage: "invalid column type for column 'flux'" };
  for (const refusal of [
    () => ({ lineErrors: [wrongType] }),
    () => {
      throw new TsdbError("limit_exceeded", "too many columns");
    },
  ]) {
    world.refusal = (body) => (body.includes("theirs") ? refusal() : null);
    await world.pass(MINUTE_MS);
  }
  expect(world.lines.map((line) => /name="(\w+)"/.exec(line)![1])).toEqual(["ours", "ours"]);
  for (const task of [ours, theirs]) expect(world.state(task).latestCompleted).toBe("2024-03-05T12:02:00Z");
  expect(world.warnings.map((text) => text.split(": ").at(-1))).toEqual(["invalid column type for column 'flux'", "too many columns"]);
});

test("a requested run is there after a restart, is made once, and gives way when it is canceled", async () => {
  const world = await TaskWorld.start();
  world.endsAtOnce = false;
  const task = await world.create(`{name: "a", every: 1h}`);
  const run = await world.scheduler.force(task, Date.UTC(2020, 0, 1));
  const other = await world.scheduler.force(task, Date.UTC(2020, 0, 2));
  expect([run.status, run.scheduledFor]).toEqual(["scheduled", "2020-01-01T00:00:00Z"]);
  expect(world.scheduler.force(task, Date.UTC(2020, 0, 2))).rejects.toThrow("run already queued");
  await settle();
  expect(world.started.map(({ now }) => now.slice(0, 10))).toEqual(["2020-01-01"]);
  await world.killAndRestart();
  expect(world.started.map(({ now }) => now.slice(0, 10))).toEqual(["2020-01-01"]);
  expect((await world.scheduler.get(task, run.id)).status).toBe("started");
  await world.scheduler.cancel(task, other.id);
  expect(world.scheduler.get(task, other.id)).rejects.toThrow("run not found");
  await world.scheduler.cancel(task, run.id);
  await settle();
  expect(world.state(task)).toMatchObject({ lastRunStatus: "canceled", lastSuccess: null });
  expect(world.lines.map((line) => line.slice(0, 20))).toEqual(["runs,status=canceled"]);
  await world.killAndRestart();
  expect(world.started).toEqual([]);
  const again = await world.scheduler.force(task, Date.UTC(2020, 0, 2));
  const twice = [await world.scheduler.retry(task, again.id), await world.scheduler.retry(task, again.id)];
  expect(twice.map(({ status, scheduledFor }) => [status, scheduledFor])).toEqual(Array(2).fill(["scheduled", "2020-01-02T00:00:00Z"]));
  expect(new Set([again, ...twice].map(({ id }) => id)).size).toBe(3);
  const none = "0000000000000001";
  await expect(world.scheduler.retry(task, none)).rejects.toThrow("run not found");
  await world.line.tasks.update(task.id, { status: "inactive" });
  await expect(world.scheduler.force(task, null)).rejects.toThrow("inactive task");
  await expect(world.scheduler.retry(task, none)).rejects.toThrow("inactive task");
});

test("a failed attempt is made again as often as the script says, but not where the bucket is missing", async () => {
  const world = await TaskWorld.start();
  world.endsAtOnce = false;
  const task = await world.create(`{name: "a", every: 1h, retry: 3}`);
  await world.pass(60 * MINUTE_MS);
  for (const [attempt, waitMs] of [1000, 2000].entries()) {
    world.started.at(-1)!.end(new TsdbError("overloaded", "too much"));
    await settle();
    expect(world.started.length).toBe(attempt + 1);
    await world.pass(waitMs);
    expect(world.started.length).toBe(attempt + 2);
  }
  world.started.at(-1)!.end(new TsdbError("bad_query", "runtime error @1:1-1:2: no"));
  await settle();
  expect(world.state(task)).toMatchObject({
    lastRunStatus: "failed",
    lastRunError: "Completed(failed)",
    latestCompleted: "2024-03-05T13:00:00Z",
  });
  expect(world.lines.join()).toContain("could not execute task run: runtime error @1:1-1:2: no");
  await world.pass(60 * MINUTE_MS);
  world.started.at(-1)!.end(new TsdbError("not_found", `could not find bucket "x"`));
  await world.pass(2_000);
  expect(world.started.length).toBe(4);
  expect(world.state(task).lastRunError).toBe(`error exhausting result iterator: could not find bucket "x"`);
});

test("the time of the last success is given to scripts that ask for it", async () => {
  const world = await TaskWorld.start();
  const flux = (name: string) => `import "influxdata/influxdb/tasks"\noption task = {name: "${name}", every: 1m}\nx = 1`;
  await world.create(`{name: "a", every: 1m}`, { flux: flux("a") });
  await world.pass(2 * MINUTE_MS);
  expect(world.started[0]!.extern).toBeNull();
  expect(JSON.stringify(JSON.parse(world.started[1]!.extern!))).toContain('"value":"2024-03-05T12:01:00Z"');
});

test("a task that is behind does not delay another, and no more than 32 runs are on their way", async () => {
  const world = await TaskWorld.start();
  world.endsAtOnce = false;
  for (let i = 0; i < 40; i++) await world.create(`{name: "t${i}", every: 1h, concurrency: 10}`);
  await world.killAndRestart(5 * 60 * MINUTE_MS);
  expect(world.started.length).toBe(32);
  expect(new Set(world.times())).toEqual(new Set(["13:00:00"]));
  for (const { end } of [...world.started].slice(0, 8)) end();
  await settle();
  // the eight that had no turn come before second runs
  expect(world.started.slice(32).map(({ name }) => name)).toEqual(Array.from({ length: 8 }, (_, i) => `t${32 + i}`));
});

test("runs that wait for other servers leave their places, and come back to them", async () => {
  const world = await TaskWorld.start();
  world.endsAtOnce = false;
  for (let i = 0; i < 300; i++) await world.create(`{name: "t${i}", every: 1h}`);
  await world.pass(60 * MINUTE_MS);
  expect([world.started.length, world.scheduler.stats.busyShare]).toEqual([32, 1]);
  for (const { waits } of world.started.slice(0, 10)) waits(true);
  await settle();
  expect(world.started.length).toBe(42);
  // told twice, they count once
  for (const { waits } of world.started.slice(0, 10)) waits(true);
  for (const { waits } of world.started.slice(0, 4)) waits(false);
  for (const { end } of world.started.slice(4, 8)) end();
  await settle();
  expect([world.started.length, world.scheduler.stats]).toMatchObject([42, { active: 36 + 2, busyShare: 36 / 32 }]);
  for (const { end } of world.started.slice(10, 15)) end();
  await settle();
  expect(world.started.length).toBe(43);
  // all that have started wait, and so do those that start thereupon
  for (let i = 0; i < world.started.length; i++) {
    world.started[i]!.waits(true);
    await settle();
  }
  expect([world.scheduler.stats.active, world.scheduler.stats.busyShare]).toEqual([256, 1]);
});

test("a run that waits for its next attempt leaves its place", async () => {
  const world = await TaskWorld.start();
  world.endsAtOnce = false;
  for (let i = 0; i < 40; i++) await world.create(`{name: "t${i}", every: 1h, retry: 2}`);
  await world.pass(60 * MINUTE_MS);
  for (const { end } of world.started.slice(0, 32)) end(new TsdbError("bad_query", "no answer"));
  await settle();
  expect(world.started.slice(32).map(({ name }) => name)).toEqual(Array.from({ length: 8 }, (_, i) => `t${32 + i}`));
  await world.pass(1000);
  expect([world.started.length, world.scheduler.stats.busyShare]).toEqual([72, 40 / 32]);
});

test("scripts are compiled before their runs, each text once, after a change and a restart too", async () => {
  const world = await TaskWorld.start();
  const task = await world.create(`{name: "a", every: 1h}`);
  const flux = 'option task = {name: "b", every: 1h}\n1';
  await world.create(`{name: "b", every: 1h}`, { flux, status: "inactive" });
  expect(world.prepared).toEqual([task.flux]);
  await world.line.tasks.update(task.id, { description: "more" });
  await settle();
  expect(world.prepared).toEqual([task.flux]);
  world.failsToPrepare = true;
  await world.line.tasks.update(task.id, { flux });
  await settle();
  expect(world.prepared).toEqual([task.flux, flux]);
  await world.create(`{name: "c", every: 1h}`, { flux });
  world.prepared.length = 0;
  world.failsToPrepare = false;
  await world.killAndRestart();
  expect(world.prepared).toEqual([flux]);
  await world.pass(60 * MINUTE_MS);
  expect(world.started.length).toBe(2);
});

const names = (count: number) => Array.from({ length: count }, (_, i) => `t${i}`);

test("once scripts are many each is rehearsed three times, in turn, and nothing is kept of it", async () => {
  const world = await TaskWorld.start();
  for (const name of names(31)) await world.create(`{name: "${name}", every: 1h}`);
  expect([world.rehearsals, world.rehearsed]).toEqual([[], []]);
  await world.create(`{name: "t31", every: 1h}`);
  await settle();
  expect(world.rehearsals).toEqual([...names(32), ...names(32), ...names(32)]);
  expect(world.rehearsed).toEqual([96]);
  expect([world.started, world.lines, world.scheduler.stats.active, world.scheduler.stats.ended.success]).toEqual([[], [], 0, 0]);
  for (const task of world.line.tasks.all())
    expect(await world.scheduler.list(task, { afterMs: null, beforeMs: null, limit: 10 })).toEqual([]);
  // one more makes room for three
  const late = await world.create(`{name: "t32", every: 1h}`);
  await settle();
  expect([world.rehearsals.length, world.rehearsed]).toEqual([99, [96, 99]]);
  expect(world.rehearsals.slice(96)).toContain("t32");
  // a process that starts later knows nothing of them; who is inactive or gone is left out
  await world.line.tasks.update(late.id, { status: "inactive" });
  world.rehearsals.length = 0;
  world.failsToPrepare = true;
  await world.killAndRestart();
  await settle();
  expect(world.rehearsals).toEqual([...names(32), ...names(32), ...names(32)]);
});

test("rehearsals wait for statements, end after 50 ms, and after 5 s all together", async () => {
  const world = await TaskWorld.start();
  world.endsRehearsals = false;
  world.isBusy = true;
  for (const name of names(60)) await world.create(`{name: "${name}", every: 1h}`);
  await world.pass(1000);
  expect([world.prepared.length, world.rehearsals]).toEqual([60, []]);
  world.isBusy = false;
  await world.pass(5);
  expect([world.rehearsals, world.openRehearsals]).toEqual([["t0"], 1]);
  await world.pass(49);
  expect([world.rehearsals, world.openRehearsals]).toEqual([["t0"], 1]);
  await world.pass(1);
  expect([world.rehearsals, world.openRehearsals]).toEqual([["t0", "t1"], 1]);
  for (let i = 0; i < 120; i++) await world.pass(50);
  expect([world.rehearsals.length, world.openRehearsals, world.rehearsed]).toEqual([100, 0, [100]]);
});

test("a server that is busy for a minute is not asked any more", async () => {
  const world = await TaskWorld.start();
  world.isBusy = true;
  for (const name of names(32)) await world.create(`{name: "${name}", every: 100h}`);
  for (let i = 0; i < 12_000; i++) await world.pass(5);
  world.isBusy = false;
  await world.pass(MINUTE_MS);
  expect([world.rehearsals, world.rehearsed]).toEqual([[], []]);
});

test("a server that stops ends its rehearsal, and begins no other", async () => {
  const world = await TaskWorld.start();
  world.endsRehearsals = false;
  for (const name of names(40)) await world.create(`{name: "${name}", every: 1h}`);
  expect(world.openRehearsals).toBe(1);
  await world.scheduler.stop();
  await settle();
  expect([world.rehearsals.length, world.openRehearsals]).toEqual([1, 0]);
});

test("a deleted task's runs end, and nothing is kept of them", async () => {
  const world = await TaskWorld.start();
  world.endsAtOnce = false;
  const task = await world.create(`{name: "a", every: 1m}`);
  await world.pass(MINUTE_MS);
  await world.scheduler.force(task, 0);
  await world.line.tasks.delete(task.id);
  await settle();
  await world.scheduler.settled();
  await world.pass(5 * MINUTE_MS);
  expect([world.times(), world.line.tasks.count, world.line.tasks.requestedRuns(task.id)]).toEqual([["12:01:00"], 0, []]);
});

test("a stopped server keeps what has ended and nothing else", async () => {
  const world = await TaskWorld.start();
  const done = await world.create(`{name: "done", every: 1m}`);
  await world.pass(MINUTE_MS);
  world.endsAtOnce = false;
  const open = await world.create(`{name: "open", every: 1m}`);
  await world.pass(MINUTE_MS);
  await world.scheduler.stop();
  expect([world.state(done).latestCompleted.slice(11), world.state(open).latestCompleted.slice(11)]).toEqual(["12:01:00Z", "12:01:00Z"]);
  await world.killAndRestart();
  expect([world.times("done"), world.times("open")]).toEqual([["12:02:00"], ["12:02:00"]]);
});

test("500 tasks of one time, each once", async () => {
  const COUNT = 500;
  const world = await TaskWorld.start();
  for (let i = 0; i < COUNT; i++) {
    const flux = `option task = {name: "t${i}", every: 1h}\nx = 1`;
    await world.line.tasks.create({
      ...{ orgID: world.orgID, ownerID: world.userID, kind: "task", description: "", status: "active" },
      ...{ flux, name: `t${i}`, every: "1h", cron: null, offset: null },
    });
  }
  await world.pass(60 * MINUTE_MS);
  while (world.started.length < COUNT) await settle();
  await world.scheduler.settled();
  expect([new Set(world.started.map(({ name }) => name)).size, world.lines.length]).toEqual([COUNT, COUNT]);
}, 30_000);

test.each(["a running server", "a restart"])("runs go on from a clock that was a year ahead and is set right: %s", async (when) => {
  const world = await TaskWorld.start();
  const rightMs = world.clock.nowMs();
  world.clock.set(rightMs + 365 * 24 * 60 * MINUTE_MS);
  const late = await world.create(`{name: "late", every: 1m, offset: 5m}`);
  const early = await world.create(`{name: "early", every: 1m, offset: -5m}`);
  await world.pass(6 * MINUTE_MS);
  world.endsAtOnce = false;
  await world.create(`{name: "slow", every: 1m}`);
  await world.pass(MINUTE_MS);
  const slow = world.started.find(({ name }) => name === "slow")!;
  for (const each of world.started) if (each !== slow) each.end();
  await settle();
  world.endsAtOnce = true;
  if (when === "a restart") await world.killAndRestart(rightMs - world.clock.nowMs());
  else world.clock.set(rightMs);
  await world.pass(MINUTE_MS);
  // a run that was on its way ends when the clock is right
  if (when !== "a restart") slow.end();
  await settle();
  world.started.length = 0;
  await world.pass(2 * MINUTE_MS);
  expect(world.times("slow")).toEqual(["12:02:00", "12:03:00"]);
  expect(world.times("early")).toEqual(["12:07:00", "12:08:00"]);
  expect(world.state(early).latestCompleted).toBe("2024-03-05T12:08:00Z");
  await world.pass(5 * MINUTE_MS);
  expect(world.state(late).latestCompleted).toBe("2024-03-05T12:03:00Z");
});
