// Extracts the values in the last row of every series of a block: what newest-point queries need. Pages are read once, and only a few
// values are kept.
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { bitmapBytes, gatherBitmap, gatherColumn } from "../../kernel/scan/rows.ts";
import { ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun } from "../../model/rows/run.ts";
import type { BlockPage, BlockSeries, DecodeMemory } from "./data-block.ts";

export interface LastRowsInput {
  readonly pages: readonly BlockPage[];
  readonly series: BlockSeries;
  readonly columnId: number;
  readonly type: ColumnType;
  /** Calls `use` with a page's values, which are valid during the call. */
  readonly withColumn: (page: number, use: (column: ColumnRun) => void) => void;
}

/** One value per series, in series order; text is copied to `memory` too. @throws as DataBlock.readColumn */
export function readLastRows(
  kernel: Kernel,
  { pages, series, columnId, type, withColumn }: LastRowsInput,
  memory: DecodeMemory,
): ColumnRun {
  const { seriesCount } = series.dictionary;
  const width = VALUE_BYTES[type];
  const dataPtr = memory.alloc(seriesCount * width);
  const validityPtr = memory.alloc(bitmapBytes(seriesCount));
  kernel.call.fillBytes(validityPtr, 0, bitmapBytes(seriesCount));
  const scratch = new Blocks(kernel);
  let hasNulls = false;
  let done = 0;
  try {
    const rowsPtr = scratch.alloc(pages.reduce((most, { rowCount }) => Math.max(most, rowCount), 0) * 4);
    const bitmapPtr = scratch.alloc(bitmapBytes(pages.reduce((most, { rowCount }) => Math.max(most, rowCount), 0)));
    pages.forEach(({ firstRow, rowCount }, page) => {
      const count = lastRowsWithin(kernel, series, { firstSeries: done, firstRow, rowCount, rowsPtr });
      if (count === 0) return;
      withColumn(page, (column) => {
        const targetPtr = dataPtr + done * width;
        gatherColumn(kernel, type, { sourcePtr: column.dataPtr, rowsPtr, count, targetPtr });
        if (column.validityPtr === 0) kernel.call.setBits(validityPtr, done, count);
        else {
          hasNulls = true;
          gatherBitmap(kernel, { sourcePtr: column.validityPtr, rowsPtr, count, targetPtr: bitmapPtr });
          kernel.call.copyBits(bitmapPtr, 0, validityPtr, done, count);
        }
        if (type === ColumnType.string) keepText(kernel, targetPtr, count, memory);
      });
      done += count;
    });
    return { columnId, type, dataPtr, validityPtr: hasNulls ? validityPtr : 0 };
  } finally {
    scratch.release();
  }
}

/** Row numbers within the page of those rows that are the last of their series, from `firstSeries` on. Returns how many. */
function lastRowsWithin(
  { u32 }: Kernel,
  { offsetsPtr, dictionary }: BlockSeries,
  { firstSeries, firstRow, rowCount, rowsPtr }: { firstSeries: number; firstRow: number; rowCount: number; rowsPtr: number },
): number {
  let count = 0;
  for (let series = firstSeries; series < dictionary.seriesCount; series++, count++) {
    const row = u32[offsetsPtr / 4 + series + 1]! - 1 - firstRow;
    if (row >= rowCount) break;
    u32[rowsPtr / 4 + count] = row;
  }
  return count;
}

/** Copies the text of views to `memory`. Absent values become empty views. */
function keepText(kernel: Kernel, viewsPtr: number, count: number, memory: DecodeMemory): void {
  const bytes = kernel.call.textBytes(viewsPtr, 0, 0, count);
  if (bytes > 0) kernel.call.copyViews(viewsPtr, 0, 0, count, viewsPtr, memory.alloc(bytes));
}
