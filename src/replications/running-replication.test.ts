// One replication against a listener, with a log and a clock of the test's: what is sent again, dropped, and when.
import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { NodeDisk } from "../disk/node-disk.ts";
import type { Replication } from "../metadata/resources/replication/replications.ts";
import { bucketIdOf } from "../metadata/store/ids.ts";
import { OUTGOING_LIMITS } from "../outgoing/outgoing-http.ts";
import type { QueueAnswer, QueueFeed, QueueRequest } from "./queue-feed.ts";
import { openQueue, savePosition, writeParts } from "./queue-files.ts";
import { ReplicationCounts } from "./replication-counts.ts";
import { RunningReplication } from "./running-replication.ts";

const disk = new NodeDisk();
const HOUR_MS = 3_600_000;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

type Answer = () => Response | Promise<Response>;

/** A log whose frames are texts; frame n has the text n - 1. */
class World {
  readonly folder = mkdtempSync(join(tmpdir(), "tsdb-replication-"));
  readonly frames: string[] = [];
  readonly got: string[] = [];
  readonly counts = new ReplicationCounts();
  readonly warnings: string[] = [];
  readonly waits: { readonly ms: number; run: () => void }[] = [];
  nowMs = 1_000_000;
  answer: Answer = () => new Response(null, { status: 204 });
  disk = disk;
  private readonly server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      this.got.push(gunzipSync(await request.bytes()).toString());
      const answer = await this.answer();
      // a later server may get the port, and a kept connection to this one fails with nobody to run the wait behind it
      answer.headers.set("connection", "close");
      return answer;
    },
  });

  /** Nothing listens any more. */
  readonly refuse = () => this.server.stop(true);

  constructor() {
    ends.push(
      () => rmSync(this.folder, { recursive: true, force: true }),
      () => this.server.stop(true),
    );
  }

  private readonly feed: QueueFeed = {
    queue: async ({ folder, after, roomBytes, nowMs }: QueueRequest): Promise<QueueAnswer> => {
      const through = after + 1;
      const parts = this.frames[after]!.split("|").map((text) => ({ text, rows: 1 }));
      return { ...(await writeParts(disk, { folder, through, roomBytes, nowMs }, parts)), through, goneBefore: null };
    },
    keepOnly: () => {},
    close: () => {},
  };

  async run(more: Partial<Replication> = {}): Promise<RunningReplication> {
    if ((await openQueue(disk, this.folder))!.position === 0) await savePosition(disk, this.folder, 0);
    const connection = { id: "r", orgID: "o", name: "", description: null, remoteURL: this.server.url.href, remoteOrgID: null };
    const running = new RunningReplication(
      {
        ...{ reader: 1, folder: this.folder, disk: this.disk, feed: this.feed, counts: this.counts },
        clock: {
          nowMs: () => this.nowMs,
          after: (ms, run) => {
            const wait = { ms, run };
            this.waits.push(wait);
            return () => {
              const at = this.waits.indexOf(wait);
              if (at >= 0) this.waits.splice(at, 1);
            };
          },
        },
        limits: { ...OUTGOING_LIMITS, allowsPrivate: true },
        remote: () => ({ ...connection, allowInsecureTLS: false, token: "t" }),
        durableSequence: () => this.frames.length,
        lastSequence: () => this.frames.length,
        warn: (message) => this.warnings.push(message),
      },
      { ...replication, ...more },
      (await openQueue(disk, this.folder))!,
    );
    ends.push(() => running.stop());
    return running;
  }

  /** The wait before the next attempt. */
  async retryWait(): Promise<{ readonly ms: number; run: () => void }> {
    return (await until(() => this.waits.find(({ ms }) => ms >= 500)))!;
  }

  /** The wait behind an answer. A kept connection to an earlier server on the port breaks without one: then it is tried again. */
  async waitBehindAnswer(): Promise<void> {
    for (;;) {
      const wait = await this.retryWait();
      if (this.got.length > 0) return;
      this.waits.splice(this.waits.indexOf(wait), 1);
      wait.run();
    }
  }

  files(): string[] {
    return readdirSync(this.folder).filter((name) => name.endsWith(".gz"));
  }
}

const replication: Replication = {
  ...{ id: "p", orgID: "o", name: "p", description: null, remoteID: "r", localBucketID: bucketIdOf(7), remoteBucketID: null },
  ...{ remoteBucketName: "b", maxQueueSizeBytes: 1 << 20, dropNonRetryableData: false, maxAgeSeconds: 0, sinceSequence: 0 },
};

/** @throws Error when the condition is not met within 30 s: another process may have the processors */
async function until<T>(what: () => T): Promise<T> {
  for (let i = 0; i < 15_000; i++) {
    const found = what();
    if (found) return found;
    await Bun.sleep(2);
  }
  throw new Error("the condition was not met within 30 s");
}

test("frames are sent in order, and leave nothing but a position", async () => {
  const world = new World();
  world.frames.push("a v=1 1\n", "a v=2 1\n|a v=3 1\n");
  await world.run();
  await until(() => world.got.length === 3 && world.files().length === 0);
  expect(world.got).toEqual(["a v=1 1\n", "a v=2 1\n", "a v=3 1\n"]);
  expect((await openQueue(disk, world.folder))!.position).toBe(2);
});

/** Calls `onSaving` before a position is in its place, and lets calls that are under way go on. */
class WatchedDisk extends NodeDisk {
  onSaving = () => {};

  override async rename(from: string, to: string): Promise<void> {
    if (to.endsWith("/position")) {
      this.onSaving();
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    }
    return super.rename(from, to);
  }
}

test("a cut of the log while the queue becomes empty saves a position after the other", async () => {
  const world = new World();
  const watched = new WatchedDisk();
  world.disk = watched;
  world.frames.push("a v=1 1\n");
  const running = await world.run();
  const saves: Promise<number>[] = [];
  watched.onSaving = () => {
    if (saves.length > 0) return;
    // frames without rows of the bucket
    running.skip(9);
    for (let i = 0; i < 3; i++) saves.push(running.save());
  };
  await until(() => saves.length > 0 && world.files().length === 0);
  expect(await Promise.all(saves)).toEqual([9, 9, 9]);
  expect((await openQueue(disk, world.folder))!.position).toBe(9);
  expect([world.got, world.warnings]).toEqual([["a v=1 1\n"], []]);
});

test("a remote that does not answer has the code 0", async () => {
  const world = new World();
  await world.refuse();
  world.frames.push("a v=1 1\n");
  const running = await world.run();
  await world.retryWait();
  expect(running.state).toMatchObject({ latestResponseCode: 0, latestErrorMessage: expect.stringMatching(/./) });
});

test("a remote that fails is asked again, later each time, with the same lines", async () => {
  const world = new World();
  world.answer = () => Response.json({ code: "internal error", message: "why" }, { status: 500 });
  world.frames.push("a v=1 1\n");
  const running = await world.run();
  for (const ms of [500, 1000, 2000]) {
    const wait = await world.retryWait();
    expect(wait.ms).toBe(ms);
    wait.run();
  }
  expect(running.state).toMatchObject({
    latestResponseCode: 500,
    latestErrorMessage: "invalid response code 500, must be 204: 500 Internal Server Error: why",
  });
  const last = await world.retryWait();
  world.answer = () => new Response(null, { status: 204 });
  last.run();
  await until(() => world.files().length === 0);
  expect(new Set(world.got)).toEqual(new Set(["a v=1 1\n"]));
  expect(world.counts.of("p").errors.get("500")).toBe(world.got.length - 1);
});

test.each([
  ["429", 429, "7", 7000],
  ["503 with a date", 503, new Date(1_000_000 + 9000).toUTCString(), 9000],
  ["503 for ever", 503, "99999999", HOUR_MS],
  ["500, whose header does not count", 500, "7", 500],
])("Retry-After of %s", async (_, status, header, ms) => {
  const world = new World();
  world.answer = () => new Response(null, { status, headers: { "retry-after": header } });
  world.frames.push("a v=1 1\n");
  await world.run();
  expect((await world.retryWait()).ms).toBe(ms);
});

test.each([400, 413, 422])("wrong lines (%d) are dropped where that is wished, and what follows is sent", async (status) => {
  const world = new World();
  world.answer = () => new Response(null, { status: world.got.at(-1) === "bad\n" ? status : 204 });
  world.frames.push("bad\n", "a v=1 1\n");
  await world.run({ dropNonRetryableData: true });
  await until(() => world.files().length === 0 && world.got.length === 2);
  expect(world.counts.of("p").pointsDropped).toBe(1);
});

test("otherwise they are kept, and what follows waits", async () => {
  const world = new World();
  world.answer = () => new Response(null, { status: 400 });
  world.frames.push("bad\n", "a v=1 1\n");
  await world.run();
  await world.waitBehindAnswer();
  await until(() => world.files().length === 2);
  expect(world.got).toEqual(["bad\n"]);
});

test("a refused token is no fault of the lines", async () => {
  const world = new World();
  world.answer = () => new Response(null, { status: 401 });
  world.frames.push("a v=1 1\n");
  await world.run({ dropNonRetryableData: true });
  await world.retryWait();
  expect(world.files()).toHaveLength(1);
});

test("lines that are too old are dropped", async () => {
  const world = new World();
  world.answer = () => new Response(null, { status: 500 });
  world.frames.push("a v=1 1\n");
  await world.run({ maxAgeSeconds: 60 });
  const wait = await world.retryWait();
  world.nowMs += 60_000;
  wait.run();
  await until(() => world.files().length === 0);
  expect(world.got).toHaveLength(1);
  expect(world.counts.of("p").pointsDropped).toBe(1);
});

test("rows without room are not queued, and those after them are when there is room", async () => {
  const world = new World();
  world.answer = () => new Response(null, { status: 500 });
  world.frames.push("a v=1 1\n", "a v=2 2\n");
  const running = await world.run({ maxQueueSizeBytes: 40 });
  const wait = await world.retryWait();
  await until(() => world.counts.of("p").pointsFailedToQueue === 1);
  expect(running.position).toBe(2);
  world.answer = () => new Response(null, { status: 204 });
  wait.run();
  // the room of a file is free when the queue knows that it is gone
  await until(() => running.state.remainingBytes === 0);
  expect(world.files()).toEqual([]);
  world.frames.push("a v=3 3\n");
  running.wake();
  await until(() => {
    // it pauses before it reads again
    world.waits.find(({ ms }) => ms < 500)?.run();
    return world.got.includes("a v=3 3\n");
  });
  expect(world.got).not.toContain("a v=2 2\n");
});

test("a change of the remote is an attempt at once", async () => {
  const world = new World();
  world.answer = () => new Response(null, { status: 500 });
  world.frames.push("a v=1 1\n");
  const running = await world.run();
  await world.retryWait();
  world.answer = () => new Response(null, { status: 204 });
  running.change(replication);
  await until(() => world.files().length === 0);
});

test("a queue is as it was at the next start; unfinished frames are made again", async () => {
  const world = new World();
  const [parts, first] = [[{ text: "a v=1 1\n", rows: 1 }], { folder: world.folder, through: 1, roomBytes: 1 << 20, nowMs: 5 }];
  await writeParts(disk, first, parts);
  await Bun.write(join(world.folder, `${"2".padStart(20, "0")}-00000-0-1-5.gz`), "half of frame 2");
  await Bun.write(join(world.folder, "1.new"), "half of a file");
  const queue = (await openQueue(disk, world.folder))!;
  expect(queue.position).toBe(1);
  expect(queue.entries).toMatchObject([{ through: 1, rows: 1, madeMs: 5 }]);
  expect(readdirSync(world.folder)).toHaveLength(1);
  world.frames.push("not read again\n", "a v=2 2\n");
  await world.run();
  await until(() => world.got.length === 2);
  expect(world.got).toEqual(["a v=1 1\n", "a v=2 2\n"]);
});
