// Computes the order of a run's rows by series, then time, without touching its columns.
import type { Run } from "../../model/rows/run.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import { gatherValues } from "./rows.ts";

/** Memory for a u32, an i64 and a u32 per row. */
export interface OrderTarget {
  /** Row numbers of the run, in sorted order. */
  readonly rowsPtr: number;
  readonly timePtr: number;
  readonly seriesPtr: number;
}

/** Writes row numbers, times and series in sorted order. The order of rows with equal series and time is unspecified. @throws TsdbError
 *  overloaded */
export function sortRows(kernel: Kernel, { rowCount, seriesPtr, timePtr, dictionary }: Run, target: OrderTarget): void {
  const { call } = kernel;
  const { seriesCount } = dictionary;
  const scratch = new Blocks(kernel);
  try {
    const offsets = scratch.allocZeroed(Math.max(1, seriesCount) * 4);
    call.mergeCount(seriesPtr, 0, rowCount, 0, offsets);
    call.mergeOffsets(offsets, seriesCount);
    call.mergePlace(seriesPtr, timePtr, 0, rowCount, 0, offsets, 0, target.timePtr, target.rowsPtr);
    const unsortedMax = call.mergeUnsortedMax(target.timePtr, offsets, seriesCount);
    if (unsortedMax > 0) {
      const sorting = scratch.alloc(unsortedMax * 12);
      call.mergeSort(target.timePtr, target.rowsPtr, offsets, seriesCount, sorting, unsortedMax);
    }
    gatherValues(kernel, 4, { sourcePtr: seriesPtr, rowsPtr: target.rowsPtr, count: rowCount, targetPtr: target.seriesPtr });
  } finally {
    scratch.release();
  }
}
