// Writes one block of a .pt file: the series of one table's day with their tag values, then each column in pages.

import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { bitmapBytes, gatherBitmap, gatherColumn, timeRange } from "../../kernel/scan/rows.ts";
import { ColumnType, TIME_COLUMN, VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun, Run } from "../../model/rows/run.ts";
import { timesOf } from "../block/data-block.ts";
import type { ColumnEmitter } from "./column-emitter.ts";
import { type NumberedSeries, writeDictionary } from "./dictionary.ts";
import type { PtBlock, PtColumn, PtPage } from "./format.ts";
import type { DayRows, RankedTag } from "./order.ts";

// Decoding a page allocates its text as one block; pages of long strings have fewer rows.
const PAGE_TEXT_MAX = 16 << 20;
// The minimum that keeps pages aligned to bitmap words: 64 strings of 1 MiB
const PAGE_ROWS_MIN = 64;

export interface PtBlockInput {
  /** Sorted by series ids and time, each pair once. Its columns are written one by one. */
  readonly run: Run;
  readonly tags: readonly RankedTag[];
  readonly rows: DayRows;
  /** Rows of its pages: a power of two, at least 64, that `fittingPage` allows for each string column. */
  readonly pageRows: number;
  /** Shared: a table has a block for each of its days, which may be many thousands, and they are written by turns. */
  readonly emitter: ColumnEmitter;
}

type BlockContents = Pick<PtBlock, "rowCount" | "seriesCount" | "minTimeNs" | "maxTimeNs" | "dictionary" | "tags" | "pages" | "columns">;

interface PageRows {
  readonly first: number;
  readonly rowsPtr: number;
  readonly count: number;
}

/** As many rows of a page, `size` at most, as leave it with little text of a string column. */
export function fittingPage(kernel: Kernel, { dataPtr, validityPtr }: ColumnRun, { rowsPtr, count }: DayRows, size: number): number {
  const text = () => kernel.call.pageTextMax(dataPtr, validityPtr, rowsPtr, count, size);
  while (size > PAGE_ROWS_MIN && text() > PAGE_TEXT_MAX) size /= 2;
  return size;
}

/** Used once: the constructor writes dictionary and times, then the field columns follow in order of their ids. */
export class PtBlockWriter {
  private readonly blocks: Blocks;
  private readonly begun: Omit<BlockContents, "columns">;
  private readonly pageRows: readonly PageRows[];
  private readonly columns: PtColumn[] = [];

  /** @throws TsdbError overloaded */
  constructor(
    private readonly kernel: Kernel,
    private readonly input: PtBlockInput,
  ) {
    this.blocks = new Blocks(kernel);
    try {
      const { run, rows } = input;
      const series = this.numberSeries();
      const { dictionary, tags } = writeDictionary(kernel, input.emitter, series, input.tags);
      this.pageRows = this.cutPages();
      const time: ColumnRun = { columnId: TIME_COLUMN.id, type: ColumnType.time, dataPtr: run.timePtr, validityPtr: 0 };
      const pages: PtPage[] = [];
      this.write(time, (page, ptr) => pages.push(this.describePage(page, ptr, series)));
      this.begun = { rowCount: rows.count, seriesCount: series.count, ...timesOf(pages), dictionary, tags, pages };
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Appends a field column of the run; writes nothing if the day has no value of it. @throws TsdbError overloaded */
  write(column: ColumnRun, each?: (page: PageRows, valuesPtr: number) => void): void {
    const chunks = this.writeChunks(column, each);
    if (chunks !== null) this.columns.push({ columnId: column.columnId, type: column.type, chunks });
  }

  /** The directory entry of the block. */
  end(): BlockContents {
    return { ...this.begun, columns: this.columns };
  }

  release(): void {
    this.blocks.release();
  }

  private numberSeries(): NumberedSeries {
    const { run, rows } = this.input;
    const countMax = Math.min(rows.count, run.dictionary.seriesCount);
    const idsPtr = this.blocks.alloc(countMax * 4);
    const offsetsPtr = this.blocks.alloc((countMax + 1) * 4);
    const count = this.kernel.call.blockSeries(run.seriesPtr, rows.rowsPtr, rows.count, idsPtr, offsetsPtr) >>> 0;
    return { count, idsPtr, offsetsPtr };
  }

  private cutPages(): PageRows[] {
    const { rows, pageRows: size } = this.input;
    return Array.from({ length: Math.ceil(rows.count / size) }, (_, i) => ({
      first: i * size,
      rowsPtr: rows.rowsPtr + i * size * 4,
      count: Math.min(size, rows.count - i * size),
    }));
  }

  /** Encodes a column page by page; `each` receives every page's gathered values. Returns null if the rows have no value. */
  private writeChunks(
    { type, dataPtr, validityPtr }: ColumnRun,
    each: ((page: PageRows, valuesPtr: number) => void) | undefined,
  ): PtColumn["chunks"] | null {
    const pages = this.pageRows;
    const scratch = new Blocks(this.kernel);
    try {
      const count = pages[0]!.count;
      const values = scratch.alloc(count * VALUE_BYTES[type]);
      const bits = validityPtr === 0 ? 0 : scratch.alloc(bitmapBytes(count));
      if (validityPtr !== 0 && !this.hasAny(validityPtr, pages, bits)) return null;
      return pages.map((page) => {
        const { rowsPtr, count } = page;
        gatherColumn(this.kernel, type, { sourcePtr: dataPtr, rowsPtr, count, targetPtr: values });
        if (bits !== 0) gatherBitmap(this.kernel, { sourcePtr: validityPtr, rowsPtr, count, targetPtr: bits });
        each?.(page, values);
        return this.input.emitter.column({ type, dataPtr: values, validityPtr: bits, rowCount: count });
      });
    } finally {
      scratch.release();
    }
  }

  private hasAny(validityPtr: number, pages: readonly PageRows[], bits: number): boolean {
    return pages.some(({ rowsPtr, count }) => {
      gatherBitmap(this.kernel, { sourcePtr: validityPtr, rowsPtr, count, targetPtr: bits });
      return this.kernel.call.countBits(bits, 0, count) > 0;
    });
  }

  private describePage({ first, count }: PageRows, timePtr: number, { offsetsPtr, count: seriesCount }: NumberedSeries): PtPage {
    const { minNs, maxNs } = timeRange(this.kernel, timePtr, count);
    return {
      rowCount: count,
      firstSeries: this.kernel.call.seriesOfRow(offsetsPtr, seriesCount, first) >>> 0,
      lastSeries: this.kernel.call.seriesOfRow(offsetsPtr, seriesCount, first + count - 1) >>> 0,
      minTimeNs: minNs,
      maxTimeNs: maxNs,
    };
  }
}
