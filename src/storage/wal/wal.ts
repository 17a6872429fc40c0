// The write-ahead log. A frame gets its sequence when it is appended; waiting frames are written with one write and made durable with one
// sync, while the next group forms. The payload is opaque to the log. FORMAT.md draws the bytes.
import type { Disk } from "../../disk/disk.ts";
import { assert } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import { FRAME_HEADER_BYTES } from "./frame.ts";
import { BufferPool, Group } from "./group.ts";
import type { ReplayResult } from "./replay.ts";
import { LogRoom, type RoomOptions } from "./room.ts";
import { LogSegment } from "./segment.ts";
import { type SegmentFile, segmentPath } from "./segment-files.ts";

/** A group closes at this size even while another is being written: bounds the size of a write. */
const GROUP_BYTES_MAX = 32 << 20;

/** Statistics of one group. */
export interface GroupReport {
  readonly frameCount: number;
  readonly bytes: number;
  /** Of its last frame: it is durable. */
  readonly lastSequence: number;
  /** From the start of the write to the end of the sync. */
  readonly seconds: number;
}

export interface WalOptions extends RoomOptions {
  /** How long a group may wait for more frames, counted from its first. 0 (default): until the previous sync has ended, plus the current
   *  turn of the event loop. */
  readonly flushIntervalMs?: number;
  /** `segmentFull` becomes true at this size. Default LIMITS.walSegmentBytes. */
  readonly segmentBytesMax?: number;
  /** Called once when a write or sync has failed: nothing is written any more, the server must stop. */
  readonly onFailure?: (error: TsdbError) => void;
  /** For metrics. */
  readonly onGroup?: (report: GroupReport) => void;
  /** Random u32 per segment; injected for golden files. */
  readonly newSalt?: () => number;
}

export interface AppendOptions {
  /** The frame is written only after this resolved: data it refers to must be durable first. A rejection fails the log. */
  readonly after?: Promise<unknown>;
}

export interface AppendedFrame {
  readonly sequence: number;
  /** Resolves when the frame is durable. Need not be awaited. @throws TsdbError unavailable */
  readonly synced: Promise<void>;
}

/** The log of one server. Owned: call `close`. */
export class Wal {
  private nextSequence: number;
  /** The segment that takes frames. */
  private segment: LogSegment;
  /** Existing and planned segments, ascending. */
  private segments: SegmentFile[];
  /** Groups to be written, in order; frames join the last one while it is `open`. */
  private readonly groups: Group[] = [];
  private open: Group | null = null;
  private writing = false;
  /** The segment being written to disk. */
  private written: LogSegment | null = null;
  private readonly pool = new BufferPool();
  private failure: TsdbError | null = null;
  private closing = false;
  private hurry: () => void = () => {};
  private waitingBytes = 0;
  private durable: number;

  private constructor(
    private readonly disk: Disk,
    private readonly folder: string,
    private readonly room: LogRoom,
    replayed: ReplayResult,
    private readonly options: WalOptions,
  ) {
    this.nextSequence = replayed.lastSequence + 1;
    this.durable = replayed.lastSequence;
    this.segments = [...replayed.segments];
    this.segment = this.newSegment();
  }

  /** Continues after the replayed frames, in a new segment. @throws TsdbError io */
  static async open(disk: Disk, folder: string, replayed: ReplayResult, options: WalOptions = {}): Promise<Wal> {
    if (!options.readOnly) await disk.makeFolder(folder);
    return new Wal(disk, folder, await LogRoom.open(disk, folder, options), replayed, options);
  }

  private newSegment(): LogSegment {
    const salt = this.options.newSalt?.() ?? crypto.getRandomValues(new Uint32Array(1))[0]!;
    return new LogSegment(this.nextSequence, salt);
  }

  /** Sequence of the newest frame appended or replayed. */
  get lastSequence(): number {
    return this.nextSequence - 1;
  }

  /** Sequence of the newest frame that is durable. */
  get durableSequence(): number {
    return this.durable;
  }

  /** Number of the segment that takes the next frame: the sequence of its first. Changes at `rotate`. */
  get segmentNumber(): number {
    return this.segment.number;
  }

  /** Bytes of the current segment, including those not yet written. */
  get segmentBytes(): number {
    return this.segment.usedBytes;
  }

  /** True if `rotate` is due. */
  get segmentFull(): boolean {
    return this.segmentBytes >= (this.options.segmentBytesMax ?? LIMITS.walSegmentBytes);
  }

  /** True if a frame with a payload of this size has reserved space, even if the disk fills up. */
  hasRoom(payloadBytes: number): boolean {
    return this.segment.roomBytes >= FRAME_HEADER_BYTES + payloadBytes;
  }

  /** Resolves when there is space for such a frame; frames appended first may use it up. @throws TsdbError no_space */
  makeRoom(payloadBytes: number): Promise<void> {
    return this.room.make(this.segment, FRAME_HEADER_BYTES + payloadBytes);
  }

  /** Bytes appended but not yet durable. */
  get pendingBytes(): number {
    return this.waitingBytes;
  }

  get failed(): TsdbError | null {
    return this.failure;
  }

  /** Appends a frame; its payload (one or several pieces, at most LIMITS.walFrameBytesMax) is copied before this returns. Without
   *  reserved space, the log fails if the disk is full. @throws TsdbError unavailable once the log has failed */
  append(payload: Uint8Array | readonly Uint8Array[], options: AppendOptions = {}): AppendedFrame {
    if (this.failure !== null) throw this.failure;
    assert(!this.closing, "append to a closed log");
    const pieces = payload instanceof Uint8Array ? [payload] : payload;
    let payloadBytes = 0;
    for (const piece of pieces) payloadBytes += piece.byteLength;
    assert(payloadBytes <= LIMITS.walFrameBytesMax, `a frame of ${payloadBytes} bytes`);
    const group = this.openGroup(FRAME_HEADER_BYTES + payloadBytes);
    const sequence = this.nextSequence++;
    group.add(sequence, pieces, payloadBytes);
    const { after } = options;
    if (after !== undefined && after !== group.after.at(-1)) {
      after.catch(() => {}); // the writer detects a rejection when the group is due
      group.after.push(after);
    }
    this.segment.usedBytes += FRAME_HEADER_BYTES + payloadBytes;
    this.room.keepAhead(this.segment);
    this.waitingBytes += FRAME_HEADER_BYTES + payloadBytes;
    if (!this.writing) {
      this.writing = true;
      void this.write();
    }
    return { sequence, synced: group.synced };
  }

  /** The group that takes a frame of `frameBytes` bytes. */
  private openGroup(frameBytes: number): Group {
    if (this.open !== null && this.open.usedBytes + frameBytes > GROUP_BYTES_MAX) this.sealGroup();
    if (this.open !== null) return this.open;
    const { number } = this.segment;
    const group = new Group(this.segment, this.nextSequence, this.pool.take());
    if (this.segments.at(-1)?.number !== number) this.segments.push({ number, path: segmentPath(this.folder, number) });
    this.groups.push(group);
    this.open = group;
    return group;
  }

  private sealGroup(): void {
    this.open = null;
    this.hurry();
  }

  /** Starts a new segment for later frames; no effect while the current one has no frame. */
  rotate(): void {
    const before = this.segment;
    if (this.nextSequence === before.number) return;
    this.sealGroup();
    this.segment = this.newSegment();
    this.room.adopt(this.segment, before);
    this.room.keepAhead(this.segment);
  }

  /** Writes groups until none is left. */
  private async write(): Promise<void> {
    try {
      for (let group = this.groups[0]; group !== undefined; group = this.groups[0]) {
        await this.waitForCompany(group);
        if (group === this.open) this.open = null;
        await Promise.all(group.after);
        await this.writeGroup(group);
        this.groups.shift();
        this.waitingBytes -= group.usedBytes;
        group.resolve();
        this.pool.give(group.release());
      }
      this.writing = false;
    } catch (cause) {
      this.fail(cause);
    }
  }

  /** Lets frames of already received requests join the group: a busy server then writes few large groups. */
  private async waitForCompany(group: Group): Promise<void> {
    if (group !== this.open || this.closing) return;
    const { flushIntervalMs = 0 } = this.options;
    if (flushIntervalMs <= 0) return new Promise((resolve) => setImmediate(resolve));
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, flushIntervalMs - (performance.now() - group.openedMs));
    this.hurry = resolve;
    await promise;
    this.hurry = () => {};
    clearTimeout(timer);
  }

  private async writeGroup(group: Group): Promise<void> {
    const { segment } = group;
    const end = segment.writtenBytes + group.usedBytes;
    await this.room.reach(segment, end);
    if (!segment.isBegun) await this.room.begin(segment);
    if (this.written !== segment) {
      await this.written?.close({ keepsFrames: true });
      this.written = segment;
    }
    const startMs = performance.now();
    await segment.file!.write(segment.writtenBytes, group.bytes);
    segment.writtenBytes = end;
    this.durable = group.lastSequence;
    const seconds = (performance.now() - startMs) / 1000;
    this.options.onGroup?.({ frameCount: group.frameCount, bytes: group.usedBytes, lastSequence: group.lastSequence, seconds });
  }

  /** After a failed write or sync, the contents of the disk are unknown; a retry could acknowledge data that is not there. */
  private fail(cause: unknown): void {
    const text = cause instanceof Error ? cause.message : String(cause);
    const failure = new TsdbError("unavailable", `the write-ahead log has failed: ${text}`, {}, { cause });
    this.failure = failure;
    this.open = null;
    for (const group of this.groups.splice(0)) group.reject(failure);
    // only a replay can tell how much of the file is valid
    void this.closeFiles({ keepsFrames: false }).catch(() => {});
    this.options.onFailure?.(failure);
  }

  /** Resolves when every frame appended so far is durable. @throws TsdbError unavailable */
  flushed(): Promise<void> {
    if (this.failure !== null) return Promise.reject(this.failure);
    return this.groups.at(-1)?.synced ?? Promise.resolve();
  }

  /** Segments before the current one, ascending, with the sequence of their last frame. @throws TsdbError io */
  async closedSegments(): Promise<{ readonly lastSequence: number; readonly bytes: number }[]> {
    const found = this.segments.filter(({ number }) => number !== this.segmentNumber);
    const sizes = await Promise.all(found.map(({ path }) => this.disk.stat(path)));
    return found.map((_, i) => {
      const next = found[i + 1]?.number ?? this.segmentNumber;
      return { lastSequence: next - 1, bytes: sizes[i]?.sizeBytes ?? 0 };
    });
  }

  /** Deletes all segments whose frames are at most `throughSequence`, except the current one. Waits for pending frames. @throws
   *  TsdbError unavailable, io (the log itself continues) */
  async cut(throughSequence: number): Promise<void> {
    const doomed = (segment: SegmentFile, i: number): boolean => {
      const next = this.segments[i + 1]?.number ?? this.segmentNumber;
      return segment.number !== this.segmentNumber && next <= throughSequence + 1;
    };
    if (!this.segments.some(doomed)) return;
    for (const group of this.groups) if (group.firstSequence <= throughSequence) await group.synced;
    const removed = this.segments.filter(doomed);
    this.segments = this.segments.filter((segment) => !removed.includes(segment)); // a concurrent cut must not delete them again
    const { written } = this;
    if (written !== null && removed.some(({ number }) => number === written.number)) {
      this.written = null;
      await written.close({ keepsFrames: false });
    }
    for (const { path } of removed) await this.disk.unlink(path); // oldest first: a crash leaves no gap
    await this.disk.syncFolder(this.folder);
  }

  /** Writes pending frames, then closes the file. Nothing may be appended afterwards. @throws TsdbError unavailable */
  async close(): Promise<void> {
    this.closing = true;
    this.hurry();
    await this.flushed();
    await this.closeFiles({ keepsFrames: true });
  }

  private async closeFiles(how: { keepsFrames: boolean }): Promise<void> {
    const { written, segment } = this;
    this.written = null;
    await this.room.close({ written, next: segment }, how);
  }
}
