// A real server is killed with SIGKILL at random moments while it makes backups and restores them, under a writer. What it calls whole
// after its next start is whole, and a restore is there completely or not at all. `ROUNDS=… SEED=… bun test test/crash` runs longer or
// again.
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prng } from "../support/prng.ts";
import { ask, backUp, ended, type Job, restore } from "../support/servers/database-backups.ts";
import { TestServer } from "../support/servers/server.ts";
import { SmallDisk } from "../support/storage/small-disk.ts";

setDefaultTimeout(600_000);

const ROUNDS = Number(process.env["ROUNDS"] ?? 6);
const SEED = Number(process.env["SEED"] ?? 1);
const FLAGS = ["--use-pacha-tree", "--compaction-check-interval", "100ms", "--compaction-delay", "0s", "--compaction-cleanup-wait", "0s"];
/** As each body has in each of both tables. */
const LINES = 50;

const folder = mkdtempSync(join(tmpdir(), "tsdb-backups-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** On a busy machine there are more rounds, and longer ones, until some jobs have ended before the kill and some have not. */
function isNext(round: number, outcomes: ReadonlySet<string>): boolean {
  return round < ROUNDS || (outcomes.size < 2 && round < 3 * ROUNDS);
}

function stretchOf(round: number): number {
  return 1 + Math.max(0, round + 1 - ROUNDS);
}

/** Both tables have the same rows, because every body is spread over them. */
async function counted(server: TestServer): Promise<number> {
  const both = "SELECT (SELECT count(*) FROM first) AS first, (SELECT count(*) FROM second) AS second";
  const { first, second } = (await server.sql<{ first: number; second: number }>("d", both))[0]!;
  expect([first % LINES, second]).toEqual([0, first]);
  return first;
}

/** Writes bodies from number `from` on until it cannot; returns how many were acknowledged. */
async function writeUntilEnd(server: TestServer, from: number, isOver: () => boolean): Promise<number> {
  const url = `${server.url}/api/v3/write_lp?db=d&precision=ns`;
  for (let body = from; ; body++) {
    if (isOver()) return body - from;
    const lines = Array.from({ length: LINES }, (_, i) => `first,host=h${i} v=${body}i ${body}\nsecond,host=h${i} v=${body}i ${body}`);
    const response = await fetch(url, { method: "POST", body: lines.join("\n") }).catch(() => null);
    if (response?.status !== 204) return body - from;
  }
}

test(`${ROUNDS} kills in the middle of backups, seed ${SEED}`, async () => {
  const below = prng(SEED);
  await using server = await TestServer.start({ flags: FLAGS });
  const own = join(server.dataDir, "objects/node0/backups");
  let acknowledged = await writeUntilEnd(server, 0, once(20));
  /** Rows acknowledged before each backup that was asked for, and the number of all. */
  const atLeast = new Map<string, number>();
  const outcomes = new Set<string>();
  for (let round = 0; isNext(round, outcomes); round++) {
    const name = `b${round}`;
    let isOver = false;
    const writing = writeUntilEnd(server, acknowledged, () => isOver);
    await Bun.sleep(below(20));
    const count = await counted(server);
    const type = round > 0 && below(2) === 0 ? "incremental" : "full";
    const asked = await ask(server, "POST", "backup", { type, name });
    if (asked.status === 202) atLeast.set(name, count);
    await Bun.sleep(below(60 * stretchOf(round)));
    await server.kill();
    isOver = true;
    acknowledged += await writing;
    await server.restart();
    const { body } = await ask(server, "GET", "backup");
    const all = (body as unknown as { backups: readonly Job[] }).backups;
    expect(all.map(({ status }) => status)).not.toContain("in_progress");
    const found = all.find((backup) => backup.name === name);
    outcomes.add(found?.status ?? "failed");
    // a body may have been logged and not acknowledged
    const now = await counted(server);
    expect(now).toBeGreaterThanOrEqual(acknowledged * LINES);
    acknowledged = now / LINES;
  }
  // every backup that is called whole has what it has to have
  const { body } = await ask(server, "GET", "backup");
  const whole = (body as unknown as { backups: readonly Job[] }).backups.filter(({ status }) => status === "completed");
  expect(whole.length).toBeGreaterThan(0);
  for (const { name } of whole) {
    expect(await restore(server, name!)).toMatchObject({ status: "completed" });
    expect(await counted(server)).toBeGreaterThanOrEqual(atLeast.get(name!)!);
  }
  // and nothing else lies about
  for (const { name, parent } of whole.reverse()) if (parent === undefined) await ask(server, "DELETE", `backup/${name}`);
  const names = readdirSync(own, { recursive: true, withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));
  expect([...new Set(names)].filter((name) => name !== "attempt.json")).toEqual([]);
});

test(`${ROUNDS} kills in the middle of restores, seed ${SEED}`, async () => {
  const below = prng(SEED);
  const flags = [...FLAGS, "--backup-dir", folder];
  await using server = await TestServer.start({ flags });
  const bodies = await writeUntilEnd(server, 0, once(40));
  expect(await backUp(server, "kept")).toMatchObject({ status: "completed" });
  const want = await counted(server);
  expect(want).toBe(bodies * LINES);
  const outcomes = new Set<string>();
  for (let round = 0; isNext(round, outcomes); round++) {
    await writeUntilEnd(server, bodies + round, once(1));
    const before = await counted(server);
    const { body } = await ask(server, "POST", "restore", { backup_name: "kept" });
    await Bun.sleep((below(4) === 0 ? below(200) : below(40)) * stretchOf(round));
    await server.kill();
    if (below(4) === 0) await server.restartAndKill(below(400));
    await server.restart();
    const job = await ended(server, `restore/${String(body!["restore_id"])}`);
    outcomes.add(job.status);
    expect(await counted(server)).toBe(job.status === "completed" ? want : before);
    // what is left of the restore is gone as soon as compaction has looked
    expect(await restore(server, "kept")).toMatchObject({ status: "completed" });
    expect(await counted(server)).toBe(want);
  }
  expect([...outcomes].sort()).toEqual(["completed", "failed"]);
});

test("writes, queries, backups, restores and drops at once: every body is whole, and nothing hangs", async () => {
  const below = prng(SEED);
  await using server = await TestServer.start({ flags: FLAGS });
  await writeUntilEnd(server, 0, once(10));
  await backUp(server, "first");
  const endMs = performance.now() + 5000;
  let [made, restored, dropped] = [0, 0, 0];
  const isEnough = () => [made, restored, dropped].every((count) => count > 2);
  // a busy machine gets more time
  const isOver = () => performance.now() > endMs && (isEnough() || performance.now() > endMs + 60_000);
  const writing = (async () => {
    let body = 10;
    while (!isOver()) body += await writeUntilEnd(server, body, isOver);
  })();
  const backing = (async () => {
    for (let i = 0; !isOver(); i++) {
      const job = await backUp(server, `b${i % 5}`, { force: true }).catch(() => null);
      if (job?.status === "completed") made += 1;
      await ask(server, "DELETE", `backup/b${(i + 2) % 5}`);
    }
  })();
  const restoring = (async () => {
    while (!isOver()) {
      const job = await restore(server, below(2) === 0 ? "first" : `b${below(5)}`).catch(() => null);
      if (job?.status === "completed") restored += 1;
      else if (job !== null) expect(job.error).toMatch(/was made or deleted during the restore|something deleted has the name/);
    }
  })();
  const dropping = (async () => {
    while (!isOver()) {
      await Bun.sleep(below(300));
      const hard = below(2) === 0 ? "&hard_delete_at=now" : "";
      const { status } = await fetch(`${server.url}/api/v3/configure/database?db=d${hard}`, { method: "DELETE" });
      if (status === 200) dropped += 1;
    }
  })();
  await Promise.all([writing, backing, restoring, dropping]);
  expect(isEnough()).toBe(true);
  // all of it can be restored
  expect(await restore(server, "first")).toMatchObject({ status: "completed" });
  expect(await counted(server)).toBe(10 * LINES);
  await server.kill();
  await server.restart();
  expect(await counted(server)).toBe(10 * LINES);
});

test("hundreds of backups are listed, and deleted with their chain", async () => {
  await using server = await TestServer.start({ flags: ["--use-pacha-tree"] });
  await writeUntilEnd(server, 0, once(1));
  for (let i = 0; i < 300; i += 50) {
    const names = Array.from({ length: 50 }, (_, k) => `n${i + k}`);
    await Promise.all(
      names.map((name) =>
        ask(server, "POST", "backup", { type: i === 0 ? "full" : "incremental", name, ...(i === 0 ? {} : { parent: "n0" }) }),
      ),
    );
    for (const name of names) expect(await ended(server, `backup/${name}`)).toMatchObject({ status: "completed" });
  }
  const { body } = await ask(server, "GET", "backup");
  expect((body as unknown as { backups: readonly Job[] }).backups).toHaveLength(300);
  expect((await ask(server, "DELETE", "backup/n0")).status).toBe(200);
  const left = (await ask(server, "GET", "backup")).body as unknown as { backups: readonly Job[] };
  expect(left.backups).toHaveLength(49);
});

test("on a full disk a backup fails, is gone, and writes go on", async () => {
  using disk = SmallDisk.mount(24 << 20);
  if (disk === null) return; // no right to mount
  await using server = await TestServer.start({ dataDir: join(disk.path, "data"), flags: ["--use-pacha-tree"] });
  const random = prng(SEED);
  const text = () => Array.from({ length: 600 }, () => String.fromCharCode(97 + random(26))).join("");
  const lines = Array.from({ length: 15_000 }, (_, i) => `m v="${text()}" ${i}`);
  for (let i = 0; i < lines.length; i += 1000) {
    const response = await fetch(`${server.url}/api/v3/write_lp?db=d&precision=ns`, {
      method: "POST",
      body: lines.slice(i, i + 1000).join("\n"),
    });
    expect(response.status).toBe(204);
  }
  const free = disk.freeBytes();
  const jobs: Job[] = [];
  // the first may fit, at the latest the fourth does not
  for (let i = 0; i < 4; i++) jobs.push(await backUp(server, `b${i}`));
  const failed = jobs.filter(({ status }) => status === "failed");
  expect(failed.length).toBeGreaterThan(0);
  for (const { error } of failed) expect(error).toMatch(/space|full/);
  expect(free).toBeGreaterThan(0);
  const response = await fetch(`${server.url}/api/v3/write_lp?db=d&precision=ns`, { method: "POST", body: "after v=1 1" });
  expect([response.status, await response.text()]).toEqual([204, ""]);
  for (const { name, status } of jobs)
    if (status === "completed") expect(await restore(server, name!)).toMatchObject({ status: expect.stringMatching(/completed|failed/) });
});

/** False for the first `count` calls. */
function once(count: number): () => boolean {
  let calls = 0;
  return () => ++calls > count;
}
