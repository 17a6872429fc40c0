// Copies what an array of Arrow has out of the library's memory: bitmaps, numbers, texts.
import type { IntegerType, SourceType } from "../file-facts.ts";
import type { ArrowArray } from "./arrow-structs.ts";

type Bytes = Uint8Array<ArrayBuffer>;
export type Integers = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | BigInt64Array | BigUint64Array;

/** The bits of rows as a bitmap of its own; null: all rows have a value. */
export function validityOf(memory: Uint8Array, { length, offset, buffers: [ptr = 0] }: ArrowArray): Bytes | null {
  if (ptr === 0) return null;
  const bits = bitsAt(memory, ptr, offset, length);
  for (let at = 0; at < length >> 3; at++) if (bits[at] !== 0xff) return bits;
  return bits[length >> 3] === (1 << (length & 7)) - 1 || (length & 7) === 0 ? null : bits;
}

/** `count` bits from bit `from` on, behind them zeros up to a multiple of 64. */
export function bitsAt(memory: Uint8Array, ptr: number, from: number, count: number): Bytes {
  const bits = new Uint8Array(Math.ceil(count / 64) * 8);
  const source = within(memory, ptr + (from >> 3), Math.ceil(((from & 7) + count) / 8));
  const shift = from & 7;
  const byteCount = Math.ceil(count / 8);
  if (shift === 0) bits.set(source.subarray(0, byteCount));
  else for (let i = 0; i < byteCount; i++) bits[i] = (source[i]! >> shift) | ((source[i + 1] ?? 0) << (8 - shift));
  if ((count & 7) !== 0) bits[byteCount - 1]! &= (1 << (count & 7)) - 1;
  return bits;
}

/** Calls `visit` for each row without a value. */
export function forAbsent(validity: Uint8Array | null, rowCount: number, visit: (row: number) => void): void {
  if (validity === null) return;
  for (let at = 0; at < Math.ceil(rowCount / 8); at++) {
    if (validity[at] === 0xff) continue;
    for (let row = at * 8; row < Math.min(rowCount, at * 8 + 8); row++) if (!isPresent(validity, row)) visit(row);
  }
}

/** @param validity null: every row has a value */
export function isPresent(validity: Uint8Array | null, row: number): boolean {
  return validity === null || ((validity[row >> 3]! >> (row & 7)) & 1) === 1;
}

/** Values of `width` bytes, as they are. */
export function valuesOf(memory: Uint8Array, { length, offset, buffers: [, ptr = 0] }: ArrowArray, width: number): Bytes {
  const bytes = new Uint8Array(length * width);
  bytes.set(within(memory, ptr + offset * width, length * width));
  return bytes;
}

/** Integers of a width, as they are. */
export function integersOf(memory: Uint8Array, array: ArrowArray, { bits, isSigned }: IntegerType): Integers {
  const { buffer } = valuesOf(memory, array, bits / 8);
  switch (bits) {
    case 8:
      return isSigned ? new Int8Array(buffer) : new Uint8Array(buffer);
    case 16:
      return isSigned ? new Int16Array(buffer) : new Uint16Array(buffer);
    case 32:
      return isSigned ? new Int32Array(buffer) : new Uint32Array(buffer);
    case 64:
      return isSigned ? new BigInt64Array(buffer) : new BigUint64Array(buffer);
  }
}

/** Where texts are in the library's memory; rows without a value may be anywhere. */
export interface TextPlaces {
  readonly starts: Uint32Array;
  readonly lengths: Uint32Array;
}

/** @throws RangeError for places outside of the memory */
export function textsOf(memory: Uint8Array, array: ArrowArray, { layout }: Extract<SourceType, { kind: "text" }>): TextPlaces {
  const { length, offset, buffers } = array;
  const starts = new Uint32Array(length);
  const lengths = new Uint32Array(length);
  const view = new DataView(memory.buffer);
  const place = (row: number, start: number, end: number) => {
    if (start > end || end > memory.length) throw new RangeError(`a text at ${start} to ${end} of ${memory.length}`);
    starts[row] = start;
    lengths[row] = end - start;
  };
  const [, ptr = 0, data = 0] = buffers;
  if (layout === "offsets") {
    for (let row = 0; row < length; row++) {
      const at = ptr + (offset + row) * 4;
      place(row, data + view.getInt32(at, true), data + view.getInt32(at + 4, true));
    }
  } else if (layout === "long offsets") {
    for (let row = 0; row < length; row++) {
      const at = ptr + (offset + row) * 8;
      place(row, data + Number(view.getBigInt64(at, true)), data + Number(view.getBigInt64(at + 8, true)));
    }
  } else {
    for (let row = 0; row < length; row++) {
      const at = ptr + (offset + row) * 16;
      const size = view.getUint32(at, true);
      // short ones are in their view; others say in which of the buffers behind the views they are, and where
      const start = size <= 12 ? at + 4 : (buffers[2 + view.getUint32(at + 8, true)] ?? memory.length) + view.getUint32(at + 12, true);
      place(row, start, start + size);
    }
  }
  return { starts, lengths };
}

function within(memory: Uint8Array, ptr: number, byteCount: number): Uint8Array {
  if (ptr + byteCount > memory.length) throw new RangeError(`${byteCount} bytes at ${ptr} of ${memory.length}`);
  return memory.subarray(ptr, ptr + byteCount);
}

/** Half precision: | sign 1 | exponent 5 | fraction 10 | */
export function halfOf(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const size =
    exponent === 0
      ? fraction * 2 ** -24
      : exponent === 31
        ? fraction === 0
          ? Number.POSITIVE_INFINITY
          : Number.NaN
        : (1024 + fraction) * 2 ** (exponent - 25);
  return bits & 0x8000 ? -size : size;
}
