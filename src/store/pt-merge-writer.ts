// Merged rows as blocks of a .pt file, written as they come: pages in groups, the dictionary behind them, because only then it is known
// which series have rows left.
import { Blocks } from "../kernel/blocks.ts";
import type { ColumnCodec } from "../kernel/codec.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { timeRange } from "../kernel/rows.ts";
import { VALUE_BYTES } from "../model/column.ts";
import { LIMITS } from "../model/limits.ts";
import type { ColumnRun, TagColumnView } from "../model/run.ts";
import { type ByteSink, ColumnEmitter } from "./column-emitter.ts";
import type { MergedColumn, MergedGroup, MergedSeries, MergeSink } from "./merge-sink.ts";
import { type NumberedSeries, writeDictionary } from "./pt-dictionary.ts";
import { type PtGroupedBlock, type PtPage, timesOf } from "./pt-format.ts";
import { GroupedColumnEntries } from "./pt-groups.ts";
import type { RankedTag } from "./pt-order.ts";

export type BlockIdentity = Pick<PtGroupedBlock, "databaseId" | "tableId" | "tableName" | "day" | "seqMin" | "seqMax" | "unique">;

/** Writes one block. Used once. */
export class PtMergeSink implements MergeSink {
  readonly groupRows = LIMITS.pageRowsMax;
  /** After `end`. */
  block: PtGroupedBlock | null = null;
  private readonly emitter: ColumnEmitter;
  private columns: readonly GroupedColumnEntries[] = [];
  private series: MergedSeries = { seriesCount: 0, tags: [] };
  private readonly pages: PtPage[] = [];
  private readonly groups: number[] = [];
  private group: MergedGroup | null = null;

  constructor(
    private readonly kernel: Kernel,
    codec: ColumnCodec,
    output: ByteSink,
    private readonly identity: BlockIdentity,
  ) {
    this.emitter = new ColumnEmitter(kernel, codec, output);
  }

  begin(columns: readonly MergedColumn[], series: MergedSeries): void {
    this.columns = columns.map(({ columnId, type }) => new GroupedColumnEntries(columnId, type));
    this.series = series;
  }

  beginGroup(group: MergedGroup): void {
    this.group = group;
    this.pages.push(...describePages(this.kernel, group));
    this.groups.push(group.pageRows.length);
  }

  writeColumn({ columnId, type, dataPtr, validityPtr }: ColumnRun): void {
    let row = 0;
    const chunks = this.group!.pageRows.map((rowCount) => {
      const data = { dataPtr: dataPtr + row * VALUE_BYTES[type], validityPtr: validityPtr === 0 ? 0 : validityPtr + row / 8 };
      row += rowCount;
      return this.emitter.column({ type, ...data, rowCount });
    });
    this.columns.find((column) => column.columnId === columnId)!.addGroup(null, chunks);
  }

  endGroup(): void {
    this.group = null;
  }

  end(rowCountsPtr: number): void {
    const memory = new Blocks(this.kernel);
    try {
      const { seriesCount, tags } = this.series;
      const { series, numbers } = numberSeries(this.kernel, seriesCount, rowCountsPtr, memory);
      const { dictionary, tags: written } = writeDictionary(this.kernel, this.emitter, series, rankedTags(this.kernel, tags, memory));
      const pages = numbers === null ? this.pages : this.pages.map((page) => renumbered(page, numbers));
      this.block = {
        ...this.identity,
        rowCount: pages.reduce((sum, { rowCount }) => sum + rowCount, 0),
        seriesCount: series.count,
        ...timesOf(pages),
        dictionary,
        tags: written,
        pages,
        groups: this.groups,
        columns: this.columns,
      };
    } finally {
      memory.release();
    }
  }

  release(): void {
    this.emitter.release();
  }
}

/** What the directory tells of a group's pages; series are numbers of the merge. */
export function describePages(kernel: Kernel, { pageRows, seriesPtr, firstSeries, timePtr }: MergedGroup): PtPage[] {
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
export function numberSeries(
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

export function renumbered(page: PtPage, numbers: Uint32Array): PtPage {
  return { ...page, firstSeries: numbers[page.firstSeries]!, lastSeries: numbers[page.lastSeries]! };
}

/** The values of a merge are in order: their ranks are their codes. */
export function rankedTags(kernel: Kernel, tags: readonly TagColumnView[], memory: Blocks): RankedTag[] {
  const most = tags.reduce((max, { valueCount }) => Math.max(max, valueCount), 1);
  const ranksPtr = memory.alloc(most * 4);
  const ranks = kernel.u32.subarray(ranksPtr / 4, ranksPtr / 4 + most);
  for (let code = 0; code < most; code++) ranks[code] = code;
  return tags.map((tag) => ({ ...tag, ranksPtr, sortedPtr: ranksPtr }));
}
