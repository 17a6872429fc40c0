// The benchmark's side of the loading thread. One loader serves every contestant of a benchmark, so all receive the same bytes in the same
// way.
import { type FromLoadWorker, type LoadData, ROWS_DONE, type RunOptions, STOP, type ToLoadWorker } from "./load-worker.ts";

export const CONNECTIONS = 2;
const BODY_LINES = 10_000;

export interface LoadResult {
  readonly rowCount: number;
  readonly rowsPerSecond: number;
}

export interface RunningLoad {
  /** Rows acknowledged so far. */
  readonly rowsDone: number;
  /** Resolves after the last answer. @throws Error unless every answer was a success */
  readonly ended: Promise<LoadResult>;
  /** Starts no further bodies; returns `ended`. */
  stop(): Promise<LoadResult>;
}

export type LoadOptions = Omit<RunOptions, "url" | "connections"> & { readonly connections?: number };

/** Owns the loading thread and its data set. */
export class Loader {
  private readonly worker = new Worker(new URL("./load-worker.ts", import.meta.url).href);

  /** Generates the bodies of a data set, replacing the previous one. */
  static async create(data: LoadData): Promise<Loader> {
    const loader = new Loader();
    await loader.prepare(data);
    return loader;
  }

  async prepare(data: LoadData): Promise<void> {
    await this.ask({ type: "prepare", data: { ...data, bodyLines: data.bodyLines ?? BODY_LINES } });
  }

  /** Sends every body, once unless the options specify otherwise. @throws Error unless every answer is a success */
  run(url: string, options: LoadOptions = {}): Promise<LoadResult> {
    return this.begin(url, options).ended;
  }

  begin(url: string, options: LoadOptions = {}): RunningLoad {
    const control = new Int32Array(new SharedArrayBuffer(8));
    const ended = this.ask({ type: "run", options: { connections: CONNECTIONS, ...options, url }, control }).then(result);
    // the awaiting caller gets the failure; until then it must not count as unhandled
    ended.catch(() => {});
    return {
      ended,
      get rowsDone() {
        return Atomics.load(control, ROWS_DONE);
      },
      stop: () => {
        Atomics.store(control, STOP, 1);
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
