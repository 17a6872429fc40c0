// Entry point of the thread that reads the write-ahead log for triggers, so that writes never wait for it.
import { NodeDisk } from "../../disk/node-disk.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { describeError } from "../../model/errors.ts";
import type { LogRows } from "../../triggers/log-feed.ts";
import { LogReader } from "../../triggers/log-reader.ts";
import { lowerPriority } from "../maintenance/thread-priority.ts";
import type { FromLogThread, ToLogThread } from "./messages.ts";

declare const self: Worker;

let reader: LogReader | undefined;

self.onmessage = (event: MessageEvent<ToLogThread>) => {
  const message = event.data;
  switch (message.type) {
    case "init":
      reader = new LogReader(Kernel.attach(message.shared), new NodeDisk(), message.folder);
      lowerPriority();
      return;
    case "read":
      reader!.read(message.request).then(
        (rows) => post({ type: "rows", id: message.id, rows }, buffersOf(rows)),
        (error) => post({ type: "error", id: message.id, error: describeError(error) }),
      );
      return;
    case "keep":
      void reader!.keepOnly(new Set(message.triggerIds));
  }
};

function post(message: FromLogThread, transfer: ArrayBuffer[] = []): void {
  self.postMessage(message, transfer);
}

/** They are handed over, not copied. */
function buffersOf({ tables }: LogRows): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  for (const { columns } of tables) {
    for (const { present, values } of columns) {
      if (present !== null) buffers.add(present.buffer as ArrayBuffer);
      const arrays = values.kind === "text" ? [values.codes, values.ends, values.bytes] : [values.values];
      for (const array of arrays) if (array !== null) buffers.add(array.buffer as ArrayBuffer);
    }
  }
  return [...buffers];
}
