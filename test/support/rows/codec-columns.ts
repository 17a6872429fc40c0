// Columns for tests of the codec: writes plain values to shared memory, encodes, decodes and compares them, with guard bytes around all
// output.
import { expect } from "bun:test";
import { CODEC_HEADER_BYTES } from "../../../assembly/abi.ts";
import { ColumnCodec, type EncodedSource } from "../../../src/kernel/codec/codec.ts";
import { Kernel } from "../../../src/kernel/memory/kernel.ts";
import { bitmapBytes } from "../../../src/kernel/scan/rows.ts";
import { ColumnType, VALUE_BYTES } from "../../../src/model/rows/column.ts";
import { prng } from "../prng.ts";
import { Arena, isPresent, readView } from "./rows.ts";

/** Values as bits (integers, floats), 0n or 1n (booleans) or text; null = absent. */
export type Values = readonly (bigint | string | null)[];

export const bitsOf = (value: number) => new BigInt64Array(new Float64Array([value]).buffer)[0]!;
export const floats = (values: readonly (number | null)[]): Values => values.map((value) => (value === null ? null : bitsOf(value)));
export const range = <T>(count: number, value: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => value(i));

export const kernel = Kernel.create();
export const codec = new ColumnCodec(kernel);

const { string } = ColumnType;
const GUARD = 0xa5;
const GUARD_BYTES = 64;

/** A block followed by guard bytes. */
function allocGuarded(arena: Arena, bytes: number): number {
  const ptr = arena.alloc(bytes + GUARD_BYTES);
  kernel.u8.fill(GUARD, ptr, ptr + bytes + GUARD_BYTES);
  return ptr;
}

function checkGuard(ptr: number, bytes: number): void {
  const guard = kernel.u8.subarray(ptr + bytes, ptr + bytes + GUARD_BYTES);
  if (!guard.every((byte) => byte === GUARD)) throw new Error(`bytes behind ${bytes} at ${ptr} were written`);
}

/** Writes values; slots of absent rows hold garbage, which must not matter. */
function write(arena: Arena, type: ColumnType, values: Values) {
  const validityPtr = values.includes(null) ? arena.bits(values.map((value) => value !== null)) : 0;
  if (type === string) {
    const dataPtr = arena.views(values as string[]);
    values.forEach((value, i) => {
      if (value === null) kernel.u8.fill(0xee, dataPtr + i * 16, dataPtr + i * 16 + 16);
    });
    return { type, dataPtr, validityPtr, rowCount: values.length };
  }
  const width = VALUE_BYTES[type];
  const dataPtr = arena.alloc(values.length * width);
  values.forEach((value, i) => {
    if (width === 1) kernel.u8[dataPtr + i] = value === null ? 1 : Number(value);
    else kernel.i64[dataPtr / 8 + i] = value === null ? 0x7eadbeefn * BigInt(i) : BigInt.asIntN(64, value as bigint);
  });
  return { type, dataPtr, validityPtr, rowCount: values.length };
}

/** Encodes after other bytes, and verifies that nothing beyond the bound is written. */
export function encode(arena: Arena, type: ColumnType, values: Values): EncodedSource {
  const column = write(arena, type, values);
  const bytesMax = codec.bytesMax(column);
  const from = 24;
  const block = allocGuarded(arena, from + bytesMax);
  const ptr = block + from;
  const bytes = codec.encode(column, ptr);
  expect(bytes).toBeLessThanOrEqual(bytesMax);
  checkGuard(block, from + bytesMax);
  if (!kernel.u8.subarray(block, ptr).every((byte) => byte === GUARD)) throw new Error("bytes before the target were written");
  return { ptr, bytes, rowCount: values.length };
}

/** @throws TsdbError corrupt_file */
export function decode(arena: Arena, type: ColumnType, source: EncodedSource): { values: Values; hasNulls: boolean } {
  const { rowCount } = source;
  const dataBytes = rowCount * VALUE_BYTES[type];
  const dataPtr = allocGuarded(arena, dataBytes);
  const validityPtr = allocGuarded(arena, bitmapBytes(rowCount));
  // damaged bytes may require any amount of text; more than the limit must be rejected
  const textBytes = type === string ? Math.min(codec.decodedTextBytes(source), 1 << 21) : 0;
  const textPtr = textBytes > 0 ? allocGuarded(arena, textBytes) : 0;
  try {
    const target = { type, dataPtr, validityPtr, textPtr, textBytes };
    const { hasNulls } = codec.decode(source, target);
    const values = range(rowCount, (i) => {
      const present = isPresent(kernel, validityPtr, i);
      if (type === string) return present ? readView(kernel, dataPtr + i * 16) : null;
      const value = VALUE_BYTES[type] === 1 ? BigInt(kernel.u8[dataPtr + i]!) : kernel.i64[dataPtr / 8 + i]!;
      if (!present && value !== 0n) throw new Error(`absent row ${i} holds ${value}`);
      return present ? value : null;
    });
    return { values, hasNulls };
  } finally {
    checkGuard(dataPtr, dataBytes);
    checkGuard(validityPtr, bitmapBytes(rowCount));
    if (textPtr !== 0) checkGuard(textPtr, textBytes);
  }
}

/** The column with only its present values must encode to the same bytes, and decode from them. */
function checkPacked(arena: Arena, type: ColumnType, values: Values, source: EncodedSource): void {
  const held = values.filter((value) => value !== null);
  const column = { ...write(arena, type, held), rowCount: values.length, validityPtr: arena.bits(values.map((value) => value !== null)) };
  const bytesMax = codec.packedBytesMax(column, held.length);
  const ptr = allocGuarded(arena, bytesMax);
  const bytes = codec.encodePacked(column, ptr);
  checkGuard(ptr, bytesMax);
  const same = Buffer.from(kernel.copyOut(ptr, bytes)).equals(kernel.copyOut(source.ptr, source.bytes));
  if (!same) throw new Error(`a packed column of type ${type} makes other bytes`);
  expect(codec.presentCount(source)).toBe(held.length);
  const dataBytes = held.length * VALUE_BYTES[type];
  const dataPtr = allocGuarded(arena, dataBytes);
  const validityPtr = allocGuarded(arena, bitmapBytes(values.length));
  const textBytes = type === string ? codec.decodedTextBytes(source) : 0;
  const textPtr = textBytes > 0 ? allocGuarded(arena, textBytes) : 0;
  codec.decodePacked(source, { type, dataPtr, validityPtr, textPtr, textBytes });
  checkGuard(dataPtr, dataBytes);
  checkGuard(validityPtr, bitmapBytes(values.length));
  if (!values.every((value, i) => isPresent(kernel, validityPtr, i) === (value !== null))) throw new Error("other rows are present");
  const back = held.map((_, i): bigint | string => {
    if (type === string) return readView(kernel, dataPtr + i * 16);
    return VALUE_BYTES[type] === 1 ? BigInt(kernel.u8[dataPtr + i]!) : kernel.i64[dataPtr / 8 + i]!;
  });
  expect(back).toEqual(held.map((value) => (typeof value === "bigint" ? BigInt.asIntN(64, value) : value)));
}

/** First and end of stretches of rows. */
export type Parts = readonly (readonly [first: number, end: number])[];

/** Stretches of at most `rowsMax` rows with gaps between. */
function partsOf(rowCount: number, rowsMax: number): Parts {
  const below = prng(rowCount);
  const parts: [first: number, end: number][] = [];
  for (let first = below(Math.min(rowsMax, rowCount)); first < rowCount; ) {
    const end = Math.min(rowCount, first + 1 + below(rowsMax));
    parts.push([first, end]);
    first = end + 1 + below(rowCount);
  }
  return parts;
}

/** Decodes the rows of parts alone. @throws TsdbError corrupt_file */
export function decodeParts(arena: Arena, type: ColumnType, source: EncodedSource, parts: Parts): { values: Values; hasNulls: boolean } {
  const ptr = arena.alloc(parts.length * 8);
  kernel.u32.set(parts.flat(), ptr / 4);
  const rowCount = parts.reduce((sum, [first, end]) => sum + end - first, 0);
  const dataBytes = rowCount * VALUE_BYTES[type];
  const dataPtr = allocGuarded(arena, dataBytes);
  const validityPtr = allocGuarded(arena, bitmapBytes(rowCount));
  const textBytes = type === string ? Math.min(codec.decodedTextBytes(source), 1 << 21) : 0;
  const textPtr = textBytes > 0 ? allocGuarded(arena, textBytes) : 0;
  try {
    const target = { type, dataPtr, validityPtr, textPtr, textBytes };
    const { hasNulls } = codec.decodeParts(source, { ptr, count: parts.length }, target);
    const values = range(rowCount, (i) => {
      if (hasNulls && !isPresent(kernel, validityPtr, i)) return null;
      if (type === string) return readView(kernel, dataPtr + i * 16);
      return VALUE_BYTES[type] === 1 ? BigInt(kernel.u8[dataPtr + i]!) : kernel.i64[dataPtr / 8 + i]!;
    });
    return { values, hasNulls };
  } finally {
    checkGuard(dataPtr, dataBytes);
    checkGuard(validityPtr, bitmapBytes(rowCount));
    if (textPtr !== 0) checkGuard(textPtr, textBytes);
  }
}

/** Some rows must decode to what the whole column has there. */
function checkParts(arena: Arena, type: ColumnType, values: Values, source: EncodedSource): void {
  for (const rowsMax of [1, 9, 400, values.length]) {
    const parts = partsOf(values.length, rowsMax);
    if (parts.length === 0) continue;
    const { values: back, hasNulls } = decodeParts(arena, type, source, parts);
    if (hasNulls !== values.includes(null)) throw new Error(`parts of a column of type ${type}: absent rows ${hasNulls}`);
    const rows = parts.flatMap(([first, end]) => values.slice(first, end));
    expect(back).toEqual(rows.map((value) => (typeof value === "bigint" ? BigInt.asIntN(64, value) : value)));
  }
}

/** Encodes, decodes and compares. Returns the size, and the first encoding in the payload. */
export function checkRoundTrip(type: ColumnType, values: Values): { bytes: number; encoding: number } {
  const arena = new Arena(kernel);
  const source = encode(arena, type, values);
  const { values: back, hasNulls } = decode(arena, type, source);
  expect(back).toEqual(values.map((value) => (typeof value === "bigint" ? BigInt.asIntN(64, value) : value)));
  expect(hasNulls).toBe(values.includes(null));
  checkPacked(arena, type, values, source);
  checkParts(arena, type, values, source);
  const encoding = kernel.u8[source.ptr + CODEC_HEADER_BYTES]!;
  arena.free();
  return { bytes: source.bytes, encoding };
}
