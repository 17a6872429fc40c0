// The rows of a page that a statement wants, found by its series' row offsets before any of its columns is decoded: wraps
// assembly/scan/page-parts.ts.
import type { TimeRange } from "../../model/query/scan.ts";
import { type ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun } from "../../model/rows/run.ts";
import type { RowParts } from "../codec/codec.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import { bitmapBytes } from "./rows.ts";

/** | series u32 | first row u32 | end u32 | */
const PART_BYTES = 12;

/** Where a page lies in its block. */
export interface PageRows {
  readonly rowCount: number;
  readonly firstRow: number;
  readonly firstSeries: number;
  readonly lastSeries: number;
}

/** A block that values can be written to. */
interface TargetMemory {
  alloc(bytes: number): number;
}

/** Wanted rows of one page, series by series. Owned: call `release`. */
export class PageParts {
  private readonly blocks: Blocks;
  private readonly ptr: number;
  private partCount: number;
  private joined: RowParts | undefined;

  /** The rows of the wanted series. @param offsetsPtr row offsets of the block's series @param wantedPtr a byte per series; 0 = all
   *  @throws TsdbError overloaded */
  constructor(
    private readonly kernel: Kernel,
    { rowCount, firstRow, firstSeries, lastSeries }: PageRows,
    offsetsPtr: number,
    wantedPtr: number,
  ) {
    this.blocks = new Blocks(kernel);
    this.ptr = this.blocks.alloc((lastSeries - firstSeries + 1) * PART_BYTES);
    this.partCount = kernel.call.pageParts(offsetsPtr, wantedPtr, firstSeries, lastSeries, firstRow, rowCount, this.ptr);
  }

  get rowCount(): number {
    return this.kernel.call.countPartRows(this.ptr, this.partCount);
  }

  /** Leaves the rows within the range. @param timePtr times of the whole page; with `isPacked` those of the rows so far, of which those
   *  that are left are moved together */
  cut(timePtr: number, isPacked: boolean, { minNs, maxNs }: TimeRange): void {
    this.partCount = this.kernel.call.cutParts(this.ptr, this.partCount, timePtr, Number(isPacked), minNs, maxNs);
    this.joined = undefined;
  }

  /** The same by times as quotients of the whole page, `width` bytes each. @param least u32, as `most`: quotients that stay */
  cutDivided(quotientsPtr: number, width: number, least: number, most: number): void {
    this.partCount = this.kernel.call.cutDividedParts(this.ptr, this.partCount, quotientsPtr, width, least, most);
    this.joined = undefined;
  }

  /** The rows for the codec, borrowed until `cut` or `release`. @throws TsdbError overloaded */
  get rows(): RowParts {
    if (this.joined === undefined) {
      const ptr = this.blocks.alloc(Math.max(1, this.partCount) * 8);
      this.joined = { ptr, count: this.kernel.call.joinParts(this.ptr, this.partCount, ptr) };
    }
    return this.joined;
  }

  /** u32 per row: its series. @throws TsdbError overloaded */
  series(memory: TargetMemory): number {
    const target = memory.alloc(this.rowCount * 4);
    this.kernel.call.partSeries(this.ptr, this.partCount, target);
    return target;
  }

  /** The rows' values of a column of the whole page. Text stays where it is. @throws TsdbError overloaded */
  take({ columnId, type, dataPtr, validityPtr }: ColumnRun, memory: TargetMemory): ColumnRun {
    return { columnId, type, dataPtr: this.values(dataPtr, type, memory), validityPtr: this.bits(validityPtr, memory) };
  }

  /** The rows' bits of a bitmap of the whole page; 0 of none. @throws TsdbError overloaded */
  bits(validityPtr: number, memory: TargetMemory): number {
    if (validityPtr === 0) return 0;
    const { rows, rowCount } = this;
    const bitmap = memory.alloc(bitmapBytes(rowCount));
    this.kernel.call.partBits(validityPtr, rows.ptr, rows.count, rowCount, bitmap);
    return bitmap;
  }

  release(): void {
    this.blocks.release();
  }

  private values(sourcePtr: number, type: ColumnType, memory: TargetMemory): number {
    const { rows, rowCount } = this;
    const target = memory.alloc(rowCount * VALUE_BYTES[type]);
    this.kernel.call.partValues(sourcePtr, rows.ptr, rows.count, VALUE_BYTES[type], target);
    return target;
  }
}
