// Entry point of the thread that makes files of an import's rows. Its kernel has a memory of its own, so that an import takes nothing from
// what all others share, and leaves nothing behind.
import { ImportedRows } from "../../imports/rows/imported-rows.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { describeError } from "../../model/errors.ts";
import { lowerPriority } from "../maintenance/thread-priority.ts";
import type { FromWriteThread, ToWriteThread } from "./messages.ts";

declare const self: Worker;

let rows: ImportedRows | undefined;

self.onmessage = ({ data }: MessageEvent<ToWriteThread>) => {
  try {
    receive(data);
  } catch (error) {
    post({ type: "error", error: describeError(error) });
  }
};

function receive(message: ToWriteThread): void {
  switch (message.type) {
    case "begin":
      lowerPriority();
      rows = new ImportedRows(Kernel.create(), message.target);
      return;
    case "piece":
      rows!.add(message.piece);
      post({ type: "taken" });
      if (rows!.isFull) send();
      return;
    case "end":
      send();
      post({ type: "all written" });
  }
}

function send(): void {
  const slice = rows!.take();
  if (slice !== null) post({ type: "slice", slice }, [slice.bytes.buffer]);
}

function post(message: FromWriteThread, transfer: ArrayBuffer[] = []): void {
  self.postMessage(message, transfer);
}
