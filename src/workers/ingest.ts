// Entry point of an ingest worker, a lane: LaneWork behind messages.
import { LaneWork } from "../ingest/lane-work.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { FromIngestWorker, ToIngestWorker } from "./messages.ts";

declare const self: Worker;

let work: LaneWork | undefined;

self.onmessage = (event: MessageEvent<ToIngestWorker>) => {
  const message = event.data;
  if (message.type === "init") {
    work = new LaneWork(Kernel.attach(message.shared, message.owner));
    post({ type: "ready" });
    return;
  }
  const reply = work?.handle(message);
  if (reply !== undefined) post(reply);
};

function post(message: FromIngestWorker): void {
  self.postMessage(message);
}
