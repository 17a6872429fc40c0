// Sorts closed buffer segments by series and time, as in a file: once, column by column on demand, and kept in the block cache. A scan of
// rows in memory then costs as much as a scan of a file. In the query worker.
import { Blocks } from "../kernel/memory/blocks.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { denseColumn } from "../kernel/scan/dense-run.ts";
import { bitmapBytes, gatherBitmap, gatherColumn } from "../kernel/scan/rows.ts";
import { sortRows } from "../kernel/scan/sorted-order.ts";
import { TsdbError } from "../model/errors.ts";
import { type ColumnDef, VALUE_BYTES } from "../model/rows/column.ts";
import type { ColumnRun, Run } from "../model/rows/run.ts";
import type { DecodeMemory } from "../storage/block/data-block.ts";
import type { BlockCache, Lease } from "../storage/block-cache/block-cache.ts";
import type { CacheOwner, Decoded } from "../storage/block-cache/block-cache-entries.ts";

/** Which segments to sort; others are read in place. */
const LIMITS = {
  rowsMin: 4096,
  /** Relative to all series of the dictionary: the sort touches each of them. */
  rowsPerSeriesMin: 1 / 4,
  /** The scan of a segment that sorts it: the first may be the only one before the rows are flushed. */
  scansMin: 2,
};

interface Order {
  readonly rowsPtr: number;
  readonly timePtr: number;
  readonly seriesPtr: number;
}

class Slot implements CacheOwner {
  entryCount = 0;
  scanCount = 0;
  order: Decoded<Order> | null = null;
  /** By column id. */
  readonly columns = new Map<number, Decoded<ColumnRun>>();

  tidy(): void {}
}

/** The sorted segments of one worker. */
export class SortedSegments {
  /** By segment number. */
  private readonly slots = new Map<number, Slot>();

  constructor(
    private readonly kernel: Kernel,
    private readonly cache: BlockCache,
    private readonly limits = LIMITS,
  ) {}

  /** Registers a closed segment of a table. */
  begin(segment: number): void {
    if (!this.slots.has(segment)) this.slots.set(segment, new Slot());
  }

  /** Forgets a segment after its rows were flushed. */
  end(segment: number): void {
    const slot = this.slots.get(segment);
    if (slot === undefined) return;
    this.slots.delete(segment);
    this.cache.drop([...(slot.order === null ? [] : [slot.order]), ...slot.columns.values()]);
  }

  /** The segment's rows in sorted order with those of `fields` that it has; null if it must be read in place. Held by the lease. */
  find(run: Run, fields: readonly ColumnDef[], lease: Lease): Run | null {
    const { rowsMin, rowsPerSeriesMin, scansMin } = this.limits;
    const { segment, unique, rowCount, dictionary } = run;
    // sorted rows contain each series and time once
    if (segment === undefined || !unique || rowCount < Math.max(rowsMin, dictionary.seriesCount * rowsPerSeriesMin)) return null;
    const slot = this.slots.get(segment);
    if (slot === undefined) return null;
    slot.scanCount++;
    const columns: ColumnRun[] = [];
    let isThere = slot.order !== null;
    for (const { id } of fields) {
      const column = run.columns.find(({ columnId }) => columnId === id);
      if (column === undefined) continue;
      columns.push(column);
      isThere &&= slot.columns.has(id);
    }
    if (!isThere && (slot.scanCount < scansMin || !lease.reader.hasRoom)) return null;
    try {
      const order = this.order(slot, run, lease);
      const sorted = columns.map((column) => this.column(slot, run, { column, order, lease }));
      return { ...run, sorted: true, seriesPtr: order.seriesPtr, timePtr: order.timePtr, columns: sorted };
    } catch (error) {
      // no memory for it: reading in place needs none
      if (error instanceof TsdbError && error.kind === "overloaded") return null;
      throw error;
    }
  }

  private order(slot: Slot, run: Run, lease: Lease): Order {
    if (slot.order !== null) {
      lease.found(slot.order);
      return slot.order.value;
    }
    const { rowCount } = run;
    const entry = this.cache.load(slot, lease, (memory) => {
      const target = { rowsPtr: memory.alloc(rowCount * 4), timePtr: memory.alloc(rowCount * 8), seriesPtr: memory.alloc(rowCount * 4) };
      sortRows(this.kernel, run, target);
      return target;
    });
    slot.order = entry;
    entry.onDrop = () => {
      slot.order = null;
    };
    return entry.value;
  }

  private column(slot: Slot, run: Run, { column, order, lease }: { column: ColumnRun; order: Order; lease: Lease }): ColumnRun {
    const known = slot.columns.get(column.columnId);
    if (known !== undefined) {
      lease.found(known);
      return known.value;
    }
    const entry = this.cache.load(slot, lease, (memory) => this.gather(run, column, order, memory));
    slot.columns.set(column.columnId, entry);
    entry.onDrop = () => slot.columns.delete(column.columnId);
    return entry.value;
  }

  /** Gathers a column; text stays in place. */
  private gather({ rowCount }: Run, column: ColumnRun, { rowsPtr }: Order, memory: DecodeMemory): ColumnRun {
    const { kernel } = this;
    const { columnId, type } = column;
    const unpacked = new Blocks(kernel);
    try {
      const { dataPtr, validityPtr } = denseColumn(kernel, column, rowCount, unpacked);
      const targetPtr = memory.alloc(rowCount * VALUE_BYTES[type]);
      gatherColumn(kernel, type, { sourcePtr: dataPtr, rowsPtr, count: rowCount, targetPtr });
      if (validityPtr === 0) return { columnId, type, dataPtr: targetPtr, validityPtr };
      const bitmapPtr = memory.alloc(bitmapBytes(rowCount));
      gatherBitmap(kernel, { sourcePtr: validityPtr, rowsPtr, count: rowCount, targetPtr: bitmapPtr });
      return { columnId, type, dataPtr: targetPtr, validityPtr: bitmapPtr };
    } finally {
      unpacked.release();
    }
  }
}
