// The table behind the kernel's floats, read (assembly/line/float.ts) and written (assembly/text/double.ts): 5^q for q of -342 .. 324, as
// the top 128 bits of a number whose first bit is 1. Computed instead of listed: exact integers are shorter to read than 1302 constants.
import type { Kernel } from "../memory/kernel.ts";

const POWER_MIN = -342;
/** The parser needs them up to 308; 5e-324 is written with the last. */
const POWER_MAX = 324;

const tables = new WeakMap<Kernel, number>();

/** Address of the table, | high u64 | low u64 | an exponent; made at the first call, kept as long as the kernel's memory. */
export function powersOfFivePtr(kernel: Kernel): number {
  let ptr = tables.get(kernel);
  if (ptr === undefined) {
    const powers = Array.from({ length: POWER_MAX - POWER_MIN + 1 }, (_, i) => powerOfFive(POWER_MIN + i));
    const words = BigUint64Array.from(powers.flatMap((power) => [power >> 64n, power & (2n ** 64n - 1n)]));
    ptr = kernel.heap.alloc(words.byteLength);
    kernel.u8.set(new Uint8Array(words.buffer), ptr);
    tables.set(kernel, ptr);
  }
  return ptr;
}

/** The first 128 bits of 5^exponent, cut off; of a negative exponent rounded up.
 *  Source: Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience 51 (2021), appendix. */
export function powerOfFive(exponent: number): bigint {
  if (exponent >= 0) {
    const power = 5n ** BigInt(exponent);
    const shift = bitLength(power) - 128;
    return shift > 0 ? power >> BigInt(shift) : power << BigInt(-shift);
  }
  const divisor = 5n ** BigInt(-exponent);
  const bits = bitLength(divisor);
  const reciprocal = (1n << BigInt(exponent >= -27 ? bits + 127 : 2 * bits + 128)) / divisor + 1n;
  return reciprocal >> BigInt(bitLength(reciprocal) - 128);
}

function bitLength(value: bigint): number {
  return value.toString(2).length;
}
