// Decoding of some rows of a column: a statement that wants ten rows of a page of 16,384 does not pay for the others. Blocks before a
// wanted one are skipped by their heads where values stand for themselves (frame), and only added up where each builds on the one before
// (differences, XOR). The wanted values come out one behind the other.
//
// Parts are | first u32 | end u32 |, ascending and apart from each other, at least one; the caller has checked that they lie in the column.
import {
  CODEC_CORRUPT,
  CODEC_HEADER_BYTES,
  CODEC_PRESENT_COUNT,
  CODEC_ROW_COUNT,
  FLOATS_ALP,
  FLOATS_CONSTANT,
  FLOATS_PLAIN,
  FLOATS_XOR,
  INTS_CONSTANT,
  INTS_DELTA,
  INTS_DELTA2,
  INTS_FRAME,
  INTS_PLAIN,
  STRINGS_DICTIONARY,
  STRINGS_PLAIN,
  TYPE_BOOLEAN,
  TYPE_FLOAT,
  VIEW_BYTES,
} from "../abi";
import { bitAt, copyBits, countBits } from "../memory/bits";
import { copyShort } from "../memory/bytes";
import { INLINE_MAX, writeView } from "../memory/views";
import { ALP_EXPONENT_MAX, fromDigits, powerOf } from "./alp";
import { countOnes, decodeBits } from "./bits";
import { skipBlock, unpackBlock } from "./blocks";
import { codecColumnBytes, isText, valueBytes } from "./column";
import { unzigzag } from "./delta";
import { multiplyAll } from "./divisor";
import { addAll } from "./frame";
import { decodeInts } from "./ints";
import { spread } from "./nulls";
import { STRINGS_HEAD_BYTES, decodeEntries } from "./strings";
import { BLOCK_VALUES, blockWork, columnWork, useWork } from "./work";

/** Bytes of one part. */
const PART_BYTES: u32 = 8;

// The parts that are still wanted, and where their values go.
let part: u32 = 0;
let partsEnd: u32 = 0;
let out: u32 = 0;

function beginParts(parts: u32, partCount: u32, target: u32): void {
  part = parts;
  partsEnd = parts + partCount * PART_BYTES;
  out = target;
}

/** True if nothing is wanted of the values before `end`. */
// @ts-ignore: decorator
@inline
function wantsNothingBefore(end: u32): bool {
  return part == partsEnd || load<u32>(part) >= end;
}

/** Copies what is wanted of the values [from, from + count), which are at `values`. */
function takeWanted(values: u32, from: u32, count: u32): void {
  const end = from + count;
  while (!wantsNothingBefore(end)) {
    const first = max(load<u32>(part), from);
    const partEnd = load<u32>(part, 4);
    const bytes = (min(partEnd, end) - first) << 3;
    memory.copy(out, values + ((first - from) << 3), bytes);
    out += bytes;
    if (partEnd > end) return;
    part += PART_BYTES;
  }
}

/** Values of all parts. */
export function partsRows(parts: u32, partCount: u32): u32 {
  let rows: u32 = 0;
  for (const end = parts + partCount * PART_BYTES; parts < end; parts += PART_BYTES) rows += load<u32>(parts, 4) - load<u32>(parts);
  return rows;
}

/** Decodes the rows of `partCount` parts of an encoded column of `rowCount` rows, one behind the other, to `data`; absent rows become 0.
 *  `validity`: bits of these rows, padded to 8 bytes, written if some row of the column is absent. `text`: as for codecDecode, room for
 *  the text of the whole column. Returns 1 when validity was written, 0 when not, or CODEC_CORRUPT. */
export function codecDecodeParts(
  type: u32,
  source: u32,
  sourceBytes: u32,
  rowCount: u32,
  parts: u32,
  partCount: u32,
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
  const rows = partsRows(parts, partCount);
  const size = valueBytes(type);
  if (present == 0) {
    memory.fill(data, 0, rows * size);
    memory.fill(validity, 0, ((rows + 63) >> 6) << 3);
    return source == end ? 1 : CODEC_CORRUPT;
  }
  let scratch = columnWork();
  if (present == rowCount) return decodeValueParts(type, source, end, present, parts, partCount, scratch, text, textBytes, data);
  const presence = scratch;
  source = decodeBits(source, end, rowCount, presence);
  if (source == 0 || countOnes(presence, rowCount) != present) return CODEC_CORRUPT;
  scratch += ((rowCount + 63) >> 6) << 3;
  const valueParts = scratch;
  const valuePartCount = presentParts(presence, parts, partCount, valueParts, rows, validity);
  scratch += (valuePartCount * PART_BYTES + 15) & ~15;
  const wanted = partsRows(valueParts, valuePartCount);
  if (wanted != 0 && decodeValueParts(type, source, end, present, valueParts, valuePartCount, scratch, text, textBytes, data) != 0) {
    return CODEC_CORRUPT;
  }
  spread(data, validity, rows, size, wanted);
  return 1;
}

/** The parts' present values as parts of all present values, without empty ones, to `target`, and the parts' bits, one behind the other, to
 *  `validity`. Returns how many parts there are. */
function presentParts(presence: u32, parts: u32, partCount: u32, target: u32, rows: u32, validity: u32): u32 {
  memory.fill(validity, 0, ((rows + 63) >> 6) << 3);
  let row: u32 = 0;
  let value: u32 = 0;
  let bit: u32 = 0;
  let at = target;
  for (const end = parts + partCount * PART_BYTES; parts < end; parts += PART_BYTES) {
    const first = load<u32>(parts);
    const count = load<u32>(parts, 4) - first;
    value += countBits(presence, row, first - row);
    const found = countBits(presence, first, count);
    copyBits(presence, first, validity, bit, count);
    if (found != 0) {
      store<u32>(at, value);
      store<u32>(at, value + found, 4);
      at += PART_BYTES;
    }
    value += found;
    bit += count;
    row = first + count;
  }
  return (at - target) / PART_BYTES;
}

/** 0, or CODEC_CORRUPT. */
function decodeValueParts(
  type: u32,
  source: u32,
  end: u32,
  count: u32,
  parts: u32,
  partCount: u32,
  scratch: u32,
  text: u32,
  textBytes: u32,
  data: u32,
): i32 {
  if (type == TYPE_FLOAT) return floatParts(source, end, count, parts, partCount, data) == end ? 0 : CODEC_CORRUPT;
  if (isText(type)) return textParts(source, end, count, parts, partCount, scratch, text, textBytes, data) == end ? 0 : CODEC_CORRUPT;
  if (type == TYPE_BOOLEAN) return booleanParts(source, end, count, parts, partCount, scratch, data) == end ? 0 : CODEC_CORRUPT;
  return intParts(source, end, count, parts, partCount, data) == end ? 0 : CODEC_CORRUPT;
}

/** Of a section of integers, u64 each. Returns its end, or 0. */
function intParts(source: u32, end: u32, count: u32, parts: u32, partCount: u32, target: u32): u32 {
  if (end - source < 12) return 0;
  const encoding = <u32>load<u8>(source);
  const hasDivisor = <u32>load<u8>(source, 1);
  beginParts(parts, partCount, target);
  if (encoding == INTS_PLAIN) {
    source += 4;
    if ((end - source) >> 3 < count) return 0;
    takeWanted(source, 0, count);
    return source + (count << 3);
  }
  const base = load<u64>(source, 4);
  source += 12;
  const rows = partsRows(parts, partCount);
  if (encoding == INTS_CONSTANT) {
    fillAll(target, rows, base);
    return source;
  }
  let divisor: u64 = 0;
  if (hasDivisor != 0) {
    if (end - source < 8) return 0;
    divisor = load<u64>(source);
    source += 8;
  }
  if (encoding == INTS_FRAME) source = frameParts(source, end, count, divisor == 0 ? base : 0);
  else if (encoding == INTS_DELTA) source = deltaParts(source, end, count);
  else if (encoding == INTS_DELTA2) source = delta2Parts(source, end, count);
  else return 0;
  if (source != 0 && divisor != 0) multiplyAll(target, rows, base, divisor);
  return source;
}

function fillAll(values: u32, count: u32, value: u64): void {
  for (const last = values + (count << 3); values < last; values += 8) store<u64>(values, value);
}

function frameParts(source: u32, end: u32, count: u32, base: u64): u32 {
  const block = blockWork();
  for (let from: u32 = 0; from < count && source != 0; from += BLOCK_VALUES) {
    const size = min(count - from, BLOCK_VALUES);
    if (wantsNothingBefore(from + size)) {
      source = skipBlock(source, end, size);
      continue;
    }
    source = unpackBlock(source, end, size, block);
    if (base != 0) addAll(block, size, base, block);
    takeWanted(block, from, size);
  }
  return source;
}

function deltaParts(source: u32, end: u32, count: u32): u32 {
  if (end - source < 16) return 0;
  const block = blockWork();
  let value = load<i64>(source);
  const reference = load<i64>(source, 8);
  source += 16;
  store<i64>(block, value);
  takeWanted(block, 0, 1);
  for (let from: u32 = 1; from < count && source != 0; from += BLOCK_VALUES) {
    const size = min(count - from, BLOCK_VALUES);
    if (part == partsEnd) {
      source = skipBlock(source, end, size);
      continue;
    }
    source = unpackBlock(source, end, size, block);
    if (wantsNothingBefore(from + size)) {
      value += unzigzagSum(block, size) + reference * <i64>size;
      continue;
    }
    for (let at = block, last = block + (size << 3); at < last; at += 8) {
      value += unzigzag(load<u64>(at)) + reference;
      store<i64>(at, value);
    }
    takeWanted(block, from, size);
  }
  return source;
}

function unzigzagSum(values: u32, count: u32): i64 {
  const ones = i64x2.splat(1);
  let sums = i64x2.splat(0);
  const end = values + (count << 3);
  for (; values + 16 <= end; values += 16) {
    const pair = v128.load(values);
    sums = i64x2.add(sums, v128.xor(i64x2.shr_u(pair, 1), i64x2.neg(v128.and(pair, ones))));
  }
  const last = values < end ? unzigzag(load<u64>(values)) : 0;
  return i64x2.extract_lane(sums, 0) + i64x2.extract_lane(sums, 1) + last;
}

function delta2Parts(source: u32, end: u32, count: u32): u32 {
  if (end - source < 16 || count < 2) return 0;
  const block = blockWork();
  let value = load<i64>(source);
  let delta = load<i64>(source, 8);
  source += 16;
  store<i64>(block, value);
  value += delta;
  store<i64>(block, value, 8);
  takeWanted(block, 0, 2);
  for (let from: u32 = 2; from < count && source != 0; from += BLOCK_VALUES) {
    const size = min(count - from, BLOCK_VALUES);
    if (part == partsEnd) {
      source = skipBlock(source, end, size);
      continue;
    }
    source = unpackBlock(source, end, size, block);
    for (let at = block, last = block + (size << 3); at < last; at += 8) {
      delta += unzigzag(load<u64>(at));
      value += delta;
      store<i64>(at, value);
    }
    takeWanted(block, from, size);
  }
  return source;
}

/** Of a section of floats. Returns its end, or 0. */
function floatParts(source: u32, end: u32, count: u32, parts: u32, partCount: u32, target: u32): u32 {
  if (end - source < 12) return 0;
  const encoding = <u32>load<u8>(source);
  if (encoding == FLOATS_ALP) return alpParts(source, end, count, parts, partCount, target);
  beginParts(parts, partCount, target);
  if (encoding == FLOATS_XOR) return xorParts(source, end, count);
  source += 4;
  if (encoding == FLOATS_PLAIN) {
    if ((end - source) >> 3 < count) return 0;
    takeWanted(source, 0, count);
    return source + (count << 3);
  }
  if (encoding != FLOATS_CONSTANT) return 0;
  fillAll(target, partsRows(parts, partCount), load<u64>(source));
  return source + 8;
}

function alpParts(source: u32, end: u32, count: u32, parts: u32, partCount: u32, target: u32): u32 {
  const exponent = <u32>load<u8>(source, 1);
  const exceptions = load<u32>(source, 4);
  if (exponent > ALP_EXPONENT_MAX || exceptions > count) return 0;
  source = intParts(source + 8, end, count, parts, partCount, target);
  if (source == 0 || <u64>(end - source) < <u64>exceptions * 12) return 0;
  fromDigits(target, partsRows(parts, partCount), powerOf(exponent));
  const bits = source + (exceptions << 2);
  // exceptions ascend as well
  let at = parts;
  let before: u32 = 0;
  const partsEnd = parts + partCount * PART_BYTES;
  for (let i: u32 = 0; i < exceptions; i++) {
    const position = load<u32>(source + (i << 2));
    if (position >= count || (i != 0 && position <= load<u32>(source + ((i - 1) << 2)))) return 0;
    while (at < partsEnd && load<u32>(at, 4) <= position) {
      before += load<u32>(at, 4) - load<u32>(at);
      at += PART_BYTES;
    }
    if (at == partsEnd || load<u32>(at) > position) continue;
    store<u64>(target + ((before + position - load<u32>(at)) << 3), load<u64>(bits + (i << 3)));
  }
  return bits + (exceptions << 3);
}

function xorParts(source: u32, end: u32, count: u32): u32 {
  const block = blockWork();
  let bits = load<u64>(source, 4);
  source += 12;
  store<u64>(block, bits);
  takeWanted(block, 0, 1);
  for (let from: u32 = 1; from < count && source != 0; from += BLOCK_VALUES) {
    const size = min(count - from, BLOCK_VALUES);
    if (source >= end) return 0;
    const shift = <u64>load<u8>(source);
    if (shift > 63) return 0;
    if (part == partsEnd) {
      source = skipBlock(source + 1, end, size);
      continue;
    }
    source = unpackBlock(source + 1, end, size, block);
    for (let at = block, last = block + (size << 3); at < last; at += 8) {
      bits ^= load<u64>(at) << shift;
      store<u64>(at, bits);
    }
    takeWanted(block, from, size);
  }
  return source;
}

/** Booleans, a byte each. Returns the end of the section, or 0. */
function booleanParts(source: u32, end: u32, count: u32, parts: u32, partCount: u32, bitmap: u32, target: u32): u32 {
  source = decodeBits(source, end, count, bitmap);
  if (source == 0) return 0;
  for (const last = parts + partCount * PART_BYTES; parts < last; parts += PART_BYTES) {
    for (let row = load<u32>(parts), rowEnd = load<u32>(parts, 4); row < rowEnd; row++) store<u8>(target++, <u8>bitAt(bitmap, row));
  }
  return source;
}

/** Views of strings. `work` is scratch as for decodeStrings. Returns the end of the section, or 0. */
function textParts(
  source: u32,
  end: u32,
  count: u32,
  parts: u32,
  partCount: u32,
  work: u32,
  text: u32,
  textBytes: u32,
  views: u32,
): u32 {
  if (end - source < STRINGS_HEAD_BYTES) return 0;
  const encoding = <u32>load<u8>(source);
  const entryCount = load<u32>(source, 4);
  if (encoding == STRINGS_PLAIN) {
    return entryCount == count ? plainTextParts(source, end, count, parts, partCount, work, text, textBytes, views) : 0;
  }
  if (encoding != STRINGS_DICTIONARY || entryCount == 0 || entryCount > count) return 0;
  const entries = work + (count << 3);
  source = decodeEntries(source, end, entryCount, work, text, textBytes, entries);
  if (source == 0) return 0;
  source = intParts(source, end, count, parts, partCount, work);
  if (source == 0) return 0;
  for (let i: u32 = 0, rows = partsRows(parts, partCount); i < rows; i++) {
    const code = load<u64>(work + (i << 3));
    if (code >= <u64>entryCount) return 0;
    v128.store(views + i * VIEW_BYTES, v128.load(entries + <u32>code * VIEW_BYTES));
  }
  return source;
}

function plainTextParts(
  source: u32,
  end: u32,
  count: u32,
  parts: u32,
  partCount: u32,
  lengths: u32,
  text: u32,
  textBytes: u32,
  views: u32,
): u32 {
  const storedBytes = load<u32>(source, 8);
  source = decodeInts(source + STRINGS_HEAD_BYTES, end, count, lengths);
  if (source == 0 || end - source < storedBytes) return 0;
  const textEnd = text + textBytes;
  const sourceEnd = source + storedBytes;
  let row: u32 = 0;
  for (const last = parts + partCount * PART_BYTES; parts < last; parts += PART_BYTES) {
    for (const first = load<u32>(parts); row < first; row++) {
      const length = load<u64>(lengths + (row << 3));
      if (length > <u64>(sourceEnd - source)) return 0;
      source += <u32>length;
    }
    for (const rowEnd = load<u32>(parts, 4); row < rowEnd; row++, views += VIEW_BYTES) {
      const length = load<u64>(lengths + (row << 3));
      if (length > <u64>(sourceEnd - source)) return 0;
      const bytes = <u32>length;
      if (bytes <= INLINE_MAX) {
        writeView(views, source, bytes);
      } else {
        if (bytes > textEnd - text) return 0;
        copyShort(text, source, bytes);
        writeView(views, text, bytes);
        text += bytes;
      }
      source += bytes;
    }
  }
  return sourceEnd;
}
