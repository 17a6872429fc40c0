// Copies some rows of a run to a run of their own, so that the original can be freed.
import { Blocks } from "../kernel/memory/blocks.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { assertDense } from "../kernel/scan/dense-run.ts";
import { bitmapBytes, gatherBitmap, gatherColumn, gatherValues, timeRange } from "../kernel/scan/rows.ts";
import type { OwnedRun } from "../kernel/scan/run-merge.ts";
import { VALUE_BYTES } from "../model/rows/column.ts";
import type { ColumnRun, Run } from "../model/rows/run.ts";

/** `count` > 0 ascending row numbers, u32 each. */
export interface RowList {
  readonly rowsPtr: number;
  readonly count: number;
}

/** Copies the listed rows; text and dictionary stay in place. @throws TsdbError overloaded */
export function takeRows(kernel: Kernel, run: Run, { rowsPtr, count }: RowList): OwnedRun {
  const blocks = new Blocks(kernel);
  try {
    const seriesPtr = blocks.alloc(count * 4);
    gatherValues(kernel, 4, { sourcePtr: run.seriesPtr, rowsPtr, count, targetPtr: seriesPtr });
    const timePtr = blocks.alloc(count * 8);
    gatherValues(kernel, 8, { sourcePtr: run.timePtr, rowsPtr, count, targetPtr: timePtr });
    const columns = run.columns.map((column): ColumnRun => {
      assertDense(column);
      const { columnId, type, dataPtr, validityPtr } = column;
      const targetPtr = blocks.alloc(count * VALUE_BYTES[type]);
      gatherColumn(kernel, type, { sourcePtr: dataPtr, rowsPtr, count, targetPtr });
      if (validityPtr === 0) return { columnId, type, dataPtr: targetPtr, validityPtr };
      const bitmap = blocks.alloc(bitmapBytes(count));
      gatherBitmap(kernel, { sourcePtr: validityPtr, rowsPtr, count, targetPtr: bitmap });
      return { columnId, type, dataPtr: targetPtr, validityPtr: bitmap };
    });
    const { minNs, maxNs } = timeRange(kernel, timePtr, count);
    const taken = { ...run, rowCount: count, seriesPtr, timePtr, columns, minTimeNs: minNs, maxTimeNs: maxNs };
    return { ...taken, release: () => blocks.release() };
  } catch (error) {
    blocks.release();
    throw error;
  }
}
