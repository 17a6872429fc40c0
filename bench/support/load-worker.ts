// The loading thread: holds a data set's bodies in memory and sends them over a few connections, so that neither making them nor the
// bench's own thread is part of what is measured.
import { type TsbsCpuOptions, tsbsCpu } from "../data/tsbs-cpu.ts";

declare const self: Worker;

/** A place in a URL that is replaced by the number of the pass over the data. */
export const PASS = "{pass}";

export type ToLoadWorker =
  | { readonly type: "prepare"; readonly data: TsbsCpuOptions }
  /** With `stop` (one i32), passes repeat until it is not 0; without, there is one. */
  | { readonly type: "run"; readonly url: string; readonly connections: number; readonly stop?: Int32Array };

export type FromLoadWorker =
  | { readonly type: "prepared"; readonly bytes: number }
  | { readonly type: "done"; readonly milliseconds: number; readonly rowCount: number }
  | { readonly type: "failed"; readonly message: string };

let bodies: { readonly bytes: Uint8Array<ArrayBuffer>; readonly rowCount: number }[] = [];

self.onmessage = async (event: MessageEvent<ToLoadWorker>) => {
  try {
    post(event.data.type === "prepare" ? prepare(event.data.data) : await run(event.data));
  } catch (error) {
    post({ type: "failed", message: error instanceof Error ? error.message : String(error) });
  }
};

function post(message: FromLoadWorker): void {
  self.postMessage(message);
}

function prepare(data: TsbsCpuOptions): FromLoadWorker {
  bodies = [];
  const bodyLines = data.bodyLines ?? 10_000;
  let rowsLeft = data.rows;
  for (const bytes of tsbsCpu({ ...data, bodyLines })) {
    bodies.push({ bytes: new Uint8Array(bytes), rowCount: Math.min(bodyLines, rowsLeft) });
    rowsLeft -= bodyLines;
  }
  return { type: "prepared", bytes: bodies.reduce((sum, body) => sum + body.bytes.byteLength, 0) };
}

async function run({ url, connections, stop }: Extract<ToLoadWorker, { type: "run" }>): Promise<FromLoadWorker> {
  const stopped = () => stop !== undefined && Atomics.load(stop, 0) !== 0;
  let next = 0;
  let rowCount = 0;
  const startedMs = performance.now();
  async function connection(): Promise<void> {
    while (!stopped() && (stop !== undefined || next < bodies.length)) {
      const pass = Math.floor(next / bodies.length);
      const body = bodies[next++ % bodies.length]!;
      const response = await fetch(url.replace(PASS, String(pass)), { method: "POST", body: body.bytes });
      const text = await response.text();
      if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 500)}`);
      rowCount += body.rowCount;
    }
  }
  await Promise.all(Array.from({ length: connections }, connection));
  return { type: "done", milliseconds: performance.now() - startedMs, rowCount };
}
