// A block being merged: the position of its next row, and the pages around it.

import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { HiddenRows } from "../../kernel/scan/hidden-rows.ts";
import type { DictionaryView } from "../../model/rows/run.ts";
import type { DataBlock } from "../block/data-block.ts";

/** An input block with its sequence and time bounds. */
export interface MergeSource {
  readonly block: DataBlock;
  readonly seqMax: number;
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
}

/** Rows [first, first + count) of a page; the first of them is row `row` of the block. */
export interface PagePiece {
  readonly page: number;
  readonly first: number;
  readonly row: number;
  readonly count: number;
}

/** A cursor over one input block. */
export class MergeInput {
  /** Rows before this one have been merged. */
  position = 0;
  /** Number of each of its series in the merge, u32, ascending; 0 until the series are unified. */
  mapPtr = 0;

  constructor(
    private readonly kernel: Kernel,
    readonly source: MergeSource,
    readonly dictionary: DictionaryView,
    /** First row of each series, followed by the number of rows. */
    readonly offsetsPtr: number,
    /** Rows to omit, already evaluated for this dictionary; null = none. */
    readonly hidden: HiddenRows | null,
  ) {}

  get rowsLeft(): number {
    return this.source.block.rowCount - this.position;
  }

  /** Number of rows whose series has a merge number below `series`. */
  rowsBelow(series: number): number {
    const { u32 } = this.kernel;
    let low = 0;
    let high = this.dictionary.seriesCount;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (u32[this.mapPtr / 4 + middle]! < series) low = middle + 1;
      else high = middle;
    }
    return u32[this.offsetsPtr / 4 + low]!;
  }

  /** Merge number of the next row's series. There must be a next row. */
  nextSeries(): number {
    return this.kernel.u32[this.mapPtr / 4 + this.seriesAt(this.position)]!;
  }

  /** Series of the block that contains a row. */
  seriesAt(row: number): number {
    return this.kernel.call.seriesOfRow(this.offsetsPtr, this.dictionary.seriesCount, row) >>> 0;
  }

  /** The page ranges that contain rows [from, from + count). */
  pieces(from: number, count: number): PagePiece[] {
    const { pages } = this.source.block;
    let low = 0;
    let high = pages.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (pages[middle]!.firstRow <= from) low = middle;
      else high = middle - 1;
    }
    const found: PagePiece[] = [];
    for (let page = low, row = from; row < from + count; page++) {
      const { firstRow, rowCount } = pages[page]!;
      const end = Math.min(from + count, firstRow + rowCount);
      found.push({ page, first: row - firstRow, row, count: end - row });
      row = end;
    }
    return found;
  }
}
