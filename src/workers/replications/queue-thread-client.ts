// Client of the thread that makes queue files, on the main thread. The thread starts with the first request.
import type { SharedMemory } from "../../kernel/memory/extents.ts";
import { errorOf } from "../../model/errors.ts";
import type { NamesOf, QueueAnswer, QueueFeed, QueueRequest } from "../../replications/queue-feed.ts";
import type { FromQueueThread, ToQueueThread } from "./messages.ts";

/** Requests queue files from the thread. */
export class QueueThreadClient implements QueueFeed {
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, PromiseWithResolvers<QueueAnswer>>();
  private nextId = 1;

  constructor(
    private readonly shared: SharedMemory,
    /** Of the log's segments. */
    private readonly folder: string,
    private readonly namesOf: NamesOf,
  ) {}

  queue(request: QueueRequest): Promise<QueueAnswer> {
    const answer = Promise.withResolvers<QueueAnswer>();
    const id = this.nextId++;
    this.waiting.set(id, answer);
    this.post(this.start(), { type: "queue", id, request });
    return answer.promise;
  }

  keepOnly(readers: readonly number[]): void {
    if (this.worker !== undefined) this.post(this.worker, { type: "keep", readers });
  }

  close(): void {
    this.worker?.terminate();
    this.fail("the server is stopping");
  }

  private start(): Worker {
    if (this.worker !== undefined) return this.worker;
    const worker = new Worker(new URL("./queue-thread.ts", import.meta.url).href);
    worker.onmessage = (event: MessageEvent<FromQueueThread>) => this.receive(worker, event.data);
    worker.onerror = (event) => {
      // the next request starts another one
      this.worker = undefined;
      worker.terminate();
      this.fail(`the thread that makes queues failed: ${event.message}`);
    };
    this.post(worker, { type: "init", shared: this.shared, folder: this.folder });
    this.worker = worker;
    return worker;
  }

  private receive(worker: Worker, message: FromQueueThread): void {
    if (message.type === "ask") {
      this.post(worker, { type: "names", id: message.id, names: message.tableIds.map((tableId) => this.namesOf(tableId)) });
      return;
    }
    const answer = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.type === "queued") answer?.resolve(message.answer);
    else answer?.reject(errorOf(message.error));
  }

  private post(worker: Worker, message: ToQueueThread): void {
    worker.postMessage(message);
  }

  private fail(reason: string): void {
    for (const answer of this.waiting.values()) answer.reject(new Error(reason));
    this.waiting.clear();
  }
}
