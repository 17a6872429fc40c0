// The main thread's side of the maintenance worker: flushes, and at most one merge and one index build at a time, each answered by a
// promise.

import type { SharedMemory } from "../../kernel/memory/extents.ts";
import { errorOf } from "../../model/errors.ts";
import type { IndexRequest } from "../../storage/compaction/build-index.ts";
import type { FileRequest, MergedFile } from "../../storage/compaction/merge-file.ts";
import type { PtDirectory, PtTableInput } from "../../storage/pt/file.ts";
import type { FromMaintenanceWorker, ToMaintenanceWorker } from "../wire/messages.ts";

export interface EncodedFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly directory: PtDirectory;
}

type Result = EncodedFile | MergedFile | number;

interface Job {
  readonly resolve: (result: Result) => void;
  readonly kind: "flush" | "merge" | "index";
  readonly reject: (error: Error) => void;
  /** Stores a piece of the output file. */
  readonly write?: (piece: Uint8Array) => Promise<void>;
  /** The last store: pieces are stored sequentially. */
  stored: Promise<void>;
}

/** Calls the maintenance worker, which starts immediately. A failure rejects all waiting calls, and the next starts another worker. */
export class MaintenanceClient {
  private worker: Worker | null;
  private readonly jobs = new Map<number, Job>();
  private nextId = 1;
  private isClosed = false;

  constructor(private readonly shared: SharedMemory) {
    this.worker = this.spawn();
  }

  /** Sorts and encodes sealed rows, which the caller keeps pinned until the promise settles; null if there were no tables. One at a
   *  time. */
  async encode(pieces: AsyncIterable<readonly PtTableInput[]>): Promise<EncodedFile | null> {
    let isEmpty = true;
    let { worker } = this;
    for await (const tables of pieces) {
      if (isEmpty) worker = this.live();
      this.post({ type: "flush tables", tables, isFirst: isEmpty });
      isEmpty = false;
    }
    // another one has not all of the tables
    if (worker !== this.worker && !isEmpty) throw new Error("the maintenance worker failed before it had the rows");
    return isEmpty ? null : ((await this.start("flush", (id) => ({ type: "flush", id }))) as EncodedFile);
  }

  /** Merges blocks of files that must not change until the promise settles; resolves after `write` has stored everything. One at a time. */
  merge(request: FileRequest, write: (piece: Uint8Array) => Promise<void>): Promise<MergedFile> {
    return this.start("merge", (id) => ({ type: "merge", id, request }), write) as Promise<MergedFile>;
  }

  /** Builds the index of a file that must not change until the promise settles; resolves to its size after `write` has stored
   *  everything. One at a time. */
  index(request: IndexRequest, write: (piece: Uint8Array) => Promise<void>): Promise<number> {
    return this.start("index", (id) => ({ type: "index", id, request }), write) as Promise<number>;
  }

  /** Cancels the running merge, if any: it fails with `cancelled`. */
  cancelMerge(): void {
    this.cancel("merge");
  }

  /** The same for an index build. */
  cancelIndex(): void {
    this.cancel("index");
  }

  close(): void {
    this.isClosed = true;
    this.worker?.terminate();
  }

  private spawn(): Worker {
    const worker = new Worker(new URL("./maintenance.ts", import.meta.url).href);
    worker.onmessage = (event: MessageEvent<FromMaintenanceWorker>) => this.receive(event.data);
    worker.onerror = (event) => this.failed(worker, event.message);
    worker.addEventListener("close", () => this.failed(worker, "it has ended"));
    worker.postMessage({ type: "init", shared: this.shared } satisfies ToMaintenanceWorker);
    return worker;
  }

  private live(): Worker {
    this.worker ??= this.spawn();
    return this.worker;
  }

  private failed(worker: Worker, reason: string): void {
    if (this.isClosed || worker !== this.worker) return;
    this.worker = null;
    worker.terminate();
    for (const { stored, reject } of this.jobs.values()) {
      // the caller deletes the output
      void stored.catch(() => {}).then(() => reject(new Error(`maintenance worker failed: ${reason}`)));
    }
    this.jobs.clear();
  }

  private cancel(wanted: Job["kind"]): void {
    for (const [id, { kind }] of this.jobs) if (kind === wanted) this.post({ type: "cancel", id });
  }

  private start(kind: Job["kind"], message: (id: number) => ToMaintenanceWorker, write?: Job["write"]): Promise<Result> {
    return new Promise((resolve, reject) => {
      const id = this.nextId++;
      this.live();
      this.jobs.set(id, { kind, resolve, reject, stored: Promise.resolve(), ...(write === undefined ? {} : { write }) });
      this.post(message(id));
    });
  }

  private receive(message: FromMaintenanceWorker): void {
    if (message.type === "ready") return;
    const job = this.jobs.get(message.id);
    if (job === undefined) return;
    if (message.type === "piece") {
      this.store(message.id, job, message.bytes);
      return;
    }
    this.jobs.delete(message.id);
    if (message.type === "flushed") job.resolve(message);
    else if (message.type === "merged") job.stored.then(() => job.resolve(message.file), job.reject);
    else if (message.type === "indexed") job.stored.then(() => job.resolve(message.bytes), job.reject);
    // wait for the running store, so that the caller can delete the output
    else void job.stored.catch(() => {}).then(() => job.reject(errorOf(message.error)));
  }

  private store(id: number, job: Job, bytes: Uint8Array): void {
    job.stored = job.stored.then(() => job.write!(bytes));
    job.stored.then(
      () => this.post({ type: "taken", id }),
      (error) => {
        if (!this.jobs.delete(id)) return;
        this.post({ type: "cancel", id });
        job.reject(error);
      },
    );
  }

  private post(message: ToMaintenanceWorker): void {
    this.worker?.postMessage(message);
  }
}
