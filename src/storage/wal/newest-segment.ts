// Records the newest segment outside of the log: its number and a lower bound of its length. Without this record the loss of the newest
// file would go unnoticed. The two records of one small file are written alternately, in place: this needs no space on a full disk, and a
// torn write leaves the other record. FORMAT.md draws the bytes.
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
/** Distance of the records, so that a write of one never touches the other's disk sector. */
const PLACE_BYTES = 4096;
const PLACES = 2;

/** No segment is recorded. */
export const NO_SEGMENT: KnownSegment = { segment: 0, bytes: 0 };

export interface KnownSegment {
  /** Its number; 0: there may be none. */
  readonly segment: number;
  /** Lower bound of its length. */
  readonly bytes: number;
}

/** Beside the folder, so that it survives the loss of the folder. */
export function newestSegmentPath(folder: string): string {
  return `${folder}.newest`;
}

/** The record of one log. */
export class NewestSegment {
  private file: ReservedFile | null = null;

  private constructor(
    private readonly disk: Disk,
    private readonly path: string,
    private known_: KnownSegment,
    private turn: number,
  ) {}

  /** Reads the record for the log in `folder`; empty for logs older than this file. @throws TsdbError io, corrupt_file */
  static async open(disk: Disk, folder: string): Promise<NewestSegment> {
    const path = newestSegmentPath(folder);
    if ((await disk.stat(path)) === null) return new NewestSegment(disk, path, NO_SEGMENT, 0);
    const bytes = await disk.readFile(path);
    let [known, turn] = [NO_SEGMENT, 0];
    for (let place = 0; place < PLACES; place++) {
      const record = decode(bytes.subarray(place * PLACE_BYTES, place * PLACE_BYTES + RECORD_BYTES));
      if (record !== null && record.turn > turn) [known, turn] = [record, record.turn];
    }
    // a torn first record: the other one has never been written
    if (turn === 0 && bytes.subarray(0, RECORD_BYTES).some((byte) => byte !== 0)) {
      const message = `${path} is corrupt: neither of its records is whole. Without the file the log is read as far as it goes`;
      throw new TsdbError("corrupt_file", message, { file: path, offset: 0 });
    }
    return new NewestSegment(disk, path, known, turn);
  }

  /** An empty record, for a log whose record file is damaged. */
  static unknown(disk: Disk, folder: string): NewestSegment {
    return new NewestSegment(disk, newestSegmentPath(folder), NO_SEGMENT, 0);
  }

  get known(): KnownSegment {
    return this.known_;
  }

  /** Creates the file and allocates all space it will ever need. @throws TsdbError io */
  async prepare(): Promise<void> {
    this.file ??= await this.disk.openReserved(this.path);
    if (this.file.sizeBytes >= PLACES * PLACE_BYTES) return;
    await this.file.extend(PLACES * PLACE_BYTES);
    await this.disk.syncFolder(parentOf(this.path));
  }

  /** Resolves when durable. One call at a time. @throws TsdbError io: the previous record remains valid */
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

/** Returns null if the record is torn. */
function decode(record: Uint8Array): (KnownSegment & { readonly turn: number }) | null {
  if (record.byteLength < RECORD_BYTES || MAGIC.some((byte, i) => record[i] !== byte)) return null;
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  if (view.getUint32(AT_CRC, true) !== crc32(record.subarray(0, AT_CRC)) || view.getUint32(AT_FORMAT, true) !== FORMAT) return null;
  return { turn: getSequence(view, AT_TURN), segment: getSequence(view, AT_SEGMENT), bytes: getSequence(view, AT_BYTES) };
}
