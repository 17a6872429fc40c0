// The main thread's side of an ingest worker: starts a thread and passes its messages on.
import type { LaneEvents, LaneThread } from "../ingest/lane.ts";
import type { LaneRequest } from "../ingest/lane-work.ts";
import type { SharedMemory } from "../kernel/extents.ts";
import type { FromIngestWorker, ToIngestWorker } from "./messages.ts";

/** @param owner of what the worker allocates in the shared memory */
export function startIngestWorker(shared: SharedMemory, owner: number, events: LaneEvents): LaneThread {
  const worker = new Worker(new URL("./ingest.ts", import.meta.url).href);
  const ended = Promise.withResolvers<void>();
  const post = (message: ToIngestWorker) => worker.postMessage(message);
  worker.onmessage = ({ data }: MessageEvent<FromIngestWorker>) => {
    if (data.type === "ready") events.onReady();
    else events.onReply(data);
  };
  worker.onerror = (event) => events.onFailure(new Error(event.message));
  worker.addEventListener("close", () => {
    ended.resolve();
    events.onFailure(new Error("its thread has ended"));
  });
  post({ type: "init", shared, owner });
  return {
    post: (request: LaneRequest) => post(request),
    end: () => {
      worker.terminate();
      return ended.promise;
    },
  };
}
