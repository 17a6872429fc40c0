// Describes, in kernel memory, where a buffer segment stores rows of an already known layout; ParsedRows.appendTo follows it. The caller
// owns the block.
import * as abi from "../../../assembly/abi.ts";
import type { Kernel } from "../memory/kernel.ts";

/** Pointers are those of row 0; validityPtr 0 = every row so far has a value. */
export interface AppendTargets {
  readonly seriesPtr: number;
  readonly timePtr: number;
  /** Not packed; no string columns. */
  readonly columns: readonly { readonly columnId: number; readonly dataPtr: number; readonly validityPtr: number }[];
}

/** Bytes that `writeAppendTargets` writes. */
export function appendTargetsBytes(columnCount: number): number {
  return abi.APPEND_HEADER_BYTES + columnCount * abi.APPEND_COLUMN_BYTES;
}

/** Writes the description (layout in assembly/abi.ts) to `ptr`, where appendTargetsBytes bytes are free. */
export function writeAppendTargets(kernel: Kernel, ptr: number, { seriesPtr, timePtr, columns }: AppendTargets): void {
  const words = [seriesPtr, timePtr, columns.length];
  for (const { columnId, dataPtr, validityPtr } of columns) words.push(columnId, dataPtr, validityPtr);
  kernel.u32.set(words, ptr / 4);
}
