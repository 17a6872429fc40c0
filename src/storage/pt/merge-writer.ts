// Writes merged rows as a block of a .pt file in a stream: pages in groups, column by column, and finally the dictionary, because only then
// it is known which series have rows left.
import type { ColumnCodec } from "../../kernel/codec/codec.ts";
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { timeRange } from "../../kernel/scan/rows.ts";
import { type ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun, TagColumnView } from "../../model/rows/run.ts";
import { timesOf } from "../block/data-block.ts";
import { type ByteSink, ColumnEmitter } from "./column-emitter.ts";
import { type NumberedSeries, writeDictionary } from "./dictionary.ts";
import type { PtGroupedBlock, PtPage } from "./format.ts";
import { GroupedColumnEntries } from "./groups.ts";
import type { RankedTag } from "./order.ts";

export type BlockIdentity = Pick<
  PtGroupedBlock,
  "databaseId" | "tableId" | "tableName" | "day" | "seqMin" | "seqMax" | "unique" | "overlaps"
>;

/** A field or time column of the output block. */
export interface MergedColumn {
  readonly columnId: number;
  readonly type: ColumnType;
}

/** Rows in file order; borrowed until the end of the group. Series are merge numbers, ascending. */
export interface MergedGroup {
  /** u32 per row: its series minus `firstSeries`. */
  readonly seriesPtr: number;
  readonly firstSeries: number;
  readonly timePtr: number;
  /** Rows of each page: a multiple of 64, except for the block's last page, and at most LIMITS.pageRowsMax. */
  readonly pageRows: readonly number[];
}

/** All series of a merge, in order. */
export interface MergedSeries {
  readonly seriesCount: number;
  /** Values are in ascending order. */
  readonly tags: readonly TagColumnView[];
}

/** Writes one block. Used once. */
export class MergedBlockWriter {
  /** Set by `end`. */
  block: PtGroupedBlock | null = null;
  private readonly emitter: ColumnEmitter;
  private series: MergedSeries = { seriesCount: 0, tags: [] };
  private columns: readonly GroupedColumnEntries[] = [];
  private readonly pages: PtPage[] = [];
  /** Number of pages in each group. */
  private readonly groups: number[] = [];
  private pageRows: readonly number[] = [];

  constructor(
    private readonly kernel: Kernel,
    codec: ColumnCodec,
    output: ByteSink,
    private readonly identity: BlockIdentity,
  ) {
    this.emitter = new ColumnEmitter(kernel, codec, output);
  }

  /** Call before the first group. `columns`: time first, then fields by ascending ids. `series` is borrowed until `end`. */
  begin(columns: readonly MergedColumn[], series: MergedSeries): void {
    this.columns = columns.map(({ columnId, type }) => new GroupedColumnEntries(columnId, type));
    this.series = series;
  }

  /** Starts a group of rows; their columns follow in the order of `begin`, each once. */
  beginGroup(group: MergedGroup): void {
    this.pageRows = group.pageRows;
    this.pages.push(...describePages(this.kernel, group));
    this.groups.push(group.pageRows.length);
  }

  /** Writes the group's rows of a column. @throws TsdbError overloaded */
  writeColumn({ columnId, type, dataPtr, validityPtr }: ColumnRun): void {
    let row = 0;
    const chunks = this.pageRows.map((rowCount) => {
      const data = { dataPtr: dataPtr + row * VALUE_BYTES[type], validityPtr: validityPtr === 0 ? 0 : validityPtr + row / 8 };
      row += rowCount;
      return this.emitter.column({ type, ...data, rowCount });
    });
    this.columns.find((column) => column.columnId === columnId)!.addGroup(chunks);
  }

  /** Call after the last group, unless there were no rows: writes the dictionary. `rowCountsPtr`: rows of each series, u32; 0 omits it.
   *  @throws TsdbError overloaded */
  end(rowCountsPtr: number): void {
    const { kernel, identity, groups, columns } = this;
    const { seriesCount, tags } = this.series;
    const memory = new Blocks(kernel);
    try {
      const { series, numbers } = numberSeries(kernel, seriesCount, rowCountsPtr, memory);
      const { dictionary, tags: written } = writeDictionary(kernel, this.emitter, series, rankedTags(kernel, tags, memory));
      const pages = numbers === null ? this.pages : this.pages.map((page) => renumbered(page, numbers));
      const rowCount = pages.reduce((sum, page) => sum + page.rowCount, 0);
      const contents = { rowCount, seriesCount: series.count, ...timesOf(pages), dictionary, tags: written, pages, groups, columns };
      this.block = { ...identity, ...contents };
    } finally {
      memory.release();
    }
  }

  release(): void {
    this.emitter.release();
  }
}

/** The directory entries of a group's pages; series are merge numbers. */
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

/** The series that have rows, and where; `numbers`: new number of each, null if unchanged. */
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

/** Tag values of a merge are sorted: their ranks equal their codes. */
function rankedTags(kernel: Kernel, tags: readonly TagColumnView[], memory: Blocks): RankedTag[] {
  const most = tags.reduce((max, { valueCount }) => Math.max(max, valueCount), 1);
  const ranksPtr = memory.alloc(most * 4);
  const ranks = kernel.u32.subarray(ranksPtr / 4, ranksPtr / 4 + most);
  for (let code = 0; code < most; code++) ranks[code] = code;
  return tags.map((tag) => ({ ...tag, ranksPtr, sortedPtr: ranksPtr }));
}
