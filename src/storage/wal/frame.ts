// The bytes of segments and frames: writing and checking. FORMAT.md draws them.
import { crc32 } from "../../disk/crc32.ts";
import { assert } from "../../model/assert.ts";
import { LIMITS } from "../../model/limits.ts";

const WAL_FORMAT = 1;

//  | magic 8 | format u32 | salt u32 | firstSequence u64 | reserved u32 | crc u32 |
export const SEGMENT_HEADER_BYTES = 32;
const MAGIC = new TextEncoder().encode("TSDBWAL\0");
const HEADER_FORMAT = 8;
const HEADER_SALT = 12;
const HEADER_FIRST = 16;
const HEADER_CRC = 28;

//  | length u32 | crc u32 | sequence u64 | groupOffset u32 | flags u32 | payload |
export const FRAME_HEADER_BYTES = 24;
const FRAME_CRC = 4;
const FRAME_SEQUENCE = 8;
const FRAME_GROUP_OFFSET = 16;
const FRAME_FLAGS = 20;

/** 2^53 / 2^32: limit of the upper half of a sequence that a number can represent. */
const SEQUENCE_HIGH_MAX = 1 << 21;

export interface SegmentHeader {
  readonly salt: number;
  readonly firstSequence: number;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Writes a sequence as u64. */
export function setSequence(view: DataView, offset: number, sequence: number): void {
  view.setUint32(offset, sequence >>> 0, true);
  view.setUint32(offset + 4, Math.floor(sequence / 2 ** 32), true);
}

/** Reads a sequence; NaN if it exceeds 2^53. */
export function getSequence(view: DataView, offset: number): number {
  const high = view.getUint32(offset + 4, true);
  return high < SEQUENCE_HIGH_MAX ? high * 2 ** 32 + view.getUint32(offset, true) : Number.NaN;
}

/** The SEGMENT_HEADER_BYTES at the start of a segment. */
export function encodeSegmentHeader(header: SegmentHeader): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(SEGMENT_HEADER_BYTES);
  const view = viewOf(bytes);
  bytes.set(MAGIC);
  view.setUint32(HEADER_FORMAT, WAL_FORMAT, true);
  view.setUint32(HEADER_SALT, header.salt, true);
  setSequence(view, HEADER_FIRST, header.firstSequence);
  view.setUint32(HEADER_CRC, crc32(bytes.subarray(0, HEADER_CRC)), true);
  return bytes;
}

/** The header, or a description of its fault. @param nameSequence the sequence in the file's name */
export function decodeSegmentHeader(bytes: Uint8Array, nameSequence: number): SegmentHeader | string {
  if (bytes.byteLength < SEGMENT_HEADER_BYTES) return `it ends after ${bytes.byteLength} bytes, inside the header`;
  if (MAGIC.some((byte, i) => bytes[i] !== byte)) return "it does not begin as a segment";
  const view = viewOf(bytes);
  const want = view.getUint32(HEADER_CRC, true);
  const got = crc32(bytes.subarray(0, HEADER_CRC));
  if (got !== want) return `the header's checksum is ${got.toString(16)}, want ${want.toString(16)}`;
  const format = view.getUint32(HEADER_FORMAT, true);
  if (format !== WAL_FORMAT) return `its format is ${format}, this server reads ${WAL_FORMAT}`;
  const firstSequence = getSequence(view, HEADER_FIRST);
  if (firstSequence !== nameSequence) return `its first sequence is ${firstSequence}, its name says ${nameSequence}`;
  return { salt: view.getUint32(HEADER_SALT, true), firstSequence };
}

/** The salt at its usual offset, for salvaging frames after a damaged header. */
export function saltOf(bytes: Uint8Array): number {
  return viewOf(bytes).getUint32(HEADER_SALT, true);
}

/** Writes a frame to `target` at `offset`, where there is room. `pieces` are borrowed. Returns the offset of its end. */
export function writeFrame(
  target: Uint8Array,
  offset: number,
  frame: { sequence: number; groupOffset: number; salt: number; payloadBytes: number },
  pieces: readonly Uint8Array[],
): number {
  const end = offset + FRAME_HEADER_BYTES + frame.payloadBytes;
  assert(end <= target.byteLength, `a frame ends at ${end}, the target at ${target.byteLength}`);
  let at = offset + FRAME_HEADER_BYTES;
  for (const piece of pieces) {
    target.set(piece, at);
    at += piece.byteLength;
  }
  assert(at === end, `pieces of ${at - offset - FRAME_HEADER_BYTES} bytes, ${frame.payloadBytes} were announced`);
  const view = viewOf(target);
  view.setUint32(offset, frame.payloadBytes, true);
  setSequence(view, offset + FRAME_SEQUENCE, frame.sequence);
  view.setUint32(offset + FRAME_GROUP_OFFSET, frame.groupOffset, true);
  view.setUint32(offset + FRAME_FLAGS, 0, true);
  view.setUint32(offset + FRAME_CRC, crc32(target.subarray(offset + FRAME_SEQUENCE, end), frame.salt), true);
  return end;
}

/** Reasons why there is no valid frame at an offset. */
export const BadFrame = { short: -1, length: -2, flags: -3, checksum: -4 } as const;

/** A window of a segment for reading frames in place, without an object per frame. */
export class FrameWindow {
  private view: DataView;

  /** `bytes` is borrowed while the window is used. */
  constructor(
    private bytes: Uint8Array,
    private readonly salt: number,
  ) {
    this.view = viewOf(bytes);
  }

  /** Moves the window to other bytes of the same segment. */
  reset(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.view = viewOf(bytes);
  }

  /** Payload length claimed by the frame at `offset`, whose header is inside the window. */
  payloadBytes(offset: number): number {
    return this.view.getUint32(offset, true);
  }

  sequence(offset: number): number {
    return getSequence(this.view, offset + FRAME_SEQUENCE);
  }

  groupOffset(offset: number): number {
    return this.view.getUint32(offset + FRAME_GROUP_OFFSET, true);
  }

  /** Borrowed. */
  payload(offset: number): Uint8Array {
    const start = offset + FRAME_HEADER_BYTES;
    return this.bytes.subarray(start, start + this.payloadBytes(offset));
  }

  /** Size of the whole frame at `offset`, or a value of BadFrame. `end`: number of filled bytes in the window, which bounds the frame. */
  check(offset: number, end: number): number {
    if (offset + FRAME_HEADER_BYTES > end) return BadFrame.short;
    const payloadBytes = this.payloadBytes(offset);
    if (payloadBytes > LIMITS.walFrameBytesMax) return BadFrame.length;
    if (this.view.getUint32(offset + FRAME_FLAGS, true) !== 0) return BadFrame.flags;
    const frameEnd = offset + FRAME_HEADER_BYTES + payloadBytes;
    if (frameEnd > end) return BadFrame.short;
    const got = crc32(this.bytes.subarray(offset + FRAME_SEQUENCE, frameEnd), this.salt);
    return got === this.view.getUint32(offset + FRAME_CRC, true) ? frameEnd - offset : BadFrame.checksum;
  }

  /** Offset of the first valid frame at or after `from` with a sequence above `after`, or -1. Tries every byte. @param windowOffset
   *  offset of the window within the segment */
  findGood(from: number, end: number, after: number, windowOffset: number): number {
    // A frame has at least FRAME_HEADER_BYTES, which bounds the sequences possible here; few random bytes pass this check.
    const sequenceMax = after + Math.ceil((windowOffset + end) / FRAME_HEADER_BYTES) + 1;
    for (let offset = from; offset + FRAME_HEADER_BYTES <= end; offset++) {
      const sequence = this.sequence(offset);
      if (!(sequence > after && sequence <= sequenceMax)) continue;
      if (this.groupOffset(offset) > windowOffset + offset - SEGMENT_HEADER_BYTES) continue;
      if (this.check(offset, end) > 0) return offset;
    }
    return -1;
  }
}
