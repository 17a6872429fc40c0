// Reserves disk space for future frames: in the file of the current segment, and in a spare file for the next one. An appended frame
// therefore always has space, and a full disk is detected here, before anything is acknowledged.
import type { Disk, ReservedFile } from "../../disk/disk.ts";
import { DiskSpace, isFull } from "../../disk/space.ts";
import { TsdbError } from "../../model/errors.ts";
import { encodeSegmentHeader, SEGMENT_HEADER_BYTES } from "./frame.ts";
import { NewestSegment } from "./newest-segment.ts";
import type { LogSegment } from "./segment.ts";
import { segmentPath } from "./segment-files.ts";

/** Spare files that no segment uses yet. */
const UNNAMED = /^next-\d+\.tmp$/;
const STEP_BYTES_MIN = 1 << 20;
const STEP_BYTES_MAX = 16 << 20;
/** Disk space that a new directory entry may need. */
const BLOCK_BYTES = 4096;
const RETRY_MS = 1000;

export interface RoomOptions {
  /** Consulted before space is reserved. Default: only the disk's own errors. */
  readonly space?: DiskSpace;
  /** Nothing is ever appended. */
  readonly readOnly?: boolean;
  /** Reservation step; doubles while the log is written fast. Default 1 to 16 MiB. */
  readonly stepBytes?: { readonly min: number; readonly max: number };
}

/** The reserved space of one log. */
export class LogRoom {
  private readonly space: DiskSpace;
  private stepBytes: number;
  private readonly stepBytesMax: number;
  private readonly stepBytesMin: number;
  private spare: ReservedFile | null = null;
  private fileCount = 0;
  /** Serializes all operations. */
  private tail: Promise<unknown> = Promise.resolve();
  /** True while a background reservation runs. */
  private isFilling = false;
  private isClosed = false;

  private constructor(
    private readonly disk: Disk,
    private readonly folder: string,
    private readonly newest: NewestSegment,
    { space, stepBytes }: RoomOptions,
  ) {
    this.space = space ?? new DiskSpace(disk, { path: "", reserveBytes: 0, folder });
    this.stepBytesMin = stepBytes?.min ?? STEP_BYTES_MIN;
    this.stepBytesMax = stepBytes?.max ?? STEP_BYTES_MAX;
    this.stepBytes = this.stepBytesMin;
  }

  /** Removes leftovers of an earlier start. @throws TsdbError io */
  static async open(disk: Disk, folder: string, options: RoomOptions): Promise<LogRoom> {
    if (!options.readOnly) for (const { name } of await disk.list(folder)) if (UNNAMED.test(name)) await disk.unlink(`${folder}/${name}`);
    // replay has reported a damaged record
    const newest = await NewestSegment.open(disk, folder).catch((error: unknown) => {
      if (error instanceof TsdbError && error.kind === "corrupt_file") return NewestSegment.unknown(disk, folder);
      throw error;
    });
    return new LogRoom(disk, folder, newest, options);
  }

  /** Gives `segment`, which has no frame yet, the spare file if there is one. */
  adopt(segment: LogSegment, before: LogSegment | null): void {
    // a log that rotates often needs no large files
    if (before !== null && before.usedBytes < this.stepBytes / 2) this.stepBytes = Math.max(this.stepBytesMin, this.stepBytes >> 1);
    if (this.spare === null) return;
    segment.file = this.spare;
    segment.reservedBytes = this.spare.sizeBytes;
    this.spare = null;
  }

  /** Reserves more space when little is left. Never rejects: a write that needs the space fails instead. */
  keepAhead(segment: LogSegment): void {
    const isLow = segment.roomBytes < this.stepBytes / 2;
    if (this.isFilling || this.isClosed || (!isLow && this.spare !== null) || this.space.problem !== null) return;
    this.isFilling = true;
    void (async () => {
      if (isLow) await this.make(segment, 0);
      await this.exclusively(() => this.makeSpare());
    })()
      .catch(() => {})
      .finally(() => {
        this.isFilling = false;
      });
  }

  /** Resolves when `segment` has space for `bytes` bytes of frames plus a step. @throws TsdbError no_space */
  make(segment: LogSegment, bytes: number): Promise<void> {
    return this.exclusively(async () => {
      if (segment.isClosed || this.isClosed) return;
      const wanted = Math.max(bytes, this.stepBytes / 2);
      if (segment.file === null) this.adopt(segment, null);
      if (segment.roomBytes >= wanted) return;
      const leastBytes = segment.usedBytes + bytes + this.stepBytesMin;
      await this.space.take(leastBytes - segment.reservedBytes, async () => {
        await this.newest.prepare();
        const file = segment.file ?? (await this.newFile());
        try {
          await this.extend(file, segment.usedBytes + bytes + this.stepBytes, leastBytes);
          if (segment.isBegun) await this.newest.write({ segment: segment.number, bytes: file.sizeBytes });
        } catch (error) {
          if (segment.file === null) await this.discard(file);
          throw error;
        }
        segment.file = file;
        segment.reservedBytes = file.sizeBytes;
        if (file.sizeBytes > leastBytes || this.stepBytes === this.stepBytesMin)
          this.stepBytes = Math.min(this.stepBytesMax, this.stepBytes * 2);
      });
    });
  }

  /** Writes the segment's name and header before its first frame. On a full disk it waits: the directory entry may need a block. @throws
   *  TsdbError io, no_space if the log is closed */
  async begin(segment: LogSegment): Promise<void> {
    for (;;) {
      try {
        return await this.space.urgent(BLOCK_BYTES, () => this.exclusively(() => this.name(segment)));
      } catch (error) {
        const cause = error instanceof TsdbError && error.kind === "no_space" ? error.cause : undefined;
        if (cause === undefined || this.isClosed) throw error;
        if (!isFull(cause)) throw cause;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** Extends the file of `segment` to `bytes`: for frames that were appended without a check. @throws TsdbError no_space */
  async reach(segment: LogSegment, bytes: number): Promise<void> {
    if (segment.reservedBytes < bytes) await this.make(segment, Math.max(0, bytes - segment.usedBytes));
  }

  /** Closes the file being written and the file that frames would be appended to. With `keepsFrames`, unused reserved space is freed.
   *  @throws TsdbError io */
  async close({ written, next }: { written: LogSegment | null; next: LogSegment }, how: { keepsFrames: boolean }): Promise<void> {
    this.isClosed = true;
    await this.tail;
    const unused = [this.spare, next.isBegun ? null : next.file];
    this.spare = null;
    for (const file of unused) if (file !== null) await this.discard(file);
    if (!next.isBegun) next.file = null;
    // record the final length first
    if (how.keepsFrames && written?.isBegun) await this.newest.write({ segment: written.number, bytes: written.writtenBytes });
    await written?.close(how);
    if (next !== written) await next.close(how);
    await this.newest.close();
  }

  private async name(segment: LogSegment): Promise<void> {
    const { file, number, salt } = segment;
    if (file === null) throw new TsdbError("unavailable", "the log is closed", {});
    await file.write(0, encodeSegmentHeader({ salt, firstSequence: number }));
    const path = segmentPath(this.folder, number);
    if (file.path !== path) await file.rename(path);
    await this.disk.syncFolder(this.folder);
    await this.newest.write({ segment: number, bytes: file.sizeBytes });
    segment.isBegun = true;
  }

  private async makeSpare(): Promise<void> {
    if (this.spare !== null || this.isClosed) return;
    const leastBytes = SEGMENT_HEADER_BYTES + this.stepBytesMin;
    await this.space.take(leastBytes, async () => {
      const file = await this.newFile();
      try {
        await this.extend(file, SEGMENT_HEADER_BYTES + this.stepBytes, leastBytes);
      } catch (error) {
        await this.discard(file);
        throw error;
      }
      this.spare = file;
    });
  }

  /** Reserves the last space of an almost full disk in small steps. */
  private async extend(file: ReservedFile, bytes: number, leastBytes: number): Promise<void> {
    try {
      await file.extend(bytes);
    } catch (error) {
      if (!isFull(error) || leastBytes >= bytes) throw error;
      this.stepBytes = this.stepBytesMin;
      await file.extend(leastBytes);
    }
  }

  private newFile(): Promise<ReservedFile> {
    return this.disk.openReserved(`${this.folder}/next-${++this.fileCount}.tmp`, { isNew: true });
  }

  private async discard(file: ReservedFile): Promise<void> {
    await file.close().catch(() => {});
    await this.disk.unlink(file.path).catch(() => {}); // else removed at the next start
  }

  private exclusively<T>(work: () => Promise<T>): Promise<T> {
    const done = this.tail.then(work);
    this.tail = done.catch(() => {});
    return done;
  }
}
