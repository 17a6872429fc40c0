// Values of a file's column as a column of the table has them.
import { LIMITS } from "../../model/limits.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { I64_MAX, I64_MIN } from "../../model/rows/int64.ts";
import type { PlannedColumn } from "../column-plan.ts";
import { type FileColumn, NS_PER_UNIT, type SourceType, typeText } from "../file-facts.ts";
import type { ColumnPiece, TagPiece, TextPiece } from "../piece.ts";
import type { ArrowArray } from "./arrow-structs.ts";
import {
  bitsAt,
  forAbsent,
  halfOf,
  type Integers,
  integersOf,
  isPresent,
  type TextPlaces,
  textsOf,
  validityOf,
  valuesOf,
} from "./arrow-values.ts";
import type { PieceRoom } from "./piece-room.ts";
import { IndexCodes, TagCodes } from "./tag-codes.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A value that cannot be stored. */
export class ValueFault extends Error {
  override readonly name = "ValueFault";
  constructor(
    /** Within the batch. */
    readonly row: number,
    reason: string,
  ) {
    super(reason);
  }
}

const NEWLINE = 10;
/** At most, beside texts. */
const VALUE_BYTES = 8;
/** As line protocol has it: the ends of the range stand for no time. */
const TIME_MIN_NS = I64_MIN + 2n;
const TIME_MAX_NS = I64_MAX - 1n;
const BEYOND_TIME = "is beyond 64 bits of nanoseconds";
const DAY_BITS = { kind: "integer", bits: 32, isSigned: true } as const;
const TIME_BITS = { kind: "integer", bits: 64, isSigned: true } as const;

/** Times of rows, nanoseconds since 1970. @throws ValueFault, RangeError */
export function timesOf(memory: Uint8Array, array: ArrowArray, { type }: FileColumn): BigInt64Array<ArrayBuffer> {
  const validity = validityOf(memory, array);
  forAbsent(validity, array.length, (row) => {
    throw new ValueFault(row, "a row has no time");
  });
  const unit = type.kind === "time" ? NS_PER_UNIT[type.unit] : 1n;
  const values = integersOf(memory, array, integersIn(type));
  if (values instanceof BigUint64Array) check(values, null, (value) => value <= I64_MAX, BEYOND_TIME);
  const times = signed64(values);
  if (unit === 1n && areWithin(times)) return times;
  const [min, max] = [ceilDiv(TIME_MIN_NS, unit), TIME_MAX_NS / unit];
  for (let row = 0; row < times.length; row++) {
    const time = times[row]!;
    if (time < min || time > max) throw new ValueFault(row, `${values[row]} ${BEYOND_TIME}`);
    if (unit !== 1n) times[row] = time * unit;
  }
  return times;
}

/** True if all are far from the ends of the range, by their upper halves: 64-bit values one by one cost more than all else here. */
function areWithin(times: BigInt64Array<ArrayBuffer>): boolean {
  const halves = new Int32Array(times.buffer, times.byteOffset, times.length * 2);
  for (let at = 1; at < halves.length; at += 2) if (halves[at] === -0x8000_0000 || halves[at] === 0x7fff_ffff) return false;
  return true;
}

/** @throws ValueFault for a value that does not fit, RangeError for an array that contradicts itself, PieceFull */
export function pieceOf(memory: Uint8Array, array: ArrowArray, { source, type }: PlannedColumn, room: PieceRoom): ColumnPiece {
  room.take(array.length * VALUE_BYTES);
  if (type === ColumnType.tag) return tagPiece(memory, array, source, room);
  const present = validityOf(memory, array);
  if (type === ColumnType.string) return textPiece(memory, array, source, present, room);
  const values = fixedValues(memory, array, { source, type }, present);
  const validity = type === ColumnType.float && source.type.kind === "float" ? numbersOf(values, present) : present;
  const width = values.length / Math.max(1, array.length);
  // what a file has in place of an absent value is nobody's data
  forAbsent(validity, array.length, (row) => values.fill(0, row * width, (row + 1) * width));
  return { kind: "values", values, validity };
}

function fixedValues(memory: Uint8Array, array: ArrowArray, { source, type }: PlannedColumn, validity: Bytes | null): Bytes {
  const from = source.type;
  if (type === ColumnType.boolean) {
    const bits = bitsAt(memory, array.buffers[1] ?? 0, array.offset, array.length);
    return Uint8Array.from({ length: array.length }, (_, row) => (bits[row >> 3]! >> (row & 7)) & 1);
  }
  if (type === ColumnType.float && from.kind === "float") return floatValues(memory, array, from.bits);
  const integers = integersOf(memory, array, integersIn(from));
  if (type === ColumnType.float) return bytesOf(Float64Array.from(integers as ArrayLike<number | bigint>, Number));
  if (type === ColumnType.integer) {
    if (integers instanceof BigUint64Array) check(integers, validity, (value) => value <= I64_MAX, "is beyond a signed integer");
    return bytesOf(signed64(integers));
  }
  if (integers instanceof BigInt64Array || isSigned(integers)) check(integers, validity, (value) => value >= 0, "is negative");
  return bytesOf(signed64(integers));
}

/** The same 64 bits. */
function signed64(values: Integers): BigInt64Array<ArrayBuffer> {
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) return new BigInt64Array(values.buffer as ArrayBuffer);
  return widened(values);
}

function floatValues(memory: Uint8Array, array: ArrowArray, bits: 16 | 32 | 64): Bytes {
  const values = valuesOf(memory, array, bits / 8);
  if (bits === 64) return values;
  if (bits === 32) return bytesOf(Float64Array.from(new Float32Array(values.buffer)));
  return bytesOf(Float64Array.from(new Uint16Array(values.buffer), halfOf));
}

/** What is there and a finite number: no line can write another value, JSON has none, and programs for tables write NaN where there is
 *  none. */
function numbersOf(bytes: Bytes, validity: Bytes | null): Bytes | null {
  const values = new Float64Array(bytes.buffer);
  let numbers: Bytes | null = null;
  for (let row = 0; row < values.length; row++) {
    if (Number.isFinite(values[row]!)) continue;
    numbers ??= validity?.slice() ?? allPresent(values.length);
    numbers[row >> 3]! &= ~(1 << (row & 7));
  }
  return numbers ?? validity;
}

/** With zeros behind the last row, as others. */
function allPresent(rowCount: number): Bytes {
  const bits = new Uint8Array(Math.ceil(rowCount / 64) * 8);
  bits.fill(0xff, 0, rowCount >> 3);
  if ((rowCount & 7) !== 0) bits[rowCount >> 3] = (1 << (rowCount & 7)) - 1;
  return bits;
}

function check(values: Integers, validity: Uint8Array | null, fits: (value: number | bigint) => boolean, reason: string): void {
  for (let row = 0; row < values.length; row++) {
    if (!fits(values[row]!) && isPresent(validity, row)) throw new ValueFault(row, `${values[row]} ${reason}`);
  }
}

function isSigned(values: Integers): boolean {
  return values instanceof Int8Array || values instanceof Int16Array || values instanceof Int32Array;
}

function integersIn(type: SourceType) {
  if (type.kind === "integer") return type;
  if (type.kind === "time") return type.unit === "days" ? DAY_BITS : TIME_BITS;
  throw new RangeError(`no integers in a column of type ${typeText(type)}`);
}

/** Integers of fewer bits as 64: the low word, and the sign. */
function widened(values: Exclude<Integers, BigInt64Array | BigUint64Array>): BigInt64Array<ArrayBuffer> {
  const wide = new BigInt64Array(values.length);
  const words = new Int32Array(wide.buffer);
  const isSignedToo = isSigned(values);
  for (let row = 0; row < values.length; row++) {
    const value = values[row]!;
    words[2 * row] = value;
    if (isSignedToo && value < 0) words[2 * row + 1] = -1;
  }
  return wide;
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Bytes {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}

function ceilDiv(value: bigint, unit: bigint): bigint {
  return value % unit !== 0n && value > 0n ? value / unit + 1n : value / unit;
}

/** The texts of rows, whether they are in a dictionary or not. */
function placesOf(memory: Uint8Array, array: ArrowArray, { type, indexes }: FileColumn): TextPlaces {
  if (type.kind !== "text") throw new RangeError(`no texts in a column of type ${typeText(type)}`);
  if (indexes === null) return textsOf(memory, array, type);
  const values = dictionaryOf(memory, array, type);
  const starts = new Uint32Array(array.length);
  const lengths = new Uint32Array(array.length);
  const validity = validityOf(memory, array);
  integersOf(memory, array, indexes).forEach((index: number | bigint, row: number) => {
    if (!isPresent(validity, row)) return;
    if (Number(index) < 0 || Number(index) >= values.starts.length) throw new RangeError(`index ${index} of ${values.starts.length}`);
    starts[row] = values.starts[Number(index)]!;
    lengths[row] = values.lengths[Number(index)]!;
  });
  return { starts, lengths };
}

/** By dictionary: pieces of a batch have the same one. */
const knownTexts = new WeakMap<ArrowArray, TextPlaces>();

function dictionaryOf(memory: Uint8Array, { dictionary }: ArrowArray, type: Extract<SourceType, { kind: "text" }>): TextPlaces {
  const places = knownTexts.get(dictionary!) ?? textsOf(memory, dictionary!, type);
  knownTexts.set(dictionary!, places);
  return places;
}

function textPiece(memory: Uint8Array, array: ArrowArray, source: FileColumn, validity: Bytes | null, room: PieceRoom): TextPiece {
  const { starts, lengths } = placesOf(memory, array, source);
  forAbsent(validity, array.length, (row) => {
    lengths[row] = 0;
  });
  const offsets = new Uint32Array(array.length + 1);
  let byteCount = 0;
  for (let row = 0; row < array.length; row++) {
    checkLength(row, lengths[row]!);
    byteCount += lengths[row]!;
    offsets[row + 1] = byteCount;
  }
  room.take(byteCount);
  const bytes = new Uint8Array(byteCount);
  for (let row = 0; row < array.length; ) {
    // neighbours are copied at once
    const start = starts[row]!;
    let end = start + lengths[row]!;
    let next = row + 1;
    for (; next < array.length && (starts[next] === end || lengths[next] === 0); next++) end += lengths[next]!;
    if (end > start) bytes.set(memory.subarray(start, end), offsets[row]!);
    row = next;
  }
  return { kind: "texts", offsets, bytes, validity };
}

function tagPiece(memory: Uint8Array, array: ArrowArray, source: FileColumn, room: PieceRoom): TagPiece {
  const { length: rowCount } = array;
  const validity = validityOf(memory, array);
  const codes = new Uint32Array(rowCount);
  if (source.type.kind !== "text") return spelledTags(memory, array, source, validity);
  const numbers = new TagCodes(memory, rowCount, room);
  if (source.indexes !== null) {
    const known = new IndexCodes(numbers, dictionaryOf(memory, array, source.type));
    const indexes = integersOf(memory, array, source.indexes);
    for (let row = 0; row < rowCount; row++) if (isPresent(validity, row)) codes[row] = known.codeOf(Number(indexes[row]!));
  } else {
    const { starts, lengths } = textsOf(memory, array, source.type);
    for (let row = 0; row < rowCount; row++) {
      // a tag without text is no tag
      if (lengths[row]! > 0 && isPresent(validity, row)) codes[row] = numbers.codeOf(starts[row]!, lengths[row]!);
    }
  }
  return checkedTags({ kind: "tags", codes, ...numbers.values() });
}

/** Numbers and booleans as tags: their text. */
function spelledTags(memory: Uint8Array, array: ArrowArray, { type }: FileColumn, validity: Uint8Array | null): TagPiece {
  const codes = new Uint32Array(array.length);
  const known = new Map<number | bigint, number>();
  const texts: string[] = [];
  const isBoolean = type.kind === "boolean";
  const values = isBoolean
    ? bitsAt(memory, array.buffers[1] ?? 0, array.offset, array.length)
    : integersOf(memory, array, integersIn(type));
  for (let row = 0; row < array.length; row++) {
    if (!isPresent(validity, row)) continue;
    const value = isBoolean ? (Number(values[row >> 3]!) >> (row & 7)) & 1 : values[row]!;
    let code = known.get(value);
    if (code === undefined) {
      code = texts.push(isBoolean ? String(value === 1) : String(value));
      known.set(value, code);
    }
    codes[row] = code;
  }
  const offsets = new Uint32Array(texts.length + 1);
  texts.forEach((text, i) => {
    offsets[i + 1] = offsets[i]! + text.length;
  });
  return { kind: "tags", codes, offsets, bytes: new Uint8Array(Buffer.from(texts.join(""))) };
}

/** Refuses what no line can write. */
function checkedTags(tags: TagPiece): TagPiece {
  const { codes, offsets, bytes } = tags;
  const rowOf = (index: number) => codes.indexOf(index + 1);
  for (let i = 0; i + 1 < offsets.length; i++) {
    const length = offsets[i + 1]! - offsets[i]!;
    if (length > LIMITS.stringFieldBytesMax) checkLength(rowOf(i), length);
  }
  const newline = bytes.indexOf(NEWLINE);
  if (newline >= 0) throw new ValueFault(rowOf(offsets.findLastIndex((offset) => offset <= newline)), "a tag has a line break");
  return tags;
}

function checkLength(row: number, byteCount: number): void {
  if (byteCount <= LIMITS.stringFieldBytesMax) return;
  throw new ValueFault(row, `a text has ${byteCount} bytes; at most ${LIMITS.stringFieldBytesMax} can be stored`);
}
