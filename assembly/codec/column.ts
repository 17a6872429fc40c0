// One encoded column: which rows are present, then the present values. Self-describing, little-endian:
//   | type u8 | 0 u8 | 0 u16 | rowCount u32 | presentCount u32 | payloadBytes u32 | presence: bits section | values: section of the type |
// presence is there when 0 < presentCount < rowCount, values when presentCount > 0.
import {
  CODEC_CORRUPT,
  CODEC_HEADER_BYTES,
  CODEC_PAYLOAD_BYTES,
  CODEC_PRESENT_COUNT,
  CODEC_ROW_COUNT,
  TYPE_BOOLEAN,
  TYPE_FLOAT,
  TYPE_STRING,
  TYPE_TAG,
  TYPE_U32,
  TYPE_UNSIGNED,
  VIEW_BYTES,
} from "../abi";
import { setBits } from "../memory/bits";
import { bitsBytesMax, countOnes, decodeBits, encodeBits, packBooleans, unpackBooleans } from "./bits";
import { decodeFloats, encodeFloats, floatsBytesMax } from "./floats";
import { decodeInts, encodeInts, intsBytesMax } from "./ints";
import { spread, squeeze } from "./nulls";
import { decodeStrings, encodeStrings, stringsBytesMax, stringsLongBytes, stringsTextBytes } from "./strings";
import { narrowIds, widenIds } from "./ids";
import { WORK_BYTES, WORK_BYTES_PER_ROW, columnWork, useWork } from "./work";

/** Scratch that encoding or decoding a column of `rowCount` rows takes. */
export function codecWorkBytes(rowCount: u32): f64 {
  return <f64>WORK_BYTES + <f64>rowCount * <f64>WORK_BYTES_PER_ROW;
}

/** True for types whose values are views. */
// @ts-ignore: decorator
@inline
export function isText(type: u32): bool {
  return type == TYPE_STRING || type == TYPE_TAG;
}

/** Bytes of a decoded value. */
// @ts-ignore: decorator
@inline
export function valueBytes(type: u32): u32 {
  return type == TYPE_BOOLEAN ? 1 : isText(type) ? VIEW_BYTES : 8;
}

/** Bytes that codecEncode takes at most. */
export function codecBytesMax(type: u32, data: u32, validity: u32, rowCount: u32): f64 {
  const head = CODEC_HEADER_BYTES + bitsBytesMax(rowCount);
  if (isText(type)) return <f64>(head + stringsBytesMax(rowCount, 0)) + <f64>stringsTextBytes(data, validity, rowCount);
  if (type == TYPE_BOOLEAN) return head + bitsBytesMax(rowCount);
  return head + (type == TYPE_FLOAT ? floatsBytesMax(rowCount) : intsBytesMax(rowCount));
}

/** The same for a column of which only the `present` values of the present rows are at `data`, one after the other. */
export function codecPackedBytesMax(type: u32, data: u32, present: u32, rowCount: u32): f64 {
  return codecBytesMax(type, data, 0, present) + bitsBytesMax(rowCount);
}

/** Encodes a column to `target`, which has room for codecBytesMax. Returns the bytes written. `isPacked`: only the values of present rows
 *  are at `data`, one after the other; codecPackedBytesMax is enough then, `validity` is not 0, and the result is the same. */
export function codecEncode(type: u32, data: u32, validity: u32, rowCount: u32, isPacked: bool, work: u32, target: u32): u32 {
  useWork(work);
  let scratch = columnWork();
  const present = validity == 0 ? rowCount : countOnes(validity, rowCount);
  let out = target + CODEC_HEADER_BYTES;
  if (present != 0) {
    if (present != rowCount) out = encodeBits(validity, rowCount, out);
    if (present != rowCount && !isPacked) {
      const size = valueBytes(type);
      squeeze(data, validity, rowCount, size, scratch);
      data = scratch;
      // whole words: what follows is read as u64
      scratch += (present * size + 7) & ~7;
    }
    out = encodeValues(type, data, present, scratch, out);
  }
  store<u32>(target, type);
  store<u32>(target + CODEC_ROW_COUNT, rowCount);
  store<u32>(target + CODEC_PRESENT_COUNT, present);
  store<u32>(target + CODEC_PAYLOAD_BYTES, out - target - CODEC_HEADER_BYTES);
  return out - target;
}

function encodeValues(type: u32, data: u32, count: u32, scratch: u32, out: u32): u32 {
  if (type == TYPE_FLOAT) return encodeFloats(data, count, scratch, out);
  if (isText(type)) return encodeStrings(data, count, scratch, out);
  if (type == TYPE_BOOLEAN) {
    packBooleans(data, count, scratch);
    return encodeBits(scratch, count, out);
  }
  if (type == TYPE_U32) {
    widenIds(data, count, scratch);
    return encodeInts(scratch, count, true, scratch + (count << 3), out);
  }
  return encodeInts(data, count, type == TYPE_UNSIGNED, scratch, out);
}

/** Bytes of an encoded column at the front of `sourceBytes` bytes, or CODEC_CORRUPT. */
export function codecColumnBytes(source: u32, sourceBytes: u32): f64 {
  if (sourceBytes < <u32>CODEC_HEADER_BYTES) return CODEC_CORRUPT;
  const payload = load<u32>(source + CODEC_PAYLOAD_BYTES);
  return payload > sourceBytes - CODEC_HEADER_BYTES ? CODEC_CORRUPT : <f64>payload + CODEC_HEADER_BYTES;
}

/** Text beside the views that decoding the string column takes, or CODEC_CORRUPT. */
export function codecTextBytes(source: u32, sourceBytes: u32, rowCount: u32, work: u32): f64 {
  const bytes = codecColumnBytes(source, sourceBytes);
  if (bytes < 0 || load<u32>(source + CODEC_ROW_COUNT) != rowCount || !isText(load<u8>(source))) return CODEC_CORRUPT;
  const end = source + <u32>bytes;
  const present = load<u32>(source + CODEC_PRESENT_COUNT);
  source += CODEC_HEADER_BYTES;
  if (present == 0) return 0;
  useWork(work);
  if (present != rowCount) source = decodeBits(source, end, rowCount, columnWork());
  return source == 0 ? CODEC_CORRUPT : <f64>stringsLongBytes(source, end);
}

/** Values of the encoded column, which decoding it packed takes room for, or CODEC_CORRUPT. */
export function codecPresentCount(source: u32, sourceBytes: u32, rowCount: u32): f64 {
  if (codecColumnBytes(source, sourceBytes) < 0 || load<u32>(source + CODEC_ROW_COUNT) != rowCount) return CODEC_CORRUPT;
  const present = load<u32>(source + CODEC_PRESENT_COUNT);
  return present > rowCount ? CODEC_CORRUPT : present;
}

/** Decodes a column of `rowCount` rows to `data`; absent rows become 0. `validity` 0: not wanted, else bits padded to 8 bytes. Strings take
 *  `textBytes` at `text`. `isPacked`: only the values of present rows, one after the other; `validity` is not 0 then.
 *  Returns 1 when rows are absent, 0 when none is, or CODEC_CORRUPT, with the targets partly written. */
export function codecDecode(
  type: u32,
  source: u32,
  sourceBytes: u32,
  rowCount: u32,
  isPacked: bool,
  work: u32,
  data: u32,
  validity: u32,
  text: u32,
  textBytes: u32,
): i32 {
  const bytes = codecColumnBytes(source, sourceBytes);
  if (bytes < 0 || load<u32>(source) != type || load<u32>(source + CODEC_ROW_COUNT) != rowCount) return CODEC_CORRUPT;
  const end = source + <u32>bytes;
  const present = load<u32>(source + CODEC_PRESENT_COUNT);
  if (present > rowCount) return CODEC_CORRUPT;
  source += CODEC_HEADER_BYTES;
  useWork(work);
  const presence = validity != 0 ? validity : columnWork();
  const scratch = columnWork() + (((rowCount + 63) >> 6) << 3);
  const size = type == TYPE_U32 ? 4 : valueBytes(type);
  if (present == 0) {
    if (!isPacked) memory.fill(data, 0, rowCount * size);
    if (validity != 0) memory.fill(validity, 0, ((rowCount + 63) >> 6) << 3);
    return source == end ? <i32>(rowCount > 0) : CODEC_CORRUPT;
  }
  if (present != rowCount) {
    if (type == TYPE_U32) return CODEC_CORRUPT;
    source = decodeBits(source, end, rowCount, presence);
    if (source == 0 || countOnes(presence, rowCount) != present) return CODEC_CORRUPT;
  } else if (validity != 0) {
    memory.fill(validity, 0, ((rowCount + 63) >> 6) << 3);
    setBits(validity, 0, rowCount);
  }
  if (decodeValues(type, source, end, present, scratch, text, textBytes, data) != end) return CODEC_CORRUPT;
  if (present != rowCount && !isPacked) spread(data, presence, rowCount, size, present);
  return <i32>(present != rowCount);
}

function decodeValues(type: u32, source: u32, end: u32, count: u32, scratch: u32, text: u32, textBytes: u32, data: u32): u32 {
  if (type == TYPE_FLOAT) return decodeFloats(source, end, count, data);
  if (isText(type)) return decodeStrings(source, end, count, scratch, text, textBytes, data);
  if (type == TYPE_BOOLEAN) {
    source = decodeBits(source, end, count, scratch);
    if (source != 0) unpackBooleans(scratch, count, data);
    return source;
  }
  if (type == TYPE_U32) {
    source = decodeInts(source, end, count, scratch);
    return source != 0 && narrowIds(scratch, count, data) ? source : 0;
  }
  return decodeInts(source, end, count, data);
}
