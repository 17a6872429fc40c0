// Operations on whole columns in shared memory: gather by row numbers, bitmaps, time range. Pointers in, pointers out; the caller owns
// every block. Lists of row numbers are u32; gathering by an ascending list may run in place.
import { assert } from "../../model/assert.ts";
import { type ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { Kernel } from "../memory/kernel.ts";

/** Bytes of a bitmap of `rowCount` bits: a multiple of 8, so that readers may load 64-bit words. */
export function bitmapBytes(rowCount: number): number {
  return Math.ceil(rowCount / 64) * 8;
}

export interface Gather {
  readonly sourcePtr: number;
  /** u32 row numbers in the source */
  readonly rowsPtr: number;
  readonly count: number;
  readonly targetPtr: number;
}

/** target[i] = source[rows[i]] for values of 1, 4, 8 or 16 bytes. */
export function gatherValues(kernel: Kernel, valueBytes: number, { sourcePtr, rowsPtr, count, targetPtr }: Gather): void {
  if (valueBytes === 8) kernel.call.gather8(sourcePtr, rowsPtr, count, targetPtr);
  else if (valueBytes === 16) kernel.call.gather16(sourcePtr, rowsPtr, count, targetPtr);
  else if (valueBytes === 4) kernel.call.gather4(sourcePtr, rowsPtr, count, targetPtr);
  else {
    assert(valueBytes === 1, `no gather of ${valueBytes} bytes`);
    kernel.call.gather1(sourcePtr, rowsPtr, count, targetPtr);
  }
}

/** `gatherValues` for values of a column type. */
export function gatherColumn(kernel: Kernel, type: ColumnType, gather: Gather): void {
  gatherValues(kernel, VALUE_BYTES[type], gather);
}

/** Gathers a bitmap: writes bitmapBytes(count) bytes at the target; bits from `count` on are 0 in the last byte. */
export function gatherBitmap(kernel: Kernel, { sourcePtr, rowsPtr, count, targetPtr }: Gather): void {
  kernel.call.gatherBits(sourcePtr, rowsPtr, count, targetPtr);
}

/** Writes the numbers (u32) of the rows whose bit is set to `targetPtr`, ascending (room for rowCount). Returns how many. */
export function presentRows(kernel: Kernel, bitmapPtr: number, rowCount: number, targetPtr: number): number {
  return kernel.call.presentRows(bitmapPtr, rowCount, targetPtr);
}

/** Number of set bits among rows [from, from + count). */
export function countPresent(kernel: Kernel, bitmapPtr: number, from: number, count: number): number {
  return kernel.call.countBits(bitmapPtr, from, count);
}

/** Smallest and largest of `rowCount` > 0 times. */
export function timeRange(kernel: Kernel, timePtr: number, rowCount: number): { minNs: bigint; maxNs: bigint } {
  assert(rowCount > 0, "a time range needs rows");
  kernel.call.findTimeRange(timePtr, rowCount);
  return { minNs: kernel.call.foundTimeMin(), maxNs: kernel.call.foundTimeMax() };
}

/** True if rows are ordered by series id, then time. */
export function isSorted(kernel: Kernel, seriesPtr: number, timePtr: number, rowCount: number): boolean {
  return kernel.call.isSorted(seriesPtr, timePtr, rowCount) !== 0;
}
