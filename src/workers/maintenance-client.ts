// The main thread's side of the maintenance worker: flushes and at most one merge at a time, each answered by a promise.

import type { SharedMemory } from "../kernel/extents.ts";
import type { FileRequest, MergedFile } from "../maintain/merge-file.ts";
import { errorOf } from "../model/errors.ts";
import type { PtDirectory, PtTableInput } from "../store/pt-file.ts";
import type { FromMaintenanceWorker, ToMaintenanceWorker } from "./messages.ts";

export interface EncodedFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly directory: PtDirectory;
}

interface Job {
  readonly resolve: (result: EncodedFile | MergedFile) => void;
  readonly reject: (error: Error) => void;
  /** Stores a piece of a merge's file. */
  readonly write?: (piece: Uint8Array) => Promise<void>;
  /** Pieces are stored one after the other. */
  stored: Promise<void>;
}

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

  /** Sorts and encodes sealed rows, which the caller keeps pinned until the promise settles. */
  encode(tables: readonly PtTableInput[]): Promise<EncodedFile> {
    return this.start((id) => ({ type: "flush", id, tables })) as Promise<EncodedFile>;
  }

  /** Merges blocks of files that stay where they are until the promise settles; `write` has stored the whole when it resolves. One at a
   *  time. */
  merge(request: FileRequest, write: (piece: Uint8Array) => Promise<void>): Promise<MergedFile> {
    return this.start((id) => ({ type: "merge", id, request }), write) as Promise<MergedFile>;
  }

  /** Gives up the merge that runs, if one does: it fails with `cancelled`. */
  cancelMerge(): void {
    for (const [id, { write }] of this.jobs) if (write !== undefined) this.post({ type: "cancel", id });
  }

  close(): void {
    this.worker.terminate();
  }

  private start(message: (id: number) => ToMaintenanceWorker, write?: Job["write"]): Promise<EncodedFile | MergedFile> {
    return new Promise((resolve, reject) => {
      const id = this.nextId++;
      this.jobs.set(id, { resolve, reject, stored: Promise.resolve(), ...(write === undefined ? {} : { write }) });
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
