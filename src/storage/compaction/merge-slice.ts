// A slice of a merge: the next rows of all blocks up to a series or, within a very large series, up to a time. Computes the order of its
// rows; columns are then merged one after another in that order.
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { RowSelection } from "../../kernel/scan/row-selection.ts";
import { SeriesFilter } from "../../kernel/series/series-filter.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import { TIME_COLUMN } from "../../model/rows/column.ts";
import type { MergeInput } from "./merge-input.ts";

/** The next rows of one block. */
export interface SlicePart {
  readonly input: MergeInput;
  readonly firstRow: number;
  readonly count: number;
  /** Series ids of the block, u32 per row. */
  readonly seriesPtr: number;
  readonly timePtr: number;
}

export interface PlacedPart extends SlicePart {
  /** u32 per row: its position among the merged rows; NOWHERE for a hidden one. */
  readonly placesPtr: number;
}

/** Series [first, end) of the merge, and the number of their rows in each input. */
interface Cut {
  readonly firstSeries: number;
  readonly endSeries: number;
  readonly counts: readonly number[];
  /** Set if the series is too large for a slice: then counts are upper bounds, and rows from this time on belong to the next slice. */
  readonly beforeNs: bigint | null;
}

const NOWHERE_BYTE = 0xff;

/** The next rows of a merge in order. Owned: call `release`. */
export class MergeSlice {
  private constructor(
    private readonly kernel: Kernel,
    private readonly blocks: Blocks,
    readonly parts: readonly PlacedPart[],
    readonly firstSeries: number,
    /** Number of merged rows. */
    readonly rowCount: number,
    /** u32 per merged row: its series minus `firstSeries`. */
    readonly seriesPtr: number,
    readonly timePtr: number,
    /** True if no rows follow. */
    readonly isLast: boolean,
  ) {}

  /** Takes about `rowsMax` rows; some input must have rows left. `seriesCount`: series of the merge. @throws TsdbError corrupt_file, io,
   *  overloaded */
  static take(kernel: Kernel, inputs: readonly MergeInput[], rowsMax: number, seriesCount: number): MergeSlice {
    const blocks = new Blocks(kernel);
    const scratch = new Blocks(kernel);
    try {
      const cut = cutSeries(inputs, rowsMax, seriesCount) ?? cutTime(kernel, inputs, rowsMax);
      const parts = inputs.flatMap((input, i) => {
        const count = cut.counts[i]!;
        return count === 0 ? [] : [trim(kernel, readPart(kernel, input, count, blocks), cut.beforeNs)];
      });
      const taken = new Map(parts.map(({ input, count }) => [input, count]));
      const isLast = inputs.every((input) => input.rowsLeft === (taken.get(input) ?? 0));
      const merged = merge(kernel, parts, cut, { blocks, scratch });
      return new MergeSlice(kernel, blocks, merged.parts, cut.firstSeries, merged.rowCount, merged.seriesPtr, merged.timePtr, isLast);
    } catch (error) {
      blocks.release();
      throw error;
    } finally {
      scratch.release();
    }
  }

  /** Moves the inputs past the first `rowCount` merged rows; the remaining ones are part of the next slice. */
  advance(rowCount: number): void {
    if (rowCount === this.rowCount) {
      for (const { input, firstRow, count } of this.parts) input.position = firstRow + count;
      return;
    }
    const { u32, i64 } = this.kernel;
    const series = this.firstSeries + u32[this.seriesPtr / 4 + rowCount]!;
    const timeNs = i64[this.timePtr / 8 + rowCount]!;
    for (const { input, firstRow, count, seriesPtr, timePtr } of this.parts) {
      let low = 0;
      let high = count;
      while (low < high) {
        const middle = (low + high) >>> 1;
        const own = u32[input.mapPtr / 4 + u32[seriesPtr / 4 + middle]!]!;
        if (own < series || (own === series && i64[timePtr / 8 + middle]! < timeNs)) low = middle + 1;
        else high = middle;
      }
      input.position = firstRow + low;
    }
  }

  release(): void {
    this.blocks.release();
  }
}

/** As many complete series as fit; null if the first one is too large. */
function cutSeries(inputs: readonly MergeInput[], rowsMax: number, seriesCount: number): Cut | null {
  const firstSeries = firstOf(inputs);
  const countsBelow = (series: number) => inputs.map((input) => Math.max(0, input.rowsBelow(series) - input.position));
  const fits = (series: number) => countsBelow(series).reduce((sum, count) => sum + count, 0) <= rowsMax;
  if (!fits(firstSeries + 1)) return null;
  let low = firstSeries + 1;
  let high = seriesCount;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return { firstSeries, endSeries: low, counts: countsBelow(low), beforeNs: null };
}

/** A part of the first series: a proportional share of each input, up to the earliest time at which one of these shares ends. */
function cutTime(kernel: Kernel, inputs: readonly MergeInput[], rowsMax: number): Cut {
  const firstSeries = firstOf(inputs);
  const left = inputs.map((input) => Math.max(0, input.rowsBelow(firstSeries + 1) - input.position));
  const total = left.reduce((sum, count) => sum + count, 0);
  // a minimum, so that a small input between large ones does not lead to slices of a few rows
  const least = Math.ceil(rowsMax / (4 * inputs.length));
  let beforeNs = ALL_TIME.maxNs;
  const counts = inputs.map((input, i) => {
    const share = Math.max(least, Math.floor((rowsMax * left[i]!) / total));
    if (left[i]! <= share) return left[i]!;
    const timeNs = timeAt(kernel, input, input.position + share);
    if (timeNs < beforeNs) beforeNs = timeNs;
    return share;
  });
  return { firstSeries, endSeries: firstSeries + 1, counts, beforeNs };
}

function firstOf(inputs: readonly MergeInput[]): number {
  let first = Number.POSITIVE_INFINITY;
  for (const input of inputs) if (input.rowsLeft > 0) first = Math.min(first, input.nextSeries());
  return first;
}

function timeAt(kernel: Kernel, { source }: MergeInput, row: number): bigint {
  const memory = new Blocks(kernel);
  try {
    const page = source.block.pages.findLastIndex(({ firstRow }) => firstRow <= row);
    const { dataPtr } = source.block.readColumn(page, TIME_COLUMN.id, memory)!;
    return kernel.i64[dataPtr / 8 + row - source.block.pages[page]!.firstRow]!;
  } finally {
    memory.release();
  }
}

/** Series and times of the next `count` rows. */
function readPart(kernel: Kernel, input: MergeInput, count: number, blocks: Blocks): SlicePart {
  const { call } = kernel;
  const { position, offsetsPtr } = input;
  const seriesPtr = blocks.alloc(count * 4);
  const timePtr = blocks.alloc(count * 8);
  call.fillSeries(offsetsPtr, input.seriesAt(position), position, count, seriesPtr);
  for (const { page, first, row, count: rows } of input.pieces(position, count)) {
    const memory = new Blocks(kernel);
    try {
      const { dataPtr } = input.source.block.readColumn(page, TIME_COLUMN.id, memory)!;
      call.copyBytes(timePtr + (row - position) * 8, dataPtr + first * 8, rows * 8);
    } finally {
      memory.release();
    }
  }
  return { input, firstRow: position, count, seriesPtr, timePtr };
}

/** Drops the rows from `beforeNs` on from a part of one series, whose times ascend. */
function trim({ i64 }: Kernel, part: SlicePart, beforeNs: bigint | null): SlicePart {
  if (beforeNs === null) return part;
  let low = 0;
  let high = part.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (i64[part.timePtr / 8 + middle]! < beforeNs) low = middle + 1;
    else high = middle;
  }
  return { ...part, count: low };
}

interface Merged {
  readonly parts: PlacedPart[];
  readonly rowCount: number;
  readonly seriesPtr: number;
  readonly timePtr: number;
}

/** Sorts the visible rows of all parts and numbers the distinct (series, time). */
function merge(
  kernel: Kernel,
  parts: readonly SlicePart[],
  { firstSeries, endSeries }: Cut,
  { blocks, scratch }: { blocks: Blocks; scratch: Blocks },
): Merged {
  const { call } = kernel;
  const seriesCount = endSeries - firstSeries;
  const visible = parts.map((part) => visibleRows(kernel, part, scratch));
  const total = visible.reduce((sum, { count }) => sum + count, 0);
  const timePtr = blocks.alloc(Math.max(1, total) * 8);
  const seriesPtr = blocks.alloc(Math.max(1, total) * 4);
  const placesPtr = blocks.alloc(Math.max(1, total) * 4);
  const numbers = scratch.alloc(Math.max(1, total) * 4);
  const offsets = scratch.allocZeroed(seriesCount * 4);
  // maps contain merge numbers: shift the list of offsets so that it is indexed by them
  const wholeOffsets = (offsets - firstSeries * 4) >>> 0;
  parts.forEach((part, i) => {
    const { rowsPtr, count } = visible[i]!;
    call.mergeCount(part.seriesPtr, rowsPtr, count, part.input.mapPtr, wholeOffsets);
  });
  call.mergeOffsets(offsets, seriesCount);
  let base = 0;
  const placed = parts.map((part, i): PlacedPart => {
    const { rowsPtr, count } = visible[i]!;
    call.mergePlace(part.seriesPtr, part.timePtr, rowsPtr, count, part.input.mapPtr, wholeOffsets, base, timePtr, numbers);
    const own = { ...part, placesPtr: placesPtr + base * 4 };
    base += count;
    return own;
  });
  const unsortedMax = call.mergeUnsortedMax(timePtr, offsets, seriesCount) >>> 0;
  if (unsortedMax > 0) call.mergeSort(timePtr, numbers, offsets, seriesCount, scratch.alloc(unsortedMax * 12), unsortedMax);
  const rowCount = call.mergeNumber(timePtr, numbers, offsets, seriesCount, seriesPtr, placesPtr) >>> 0;
  const whole = placed.map((part, i) => {
    const { rowsPtr, count } = visible[i]!;
    if (rowsPtr === 0) return part;
    const spread = blocks.alloc(part.count * 4);
    call.fillBytes(spread, NOWHERE_BYTE, part.count * 4);
    call.scatterCodes(part.placesPtr, count, rowsPtr, spread);
    return { ...part, placesPtr: spread };
  });
  return { parts: whole, rowCount, seriesPtr, timePtr };
}

/** The rows that no deletion hides: row numbers at `rowsPtr`, 0 = all. */
function visibleRows(kernel: Kernel, part: SlicePart, scratch: Blocks): { rowsPtr: number; count: number } {
  const { input, count, seriesPtr, timePtr } = part;
  if (input.hidden === null || count === 0) return { rowsPtr: 0, count };
  const { minTimeNs, maxTimeNs, seqMax } = input.source;
  const { dictionary } = input;
  const span = { minTimeNs, maxTimeNs, seqMin: seqMax, seqMax };
  const run = { rowCount: count, seriesPtr, timePtr, columns: [], dictionary, sorted: true, unique: false, ...span };
  const filter = new SeriesFilter(kernel, []);
  const selection = RowSelection.open(kernel, { run, selection: { range: ALL_TIME, filter, hidden: input.hidden } });
  if (selection === "all") return { rowsPtr: 0, count };
  if (selection === "none") return { rowsPtr: scratch.alloc(4), count: 0 };
  try {
    const rowsPtr = scratch.alloc(count * 4);
    return { rowsPtr, count: selection.next(rowsPtr, count) };
  } finally {
    selection.release();
  }
}
