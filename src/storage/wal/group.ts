// Frames that become durable together: one buffer, one write, one sync.
import type { TsdbError } from "../../model/errors.ts";
import { FRAME_HEADER_BYTES, writeFrame } from "./frame.ts";
import type { LogSegment } from "./segment.ts";

const GROUP_BYTES_MIN = 64 << 10;
/** Larger buffers are not reused, so that one huge body does not occupy memory forever. */
const BUFFER_BYTES_KEPT = 32 << 20;

/** A group of frames. Filled by `add`, then written once. */
export class Group {
  frameCount = 0;
  usedBytes = 0;
  /** Monotonic time of its first frame. */
  readonly openedMs = performance.now();
  readonly after: Promise<unknown>[] = [];
  readonly synced: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: TsdbError) => void;

  /** @param buffer owned by the group */
  constructor(
    readonly segment: LogSegment,
    readonly firstSequence: number,
    private buffer: Uint8Array<ArrayBuffer>,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {}); // a rejection that nobody awaits (no_sync) must not end the process; onFailure reports it
    this.synced = promise;
    this.resolve = resolve;
    this.reject = reject;
  }

  get lastSequence(): number {
    return this.firstSequence + this.frameCount - 1;
  }

  /** The frames as written to disk. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.buffer.subarray(0, this.usedBytes);
  }

  /** Copies a frame; `pieces` are borrowed. */
  add(sequence: number, pieces: readonly Uint8Array[], payloadBytes: number): void {
    this.reserve(this.usedBytes + FRAME_HEADER_BYTES + payloadBytes);
    this.usedBytes = writeFrame(
      this.buffer,
      this.usedBytes,
      { sequence, groupOffset: this.usedBytes, salt: this.segment.salt, payloadBytes },
      pieces,
    );
    this.frameCount += 1;
  }

  private reserve(bytes: number): void {
    if (bytes <= this.buffer.byteLength) return;
    const larger = new Uint8Array(Math.max(bytes, this.buffer.byteLength * 2));
    larger.set(this.buffer.subarray(0, this.usedBytes));
    this.buffer = larger;
  }

  /** Returns the buffer for the next group, or undefined if it is too large to keep. The group must not be used afterwards. */
  release(): Uint8Array<ArrayBuffer> | undefined {
    return this.buffer.byteLength <= BUFFER_BYTES_KEPT ? this.buffer : undefined;
  }
}

/** Spare buffers: one is being written while the next is filled. */
export class BufferPool {
  private readonly free: Uint8Array<ArrayBuffer>[] = [];

  take(): Uint8Array<ArrayBuffer> {
    return this.free.pop() ?? new Uint8Array(GROUP_BYTES_MIN);
  }

  give(buffer: Uint8Array<ArrayBuffer> | undefined): void {
    if (buffer !== undefined && this.free.length < 2) this.free.push(buffer);
  }
}
