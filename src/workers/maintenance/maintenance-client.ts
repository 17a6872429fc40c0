// The main thread's side of the maintenance worker: flushes, and at a time at most one merge and one index, each answered by a promise.

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
  /** Stores a piece of the file that is made. */
  readonly write?: (piece: Uint8Array) => Promise<void>;
  /** Pieces are stored one after the other. */
  stored: Promise<void>;
}

/** Calls into the maintenance worker, which starts at once. A worker that fails rejects all calls that wait. */
export class MaintenanceClient {
  private readonly worker = new Worker(new URL("./maintenance.ts", import.meta.url).href);
  private readonly jobs = new Map<number, Job>();
  private nextId = 1;

  constructor(shared: SharedMemory) {
    this.worker.onmessage = (event: MessageEvent<FromMaintenanceWorker>) => this.receive(event.data);
    this.worker.onerror = (event) => {
      for (const job of this.jobs.values()) job.reject(new Error(`maintenance worker failed: ${event.message}`));
      this.jobs.clear();
    };
    this.post({ type: "init", shared });
  }

  /** Sorts and encodes sealed rows, which the caller keeps pinned until the promise settles; null when no table came. One at a time. */
  async encode(pieces: AsyncIterable<readonly PtTableInput[]>): Promise<EncodedFile | null> {
    let isEmpty = true;
    for await (const tables of pieces) {
      this.post({ type: "flush tables", tables, isFirst: isEmpty });
      isEmpty = false;
    }
    return isEmpty ? null : ((await this.start("flush", (id) => ({ type: "flush", id }))) as EncodedFile);
  }

  /** Merges blocks of files that stay where they are until the promise settles; `write` has stored the whole when it resolves. One at a
   *  time. */
  merge(request: FileRequest, write: (piece: Uint8Array) => Promise<void>): Promise<MergedFile> {
    return this.start("merge", (id) => ({ type: "merge", id, request }), write) as Promise<MergedFile>;
  }

  /** Makes the index of a file that stays where it is until the promise settles; `write` has stored the whole when it resolves, to its
   *  bytes. One at a time. */
  index(request: IndexRequest, write: (piece: Uint8Array) => Promise<void>): Promise<number> {
    return this.start("index", (id) => ({ type: "index", id, request }), write) as Promise<number>;
  }

  /** Gives up the merge that runs, if one does: it fails with `cancelled`. */
  cancelMerge(): void {
    this.cancel("merge");
  }

  /** The same of an index. */
  cancelIndex(): void {
    this.cancel("index");
  }

  close(): void {
    this.worker.terminate();
  }

  private cancel(wanted: Job["kind"]): void {
    for (const [id, { kind }] of this.jobs) if (kind === wanted) this.post({ type: "cancel", id });
  }

  private start(kind: Job["kind"], message: (id: number) => ToMaintenanceWorker, write?: Job["write"]): Promise<Result> {
    return new Promise((resolve, reject) => {
      const id = this.nextId++;
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
    // what is being written is written, so that the caller can put it away
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
    this.worker.postMessage(message);
  }
}
