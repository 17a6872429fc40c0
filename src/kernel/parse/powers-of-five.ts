// The table for parsing (assembly/line/float.ts) and printing (assembly/text/double.ts) floats: 5^q for q of -342 .. 324, each as the top
// 128 bits, normalized so that the first bit is 1. Computed rather than listed: exact integer arithmetic is shorter than 1302 constants.
import type { Kernel } from "../memory/kernel.ts";

const POWER_MIN = -342;
/** Parsing needs powers up to 308; printing 5e-324 needs this one. */
const POWER_MAX = 324;

const tables = new WeakMap<Kernel, number>();

/** Address of the table, | high u64 | low u64 | per exponent; created on the first call, kept as long as the kernel's memory. */
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

/** The top 128 bits of 5^exponent, truncated; rounded up for negative exponents. Source: Lemire, "Number parsing at a gigabyte per
 *  second", Software: Practice and Experience 51 (2021), appendix. */
function powerOfFive(exponent: number): bigint {
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
