// Sorts the rows of one table into file order: by UTC day, then series in order of their tag values (columns by id, bytes compared, absent
// first), then time. The input is a merged run, sorted by series ids that are unrelated to the tags' order.
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { timeRange } from "../../kernel/scan/rows.ts";
import type { DictionaryView, Run, TagColumnView } from "../../model/rows/run.ts";

/** A tag column with its values ranked: sortedPtr u32[valueCount - 1], numbers of views minus one, in order; ranksPtr u32[valueCount] by
 *  code. */
export interface RankedTag extends TagColumnView {
  readonly sortedPtr: number;
  readonly ranksPtr: number;
}

/** Consecutive entries of `rowsPtr` that belong to one day. */
export interface DayRows {
  readonly day: number;
  readonly rowsPtr: number;
  readonly count: number;
}

export interface TableOrder {
  /** Ascending column ids; only tags for which some series has a value. */
  readonly tags: readonly RankedTag[];
  /** Ascending days. */
  readonly days: readonly DayRows[];
}

/** Computes the order of a sorted run's rows; allocates from `blocks`. @throws TsdbError overloaded */
export function orderTable(kernel: Kernel, run: Run, blocks: Blocks): TableOrder {
  const tags = rankTags(kernel, run.dictionary, blocks);
  const rowsPtr = blocks.alloc(run.rowCount * 4);
  const scratch = new Blocks(kernel);
  try {
    const seriesPtr = orderSeries(kernel, run.dictionary.seriesCount, tags, scratch);
    const startsPtr = scratch.alloc((run.dictionary.seriesCount + 1) * 4);
    kernel.call.seriesStarts(run.seriesPtr, run.rowCount, run.dictionary.seriesCount, startsPtr);
    kernel.call.orderRows(seriesPtr, run.dictionary.seriesCount, startsPtr, rowsPtr);
    return { tags, days: splitDays(kernel, run, rowsPtr, blocks) };
  } finally {
    scratch.release();
  }
}

function rankTags(kernel: Kernel, { tags }: DictionaryView, blocks: Blocks): RankedTag[] {
  const used = tags.filter(({ valueCount }) => valueCount > 1).sort((a, b) => a.columnId - b.columnId);
  return used.map((tag) => {
    const { valueCount, valuesPtr } = tag;
    const sortedPtr = blocks.alloc(valueCount * 4);
    const ranksPtr = blocks.alloc(valueCount * 4);
    // ranksPtr serves as the sort's scratch before it receives the ranks; view 0 stands for NULL
    kernel.call.sortViews(valuesPtr + 16, valueCount - 1, sortedPtr, ranksPtr);
    kernel.call.rankCodes(sortedPtr, valueCount, ranksPtr);
    return { ...tag, sortedPtr, ranksPtr };
  });
}

/** Series ids u32[seriesCount] in order of their tags: stable sorts, from the last column to the first. */
function orderSeries(kernel: Kernel, seriesCount: number, tags: readonly RankedTag[], scratch: Blocks): number {
  let order = scratch.alloc(seriesCount * 4);
  let other = scratch.alloc(seriesCount * 4);
  const ids = kernel.u32.subarray(order / 4, order / 4 + seriesCount);
  for (let series = 0; series < seriesCount; series++) ids[series] = series;
  for (const { codesPtr, ranksPtr, valueCount } of tags.toReversed()) {
    const counts = scratch.alloc((valueCount + 1) * 4);
    kernel.call.orderSeriesByTag(order, seriesCount, codesPtr, ranksPtr, valueCount, counts, other);
    [order, other] = [other, order];
  }
  return order;
}

function splitDays(kernel: Kernel, { timePtr, rowCount }: Run, rowsPtr: number, blocks: Blocks): DayRows[] {
  const { minNs, maxNs } = timeRange(kernel, timePtr, rowCount);
  const firstDay = kernel.call.dayOf(minNs);
  const dayCount = kernel.call.dayOf(maxNs) - firstDay + 1;
  if (dayCount === 1) return [{ day: firstDay, rowsPtr, count: rowCount }];
  const scratch = new Blocks(kernel);
  try {
    // 64 bits of nanoseconds span at most 213,504 days
    const offsetsPtr = scratch.allocZeroed(dayCount * 4);
    kernel.call.countDays(timePtr, rowCount, firstDay, offsetsPtr);
    const offsets = kernel.u32.subarray(offsetsPtr / 4, offsetsPtr / 4 + dayCount);
    const placedPtr = blocks.alloc(rowCount * 4);
    const days: DayRows[] = [];
    let row = 0;
    offsets.forEach((count, i) => {
      if (count > 0) days.push({ day: firstDay + i, rowsPtr: placedPtr + row * 4, count });
      offsets[i] = row;
      row += count;
    });
    kernel.call.placeDays(timePtr, rowsPtr, rowCount, firstDay, offsetsPtr, placedPtr);
    return days;
  } finally {
    scratch.release();
  }
}
