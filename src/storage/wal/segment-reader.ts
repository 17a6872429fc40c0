// Reads one segment from front to end in large chunks and passes on its frames. It reports where valid frames end; replay.ts decides
// whether that is a torn tail or corruption.
import type { Disk, ReadFile } from "../../disk/disk.ts";
import { assert } from "../../model/assert.ts";
import { BadFrame, decodeSegmentHeader, FRAME_HEADER_BYTES, FrameWindow, SEGMENT_HEADER_BYTES, saltOf } from "./frame.ts";
import type { SegmentFile } from "./segment-files.ts";

/** 4 MiB: large enough to make the cost of a read call negligible, small enough for the processor's cache. */
const CHUNK_BYTES = 4 << 20;

/** Receives a frame; `payload` is borrowed until it returns, or until its promise settles. Replay waits for the promise. */
export type FrameSink = (sequence: number, payload: Uint8Array, segmentNumber: number) => void | Promise<void>;

/** Where valid frames end before the end of the segment. */
export interface BadSpot {
  readonly offset: number;
  readonly reason: string;
}

/** A valid frame found after an invalid spot. */
export interface FoundFrame {
  readonly offset: number;
  /** Offset of its end. */
  readonly end: number;
  readonly sequence: number;
  /** Offset in the file where the frame's group begins. */
  readonly groupStart: number;
}

/** A reader of one segment file. Owned: call `close`. */
export class SegmentReader {
  private readonly window: FrameWindow;
  /** Bytes of the file from `bufferOffset` on, `filled` of them valid. */
  private buffer: Uint8Array;
  private bufferOffset = SEGMENT_HEADER_BYTES;
  private filled = 0;

  private constructor(
    readonly segment: SegmentFile,
    private readonly file: ReadFile,
    salt: number,
    /** Description of a fault in the header; null if it is valid. */
    readonly headerProblem: string | null,
  ) {
    this.buffer = new Uint8Array(Math.min(CHUNK_BYTES, file.sizeBytes));
    this.window = new FrameWindow(this.buffer, salt);
  }

  /** @throws TsdbError io */
  static async open(disk: Disk, segment: SegmentFile): Promise<SegmentReader> {
    const file = await disk.openRead(segment.path);
    try {
      const bytes = new Uint8Array(SEGMENT_HEADER_BYTES);
      const byteCount = await file.read(0, bytes);
      const header = decodeSegmentHeader(bytes.subarray(0, byteCount), segment.number);
      return typeof header === "string"
        ? new SegmentReader(segment, file, saltOf(bytes), header)
        : new SegmentReader(segment, file, header.salt, null);
    } catch (error) {
      await file.close().catch(() => {});
      throw error;
    }
  }

  get sizeBytes(): number {
    return this.file.sizeBytes;
  }

  close(): Promise<void> {
    return this.file.close();
  }

  /** Passes frames from `offset` on to `take`, as long as sequences are consecutive. `expected`: sequence of the first. Resolves at the
   *  end of the file (null) or at the first invalid frame. `done` receives the offset after every chunk. */
  async read(offset: number, expected: number, take: FrameSink, done: (offset: number) => void): Promise<BadSpot | null> {
    let at = offset;
    let sequence = expected;
    while (at < this.sizeBytes) {
      await this.load(at, FRAME_HEADER_BYTES);
      // All complete frames in the buffer, without returning to the event loop.
      for (;;) {
        const inBuffer = at - this.bufferOffset;
        const frameBytes = this.window.check(inBuffer, this.filled);
        if (frameBytes === BadFrame.short && (await this.loadFrame(at))) continue;
        if (frameBytes < 0) {
          if (at === this.sizeBytes) break;
          return { offset: at, reason: this.explain(frameBytes, at) };
        }
        const found = this.window.sequence(inBuffer);
        if (found !== sequence) return { offset: at, reason: `the frame has sequence ${found}, ${sequence} must follow` };
        const pause = take(sequence, this.window.payload(inBuffer), this.segment.number);
        if (pause !== undefined) await pause;
        at += frameBytes;
        sequence += 1;
      }
      done(at);
    }
    return null;
  }

  /** Loads the whole frame at `offset` into the buffer. Returns false if it is there already, or the file ends before it does. */
  private async loadFrame(offset: number): Promise<boolean> {
    const inBuffer = offset - this.bufferOffset;
    if (offset + FRAME_HEADER_BYTES > this.sizeBytes) return false;
    if (inBuffer + FRAME_HEADER_BYTES > this.filled) return this.load(offset, FRAME_HEADER_BYTES);
    const frameBytes = FRAME_HEADER_BYTES + this.window.payloadBytes(inBuffer);
    if (offset + frameBytes > this.sizeBytes || inBuffer + frameBytes <= this.filled) return false;
    return this.load(offset, frameBytes);
  }

  /** Loads `wantBytes` bytes from `offset` on (fewer at the end of the file), and as many more as fit, into the buffer. Returns true if
   *  it had to read. */
  private async load(offset: number, wantBytes: number): Promise<boolean> {
    const kept = Math.max(0, this.bufferOffset + this.filled - offset);
    if (offset >= this.bufferOffset && kept >= Math.min(wantBytes, this.sizeBytes - offset)) return false;
    const rest =
      offset >= this.bufferOffset && kept > 0 ? this.buffer.subarray(this.filled - kept, this.filled) : this.buffer.subarray(0, 0);
    if (wantBytes > this.buffer.byteLength) {
      const larger = new Uint8Array(Math.max(wantBytes, CHUNK_BYTES));
      larger.set(rest);
      this.buffer = larger;
      this.window.reset(larger);
    } else {
      this.buffer.set(rest);
    }
    this.bufferOffset = offset;
    this.filled = rest.byteLength;
    const readBytes = Math.min(this.buffer.byteLength - this.filled, this.sizeBytes - offset - this.filled);
    const got = await this.file.read(offset + this.filled, this.buffer.subarray(this.filled, this.filled + readBytes));
    assert(got === readBytes, `${this.segment.path} became shorter while it was read`);
    this.filled += got;
    return true;
  }

  /** True if only zeros follow from `offset` on; overwrites the buffer. */
  async isZeroFrom(offset: number): Promise<boolean> {
    const zeros = new Uint8Array(Math.min(CHUNK_BYTES, this.sizeBytes - offset));
    let isZero = true;
    for (let at = offset; isZero && at < this.sizeBytes; ) {
      await this.load(at, Math.min(zeros.byteLength, this.sizeBytes - at));
      const bytes = this.buffer.subarray(at - this.bufferOffset, this.filled);
      const chunk = bytes.subarray(0, zeros.byteLength);
      isZero = Buffer.compare(chunk, zeros.subarray(0, chunk.byteLength)) === 0;
      at += chunk.byteLength;
    }
    return isZero;
  }

  private explain(bad: number, offset: number): string {
    if (bad === BadFrame.short) return `the file ends inside the frame, ${this.sizeBytes - offset} bytes into it`;
    const inBuffer = offset - this.bufferOffset;
    if (bad === BadFrame.length) return `the frame claims ${this.window.payloadBytes(inBuffer)} bytes`;
    if (bad === BadFrame.flags) return "the frame has flags that this server does not know";
    return "the frame's checksum is wrong";
  }

  /** The first valid frame at or after `offset` with a sequence above `after`. Holds the rest of the segment in memory. */
  async findGood(offset: number, after: number): Promise<FoundFrame | null> {
    await this.load(offset, this.sizeBytes - offset);
    const start = offset - this.bufferOffset;
    const found = this.window.findGood(start, this.filled, after, this.bufferOffset);
    if (found < 0) return null;
    const at = this.bufferOffset + found;
    const end = at + FRAME_HEADER_BYTES + this.window.payloadBytes(found);
    return { offset: at, end, sequence: this.window.sequence(found), groupStart: at - this.window.groupOffset(found) };
  }
}
