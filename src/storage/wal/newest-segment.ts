// What is known of the newest segment beside the log itself: that it exists, and how long it is at least. Without it nobody would notice
// that the newest file of a log has gone. Two records of one small file are written in turns, in place: that takes no space of a full
// disk, and a record that was cut short leaves the other. FORMAT.md draws the bytes.
import { crc32 } from "../../disk/crc32.ts";
import { type Disk, parentOf, type ReservedFile } from "../../disk/disk.ts";
import { TsdbError } from "../../model/errors.ts";
import { getSequence, setSequence } from "./frame.ts";

//  | magic 8 | format u32 | reserved u32 | turn u64 | segment u64 | bytes u64 | reserved u32 | crc u32 |
const MAGIC = new TextEncoder().encode("TSDBWNS\0");
const FORMAT = 1;
const RECORD_BYTES = 48;
const AT_FORMAT = 8;
const AT_TURN = 16;
const AT_SEGMENT = 24;
const AT_BYTES = 32;
const AT_CRC = 44;
/** So far apart that no write of one touches what a disk writes of the other. */
const PLACE_BYTES = 4096;
const PLACES = 2;

/** Nothing is known. */
export const NO_SEGMENT: KnownSegment = { segment: 0, bytes: 0 };

export interface KnownSegment {
  /** Its number; 0: there need not be any. */
  readonly segment: number;
  /** It is as long at least. */
  readonly bytes: number;
}

/** Beside the folder, so that it is there when the folder is lost. */
export function newestSegmentPath(folder: string): string {
  return `${folder}.newest`;
}

export class NewestSegment {
  private file: ReservedFile | null = null;

  private constructor(
    private readonly disk: Disk,
    private readonly path: string,
    private known_: KnownSegment,
    private turn: number,
  ) {}

  /** Reads what the log of `folder` knows; nothing of a log that is older than this file. @throws TsdbError io, corrupt_file */
  static async open(disk: Disk, folder: string): Promise<NewestSegment> {
    const path = newestSegmentPath(folder);
    if ((await disk.stat(path)) === null) return new NewestSegment(disk, path, NO_SEGMENT, 0);
    const bytes = await disk.readFile(path);
    let [known, turn] = [NO_SEGMENT, 0];
    for (let place = 0; place < PLACES; place++) {
      const record = decode(bytes.subarray(place * PLACE_BYTES, place * PLACE_BYTES + RECORD_BYTES));
      if (record !== null && record.turn > turn) [known, turn] = [record, record.turn];
    }
    // the first record, cut short, stands behind a place that nothing was written to yet
    if (turn === 0 && bytes.subarray(0, RECORD_BYTES).some((byte) => byte !== 0)) {
      const message = `${path} is corrupt: neither of its records is whole. Without the file the log is read as far as it goes`;
      throw new TsdbError("corrupt_file", message, { file: path, offset: 0 });
    }
    return new NewestSegment(disk, path, known, turn);
  }

  /** What a log starts with whose file is damaged. */
  static unknown(disk: Disk, folder: string): NewestSegment {
    return new NewestSegment(disk, newestSegmentPath(folder), NO_SEGMENT, 0);
  }

  get known(): KnownSegment {
    return this.known_;
  }

  /** Makes the file, with the space for all that will be written. @throws TsdbError io */
  async prepare(): Promise<void> {
    this.file ??= await this.disk.openReserved(this.path);
    if (this.file.sizeBytes >= PLACES * PLACE_BYTES) return;
    await this.file.extend(PLACES * PLACE_BYTES);
    await this.disk.syncFolder(parentOf(this.path));
  }

  /** Durable when it resolves. One at a time. @throws TsdbError io: what was known before still is */
  async write(known: KnownSegment): Promise<void> {
    await this.prepare();
    const turn = this.turn + 1;
    await this.file!.write((turn % PLACES) * PLACE_BYTES, encode(known, turn));
    this.turn = turn;
    this.known_ = known;
  }

  async close(): Promise<void> {
    await this.file?.close();
    this.file = null;
  }
}

function encode({ segment, bytes }: KnownSegment, turn: number): Uint8Array<ArrayBuffer> {
  const record = new Uint8Array(RECORD_BYTES);
  const view = new DataView(record.buffer);
  record.set(MAGIC);
  view.setUint32(AT_FORMAT, FORMAT, true);
  setSequence(view, AT_TURN, turn);
  setSequence(view, AT_SEGMENT, segment);
  setSequence(view, AT_BYTES, bytes);
  view.setUint32(AT_CRC, crc32(record.subarray(0, AT_CRC)), true);
  return record;
}

/** Null when the record is not whole. */
function decode(record: Uint8Array): (KnownSegment & { readonly turn: number }) | null {
  if (record.byteLength < RECORD_BYTES || MAGIC.some((byte, i) => record[i] !== byte)) return null;
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  if (view.getUint32(AT_CRC, true) !== crc32(record.subarray(0, AT_CRC)) || view.getUint32(AT_FORMAT, true) !== FORMAT) return null;
  return { turn: getSequence(view, AT_TURN), segment: getSequence(view, AT_SEGMENT), bytes: getSequence(view, AT_BYTES) };
}
