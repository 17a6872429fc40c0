// The loading thread: holds a data set's bodies in memory and sends them over a few connections, so that neither generating them nor the
// benchmark's main thread affects the measurement.
import { type Shape, shapedLines } from "../data/shapes.ts";
import { TSBS_START_NS, TSBS_STEP_NS, type TsbsCpuOptions, tsbsCpu } from "../data/tsbs-cpu.ts";
import { type Body, moveInTime, withLineEnds } from "./load-body.ts";

declare const self: Worker;

/** A placeholder in a URL for the number of the pass over the data. */
export const PASS = "{pass}";

export interface LoadData extends TsbsCpuOptions {
  /** Absent: TSBS's own lines. */
  readonly shape?: Shape | undefined;
}

export interface RunOptions {
  readonly url: string;
  readonly connections: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Number of passes over the data; default one, and with `endless` until stopped. */
  readonly passes?: number;
  readonly endless?: boolean;
  /** True: each pass continues in time after the previous one; otherwise all have the same times. */
  readonly goOnInTime?: boolean;
  /** The number of the first pass, to continue after earlier data; default 0. */
  readonly firstPass?: number;
  /** Limits the rate; absent: maximum rate. */
  readonly rowsPerSecond?: number;
}

/** Indexes in `control`, an i32 array shared by both threads. */
export const STOP = 0;
export const ROWS_DONE = 1;

export type ToLoadWorker =
  | { readonly type: "prepare"; readonly data: LoadData }
  | { readonly type: "run"; readonly options: RunOptions; readonly control: Int32Array };

export type FromLoadWorker =
  | { readonly type: "prepared"; readonly bytes: number }
  | { readonly type: "done"; readonly milliseconds: number; readonly rowCount: number }
  | { readonly type: "failed"; readonly message: string };

let bodies: Body[] = [];
/** Time between passes. */
let passSeconds = 0;

self.onmessage = async (event: MessageEvent<ToLoadWorker>) => {
  const message = event.data;
  try {
    post(message.type === "prepare" ? prepare(message.data) : await run(message.options, message.control));
  } catch (error) {
    post({ type: "failed", message: error instanceof Error ? error.message : String(error) });
  }
};

function post(message: FromLoadWorker): void {
  self.postMessage(message);
}

function prepare(data: LoadData): FromLoadWorker {
  const { shape, hosts, rows, startNs = TSBS_START_NS, stepNs = TSBS_STEP_NS } = data;
  bodies = [];
  for (const bytes of shape === undefined ? tsbsCpu(data) : shapedLines(shape, data)) bodies.push(withLineEnds(bytes));
  passSeconds = Number((BigInt(Math.ceil(rows / hosts)) * stepNs) / 1_000_000_000n);
  const found = bodies.reduce((sum, body) => sum + body.lineEnds.length, 0);
  if (found !== rows || startNs % 1_000_000_000n !== 0n) throw new Error(`${found} lines of ${rows} from ${startNs}`);
  return { type: "prepared", bytes: bodies.reduce((sum, body) => sum + body.bytes.byteLength, 0) };
}

async function run(options: RunOptions, control: Int32Array): Promise<FromLoadWorker> {
  const { url, connections, headers = {}, passes = 1, endless = false, goOnInTime = false, firstPass = 0, rowsPerSecond } = options;
  const stopped = () => Atomics.load(control, STOP) !== 0;
  const bodiesMax = endless ? Number.POSITIVE_INFINITY : passes * bodies.length;
  const busy = new Map<Body, Promise<unknown>>();
  let next = 0;
  let rowsSent = 0;
  let rowCount = 0;
  const startedMs = performance.now();
  async function send(body: Body, pass: number): Promise<void> {
    const response = await fetch(url.replace(PASS, String(pass)), { method: "POST", headers, body: body.bytes });
    const text = await response.text();
    if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 500)}`);
    rowCount += body.lineEnds.length;
    Atomics.store(control, ROWS_DONE, rowCount);
  }
  async function connection(): Promise<void> {
    while (!stopped() && next < bodiesMax) {
      const pass = firstPass + Math.floor(next / bodies.length);
      const body = bodies[next++ % bodies.length]!;
      if (rowsPerSecond !== undefined) {
        const dueMs = startedMs + (rowsSent / rowsPerSecond) * 1000;
        rowsSent += body.lineEnds.length;
        if (dueMs > performance.now()) await Bun.sleep(dueMs - performance.now());
      }
      if (goOnInTime) {
        // its bytes may still be in transmission
        await busy.get(body);
        moveInTime(body, pass * passSeconds);
      }
      const sent = send(body, pass);
      if (goOnInTime) busy.set(body, sent);
      await sent;
    }
  }
  await Promise.all(Array.from({ length: connections }, connection));
  // restores the original times for the next run
  if (goOnInTime) for (const body of bodies) moveInTime(body, 0);
  return { type: "done", milliseconds: performance.now() - startedMs, rowCount };
}
