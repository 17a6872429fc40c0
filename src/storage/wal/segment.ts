// A segment that is written: its frames in memory and on disk, and the file that has space for more of them than there are.
import type { ReservedFile } from "../../disk/disk.ts";
import { SEGMENT_HEADER_BYTES } from "./frame.ts";

export class LogSegment {
  /** Null before there was space for it. */
  file: ReservedFile | null = null;
  /** Bytes of the file that frames may fill. */
  reservedBytes = 0;
  /** Header and frames that were appended. */
  usedBytes = SEGMENT_HEADER_BYTES;
  /** Of these, what is durable. */
  writtenBytes = SEGMENT_HEADER_BYTES;
  /** The file has its name and header, durably: frames may be written. */
  isBegun = false;
  /** No file is given to it any more. */
  isClosed = false;

  /** @param number sequence of its first frame */
  constructor(
    readonly number: number,
    readonly salt: number,
  ) {}

  /** What frames may still fill without the disk being asked. */
  get roomBytes(): number {
    return Math.max(0, this.reservedBytes - this.usedBytes);
  }

  /** Closes the file; with `keepsFrames` the space behind the frames is given back, as well as that can be done. */
  async close({ keepsFrames }: { keepsFrames: boolean }): Promise<void> {
    const { file } = this;
    this.file = null;
    this.isClosed = true;
    if (file === null) return;
    // zeros behind the frames are the end as well
    if (keepsFrames && file.sizeBytes > this.writtenBytes) await file.truncate(this.writtenBytes).catch(() => {});
    await file.close();
  }
}
