// An answer in transit from the main thread to the gRPC thread: pieces in, a stream out; consumption is reported back.

export interface RemoteAnswerEvents {
  /** The reader consumed this many bytes. */
  readonly onTaken: (bytes: number) => void;
  /** The reader cancelled. */
  readonly onCancel: () => void;
}

/** A stream filled by another thread. `events` reports the bytes consumed, which are the credit for more. */
export class RemoteAnswer {
  readonly body: ReadableStream<Uint8Array>;
  private readonly queue: Uint8Array[] = [];
  private controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  private isEnded = false;
  private pulled: (() => void) | undefined;

  constructor(private readonly events: RemoteAnswerEvents) {
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller = controller;
        },
        pull: () =>
          new Promise<void>((resolve) => {
            this.pulled = resolve;
            this.deliver();
          }),
        cancel: () => this.events.onCancel(),
      },
      { highWaterMark: 0 },
    );
  }

  push(bytes: Uint8Array): void {
    this.queue.push(bytes);
    this.deliver();
  }

  end(): void {
    this.isEnded = true;
    this.deliver();
  }

  /** Fails the stream; unread bytes are discarded. */
  fail(error: Error): void {
    this.controller?.error(error);
    this.pulled?.();
  }

  private deliver(): void {
    if (this.pulled === undefined) return;
    const next = this.queue.shift();
    if (next !== undefined) {
      this.controller?.enqueue(next);
      this.events.onTaken(next.byteLength);
    } else if (this.isEnded) this.controller?.close();
    else return;
    this.pulled();
    this.pulled = undefined;
  }
}
