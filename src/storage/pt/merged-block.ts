// The entry that a block of merged rows gets in its file's directory, gathered while the rows are written: pages group by group, columns,
// and at the end the dictionary, because only then it is known which series have rows left. The same for `.pt` and Parquet files.
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { timeRange } from "../../kernel/scan/rows.ts";
import type { TagColumnView } from "../../model/rows/run.ts";
import { timesOf } from "../block/data-block.ts";
import type { MergedColumn, MergedGroup, MergedSeries } from "../block/merge-sink.ts";
import type { ColumnEmitter } from "./column-emitter.ts";
import { type NumberedSeries, writeDictionary } from "./dictionary.ts";
import type { PtGroupedBlock, PtPage } from "./format.ts";
import { GroupedColumnEntries } from "./groups.ts";
import type { RankedTag } from "./order.ts";

export type BlockIdentity = Pick<
  PtGroupedBlock,
  "databaseId" | "tableId" | "tableName" | "day" | "seqMin" | "seqMax" | "unique" | "overlaps"
>;

export class MergedBlock {
  private readonly columns: readonly GroupedColumnEntries[];
  private readonly pages: PtPage[] = [];
  private readonly groups: number[] = [];

  constructor(
    private readonly kernel: Kernel,
    private readonly identity: BlockIdentity,
    columns: readonly MergedColumn[],
    /** Borrowed until `end`. */
    readonly series: MergedSeries,
  ) {
    this.columns = columns.map(({ columnId, type }) => new GroupedColumnEntries(columnId, type));
  }

  /** Pages of the next rows, which are written in groups of `groups` pages. */
  addPages(group: MergedGroup, groups: readonly number[]): void {
    this.pages.push(...describePages(this.kernel, group));
    this.groups.push(...groups);
  }

  /** Where a column's pages of a group lie goes there. */
  column(id: number): GroupedColumnEntries {
    return this.columns.find(({ columnId }) => columnId === id)!;
  }

  /** Writes the dictionary. `rowCountsPtr`: rows of each series, u32. @throws TsdbError overloaded */
  end(emitter: ColumnEmitter, rowCountsPtr: number): PtGroupedBlock {
    const { kernel, identity, groups, columns } = this;
    const { seriesCount, tags } = this.series;
    const memory = new Blocks(kernel);
    try {
      const { series, numbers } = numberSeries(kernel, seriesCount, rowCountsPtr, memory);
      const { dictionary, tags: written } = writeDictionary(kernel, emitter, series, rankedTags(kernel, tags, memory));
      const pages = numbers === null ? this.pages : this.pages.map((page) => renumbered(page, numbers));
      const rowCount = pages.reduce((sum, page) => sum + page.rowCount, 0);
      return { ...identity, rowCount, seriesCount: series.count, ...timesOf(pages), dictionary, tags: written, pages, groups, columns };
    } finally {
      memory.release();
    }
  }
}

/** What the directory tells of a group's pages; series are numbers of the merge. */
function describePages(kernel: Kernel, { pageRows, seriesPtr, firstSeries, timePtr }: MergedGroup): PtPage[] {
  let row = 0;
  return pageRows.map((rowCount) => {
    const { minNs, maxNs } = timeRange(kernel, timePtr + row * 8, rowCount);
    const first = firstSeries + kernel.u32[seriesPtr / 4 + row]!;
    const last = firstSeries + kernel.u32[seriesPtr / 4 + row + rowCount - 1]!;
    row += rowCount;
    return { rowCount, firstSeries: first, lastSeries: last, minTimeNs: minNs, maxTimeNs: maxNs };
  });
}

/** The series that have rows, and where; `numbers`: the new number of each, null when all have kept theirs. */
function numberSeries(
  kernel: Kernel,
  seriesCount: number,
  rowCountsPtr: number,
  memory: Blocks,
): { series: NumberedSeries; numbers: Uint32Array | null } {
  const idsPtr = memory.alloc(seriesCount * 4);
  const offsetsPtr = memory.alloc((seriesCount + 1) * 4);
  const counts = kernel.u32.subarray(rowCountsPtr / 4, rowCountsPtr / 4 + seriesCount);
  const ids = kernel.u32.subarray(idsPtr / 4, idsPtr / 4 + seriesCount);
  const offsets = kernel.u32.subarray(offsetsPtr / 4, offsetsPtr / 4 + seriesCount + 1);
  const numbers = new Uint32Array(seriesCount);
  let count = 0;
  let row = 0;
  for (let id = 0; id < seriesCount; id++) {
    numbers[id] = count;
    if (counts[id] === 0) continue;
    ids[count] = id;
    offsets[count] = row;
    row += counts[id]!;
    count++;
  }
  offsets[count] = row;
  return { series: { count, idsPtr, offsetsPtr }, numbers: count === seriesCount ? null : numbers };
}

function renumbered(page: PtPage, numbers: Uint32Array): PtPage {
  return { ...page, firstSeries: numbers[page.firstSeries]!, lastSeries: numbers[page.lastSeries]! };
}

/** The values of a merge are in order: their ranks are their codes. */
function rankedTags(kernel: Kernel, tags: readonly TagColumnView[], memory: Blocks): RankedTag[] {
  const most = tags.reduce((max, { valueCount }) => Math.max(max, valueCount), 1);
  const ranksPtr = memory.alloc(most * 4);
  const ranks = kernel.u32.subarray(ranksPtr / 4, ranksPtr / 4 + most);
  for (let code = 0; code < most; code++) ranks[code] = code;
  return tags.map((tag) => ({ ...tag, ranksPtr, sortedPtr: ranksPtr }));
}
