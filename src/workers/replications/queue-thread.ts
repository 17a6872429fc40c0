// Entry point of the thread that makes queue files out of the write-ahead log, so that writes do not wait for it.
import { NodeDisk } from "../../disk/node-disk.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { describeError } from "../../model/errors.ts";
import type { TableNames } from "../../replications/queue-feed.ts";
import { makeQueueFiles } from "../../replications/queue-maker.ts";
import { LogReader } from "../../triggers/log-reader.ts";
import { lowerPriority } from "../maintenance/thread-priority.ts";
import type { FromQueueThread, ToQueueThread } from "./messages.ts";

declare const self: Worker;

const disk = new NodeDisk();
const asked = new Map<number, (names: readonly (TableNames | null)[]) => void>();
let reader: LogReader | undefined;

self.onmessage = (event: MessageEvent<ToQueueThread>) => {
  const message = event.data;
  switch (message.type) {
    case "init":
      reader = new LogReader(Kernel.attach(message.shared), disk, message.folder);
      lowerPriority();
      return;
    case "queue": {
      const { id, request } = message;
      const ask = (tableIds: readonly number[]) => {
        const { promise, resolve } = Promise.withResolvers<readonly (TableNames | null)[]>();
        asked.set(id, resolve);
        post({ type: "ask", id, tableIds });
        return promise;
      };
      makeQueueFiles(reader!, disk, request, ask).then(
        (answer) => post({ type: "queued", id, answer }),
        (error) => post({ type: "error", id, error: describeError(error) }),
      );
      return;
    }
    case "names":
      asked.get(message.id)?.(message.names);
      asked.delete(message.id);
      return;
    case "keep":
      void reader!.keepOnly(new Set(message.readers));
  }
};

function post(message: FromQueueThread): void {
  self.postMessage(message);
}
