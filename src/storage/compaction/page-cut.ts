// How the merged rows of a slice are cut into pages.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { LIMITS } from "../../model/limits.ts";
import type { ColumnRun } from "../../model/rows/run.ts";

/** Decoding a page takes its text in one piece. */
const PAGE_TEXT_MAX = 16 << 20;
/** Pages are whole words of bitmaps, but for the last of a block. */
const WORD_ROWS = 64;

/** Rows of each page, from the first on. The rest waits for the next slice: what is less than a word or a page, as long as
 *  something is left before it. Nothing waits when there is no next slice. */
export function cutPages(
  kernel: Kernel,
  texts: ReadonlyMap<number, ColumnRun>,
  { rowCount, isLast }: { rowCount: number; isLast: boolean },
): number[] {
  const pages: number[] = [];
  let row = 0;
  while (row < rowCount) {
    const size = pageSize(kernel, texts, row, rowCount - row);
    pages.push(size);
    row += size;
  }
  if (isLast) return pages;
  // whole pages, or else whole words
  for (const unit of [LIMITS.pageRowsMax, WORD_ROWS]) {
    const whole = wholeUnits(pages, unit);
    if (whole.length > 0) return whole;
  }
  return [];
}

/** Rows of a page that begins at `row`. */
function pageSize({ call }: Kernel, texts: ReadonlyMap<number, ColumnRun>, row: number, rowsLeft: number): number {
  let size = Math.min(LIMITS.pageRowsMax, rowsLeft);
  for (const { dataPtr, validityPtr } of texts.values()) {
    while (size > WORD_ROWS && call.textBytes(dataPtr, validityPtr, row, size) >>> 0 > PAGE_TEXT_MAX) {
      size = Math.max(WORD_ROWS, Math.floor(size / 2 / WORD_ROWS) * WORD_ROWS);
    }
  }
  return size;
}

/** The longest beginning whose rows are a multiple of `unit`; of the last page of it a part, when that makes one. */
function wholeUnits(pages: readonly number[], unit: number): number[] {
  let row = 0;
  let whole: number[] = [];
  for (const [i, size] of pages.entries()) {
    row += size;
    if (row % unit === 0) whole = pages.slice(0, i + 1);
  }
  if (whole.length > 0 || unit > WORD_ROWS) return whole;
  // a single page that is no whole number of words
  const words = Math.floor(pages[0]! / WORD_ROWS) * WORD_ROWS;
  return words === 0 ? [] : [words];
}
