// Client of the log reader thread, on the main thread. The thread starts with the first request.
import type { SharedMemory } from "../../kernel/memory/extents.ts";
import { errorOf } from "../../model/errors.ts";
import type { LogFeed, LogRequest, LogRows } from "../../triggers/log-feed.ts";
import type { FromLogThread, ToLogThread } from "./messages.ts";

/** Requests frames from the thread. */
export class LogThreadClient implements LogFeed {
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, PromiseWithResolvers<LogRows>>();
  private nextId = 1;

  constructor(
    private readonly shared: SharedMemory,
    /** Of the log's segments. */
    private readonly folder: string,
  ) {}

  read(request: LogRequest): Promise<LogRows> {
    const answer = Promise.withResolvers<LogRows>();
    const id = this.nextId++;
    this.waiting.set(id, answer);
    this.start().postMessage({ type: "read", id, request } satisfies ToLogThread);
    return answer.promise;
  }

  /** Closes the readers of all other triggers. */
  keepOnly(triggerIds: readonly number[]): void {
    this.worker?.postMessage({ type: "keep", triggerIds } satisfies ToLogThread);
  }

  close(): void {
    this.worker?.terminate();
    this.fail("the server is stopping");
  }

  private start(): Worker {
    if (this.worker !== undefined) return this.worker;
    const worker = new Worker(new URL("./log-thread.ts", import.meta.url).href);
    worker.onmessage = (event: MessageEvent<FromLogThread>) => this.receive(event.data);
    worker.onerror = (event) => {
      // the next request starts another one
      this.worker = undefined;
      worker.terminate();
      this.fail(`the thread that reads the log failed: ${event.message}`);
    };
    worker.postMessage({ type: "init", shared: this.shared, folder: this.folder } satisfies ToLogThread);
    this.worker = worker;
    return worker;
  }

  private receive(message: FromLogThread): void {
    const answer = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.type === "rows") answer?.resolve(message.rows);
    else answer?.reject(errorOf(message.error));
  }

  private fail(reason: string): void {
    for (const answer of this.waiting.values()) answer.reject(new Error(reason));
    this.waiting.clear();
  }
}
