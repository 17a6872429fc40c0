// Entry point of the maintenance worker: sorting and encoding of sealed rows, so that the main thread never stalls for a flush.
import { Kernel } from "../kernel/kernel.ts";
import { describeError } from "../model/errors.ts";
import { writePt } from "../store/pt-file.ts";
import type { FromMaintenanceWorker, ToMaintenanceWorker } from "./messages.ts";

declare const self: Worker;

let kernel: Kernel | undefined;

self.onmessage = (event: MessageEvent<ToMaintenanceWorker>) => {
  const message = event.data;
  if (message.type === "init") {
    kernel = Kernel.attach(message.shared);
    self.postMessage({ type: "ready" } satisfies FromMaintenanceWorker);
    return;
  }
  try {
    if (kernel === undefined) throw new Error("BUG: flush before init");
    const { bytes, directory } = writePt(kernel, message.tables);
    self.postMessage({ type: "flushed", id: message.id, bytes, directory } satisfies FromMaintenanceWorker, [bytes.buffer]);
  } catch (error) {
    self.postMessage({ type: "error", id: message.id, error: describeError(error) } satisfies FromMaintenanceWorker);
  }
};
