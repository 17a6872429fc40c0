// One gRPC call as the service sees it: metadata, abort signal, writes with back-pressure.
import type { Deadline, Metadata, ServerDuplexStream, ServerWritableStream } from "@grpc/grpc-js";
import { TsdbError } from "../../../model/errors.ts";
import { tokenOf } from "../access.ts";
import type { Caller } from "../service.ts";

/** Common members of calls of all shapes. */
export interface AnyCall {
  readonly metadata: Metadata;
  getDeadline(): Deadline;
  once(event: "cancelled", listener: () => void): unknown;
}
type WritableCall = ServerWritableStream<Buffer, Uint8Array> | ServerDuplexStream<Buffer, Uint8Array>;

/** Maximum bytes in transit to a client that does not read. */
const WINDOW_BYTES = 512 << 10;
/** Maximum delay of setTimeout. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** One RPC: headers in, an abort signal, writes under back-pressure. Its signal aborts when the client cancels or disconnects. */
export class GrpcCall implements Caller {
  readonly token: string | null;
  readonly startedMs = performance.now();
  private readonly metadata: Metadata;
  private readonly aborter = new AbortController();
  private readonly deadlineTimer: ReturnType<typeof setTimeout> | undefined;
  private waitingBytes = 0;
  private sentBytes = 0;
  private wake: () => void = () => {};

  constructor(call: AnyCall) {
    this.metadata = call.metadata;
    this.token = tokenOf(this.header("authorization"));
    call.once("cancelled", () => this.aborter.abort());
    // the library answers a client whose deadline has passed, but lets the work continue
    const leftMs = Number(call.getDeadline()) - Date.now();
    if (leftMs < TIMER_MS_MAX) this.deadlineTimer = setTimeout(() => this.aborter.abort(), Math.max(0, leftMs));
    this.signal.addEventListener("abort", () => this.wake(), { once: true });
  }

  get signal(): AbortSignal {
    return this.aborter.signal;
  }

  /** Bytes of the messages that were written. */
  get bytes(): number {
    return this.sentBytes;
  }

  header(name: string): string | undefined {
    return this.metadata.get(name)[0]?.toString();
  }

  /** Writes a message and resolves when the client can receive more. @throws TsdbError cancelled */
  async write(call: WritableCall, data: Uint8Array): Promise<void> {
    this.throwIfAborted();
    this.waitingBytes += data.length;
    this.sentBytes += data.length;
    call.write(data, () => {
      this.waitingBytes -= data.length;
      this.wake();
    });
    while (this.waitingBytes > WINDOW_BYTES) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      this.throwIfAborted();
    }
  }

  end(): void {
    clearTimeout(this.deadlineTimer);
  }

  private throwIfAborted(): void {
    if (this.signal.aborted) throw new TsdbError("cancelled", "the client went away");
  }
}
