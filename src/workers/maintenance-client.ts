// The main thread's side of the maintenance worker: one job at a time, answered by a promise.

import type { SharedMemory } from "../kernel/extents.ts";
import { TsdbError } from "../model/errors.ts";
import type { PtDirectory, PtTableInput } from "../store/pt-file.ts";
import type { FromMaintenanceWorker, ToMaintenanceWorker } from "./messages.ts";

export interface EncodedFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly directory: PtDirectory;
}

export class MaintenanceClient {
  private readonly worker = new Worker(new URL("./maintenance.ts", import.meta.url).href);
  private readonly jobs = new Map<number, { resolve: (file: EncodedFile) => void; reject: (error: Error) => void }>();
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
    return new Promise((resolve, reject) => {
      const id = this.nextId++;
      this.jobs.set(id, { resolve, reject });
      this.post({ type: "flush", id, tables });
    });
  }

  close(): void {
    this.worker.terminate();
  }

  private receive(message: FromMaintenanceWorker): void {
    if (message.type === "ready") return;
    const job = this.jobs.get(message.id);
    this.jobs.delete(message.id);
    if (message.type === "flushed") job?.resolve(message);
    else if (message.error.kind === "bug") job?.reject(new Error(message.error.message));
    else job?.reject(new TsdbError(message.error.kind, message.error.message, message.error.details));
  }

  private post(message: ToMaintenanceWorker): void {
    this.worker.postMessage(message);
  }
}
