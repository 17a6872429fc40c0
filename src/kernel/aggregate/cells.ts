// Maps (group, time bin) to cell numbers: dense (group × bins + bin) while that fits the budget, otherwise hashed, numbered in order of
// appearance. Implemented in assembly/scan/cells.ts.
import type { TimeBins } from "../../model/query/aggregate.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import { I64_MIN } from "../../model/rows/int64.ts";
import type { Kernel } from "../memory/kernel.ts";
import type { CellArray, CellArrays } from "./arrays.ts";

/** The bins that a time range overlaps. */
export interface BinPlan {
  /** Start of the first bin. */
  readonly originNs: bigint;
  readonly widthNs: bigint;
  readonly count: bigint;
}

/** The rows listed (u32 each), or rows [first, first + count) if rowsPtr is 0. */
export interface ListedRows {
  readonly rowsPtr: number;
  readonly first: number;
  readonly count: number;
}

const U32_MAX = 2 ** 32 - 1;
/** Key and slot of a hashed cell right after the table has doubled, including the old table that still exists. */
const HASHED_CELL_BYTES = 96;
/** Dense cells cost two passes, one to initialize and one to list the used ones: allowed up to this many per row, or DENSE_CELLS_ALWAYS. */
const DENSE_CELLS_PER_ROW = 8;
const DENSE_CELLS_ALWAYS = 1 << 16;

/** Returns null if bins cannot be numbered or represented: the first starts before the least i64, or they span more than 64 bits. */
export function planBins(bins: TimeBins | null, { minNs, maxNs }: TimeRange): BinPlan | null {
  if (bins === null || minNs > maxNs) return { originNs: 0n, widthNs: 1n, count: 1n };
  const { originNs, widthNs } = bins;
  const first = originNs + floorDivide(minNs - originNs, widthNs) * widthNs;
  if (first < I64_MIN || maxNs - first >= 2n ** 64n) return null;
  return { originNs: first, widthNs, count: (maxNs - first) / widthNs + 1n };
}

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}

/** Cell numbers of one aggregation. Owned: call `release`. */
export class AggregateCells {
  private readonly ptr: number;
  private dense: boolean;
  private groupCount = 0;

  /** @param parts `rowCountMax`: upper bound of the rows to come; limits dense cells to a multiple of it */
  constructor(
    private readonly kernel: Kernel,
    private readonly bins: BinPlan,
    private readonly parts: {
      readonly arrays: CellArrays;
      readonly rowCounts: CellArray;
      readonly bytesMax: number;
      readonly rowCountMax: number;
    },
  ) {
    const { arrays, bytesMax } = parts;
    this.dense = this.fitsDense(1);
    const cellsMax = Math.min(U32_MAX - 1, Math.floor(bytesMax / (arrays.cellBytes + HASHED_CELL_BYTES)));
    const width = BigInt.asIntN(64, bins.count === 1n ? 0n : bins.widthNs);
    this.ptr = kernel.call.cellsCreate(bins.originNs, width, this.dense ? Number(bins.count) : 0, cellsMax) >>> 0;
  }

  /** Number of hashed cells in use; for dense cells, of all possible ones. */
  get count(): number {
    return this.dense ? this.groupCount * Number(this.bins.count) : this.kernel.call.cellsCount(this.ptr) >>> 0;
  }

  /** Makes room for groups 0 .. groupCount-1. Returns false if there are too many cells. @throws TsdbError overloaded */
  reserveGroups(groupCount: number): boolean {
    if (this.dense && !this.fitsDense(groupCount) && !this.hash()) return false;
    this.groupCount = groupCount;
    return this.dense ? this.parts.arrays.reserve(this.count) : true;
  }

  /** Cuts ranges of a sorted run into at most `max` spans | cell u32 | first row u32 | end u32 |. Returns how many; if that is `max`,
   *  call again with the same ranges. Returns null if there are too many cells. */
  cut(
    ranges: { readonly ptr: number; readonly count: number },
    { timePtr, mapPtr, targetPtr, max }: { timePtr: number; mapPtr: number; targetPtr: number; max: number },
  ): number | null {
    const count = this.kernel.call.cellsCut(this.ptr, ranges.ptr, ranges.count, timePtr, mapPtr, targetPtr, max);
    return this.reserveFound() ? count : null;
  }

  /** Writes the cell (u32) of each row. Returns "unknown" if a row's series has no group yet, null if there are too many cells. */
  ofRows(
    { seriesPtr, timePtr }: { readonly seriesPtr: number; readonly timePtr: number },
    { rowsPtr, first, count }: ListedRows,
    { mapPtr, targetPtr }: { mapPtr: number; targetPtr: number },
  ): "known" | "unknown" | null {
    const found = this.kernel.call.cellsOfRows(this.ptr, seriesPtr, timePtr, rowsPtr, first, count, mapPtr, targetPtr);
    if (!this.reserveFound()) return null;
    return found === count ? "known" : "unknown";
  }

  /** Replaces the group (u32) of each row by its cell. Returns false if there are too many. */
  ofGroups(timePtr: number, { rowsPtr, first, count }: ListedRows, groupsPtr: number): boolean {
    // of one bin, groups and cells are the same
    if (this.bins.count === 1n) return true;
    this.kernel.call.cellsOfGroups(this.ptr, timePtr, rowsPtr, first, count, groupsPtr);
    return this.reserveFound();
  }

  /** Lists at most `max` cells (u32 each) that have rows, starting at cell `from`. Returns how many; fewer than `max` means these were
   *  the last. */
  listUsed(from: number, targetPtr: number, max: number): number {
    return this.kernel.call.cellsWithRows(this.parts.rowCounts.ptr, from, this.count, targetPtr, max);
  }

  /** Writes the group (u32) and the start of the bin (i64) of each listed cell; pass 0 for what is not wanted. */
  describe(listPtr: number, count: number, { groupsPtr, timesPtr }: { groupsPtr: number; timesPtr: number }): void {
    this.kernel.call.cellsDescribe(this.ptr, listPtr, count, groupsPtr, timesPtr);
  }

  release(): void {
    this.kernel.call.cellsFree(this.ptr);
  }

  private fitsDense(groupCount: number): boolean {
    const { arrays, rowCountMax } = this.parts;
    const cells = Number(this.bins.count) * groupCount;
    if (cells > U32_MAX || !arrays.fits(cells)) return false;
    return this.bins.count === 1n || cells <= Math.max(DENSE_CELLS_ALWAYS, rowCountMax * DENSE_CELLS_PER_ROW);
  }

  /** Switches from dense to hashed cells. Returns false if there is only one bin: hashing would save nothing. */
  private hash(): boolean {
    if (this.bins.count === 1n) return false;
    const { heap, call } = this.kernel;
    const { arrays, rowCounts } = this.parts;
    const bytes = Math.max(1, this.count) * 4;
    const list = heap.alloc(bytes);
    try {
      const count = this.count === 0 ? 0 : call.cellsWithRows(rowCounts.ptr, 0, this.count, list, this.count);
      call.cellsHash(this.ptr, list, count);
      this.dense = false;
      arrays.compact(list, count);
      return call.cellsFull(this.ptr) === 0;
    } finally {
      heap.free(list, bytes);
    }
  }

  private reserveFound(): boolean {
    if (this.dense) return true;
    return this.kernel.call.cellsFull(this.ptr) === 0 && this.parts.arrays.reserve(this.count);
  }
}
