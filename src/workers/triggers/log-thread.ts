// Entry point of the thread that reads the write-ahead log for triggers, so that writes do not wait for it.
import { NodeDisk } from "../../disk/node-disk.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { describeError } from "../../model/errors.ts";
import { buffersOf } from "../../triggers/joined-rows.ts";
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
        // handed over, not copied
        (rows) => post({ type: "rows", id: message.id, rows }, buffersOf(rows.tables)),
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
