// Where a segment of the buffer takes rows that are like those before them: a description in the kernel's memory, which ParsedRows.appendTo
// follows. The caller owns the block.
import * as abi from "../../../assembly/abi.ts";
import type { Kernel } from "../memory/kernel.ts";

/** Pointers are those of row 0; validityPtr 0 = every row so far has the column. */
export interface AppendTargets {
  readonly seriesPtr: number;
  readonly timePtr: number;
  /** Not packed, no strings. */
  readonly columns: readonly { readonly columnId: number; readonly dataPtr: number; readonly validityPtr: number }[];
}

export function appendTargetsBytes(columnCount: number): number {
  return abi.APPEND_HEADER_BYTES + columnCount * abi.APPEND_COLUMN_BYTES;
}

export function writeAppendTargets(kernel: Kernel, ptr: number, { seriesPtr, timePtr, columns }: AppendTargets): void {
  const words = [seriesPtr, timePtr, columns.length];
  for (const { columnId, dataPtr, validityPtr } of columns) words.push(columnId, dataPtr, validityPtr);
  kernel.u32.set(words, ptr / 4);
}
