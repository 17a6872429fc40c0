// Which worker gets a statement, and what becomes of those of a worker that sticks: with workers that do what the test says, and a clock
// that it moves.
import { expect, test } from "bun:test";
import { LIMITS } from "../../model/limits.ts";
import type { QueryAnswer } from "../../model/query/query.ts";
import { QueryLog } from "../../query/query-log.ts";
import type { FromQueryWorker, QueryWorkerOptions, ToQueryWorker } from "../wire/messages.ts";
import { type PackedToQueryWorker, StatementUnpacker } from "../wire/packed-messages.ts";
import { LOOK_MS } from "./pulse.ts";
import { QueryClient } from "./query-client.ts";
import { WorkerSignals } from "./worker-signals.ts";

type Query = Extract<ToQueryWorker, { type: "query" }>;

const TIMES = { planMs: 1, computeMs: 1 };
const CACHE = { bytes: 0, files: 0, gen0Hits: 0, gen0Misses: 0, compactedHits: 0, compactedMisses: 0, bytesRead: 0 };
const END = { rowCount: 1, scans: [], times: TIMES, cache: CACHE };
const NEED = { tables: ["t"], wholeCatalog: false, systemTables: [] };

/** A worker that says what it is told to, and answers looks while it is awake. */
class FakeWorker {
  readonly sent: ToQueryWorker[] = [];
  isAwake = true;
  isTerminated = false;
  options!: QueryWorkerOptions;
  private words!: WorkerSignals;
  private readonly unpacker = new StatementUnpacker();
  private lastLook = 0;
  onmessage = (_: { data: FromQueryWorker }) => {};
  onerror = (_: { message: string }) => {};

  constructor(private readonly startError: string | null) {}

  postMessage(posted: PackedToQueryWorker): void {
    const message = this.unpacker.unpack(posted);
    if (message.type === "init") {
      this.options = message.options;
      this.words = new WorkerSignals(message.options.words);
      queueMicrotask(() => {
        if (this.startError === null) this.say({ type: "ready" });
        else this.fail(this.startError);
      });
    } else if (message.type === "look") {
      this.lastLook = message.look;
      if (this.isAwake) this.wake();
    } else if (message.type === "query" && this.isAwake) this.words.begin(message.place!);
    this.sent.push(message);
  }

  /** Hears what it was asked. */
  wake(): void {
    this.isAwake = true;
    this.words.answer(this.lastLook);
  }

  addEventListener(): void {}

  terminate(): void {
    this.isTerminated = true;
  }

  say(data: FromQueryWorker): void {
    this.onmessage({ data });
  }

  /** The thread ends by an error that nothing caught. */
  private fail(message: string): void {
    this.onerror({ message });
    this.say({ type: "ended" });
  }

  get queries(): Query[] {
    return this.sent.filter((message) => message.type === "query");
  }

  answer(index: number, text: string): void {
    const { id } = this.queries[index]!;
    this.say({ type: "answer", id, contentType: "x", bytes: new TextEncoder().encode(text), end: END });
  }
}

class World {
  readonly workers: FakeWorker[] = [];
  readonly client: QueryClient;
  readonly lost: string[] = [];
  readonly warnings: string[] = [];
  readonly ownersFreed: number[] = [];
  readonly removed: string[] = [];
  cacheWorkersReplaced = 0;
  pins = 0;
  nowMs = 1000;
  /** Why workers cannot start, if they cannot. */
  startError: string | null;
  removeError: Error | null = null;
  private readonly timers = new Set<{ readonly milliseconds: number; readonly call: () => void; sinceMs: number }>();
  private owners = 0;

  constructor(workerCount: number, startError: string | null = null) {
    this.startError = startError;
    this.client = new QueryClient({
      ...{ workerCount, firstWorker: undefined, concurrentMax: 100, timeoutMs: 0, readerStallMs: 60_000, stuckGraceMs: 1000 },
      spawn: () => {
        const worker = new FakeWorker(this.startError);
        this.workers.push(worker);
        return { worker: worker as unknown as Worker, failure: () => undefined };
      },
      nowMs: () => this.nowMs,
      every: (milliseconds, call) => {
        const timer = { milliseconds, call, sinceMs: this.nowMs };
        this.timers.add(timer);
        return () => void this.timers.delete(timer);
      },
      workerOptions: {
        ...{ shared: null as never, memoryBytes: 0, threads: 1, tempDir: "/spill", cacheBytes: 0, processBytesMax: 0 },
        ...{ residentBytesMax: 0, nativeCallsMax: 32, loopMsMax: 1000 },
      },
      memory: { takeOwner: () => ++this.owners, releaseOwner: (owner) => this.ownersFreed.push(owner) },
      removeFolder: (path) => {
        if (this.removeError !== null) throw this.removeError;
        this.removed.push(path);
      },
      log: new QueryLog({ entriesMax: 10, clockNs: () => 0n, nowMs: () => 0 }),
      snapshots: {
        checkDatabase: () => {},
        stateOf: () => null,
        take: () => {
          this.pins++;
          let isOpen = true;
          const release = () => {
            if (isOpen) this.pins--;
            isOpen = false;
          };
          return { snapshot: { tables: [], catalog: [], isInternal: false, systemRows: {} }, release };
        },
      },
      cacheWorker: { bytesMax: 0, fillsFromHistory: { last: false, distinct: false } },
      onCacheWorkerReplaced: () => void this.cacheWorkersReplaced++,
      warn: (message, error) => void this.warnings.push(`${message}: ${error.message}`),
      onLost: ({ error }) => void this.lost.push(error.message),
      onQueryEnd: () => {},
      onTelemetry: () => {},
    });
  }

  /** Lets so much time pass, with main's timers. */
  async pass(milliseconds: number): Promise<void> {
    for (let left = milliseconds; left > 0; left -= LOOK_MS) {
      this.nowMs += LOOK_MS;
      for (const timer of [...this.timers]) {
        if (this.nowMs - timer.sinceMs < timer.milliseconds) continue;
        timer.sinceMs = this.nowMs;
        timer.call();
      }
      await settled();
    }
  }

  async ask(statement: string, signal = new AbortController().signal): Promise<{ outcome: Promise<string> }> {
    const answer = this.client.query({ database: "d", statement, params: {}, format: "json", signal });
    const outcome = answer.then(textOf, (error: { kind: string }) => error.kind);
    await settled();
    return { outcome };
  }

  /** Texts that each worker was sent so far. */
  get sent(): string[][] {
    return this.workers.map(({ queries }) => queries.map(({ statement }) => statement));
  }
}

async function textOf({ body }: QueryAnswer): Promise<string> {
  if (body instanceof Uint8Array) return new TextDecoder().decode(body);
  return new Response(body).text().catch((error: { kind: string }) => `broken: ${error.kind}`);
}

async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

test("a statement avoids a worker whose statement has run for 100 ms, also if that worker answers", async () => {
  const world = new World(2);
  await world.ask("long");
  await world.pass(150);
  for (let i = 0; i < 3; i++) await world.ask(`short ${i}`);
  expect(world.sent).toEqual([["long"], ["short 0", "short 1", "short 2"]]);
  // with a long one on both, the one with fewer
  await world.pass(150);
  await world.ask("another");
  expect(world.sent[0]).toEqual(["long", "another"]);
});

test("statements that a silent worker has not begun are moved; begun ones stay", async () => {
  const world = new World(2);
  await world.ask("begun");
  await world.ask("long");
  world.workers[0]!.isAwake = false;
  const { outcome } = await world.ask("moved");
  expect(world.sent).toEqual([["begun", "moved"], ["long"]]);
  await world.pass(100);
  expect(world.sent[1]).toEqual(["long"]);
  await world.pass(150);
  expect(world.sent[1]).toEqual(["long", "moved"]);
  // the silent one hears of it when it is back
  const { id, place } = world.workers[0]!.queries[1]!;
  expect(new WorkerSignals(world.workers[0]!.options.words).begin(place!)).toBe(false);
  world.workers[0]!.say({ type: "withdrawn", id });
  world.workers[1]!.answer(1, "its answer");
  expect(await outcome).toBe("its answer");
  expect(world.client.running().map(({ text }) => text)).toEqual(["begun", "long"]);
});

test("with one worker a statement waits for it", async () => {
  const world = new World(1);
  world.workers[0]!.isAwake = false;
  const { outcome } = await world.ask("waits");
  await world.pass(10_000);
  world.workers[0]!.answer(0, "late");
  expect(await outcome).toBe("late");
  expect(world.lost).toEqual([]);
});

test("a worker is replaced a second after a statement's end; pins, memory and folder go when it has ended", async () => {
  const world = new World(1);
  const [stuck] = world.workers as [FakeWorker];
  const leaving = new AbortController();
  const left = await world.ask("left", leaving.signal);
  const other = await world.ask("other");
  const streamed = await world.ask("streamed");
  for (const { id } of stuck.queries) stuck.say({ type: "pin", id, need: NEED, keepsEarly: false });
  const { id } = stuck.queries[2]!;
  stuck.say({ type: "head", id, contentType: "x" });
  stuck.say({ type: "bytes", id, bytes: new Uint8Array([65]) });
  expect(world.pins).toBe(3);
  await world.pass(100);
  stuck.isAwake = false;
  leaving.abort();
  expect(await left.outcome).toBe("cancelled");
  await world.pass(950);
  expect([world.workers.length, world.lost]).toEqual([1, []]);
  await world.pass(150);
  expect(world.lost).toEqual([expect.stringContaining("has not come back to its event loop")]);
  expect(world.sent[1]).toEqual(["other"]);
  expect(await streamed.outcome).toBe("broken: unavailable");
  world.workers[1]!.answer(0, "again");
  expect(await other.outcome).toBe("again");
  // it may read on until it has ended
  expect([world.pins, stuck.isTerminated, world.ownersFreed, world.removed]).toEqual([3, false, [], []]);
  expect(stuck.sent.at(-1)).toEqual({ type: "end worker" });
  stuck.answer(1, "nobody's");
  expect(world.pins).toBe(2);
  stuck.say({ type: "ended" });
  expect([world.pins, stuck.isTerminated]).toEqual([0, true]);
  expect([world.ownersFreed, world.removed]).toEqual([[1], [stuck.options.tempDir]]);
  expect([world.client.workers.replacedCount, world.client.workers.stuckCount, world.cacheWorkersReplaced]).toEqual([1, 0, 1]);
});

test("a worker that is back in time keeps its place", async () => {
  const world = new World(1);
  const leaving = new AbortController();
  await world.ask("left", leaving.signal);
  leaving.abort();
  for (let i = 0; i < 20; i++) {
    world.workers[0]!.isAwake = false;
    await world.pass(900);
    world.workers[0]!.wake();
    await world.pass(50);
  }
  expect(world.lost).toEqual([]);
});

test("a statement that has lost two workers is not run again", async () => {
  const world = new World(1);
  const { outcome } = await world.ask("twice");
  world.workers[0]!.say({ type: "broken", isCut: true, statement: null, message: "cut" });
  await settled();
  expect(world.sent).toEqual([["twice"], ["twice"]]);
  world.workers[1]!.say({ type: "broken", isCut: true, statement: null, message: "cut" });
  expect(await outcome).toBe("unavailable");
  expect(world.client.activeCount).toBe(0);
});

test("the statement that kept its worker from its event loop fails, the others run again", async () => {
  const world = new World(1);
  const guilty = await world.ask("guilty");
  const other = await world.ask("other");
  world.workers[0]!.say({ type: "broken", isCut: true, statement: world.workers[0]!.queries[0]!.id, message: "cut" });
  expect(await guilty.outcome).toBe("query_limit");
  await settled();
  world.workers[1]!.answer(0, "again");
  expect(await other.outcome).toBe("again");
});

test("so many workers stick at a time; then statements are refused until one of them has ended", async () => {
  const world = new World(1);
  for (let i = 0; i <= LIMITS.stuckWorkersMax; i++) {
    expect(world.workers).toHaveLength(i + 1);
    await world.ask(`${i}`);
    world.workers.at(-1)!.say({ type: "broken", isCut: true, statement: world.workers.at(-1)!.queries[0]!.id, message: "cut" });
    await settled();
  }
  expect(world.workers).toHaveLength(LIMITS.stuckWorkersMax + 1);
  expect(await (await world.ask("refused")).outcome).toBe("unavailable");
  world.workers[2]!.say({ type: "ended" });
  await settled();
  const { outcome } = await world.ask("taken");
  world.workers.at(-1)!.answer(0, "an answer");
  expect(await outcome).toBe("an answer");
});

const CUT = { type: "broken", isCut: true, statement: null, message: "cut" } as const;
const NO_SPACE = "1 | function a() {}\n\nENOSPC: no space left on device, mkdir '/spill'\n      at mkdirSync (unknown)";

test("a replacement that cannot start is tried again every second, and statements meanwhile are told to come again", async () => {
  const world = new World(1);
  await settled();
  world.startError = NO_SPACE;
  const { outcome } = await world.ask("lost");
  world.workers[0]!.say(CUT);
  expect(await outcome).toBe("unavailable");
  expect(await (await world.ask("refused")).outcome).toBe("unavailable");
  world.workers[0]!.say({ type: "ended" });
  expect(world.workers).toHaveLength(2);
  await world.pass(1000);
  expect(world.workers).toHaveLength(3);
  const warning = "could not start, will try again: the query engine cannot start: ENOSPC: no space left on device, mkdir '/spill'";
  expect(world.warnings).toEqual([expect.stringContaining(warning), expect.stringContaining(warning)]);
  world.startError = null;
  await world.pass(1000);
  const taken = await world.ask("taken");
  world.workers[3]!.answer(0, "an answer");
  expect(await taken.outcome).toBe("an answer");
  await world.pass(5000);
  expect(world.workers).toHaveLength(4);
  // all that failed are gone
  expect(world.ownersFreed.toSorted()).toEqual([1, 2, 3]);
  expect(world.client.workers.stuckCount).toBe(0);
});

test("while a replacement cannot start, the other workers run its statements", async () => {
  const world = new World(2);
  await settled();
  world.startError = NO_SPACE;
  const { outcome } = await world.ask("moved");
  world.workers[0]!.say(CUT);
  await settled();
  world.workers[1]!.answer(0, "an answer");
  expect(await outcome).toBe("an answer");
});

test("workers that cannot start with the server are not tried again", async () => {
  const failing = new World(1, NO_SPACE);
  expect(failing.client.ready()).rejects.toThrow("the query engine cannot start: ENOSPC");
  await failing.pass(5000);
  expect(failing.workers).toHaveLength(1);
  expect(await (await failing.ask("any")).outcome).toBe("io");
});

test("a spill folder that cannot be removed stays", async () => {
  const world = new World(1);
  await settled();
  world.removeError = new Error("EIO: i/o error");
  world.workers[0]!.say(CUT);
  world.workers[0]!.say({ type: "ended" });
  expect(world.warnings).toEqual(["the spill folder of a query worker could not be removed: EIO: i/o error"]);
  const { outcome } = await world.ask("taken");
  world.workers[1]!.answer(0, "an answer");
  expect(await outcome).toBe("an answer");
});

test("the replacement of a worker that holds calls of DuckDB gets the remaining calls", async () => {
  const world = new World(1);
  new WorkerSignals(world.workers[0]!.options.words).setNativeCalls(20);
  world.workers[0]!.say({ type: "broken", isCut: true, statement: null, message: "cut" });
  new WorkerSignals(world.workers[1]!.options.words).setNativeCalls(12);
  world.workers[1]!.say({ type: "broken", isCut: true, statement: null, message: "cut" });
  expect(world.workers.map(({ options }) => options.nativeCallsMax)).toEqual([32, 12, LIMITS.nativeCallsMin]);
});

test("a feed's table is held until its cache worker has ended, and the feed fails at once", async () => {
  const world = new World(1);
  let held = 1;
  const table = { table: { id: 1 }, runs: [], blocks: [], tombstones: [], retentionMinNs: 0n } as never;
  const clock = { nowMs: 0, sinceMs: null };
  const feed = world.client.feed([{ table, caches: [], clock, release: () => void held-- }]).catch((error: Error) => error.message);
  await settled();
  world.workers[0]!.isAwake = false;
  await world.pass(29_900);
  expect(world.lost).toEqual([]);
  await world.pass(300);
  expect(await feed).toContain("has not come back");
  expect(held).toBe(1);
  world.workers[0]!.say({ type: "ended" });
  expect(held).toBe(0);
});
