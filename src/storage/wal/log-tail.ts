// Reads the log while it is written, frame by frame, behind replay: for readers that follow it. They know from the writer up to which
// sequence frames are durable, and ask for no others.
import type { Disk, ReadFile } from "../../disk/disk.ts";
import { TsdbError } from "../../model/errors.ts";
import { decodeSegmentHeader, FRAME_HEADER_BYTES, FrameWindow, SEGMENT_HEADER_BYTES } from "./frame.ts";
import { listSegments } from "./segment-files.ts";

const CHUNK_BYTES = 1 << 20;
/** Behind the last frame a segment has up to megabytes of space: a tail that follows the writer reads little of it. */
const CHUNK_BYTES_LEAST = 64 << 10;

/** Takes a frame, whose payload is borrowed until it returns. False: no further one is wanted now. */
export type TailSink = (sequence: number, payload: Uint8Array, segmentNumber: number) => boolean;

interface OpenSegment {
  readonly number: number;
  readonly file: ReadFile;
  readonly window: FrameWindow;
}

/** One reader's place in the log. Owned: call `close`. Calls are made one after the other. */
export class LogTail {
  private segment: OpenSegment | null = null;
  /** Of the next frame in the segment. */
  private offset = SEGMENT_HEADER_BYTES;
  private next = 0;
  private buffer = new Uint8Array(CHUNK_BYTES);
  private bufferOffset = 0;
  private filled = 0;
  private chunkBytes = CHUNK_BYTES_LEAST;

  constructor(
    private readonly disk: Disk,
    private readonly folder: string,
  ) {}

  /** Hands frames behind `after` and up to `through` to `take`, from the begin of the segment of the first of them: what its frames say is
   *  said once a segment. So frames up to `after` come too, the first time. Returns the first sequence that there still is when frames
   *  behind `after` are gone, else null. @throws TsdbError io, corrupt_file */
  async read(after: number, through: number, take: TailSink): Promise<number | null> {
    let goneBefore: number | null = null;
    // frames before it were given up by the reader, or it begins anew
    if (this.segment === null || this.next > after + 1) goneBefore = await this.open(after + 1);
    while (this.next <= through && this.segment !== null) {
      const frameBytes = await this.load();
      if (frameBytes === 0) {
        const gone = await this.open(this.next);
        if (gone !== null && gone > after + 1) goneBefore = gone;
        continue;
      }
      const { window, number } = this.segment;
      const sequence = this.next;
      const payload = window.payload(this.offset - this.bufferOffset);
      this.offset += frameBytes;
      this.next += 1;
      if (!take(sequence, payload, number)) break;
    }
    return goneBefore;
  }

  async close(): Promise<void> {
    const { segment } = this;
    this.segment = null;
    await segment?.file.close();
  }

  /** Gets the next frame into the buffer as a whole and checks it. Returns its bytes; 0: it is not in this segment. */
  private async load(): Promise<number> {
    const { window } = this.segment!;
    for (const isFresh of [false, true]) {
      if (isFresh) await this.fillNext();
      const at = this.offset - this.bufferOffset;
      if (at < 0 || at + FRAME_HEADER_BYTES > this.filled || window.sequence(at) !== this.next) continue;
      const frameBytes = FRAME_HEADER_BYTES + window.payloadBytes(at);
      if (at + frameBytes > this.filled) await this.fill(frameBytes);
      const checked = window.check(this.offset - this.bufferOffset, this.filled);
      if (checked > 0) return checked;
    }
    return 0;
  }

  /** Larger parts while frames fill them, which is so for a reader that is behind. */
  private fillNext(): Promise<void> {
    const left = this.filled - (this.offset - this.bufferOffset);
    const isUsedUp = this.filled === this.chunkBytes && left >= 0 && left < this.chunkBytes / 4;
    this.chunkBytes = isUsedUp ? Math.min(this.chunkBytes * 2, CHUNK_BYTES) : CHUNK_BYTES_LEAST;
    return this.fill(this.chunkBytes);
  }

  private async fill(bytes: number): Promise<void> {
    const { file, window } = this.segment!;
    if (bytes > this.buffer.byteLength) this.buffer = new Uint8Array(bytes);
    else if (bytes <= CHUNK_BYTES && this.buffer.byteLength > CHUNK_BYTES) this.buffer = new Uint8Array(CHUNK_BYTES);
    window.reset(this.buffer);
    this.bufferOffset = this.offset;
    this.filled = await file.read(this.offset, this.buffer.subarray(0, bytes));
  }

  /** Opens the segment that has the frame, or the first one behind it: then its number is returned.
   *  @throws TsdbError corrupt_file: there is neither */
  private async open(sequence: number): Promise<number | null> {
    const segments = await listSegments(this.disk, this.folder);
    const holder = segments.findLast(({ number }) => number <= sequence);
    // the holder of a frame that follows what was read is another segment than that
    const isSame = holder !== undefined && holder.number === this.segment?.number && this.next === sequence;
    const found = isSame ? segments.find(({ number }) => number > sequence) : (holder ?? segments[0]);
    if (found === undefined) {
      const file = holder?.path ?? this.folder;
      const where = isSame ? ` at byte ${this.offset}` : "";
      throw new TsdbError("corrupt_file", `frame ${sequence} of the log is not where it must be: ${file}${where}`, { file });
    }
    await this.close();
    const file = await this.disk.openRead(found.path);
    const head = new Uint8Array(SEGMENT_HEADER_BYTES);
    const header = decodeSegmentHeader(head.subarray(0, await file.read(0, head)), found.number);
    if (typeof header === "string") {
      await file.close();
      throw new TsdbError("corrupt_file", `${found.path}: ${header}`, { file: found.path, offset: 0 });
    }
    this.segment = { number: found.number, file, window: new FrameWindow(this.buffer, header.salt) };
    this.offset = SEGMENT_HEADER_BYTES;
    this.filled = 0;
    this.bufferOffset = 0;
    this.next = found.number;
    return found.number > sequence ? found.number : null;
  }
}
