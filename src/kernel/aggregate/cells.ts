// The cells of an aggregation, a group's bin each: dense while all of them fit, numbered as they appear when there are too many to have one
// each. assembly/scan/cells.ts does the work.
import type { TimeBins } from "../../model/query/aggregate.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import type { Kernel } from "../memory/kernel.ts";
import type { CellArray, CellArrays } from "./arrays.ts";

/** The bins that a range of times touches. */
export interface BinPlan {
  /** Begin of the first one. */
  readonly originNs: bigint;
  readonly widthNs: bigint;
  readonly count: bigint;
}

const I64_MIN = -(2n ** 63n);
const U32_MAX = 2 ** 32 - 1;
/** Keys and slots of a hashed cell right after they have doubled, and the old ones beside them. */
const HASHED_CELL_BYTES = 96;
/** Dense cells are swept when they are made and when they are given out: up to so many for a row, or this many in any case. */
const DENSE_CELLS_PER_ROW = 8;
const DENSE_CELLS_ALWAYS = 1 << 16;

/** Null when bins cannot be numbered or shown: the first one begins before the least i64, or they span more than 64 bits. */
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

export class AggregateCells {
  private readonly ptr: number;
  private dense: boolean;
  private groupCount = 0;

  /** @param rowCountMax rows that will come at most: dense cells are no more than a multiple of them */
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

  /** Cells in use or, dense, that may be. */
  get count(): number {
    return this.dense ? this.groupCount * Number(this.bins.count) : this.kernel.call.cellsCount(this.ptr) >>> 0;
  }

  /** Makes room for groups 0 .. groupCount-1. False: too many cells. @throws TsdbError overloaded */
  reserveGroups(groupCount: number): boolean {
    if (this.dense && !this.fitsDense(groupCount) && !this.hash()) return false;
    this.groupCount = groupCount;
    return this.dense ? this.parts.arrays.reserve(this.count) : true;
  }

  /** Cuts ranges of a sorted run into spans | cell u32 | first row u32 | end u32 |, at most `max`. Returns how many: when these are `max`,
   *  call again with the same ranges. Null: too many cells. */
  cut(
    ranges: { readonly ptr: number; readonly count: number },
    { timePtr, mapPtr, targetPtr, max }: { timePtr: number; mapPtr: number; targetPtr: number; max: number },
  ): number | null {
    const count = this.kernel.call.cellsCut(this.ptr, ranges.ptr, ranges.count, timePtr, mapPtr, targetPtr, max);
    return this.reserveFound() ? count : null;
  }

  /** Writes the cell (u32) of each row. "unknown": the series of one has no group yet. Null: too many cells. */
  ofRows(
    { seriesPtr, timePtr }: { readonly seriesPtr: number; readonly timePtr: number },
    { rowsPtr, first, count }: { readonly rowsPtr: number; readonly first: number; readonly count: number },
    { mapPtr, targetPtr }: { mapPtr: number; targetPtr: number },
  ): "known" | "unknown" | null {
    const found = this.kernel.call.cellsOfRows(this.ptr, seriesPtr, timePtr, rowsPtr, first, count, mapPtr, targetPtr);
    if (!this.reserveFound()) return null;
    return found === count ? "known" : "unknown";
  }

  /** Lists cells from `from` on that have rows (u32 each), at most `max`. Returns how many; fewer: these were the last. */
  listUsed(from: number, targetPtr: number, max: number): number {
    return this.kernel.call.cellsWithRows(this.parts.rowCounts.ptr, from, this.count, targetPtr, max);
  }

  /** Group (u32) and begin of the bin (i64) of each cell listed; 0 = not wanted. */
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

  /** From dense to hashed cells. False: every group has a cell, so hashing would help nothing. */
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
