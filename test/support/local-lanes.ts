// Ingest workers without threads: LaneWork on an instance of the kernel of its own, answering in a later turn of the loop, so that whatever
// may happen on the main thread in between does. The test says when one fails.
import type { LaneEvents, LaneThread } from "../../src/ingest/lane.ts";
import { type LaneRequest, LaneWork } from "../../src/ingest/lane-work.ts";
import type { LanesParts } from "../../src/ingest/lanes.ts";
import { Kernel } from "../../src/kernel/kernel.ts";
import { TsdbError } from "../../src/model/errors.ts";

export interface LocalLanesOptions {
  readonly count: number;
  readonly bodyBytesMin?: number;
  /** Turns of the loop before an answer. */
  readonly turns?: () => number;
  /** Asked before and after the work of each request: true = the thread ends there. */
  readonly fails?: (request: LaneRequest, when: "before" | "after") => boolean;
  /** True: it finds no memory for this request. */
  readonly isFull?: () => boolean;
  /** True: the kernel traps in this request. */
  readonly traps?: () => boolean;
}

export class LocalLanes {
  /** What threads failed of. */
  readonly failures: { readonly error: Error; readonly isLost: boolean }[] = [];
  /** Threads that were started. */
  startCount = 0;
  /** Threads that run. */
  runningCount = 0;

  constructor(private readonly options: LocalLanesOptions) {}

  parts(kernel: Kernel): LanesParts {
    const { count, bodyBytesMin = 0 } = this.options;
    return {
      ...{ count, bodyBytesMin },
      start: (owner, events) => this.start(kernel, owner, events),
      onFailure: (error, isLost) => this.failures.push({ error, isLost }),
    };
  }

  private start(kernel: Kernel, owner: number, events: LaneEvents): LaneThread {
    const { fails = () => false, isFull = () => false, traps = () => false } = this.options;
    const own = Kernel.attach(kernel.shared, owner);
    const alloc = own.heap.alloc.bind(own.heap);
    own.heap.alloc = (bytes) => {
      if (isFull()) throw new TsdbError("overloaded", "memory is full");
      if (traps()) throw new WebAssembly.RuntimeError("unreachable executed");
      return alloc(bytes);
    };
    const work = new LaneWork(own);
    let isRunning = true;
    this.startCount++;
    this.runningCount++;
    const end = (error?: Error) => {
      if (!isRunning) return;
      isRunning = false;
      this.runningCount--;
      if (error !== undefined) events.onFailure(error);
    };
    let last = Promise.resolve();
    const later = (run: () => void) => {
      last = last.then(() => this.wait()).then(() => (isRunning ? run() : undefined));
    };
    // a thread is there when it has loaded; tests begin with it
    events.onReady();
    return {
      post: (request) =>
        later(() => {
          if (fails(request, "before")) return end(new Error("the thread ended before its work"));
          const reply = work.handle(request);
          if (fails(request, "after")) return end(new Error("the thread ended after its work"));
          if (reply !== undefined) later(() => events.onReply(reply));
          return undefined;
        }),
      end: async () => {
        end();
        await this.wait();
      },
    };
  }

  private async wait(): Promise<void> {
    for (let left = this.options.turns?.() ?? 1; left > 0; left--) await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
