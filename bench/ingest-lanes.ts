// What do ingest workers bring? First workers alone: two parse and encode bodies from memory, how much faster than one? Then the server
// without, with one and with two: how much of the main thread's time is left of a row, which says how far more processors carry.
import { encodeBody, FrameColumns } from "../src/ingest/frame-columns.ts";
import type { LaneThread } from "../src/ingest/lane.ts";
import type { LaneReply } from "../src/ingest/lane-work.ts";
import { ColumnCodec } from "../src/kernel/codec.ts";
import { Kernel } from "../src/kernel/kernel.ts";
import { KernelWriter } from "../src/kernel/kernel-writer.ts";
import { BODY_PADDING_BYTES, type BodyLocation, LineParser } from "../src/kernel/line-parser.ts";
import { ParserView } from "../src/kernel/parser-view.ts";
import { Precision } from "../src/model/precision.ts";
import { startIngestWorker } from "../src/workers/ingest-client.ts";
import { metric } from "../test/e2e/client.ts";
import { TestServer } from "../test/support/server.ts";
import { tsbsCpu } from "./data/tsbs-cpu.ts";
import { type Answer, alternate, type Bench, median, type Size, short } from "./support/bench.ts";
import { type DataSet, dataSets } from "./support/data-sets.ts";
import { Loader } from "./support/loader.ts";
import { checkOurRows, withOutput, writeUrlOf } from "./support/ours.ts";
import { cpuMsOf, mainCpuMsOf } from "./support/process-stats.ts";

/** Of each worker: one body is parsed while the next one's request waits. */
const PARSERS = 2;
const PRECISION = Precision.nanosecond;
const EFFICIENCY_GOAL = 0.9;
/** More than workers, or one would wait for the client. */
const CONNECTIONS = 4;

export const ingestLanes: Bench = {
  name: "ingest-lanes",
  async run(size, say, { only = "" } = {}) {
    const answers: Answer[] = [];
    for (const dataSet of dataSets(size).filter(({ name }) => name.includes(only))) {
      answers.push(...(await workersAlone(dataSet, size, say)), ...(await inServer(dataSet, size, say)));
    }
    return answers;
  },
};

/** Workers on bodies that lie in the kernel's memory. */
async function workersAlone({ name, options }: DataSet, size: Size, say: (line: string) => void): Promise<Answer[]> {
  const kernel = Kernel.create();
  const bodies = [...tsbsCpu({ ...options, rows: size === "real" ? 300_000 : 20_000 })].map((body) => place(kernel, body));
  const workers = await Promise.all([BenchWorker.start(kernel), BenchWorker.start(kernel)]);
  try {
    const checked = await Promise.all(workers.map((worker) => worker.check(bodies)));
    if (new Set(checked).size !== 1) throw new Error(`workers found ${checked} rows`);
    const passes = size === "real" ? 5 : 1;
    const cpuNs: number[][] = [[], []];
    const measure = async (count: number) => {
      const before = process.cpuUsage();
      const { rows, milliseconds } = await takeAll(workers.slice(0, count), bodies, passes);
      const { user, system } = process.cpuUsage(before);
      cpuNs[count - 1]!.push(((user + system) * 1000) / rows);
      return (rows * 1000) / milliseconds;
    };
    const [one, two] = (await alternate(size === "real" ? 7 : 1, [() => measure(1), () => measure(2)])) as [number, number];
    const [oneNs, twoNs] = cpuNs.map(median) as [number, number];
    say(
      `${name}: parse and encode ${short(one)} rows/s by one worker, ${short(two)} by two; ${oneNs.toFixed(0)} and ${twoNs.toFixed(0)} ns a row`,
    );
    return [
      {
        what: `parse and encode by 2 workers ÷ by one, ${name}`,
        value: two / one,
        unit: "×",
        detail: `${short(two)} ÷ ${short(one)} rows/s; 2 on two processors that nobody else uses`,
      },
      {
        what: `processor time of a row, parsed and encoded by one worker ÷ by 2 at once, ${name}`,
        value: oneNs / twoNs,
        unit: "×",
        ...(size === "real" ? { goal: { atLeast: EFFICIENCY_GOAL } } : {}),
        detail: `${oneNs.toFixed(0)} ÷ ${twoNs.toFixed(0)} ns; 1 is linear`,
      },
    ];
  } finally {
    for (const worker of workers) await worker.end();
  }
}

function place(kernel: Kernel, body: Uint8Array): BodyLocation {
  const ptr = kernel.heap.alloc(body.byteLength + BODY_PADDING_BYTES);
  kernel.u8.set(body, ptr);
  return { ptr, byteCount: body.byteLength };
}

/** Each worker takes all bodies `passes` times. */
async function takeAll(workers: readonly BenchWorker[], bodies: readonly BodyLocation[], passes: number) {
  const startMs = performance.now();
  const counts = await Promise.all(workers.map((worker) => worker.take(bodies, passes)));
  return { rows: counts.reduce((sum, count) => sum + count, 0), milliseconds: performance.now() - startMs };
}

/** An ingest worker as the server starts it, asked for bodies one after the other. */
class BenchWorker {
  private readonly answers = new Map<number, (reply: LaneReply) => void>();
  private readonly views: ParserView[];
  private lastId = 0;

  private constructor(
    private readonly kernel: Kernel,
    private readonly thread: LaneThread,
  ) {
    this.views = Array.from({ length: PARSERS }, () => new ParserView(kernel));
  }

  static start(kernel: Kernel): Promise<BenchWorker> {
    return new Promise((resolve, reject) => {
      const thread = startIngestWorker(kernel.shared, kernel.extents.takeOwner(), {
        onReady: () => resolve(worker),
        onReply: (reply) => worker.receive(reply),
        onFailure: reject,
      });
      const worker = new BenchWorker(kernel, thread);
    });
  }

  end(): Promise<void> {
    return this.thread.end();
  }

  /** Lets every parser take all bodies, twice, and compares what it encodes with what this thread does; returns the rows of a pass.
   *  @throws Error */
  async check(bodies: readonly BodyLocation[]): Promise<number> {
    const lines = new LineParser(this.kernel);
    const encoded = new KernelWriter(this.kernel);
    const columns = new FrameColumns(this.kernel, new ColumnCodec(this.kernel), encoded);
    let rows = 0;
    for (let parser = 0; parser < PARSERS * 2; parser++) {
      rows = 0;
      for (const body of bodies) {
        const reply = await this.ask(body, parser % PARSERS);
        const parsed = lines.parseAt(body, { precision: PRECISION, receiveTimeNs: 0n });
        encodeBody(parsed, columns, encoded);
        const theirs = this.kernel.copyOut(reply.encodedPtr, encoded.length);
        if (Buffer.compare(theirs, encoded.toBytes()) !== 0) throw new Error("a worker encodes other columns");
        rows += this.views[parser % PARSERS]!.read(reply.resultPtr, PRECISION).rowCount;
      }
    }
    lines.release();
    encoded.release();
    return rows;
  }

  /** Rows taken. */
  async take(bodies: readonly BodyLocation[], passes: number): Promise<number> {
    let next = 0;
    let rows = 0;
    const parser = async (index: number) => {
      while (next < bodies.length * passes) {
        const reply = await this.ask(bodies[next++ % bodies.length]!, index);
        rows += this.views[index]!.read(reply.resultPtr, PRECISION).rowCount;
      }
    };
    await Promise.all(Array.from({ length: PARSERS }, (_, index) => parser(index)));
    return rows;
  }

  private ask({ ptr, byteCount }: BodyLocation, parserId: number): Promise<Extract<LaneReply, { type: "parsed" }>> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.answers.set(id, (reply) => (reply.type === "parsed" ? resolve(reply) : reject(new Error(`a body was answered ${reply.type}`))));
      const options = { precision: PRECISION, receiveTimeNs: 0n, isReset: false };
      this.thread.post({ type: "parse", id, parserId, bodyPtr: ptr, byteCount, ...options });
    });
  }

  private receive(reply: LaneReply): void {
    if (reply.type === "ended") return;
    if (reply.type === "broken") throw new Error(reply.error.message);
    this.answers.get(reply.id)?.(reply);
    this.answers.delete(reply.id);
  }
}

interface Ingested {
  readonly rowsPerSecond: number;
  /** Processor time, ns a row: of the main thread, and of the whole process. Undefined where the system does not tell. */
  readonly mainNs: number | undefined;
  readonly allNs: number | undefined;
}

async function inServer({ name, options }: DataSet, size: Size, say: (line: string) => void): Promise<Answer[]> {
  const loader = await Loader.create(options);
  const found: Ingested[][] = [[], [], []];
  try {
    const rates = await alternate(
      size === "real" ? 3 : 1,
      found.map((list, workers) => async () => {
        const ingested = await ingestWith(loader, options.rows, workers);
        list.push(ingested);
        return ingested.rowsPerSecond;
      }),
    );
    const nanoseconds = (key: "mainNs" | "allNs") => found.map((list) => median(list.map((ingested) => ingested[key] ?? Number.NaN)));
    const [main, all] = [nanoseconds("mainNs"), nanoseconds("allNs")];
    const show = (values: readonly number[]) => values.map((value) => value.toFixed(0)).join(", ");
    say(`${name}: ${rates.map(short).join(", ")} rows/s with 0, 1, 2 workers; main thread ${show(main)} of ${show(all)} ns a row`);
    const answers: Answer[] = [1, 2].map((workers) => ({
      what: `durable ingest with ${workers} worker${workers > 1 ? "s" : ""} ÷ without, ${name}`,
      value: rates[workers]! / rates[0]!,
      unit: "×",
      detail: `${short(rates[workers]!)} ÷ ${short(rates[0]!)} rows/s`,
    }));
    if (main.some(Number.isNaN)) return answers;
    return [
      ...answers,
      {
        what: `main thread's time of a row without workers ÷ with one, ${name}`,
        value: main[0]! / main[1]!,
        unit: "×",
        detail: `${main[0]!.toFixed(0)} ÷ ${main[1]!.toFixed(0)} ns; all threads ${all[0]!.toFixed(0)} and ${all[1]!.toFixed(0)} ns`,
      },
    ];
  } finally {
    loader.close();
  }
}

async function ingestWith(loader: Loader, rows: number, workers: number): Promise<Ingested> {
  const server = await TestServer.start({ flags: ["--ingest-workers", String(workers)] });
  try {
    const url = writeUrlOf(server);
    // names, series and code are known when it is measured
    await loader.run(url, { connections: CONNECTIONS });
    const [mainBefore, allBefore] = [mainCpuMsOf(server.pid), cpuMsOf(server.pid)];
    const { rowsPerSecond } = await loader.run(url, { connections: CONNECTIONS, firstPass: 1, goOnInTime: true });
    const [mainAfter, allAfter] = [mainCpuMsOf(server.pid), cpuMsOf(server.pid)];
    await checkOurRows(server, 2 * rows);
    const handedOver = await metric(server, "tsdb_ingest_worker_bodies_total");
    if (handedOver > 0 !== workers > 0) throw new Error(`${workers} workers have taken ${handedOver} bodies`);
    const each = (before: number | undefined, after: number | undefined) =>
      before === undefined || after === undefined ? undefined : ((after - before) * 1e6) / rows;
    return { rowsPerSecond, mainNs: each(mainBefore, mainAfter), allNs: each(allBefore, allAfter) };
  } catch (error) {
    throw withOutput(error, server);
  } finally {
    await server.dispose();
  }
}
