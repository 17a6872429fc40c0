// Walks over the tables of a parsed body without making objects of them: for bodies that bring nothing but rows.
import * as abi from "../../../assembly/abi.ts";
import type { Kernel } from "../memory/kernel.ts";

export class ParsedTables {
  // of the table in hand, as ParsedTable has them (parser-view.ts)
  tablePtr = 0;
  index = 0;
  rowCount = 0;
  seriesPtr = 0;
  timePtr = 0;
  newSeriesFirst = 0;
  newSeriesCount = 0;
  /** Of the whole body. */
  bodyRows = 0;
  private left = 0;
  private nextPtr = 0;

  constructor(private readonly kernel: Kernel) {}

  /** Begins before the first table of what `lineParse` returned. False for a body without rows, and where a line is bad. */
  begin(resultPtr: number): boolean {
    const words = this.kernel.u32;
    const at = resultPtr >>> 2;
    this.bodyRows = words[at + abi.PARSED_ROW_COUNT]!;
    this.left = words[at + abi.PARSED_TABLE_COUNT]!;
    this.nextPtr = resultPtr + abi.PARSED_HEADER_WORDS * 4;
    return this.bodyRows > 0 && words[at + abi.PARSED_LINE_COUNT]! === this.bodyRows && words[at + abi.PARSED_CROWDED]! === 0;
  }

  /** Goes to the next table. False when there is none. */
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
