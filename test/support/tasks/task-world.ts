// A server's tasks on a clock of the test's, over a real catalog, without scripts: tests end the runs.

import { SecretBox } from "../../../src/metadata/access/secret-box.ts";
import { V2Line } from "../../../src/metadata/line.ts";
import type { Task } from "../../../src/metadata/resources/tasks.ts";
import { TsdbError } from "../../../src/model/errors.ts";
import type { QueryAnswer } from "../../../src/model/query/query.ts";
import type { IncomingBody, WriteRequest, WriteResult } from "../../../src/model/write.ts";
import { MemoryObjectStore } from "../../../src/object-store/memory-object-store.ts";
import { Catalog } from "../../../src/storage/catalog/catalog.ts";
import { TaskScheduler } from "../../../src/tasks/scheduler.ts";
import { readTaskOptions } from "../../../src/tasks/script/options.ts";
import type { ExecutionParts, ScriptToRun } from "../../../src/tasks/task-execution.ts";
import { FakeClock, settle } from "../plugins/fake-runtime.ts";

/** When its clock begins. */
export const NOON_MS = Date.UTC(2024, 2, 5, 12);
/** A minute. */
export const MINUTE_MS = 60_000;
const EMPTY: QueryAnswer = { contentType: "text/csv", body: new Uint8Array() };

type Sender = Parameters<ExecutionParts["runScript"]>[0];

interface Started {
  /** Of the task. */
  readonly name: string;
  readonly now: string;
  readonly extern: string | null;
  readonly end: (error?: Error) => void;
  readonly waits: (waits: boolean) => void;
}

/** A server's tasks, from the same catalog again and again. */
export class TaskWorld {
  clock = new FakeClock(NOON_MS);
  /** In order; those that have not ended wait for `end`. */
  readonly started: Started[] = [];
  readonly lines: string[] = [];
  /** Runs end by themselves. */
  endsAtOnce = true;
  writeFails = false;
  /** What the bucket says of a body. */
  refusal: (body: string) => Partial<WriteResult> | null = () => null;
  readonly warnings: string[] = [];
  /** Scripts that were compiled ahead. */
  readonly prepared: string[] = [];
  failsToPrepare = false;
  /** Names of tasks that were rehearsed, */
  readonly rehearsals: string[] = [];
  /** how many there were when none was left, */
  readonly rehearsed: number[] = [];
  /** and those that have not ended, which is what they do at once unless told otherwise. */
  openRehearsals = 0;
  endsRehearsals = true;
  /** Statements run. */
  isBusy = false;
  private readonly store = new MemoryObjectStore();
  private catalog!: Catalog;
  line!: V2Line;
  scheduler!: TaskScheduler;
  orgID = "";
  userID = "";

  static async start(): Promise<TaskWorld> {
    const world = new TaskWorld();
    await world.open();
    const { user, org } = await world.line.setUp(
      { username: "u", password: "password12", org: "o", bucket: "b", token: "t", everySeconds: 0 },
      { strong: false },
    );
    world.userID = user.id;
    world.orgID = org.id;
    world.scheduler.start();
    return world;
  }

  /** A server that was killed starts again: what was on its way never ends. */
  async killAndRestart(downMs = 0): Promise<void> {
    this.started.length = 0;
    this.clock = new FakeClock(this.clock.nowMs() + downMs);
    await this.open();
    this.scheduler.start();
    await settle();
  }

  async create(record: string, more: Partial<Task> = {}): Promise<Task> {
    const flux = `import "array"\noption task = ${record}\narray.from(rows: [{v: 1}])`;
    const { name, every, cron, offset } = readTaskOptions(flux);
    const task = { orgID: this.orgID, ownerID: this.userID, kind: "task", description: "", status: "active", flux } as const;
    const made = await this.line.tasks.create({ ...task, name, every, cron, offset, ...more });
    await settle();
    return made;
  }

  /** Lets the clock run, and what starts meanwhile. */
  async pass(milliseconds: number): Promise<void> {
    await this.clock.advance(milliseconds);
    await settle();
  }

  /** Times of the runs that were started since the last look. */
  times(name?: string): string[] {
    const some = this.started.filter((each) => name === undefined || each.name === name);
    return some.map(({ now }) => now.slice(11, 19));
  }

  state(task: Task) {
    return this.line.tasks.state(task.id);
  }

  private async open(): Promise<void> {
    const { clock } = this;
    this.catalog = await Catalog.open(this.store, { prefix: "node0/catalog" });
    this.line = new V2Line(this.catalog, {
      nowMs: () => clock.nowMs(),
      sessions: { lengthMs: MINUTE_MS, renewMs: MINUTE_MS },
      box: SecretBox.random(),
      keepsHashesOnly: false,
      hashCost: { memoryCost: 8, timeCost: 1 },
      onDropped: () => {},
    });
    const { line } = this;
    this.scheduler = new TaskScheduler({
      ...{ tasks: line.tasks, buckets: line.buckets, clock, isOn: true },
      writes: { receive: () => new KeptBody(this) },
      queries: { query: () => Promise.reject(new TsdbError("bad_query", "table 'public.iox.runs' not found")) },
      principalOf: (userID) => line.authentication.ofUser(userID),
      prepareScript: async (script) => {
        this.prepared.push(script);
        if (this.failsToPrepare) throw new TsdbError("bad_query", "no script");
      },
      ...{ rehearses: true, isBusy: () => this.isBusy },
      rehearsed: (count) => void this.rehearsed.push(count),
      runScript: (sender, script) => this.run(script, sender),
      report: (error) => {
        throw error;
      },
      warn: (message, { reason }) => void this.warnings.push(`${message}: ${reason}`),
    });
  }

  private run({ text, nowNs, extern, task }: ScriptToRun, { signal, onWaits: waits }: Sender): Promise<QueryAnswer> {
    if (task === "rehearse") return this.rehearse(readTaskOptions(text).name, signal);
    const now = new Date(Number(nowNs / 1_000_000n)).toISOString();
    return new Promise((resolve, reject) => {
      const end = (error?: Error) => (error === undefined ? resolve(EMPTY) : reject(error));
      this.started.push({ name: readTaskOptions(text).name, now, extern, end, waits });
      signal.addEventListener("abort", () => reject(new TsdbError("cancelled", "the client went away")));
      if (this.endsAtOnce) resolve(EMPTY);
    });
  }

  private rehearse(name: string, signal: AbortSignal): Promise<QueryAnswer> {
    this.rehearsals.push(name);
    if (this.endsRehearsals) return Promise.resolve(EMPTY);
    this.openRehearsals++;
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        this.openRehearsals--;
        reject(new TsdbError("cancelled", "the client went away"));
      });
    });
  }
}

class KeptBody implements IncomingBody {
  byteCount = 0;
  readonly memoryBytes = 0;
  private text = "";

  constructor(private readonly world: TaskWorld) {}

  append(bytes: Uint8Array): void {
    this.byteCount += bytes.byteLength;
    this.text += Buffer.from(bytes).toString();
  }

  async write(_: WriteRequest): Promise<WriteResult> {
    if (this.world.writeFails) throw new TsdbError("no_space", "the disk is full");
    const refused = this.world.refusal(this.text);
    if (refused !== null) return { rowCount: 0, rejectedCount: 1, lineErrors: [], schemaLimit: false, empty: false, ...refused };
    this.world.lines.push(...this.text.split(/\n(?=runs,)/));
    return { rowCount: 1, rejectedCount: 0, lineErrors: [], schemaLimit: false, empty: false };
  }

  release(): void {}
}
