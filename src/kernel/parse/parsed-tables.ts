// Iterates over the tables of a parsed body without allocating objects: for bodies that bring rows only.
import * as abi from "../../../assembly/abi.ts";
import type { Kernel } from "../memory/kernel.ts";

/** A cursor over the tables of a parsed body. Reused for every body. */
export class ParsedTables {
  // the current table; fields as in ParsedTable (parser-view.ts)
  tablePtr = 0;
  index = 0;
  rowCount = 0;
  seriesPtr = 0;
  timePtr = 0;
  newSeriesFirst = 0;
  newSeriesCount = 0;
  /** Rows of the whole body. */
  bodyRows = 0;
  private left = 0;
  private nextPtr = 0;

  constructor(private readonly kernel: Kernel) {}

  /** Moves before the first table of a result of `lineParse`. Returns false if the body has no rows or an invalid line. */
  begin(resultPtr: number): boolean {
    const words = this.kernel.u32;
    const at = resultPtr >>> 2;
    this.bodyRows = words[at + abi.PARSED_ROW_COUNT]!;
    this.left = words[at + abi.PARSED_TABLE_COUNT]!;
    this.nextPtr = resultPtr + abi.PARSED_HEADER_WORDS * 4;
    return this.bodyRows > 0 && words[at + abi.PARSED_LINE_COUNT]! === this.bodyRows && words[at + abi.PARSED_CROWDED]! === 0;
  }

  /** Moves to the next table. Returns false at the end. */
  next(): boolean {
    if (this.left === 0) return false;
    this.left -= 1;
    const words = this.kernel.u32;
    const at = this.nextPtr >>> 2;
    this.tablePtr = this.nextPtr;
    this.index = words[at + abi.PARSED_TABLE_INDEX]!;
    this.rowCount = words[at + abi.PARSED_TABLE_ROW_COUNT]!;
    this.seriesPtr = words[at + abi.PARSED_TABLE_SERIES_PTR]!;
    this.timePtr = words[at + abi.PARSED_TABLE_TIME_PTR]!;
    this.newSeriesFirst = words[at + abi.PARSED_TABLE_NEW_FIRST]!;
    this.newSeriesCount = words[at + abi.PARSED_TABLE_NEW_COUNT]!;
    const columnCount = words[at + abi.PARSED_TABLE_COLUMN_COUNT]!;
    this.nextPtr += (abi.PARSED_TABLE_WORDS + columnCount * abi.PARSED_COLUMN_WORDS) * 4;
    return true;
  }
}
