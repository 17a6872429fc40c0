// Cuts the merged rows of a slice into pages.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { LIMITS } from "../../model/limits.ts";
import type { ColumnRun } from "../../model/rows/run.ts";

/** Maximum text of a page, which is decoded into one block of memory. */
const PAGE_TEXT_MAX = 16 << 20;
/** All pages but the last of a block consist of whole 64-bit bitmap words. */
const WORD_ROWS = 64;

/** String columns of a slice: those that are there, and by row the longest text of the others. */
export interface PageTexts {
  readonly kept: ReadonlyMap<number, ColumnRun>;
  readonly rest: Uint32Array | null;
}

/** Row counts of the pages, from the first row on. Rows beyond the last full page (or bitmap word, if there is no full page) are left
 *  for the next slice; without a next slice, none are left. */
export function cutPages(kernel: Kernel, texts: PageTexts, { rowCount, isLast }: { rowCount: number; isLast: boolean }): number[] {
  const pages: number[] = [];
  let row = 0;
  while (row < rowCount) {
    const size = pageSize(kernel, texts, row, rowCount - row);
    pages.push(size);
    row += size;
  }
  if (isLast) return pages;
  // full pages, or else full bitmap words
  for (const unit of [LIMITS.pageRowsMax, WORD_ROWS]) {
    const whole = wholeUnits(pages, unit);
    if (whole.length > 0) return whole;
  }
  return [];
}

/** Number of rows of a page that starts at `row`. */
function pageSize({ call }: Kernel, { kept, rest }: PageTexts, row: number, rowsLeft: number): number {
  let size = Math.min(LIMITS.pageRowsMax, rowsLeft);
  const fit = (bytes: () => number) => {
    while (size > WORD_ROWS && bytes() > PAGE_TEXT_MAX) size = Math.max(WORD_ROWS, Math.floor(size / 2 / WORD_ROWS) * WORD_ROWS);
  };
  for (const { dataPtr, validityPtr } of kept.values()) fit(() => call.textBytes(dataPtr, validityPtr, row, size));
  if (rest !== null) fit(() => rest.subarray(row, row + size).reduce((sum, bytes) => sum + bytes, 0));
  return size;
}

/** The longest prefix of pages whose row count is a multiple of `unit`; if there is none, a part of the first page. */
function wholeUnits(pages: readonly number[], unit: number): number[] {
  let row = 0;
  let whole: number[] = [];
  for (const [i, size] of pages.entries()) {
    row += size;
    if (row % unit === 0) whole = pages.slice(0, i + 1);
  }
  if (whole.length > 0 || unit > WORD_ROWS) return whole;
  // a single page that is not a multiple of a bitmap word
  const words = Math.floor(pages[0]! / WORD_ROWS) * WORD_ROWS;
  return words === 0 ? [] : [words];
}
