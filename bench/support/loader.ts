// The bench's side of the loading thread. One loader serves every contestant of a bench, so all get the same bytes in the same way.
import type { TsbsCpuOptions } from "../data/tsbs-cpu.ts";
import type { FromLoadWorker, ToLoadWorker } from "./load-worker.ts";

export const CONNECTIONS = 2;
export const BODY_LINES = 10_000;

export interface LoadResult {
  readonly rowCount: number;
  readonly rowsPerSecond: number;
}

export class Loader {
  private readonly worker = new Worker(new URL("./load-worker.ts", import.meta.url).href);

  /** Makes the bodies of a data set, in place of the last one's. */
  static async create(data: TsbsCpuOptions): Promise<Loader> {
    const loader = new Loader();
    await loader.prepare(data);
    return loader;
  }

  async prepare(data: TsbsCpuOptions): Promise<void> {
    await this.ask({ type: "prepare", data: { ...data, bodyLines: data.bodyLines ?? BODY_LINES } });
  }

  /** Sends every body once. @throws Error unless every answer is a success */
  async run(url: string, connections = CONNECTIONS): Promise<LoadResult> {
    return result(await this.ask({ type: "run", url, connections }));
  }

  /** Sends pass after pass until `stop` is called; its promise resolves when the last answer is in. */
  runUntilStopped(url: string, connections = CONNECTIONS): { stop(): Promise<LoadResult>; ended: Promise<LoadResult> } {
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const ended = this.ask({ type: "run", url, connections, stop }).then(result);
    // whoever waits for it gets the failure; until then it is not an unhandled one
    ended.catch(() => {});
    return {
      ended,
      stop: () => {
        Atomics.store(stop, 0, 1);
        return ended;
      },
    };
  }

  close(): void {
    this.worker.terminate();
  }

  private ask(message: ToLoadWorker): Promise<FromLoadWorker> {
    return new Promise((resolve, reject) => {
      this.worker.onmessage = (event: MessageEvent<FromLoadWorker>) => {
        if (event.data.type === "failed") reject(new Error(event.data.message));
        else resolve(event.data);
      };
      this.worker.onerror = (event) => reject(new Error(`the loading thread failed: ${event.message}`));
      this.worker.postMessage(message);
    });
  }
}

function result(message: FromLoadWorker): LoadResult {
  if (message.type !== "done") throw new Error(`unexpected answer of the loading thread: ${message.type}`);
  return { rowCount: message.rowCount, rowsPerSecond: message.rowCount / (message.milliseconds / 1000) };
}
