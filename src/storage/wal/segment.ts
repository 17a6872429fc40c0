// A segment being written: the length of its frames in memory and on disk, and its file with reserved space.
import type { ReservedFile } from "../../disk/disk.ts";
import { SEGMENT_HEADER_BYTES } from "./frame.ts";

/** The state of a segment that takes frames. */
export class LogSegment {
  /** Null until space was reserved for it. */
  file: ReservedFile | null = null;
  /** Length of the file that frames may fill. */
  reservedBytes = 0;
  /** Header and appended frames. */
  usedBytes = SEGMENT_HEADER_BYTES;
  /** The durable part of them. */
  writtenBytes = SEGMENT_HEADER_BYTES;
  /** The file's name and header are durable: frames may be written. */
  isBegun = false;
  /** The segment gets no file any more. */
  isClosed = false;

  /** @param number sequence of its first frame */
  constructor(
    readonly number: number,
    readonly salt: number,
  ) {}

  /** Reserved bytes that frames may still fill. */
  get roomBytes(): number {
    return Math.max(0, this.reservedBytes - this.usedBytes);
  }

  /** Closes the file; with `keepsFrames`, tries to free the reserved space after the frames. */
  async close({ keepsFrames }: { keepsFrames: boolean }): Promise<void> {
    const { file } = this;
    this.file = null;
    this.isClosed = true;
    if (file === null) return;
    // trailing zeros mark the end as well, so a failure is harmless
    if (keepsFrames && file.sizeBytes > this.writtenBytes) await file.truncate(this.writtenBytes).catch(() => {});
    await file.close();
  }
}
