// int64 arithmetic on pairs of 32-bit words: reading a BigInt64Array creates an object per value, its words are plain numbers. Words are
// little-endian, like everywhere in this program: low first.
import { assert } from "../../model/assert.ts";
import { inSteps, type Steps } from "../../model/steps.ts";

assert(new Int32Array(new BigInt64Array([1n]).buffer)[0] === 1, "64-bit integers are read as words of a little-endian machine");

export type Integers = BigInt64Array | BigUint64Array;

const WORD = 2 ** 32;
/** Sums of the words of this many values stay below a float's 2^53. */
const SUM_ROWS_MAX = 1 << 20;

/** A view of the same memory: value i has its low word at 2 i, followed by its high word. */
export function wordsOf(values: Integers): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.length * 2);
}

/** The nearest float of each. */
export function* floatsOf(values: Integers): Steps<Float64Array> {
  const words = wordsOf(values);
  const floats = new Float64Array(values.length);
  const isSigned = values instanceof BigInt64Array;
  yield* inSteps(floats.length, (from, to) => {
    if (isSigned) for (let i = from; i < to; i++) floats[i] = words[2 * i + 1]! * WORD + (words[2 * i]! >>> 0);
    else for (let i = from; i < to; i++) floats[i] = (words[2 * i + 1]! >>> 0) * WORD + (words[2 * i]! >>> 0);
  });
  return floats;
}

/** True if all values are exact as floats. */
export function* areExact(values: Integers): Steps<boolean> {
  const words = wordsOf(values);
  // from -2^53 to 2^53 - 1; for unsigned values a negative high word stands for a large one
  const least = values instanceof BigInt64Array ? -0x200000 : 0;
  let areAll = true;
  yield* inSteps(values.length, (from, to) => {
    for (let i = from; i < to && areAll; i++) areAll = words[2 * i + 1]! < 0x200000 && words[2 * i + 1]! >= least;
  });
  return areAll;
}

/** Value a minus value b as the nearest float, for times; differences beyond 64 bits do not wrap. */
export function difference(words: Int32Array, a: number, b: number): number {
  return (words[2 * a + 1]! - words[2 * b + 1]!) * WORD + ((words[2 * a]! >>> 0) - (words[2 * b]! >>> 0));
}

/** True if values a and b are equal. */
export function areEqual(words: Int32Array, a: number, b: number): boolean {
  return words[2 * a] === words[2 * b] && words[2 * a + 1] === words[2 * b + 1];
}

/** Gathers the values of rows. */
export function* takeIntegers<T extends Integers>(values: T, rows: Int32Array): Steps<T> {
  const source = wordsOf(values);
  const target = new Int32Array(rows.length * 2);
  yield* inSteps(rows.length, (from, to) => {
    for (let i = from; i < to; i++) {
      const row = rows[i]!;
      target[2 * i] = source[2 * row]!;
      target[2 * i + 1] = source[2 * row + 1]!;
    }
  });
  return (values instanceof BigInt64Array ? new BigInt64Array(target.buffer) : new BigUint64Array(target.buffer)) as T;
}

/** A sum modulo 2^64. */
export class WrappingSum {
  low = 0;
  high = 0;

  clear(): void {
    this.low = 0;
    this.high = 0;
  }

  /** Adds the values `from` .. `end` - 1. */
  addAll(words: Int32Array, from: number, end: number): void {
    for (let at = from; at < end; at += SUM_ROWS_MAX) {
      let { low, high } = this;
      const stop = Math.min(end, at + SUM_ROWS_MAX) * 2;
      for (let i = at * 2; i < stop; i += 2) {
        low += words[i]! >>> 0;
        high += words[i + 1]!;
      }
      this.low = low % WORD;
      this.high = (high + Math.floor(low / WORD)) | 0;
    }
  }

  add(words: Int32Array, index: number): void {
    this.low += words[2 * index]! >>> 0;
    const carry = this.low >= WORD ? 1 : 0;
    if (carry === 1) this.low -= WORD;
    this.high = (this.high + words[2 * index + 1]! + carry) | 0;
  }

  subtract(words: Int32Array, index: number): void {
    this.low -= words[2 * index]! >>> 0;
    const borrow = this.low < 0 ? 1 : 0;
    if (borrow === 1) this.low += WORD;
    this.high = (this.high - words[2 * index + 1]! - borrow) | 0;
  }

  writeTo(words: Int32Array, index: number): void {
    words[2 * index] = this.low | 0;
    words[2 * index + 1] = this.high;
  }

  /** As the nearest float, interpreted as signed or unsigned. */
  toFloat(isUnsigned: boolean): number {
    return (isUnsigned ? this.high >>> 0 : this.high) * WORD + this.low;
  }
}
