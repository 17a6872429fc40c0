// Formats 64- and 128-bit integers and decimals exactly. Reads 32-bit words: a BigInt per value costs more than the rest of a cell, so
// BigInt is used only where needed.
import type { ByteWriter } from "../byte-writer.ts";

const TWO_32 = 4294967296;
/** High words below this mean |value| < 2^53. */
const HIGH_SAFE = 1 << 21;

/** An i64 from its words. */
export function writeInt64(out: ByteWriter, low: number, high: number): void {
  if (high >= -HIGH_SAFE && high < HIGH_SAFE) out.int(high * TWO_32 + low);
  else out.ascii(((BigInt(high) << 32n) | BigInt(low)).toString());
}

/** A u64 from its words, both as u32. */
export function writeUint64(out: ByteWriter, low: number, high: number): void {
  if (high < HIGH_SAFE) out.uint(high * TWO_32 + low);
  else out.ascii(((BigInt(high) << 32n) | BigInt(low)).toString());
}

/** The 16-byte little-endian integer at `byteOffset`. */
export function readInt128(view: DataView, byteOffset: number, signed: boolean): bigint {
  const low = view.getBigUint64(byteOffset, true);
  const high = signed ? view.getBigInt64(byteOffset + 8, true) : view.getBigUint64(byteOffset + 8, true);
  return (high << 64n) | low;
}

/** An unscaled integer with `scale` decimals, always all of them: `1.50`. */
export function decimalText(unscaled: bigint, scale: number): string {
  if (scale <= 0) return (unscaled * 10n ** BigInt(-scale)).toString();
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, "0");
  const point = digits.length - scale;
  return `${unscaled < 0n ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point)}`;
}
