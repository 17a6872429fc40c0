// A fixed number of rows of one table in shared memory, in columns that are allocated at their first value. A run that captured the row
// count stays valid while rows are appended: columns never move, except packed ones, whose old memory is freed after its last reader.

import { Heap } from "../../kernel/memory/heap.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { appendTargetsBytes, writeAppendTargets } from "../../kernel/parse/append-targets.ts";
import { ParsedRows } from "../../kernel/parse/parsed-rows.ts";
import { bitmapBytes, timeRange } from "../../kernel/scan/rows.ts";
import { assert } from "../../model/assert.ts";
import { ALL_TIME, type TimeRange } from "../../model/query/scan.ts";
import type { Reclaimer } from "../../model/reclaimer.ts";
import { ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import { I64_MAX, I64_MIN } from "../../model/rows/int64.ts";
import { type Overlaps, withOverlap } from "../../model/rows/overlap-ranges.ts";
import type { ColumnRun, DictionaryView, RowFacts, Run } from "../../model/rows/run.ts";
import { intersection } from "../../model/rows/time-ranges.ts";

/** Rows of one table to be buffered, with the result of SeriesDictionary.noteTimes; all pointers are borrowed. */
export interface BufferBatch extends RowFacts {
  readonly rowCount: number;
  /** u32 per row: ids of the table's SeriesDictionary. */
  readonly seriesPtr: number;
  /** i64 per row: nanoseconds since 1970. */
  readonly timePtr: number;
  /** Field columns, each at most once, packed or not. A column that is not listed is NULL in every row. */
  readonly columns: readonly ColumnRun[];
}

interface SegmentColumn {
  readonly columnId: number;
  readonly type: ColumnType;
  dataPtr: number;
  /** 0 while every row so far has a value; afterwards the bits beyond the last row are zero. Never 0 if packed. */
  validityPtr: number;
  /** Set if the column is sparse and holds only present values. */
  readonly packed: PackedValues | undefined;
  /** Values of rows from here on are unwritten, not even zero: rows that lack the column. -1 = none. */
  gapFrom: number;
  /** First row of the last batch that had the column. */
  lastBatch: number;
}

interface PackedValues {
  count: number;
  capacity: number;
}

/** A new column is packed if fewer than this share of the segment's rows have it, counted to the end of the batch that brings it; and
 *  only in segments where that saves memory. */
const PACKED_BELOW = 1 / 4;
const PACKED_CAPACITY_MIN = 4096;
const PACKED_VALUES_MIN = 64;

const TEXT_BYTES_MIN = 1024;
const TEXT_BYTES_DOUBLING_MAX = 256 * 1024;

/** Last segment number; segments exist on one thread only. */
let lastNumber = 0;

/** A segment of a table's buffer. Owned: call `release`. */
export class BufferSegment {
  private readonly number = ++lastNumber;
  rowCount = 0;
  minTimeNs = I64_MAX;
  maxTimeNs = I64_MIN;
  seqMin = 0;
  seqMax = 0;
  private readonly seriesPtr: number;
  private readonly timePtr: number;
  private readonly columns = new Map<number, SegmentColumn>();
  /** | ptr | bytes | of each block, in one array: an object per block would take more memory than many a block. */
  private readonly blocks: number[] = [];
  private bytes_ = 0;
  // free end of the newest text chunk
  private textNext = 0;
  private textEnd = 0;
  private textChunkBytes = 0;
  private ascending = true;
  /** Overlaps of all rows. */
  private overlaps: Overlaps = { unique: true };
  private cachedColumns: readonly ColumnRun[] | undefined;
  private lastRun: Run | undefined;
  /** Address of the columns' description for the kernel (abi.ts); 0 = outdated. */
  private targetsPtr = 0;
  private targetsBlock = 0;
  private targetsRoom = 0;

  constructor(
    private readonly kernel: Kernel,
    readonly capacity: number,
    private readonly reclaimer: Reclaimer,
  ) {
    this.seriesPtr = this.allocate(capacity * 4);
    try {
      this.timePtr = this.allocate(capacity * 8);
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** Kernel memory allocated by this segment. */
  get bytes(): number {
    return this.bytes_;
  }

  /** Allocates everything that `append` of rows [from, from + count) needs; changes nothing visible. @throws TsdbError overloaded */
  reserve(batch: BufferBatch, from: number, count: number): void {
    const { call } = this.kernel;
    const listed = new Set<number>();
    let textBytes = 0;
    for (const column of batch.columns) {
      const presentCount = column.validityPtr === 0 ? count : call.countBits(column.validityPtr, from, count);
      if (presentCount === 0) continue;
      listed.add(column.columnId);
      const own = this.columns.get(column.columnId) ?? this.addColumn(column, presentCount, this.rowCount + count);
      assert(own.type === column.type, `column ${column.columnId} has type ${column.type}, the segment's has ${own.type}`);
      if (own.packed !== undefined) this.growPacked(own, own.packed, presentCount);
      if (column.validityPtr !== 0) this.needValidity(own);
      if (column.type === ColumnType.string) textBytes += this.textBytes(column, { from, count, presentCount });
    }
    for (const own of this.columns.values()) if (!listed.has(own.columnId)) this.needValidity(own);
    if (batch instanceof ParsedRows) this.reserveTargets(batch.columns.length);
    if (this.textEnd - this.textNext < textBytes) {
      const doubled = Math.min(TEXT_BYTES_DOUBLING_MAX, Math.max(TEXT_BYTES_MIN, this.textChunkBytes * 2));
      const chunkBytes = Math.max(doubled, textBytes);
      this.textNext = this.allocate(chunkBytes);
      this.textEnd = this.textNext + chunkBytes;
      this.textChunkBytes = chunkBytes;
    }
  }

  /** Appends a batch that fits and has exactly the columns of earlier rows, without NULLs: nothing needs to be reserved. Returns false,
   *  without effect, if it does not. */
  appendAlike(rows: ParsedRows, sequence: number): boolean {
    if (this.targetsPtr === 0 || this.rowCount + rows.rowCount > this.capacity) return false;
    if (!rows.appendTo(this.targetsPtr, this.rowCount)) return false;
    this.noteRows(rows, { from: 0, count: rows.rowCount }, sequence);
    return true;
  }

  /** Copies rows [from, from + count) of a batch for which `reserve` was called. Allocates nothing, so it cannot fail halfway. */
  append(batch: BufferBatch, rows: { from: number; count: number }, sequence: number): void {
    const { from, count } = rows;
    const { call } = this.kernel;
    assert(this.rowCount + count <= this.capacity, `${this.rowCount} + ${count} rows exceed a segment of ${this.capacity}`);
    const at = this.rowCount;
    call.copyBytes(this.seriesPtr + at * 4, batch.seriesPtr + from * 4, count * 4);
    call.copyBytes(this.timePtr + at * 8, batch.timePtr + from * 8, count * 8);
    for (const column of batch.columns) {
      const own = this.columns.get(column.columnId);
      if (own === undefined) continue; // no value in these rows
      this.closeGap(own);
      own.gapFrom = -1;
      own.lastBatch = at;
      if (own.validityPtr !== 0) {
        if (column.validityPtr === 0) call.setBits(own.validityPtr, at, count);
        else call.copyBits(column.validityPtr, from, own.validityPtr, at, count);
      }
      this.copyValues(column, own, from, count);
    }
    for (const own of this.columns.values()) {
      if (own.lastBatch === at || own.gapFrom >= 0) continue;
      own.gapFrom = at;
      // `appendAlike` must not leave a gap
      this.targetsPtr = 0;
    }
    this.noteRows(batch, rows, sequence);
    if (this.targetsPtr === 0 && this.targetsRoom >= this.columns.size) this.writeTargets(batch);
  }

  /** Zeroes the values of earlier rows that lack the column. Done once for many rows, and only for columns being read: a table may have
   *  hundreds of columns of which a batch has few. */
  private closeGap(own: SegmentColumn): void {
    const { gapFrom, packed, dataPtr, type } = own;
    if (gapFrom < 0 || gapFrom === this.rowCount) return;
    const width = VALUE_BYTES[type];
    if (packed === undefined) this.kernel.call.fillBytes(dataPtr + gapFrom * width, 0, (this.rowCount - gapFrom) * width);
    own.gapFrom = this.rowCount;
  }

  /** Makes the appended rows visible. */
  private noteRows(batch: BufferBatch, { from, count }: { from: number; count: number }, sequence: number): void {
    const { minNs, maxNs } = timeRange(this.kernel, batch.timePtr + from * 8, count);
    if (minNs < this.minTimeNs) this.minTimeNs = minNs;
    if (maxNs > this.maxTimeNs) this.maxTimeNs = maxNs;
    if (this.rowCount === 0) this.seqMin = sequence;
    this.seqMax = sequence;
    this.ascending &&= batch.ascending === true;
    // a batch may span two segments: count only overlaps of the rows in this one
    if (!batch.unique) this.addOverlaps(batch, { minNs, maxNs });
    this.rowCount += count;
  }

  /** The rows so far, the same object until there are more; later rows are not visible in it. `isClosed`: the segment takes no more. */
  run(dictionary: DictionaryView, isClosed: boolean): Run {
    const last = this.lastRun;
    const number = isClosed ? this.number : undefined;
    if (last?.dictionary === dictionary && last.rowCount === this.rowCount && last.segment === number) return last;
    const run = this.madeRun(dictionary, number);
    this.lastRun = run;
    return run;
  }

  private madeRun(dictionary: DictionaryView, segment: number | undefined): Run {
    for (const own of this.columns.values()) this.closeGap(own);
    this.cachedColumns ??= [...this.columns.values()].map(({ columnId, type, dataPtr, validityPtr, packed }) =>
      packed === undefined ? { columnId, type, dataPtr, validityPtr } : { columnId, type, dataPtr, validityPtr, isPacked: true },
    );
    return {
      rowCount: this.rowCount,
      seriesPtr: this.seriesPtr,
      timePtr: this.timePtr,
      columns: this.cachedColumns,
      dictionary,
      sorted: false,
      ...this.overlaps,
      ascending: this.ascending,
      segment,
      minTimeNs: this.minTimeNs,
      maxTimeNs: this.maxTimeNs,
      seqMin: this.seqMin,
      seqMax: this.seqMax,
    };
  }

  free(): void {
    for (let i = 0; i < this.blocks.length; i += 2) this.kernel.heap.free(this.blocks[i]!, this.blocks[i + 1]!);
    this.blocks.length = 0;
  }

  private addOverlaps({ overlaps = [ALL_TIME] }: Overlaps, within: TimeRange): void {
    for (const overlap of overlaps) {
      const added = intersection(overlap, within);
      if (added !== null) this.overlaps = withOverlap(this.overlaps, added);
    }
  }

  /** Bytes of text outside the views of a batch's rows. */
  private textBytes({ dataPtr, validityPtr, isPacked }: ColumnRun, rows: { from: number; count: number; presentCount: number }): number {
    const { call } = this.kernel;
    if (!isPacked) return call.textBytes(dataPtr, validityPtr, rows.from, rows.count);
    return call.textBytes(dataPtr, 0, call.countBits(validityPtr, 0, rows.from), rows.presentCount);
  }

  private copyValues(column: ColumnRun, own: SegmentColumn, from: number, count: number): void {
    const { call } = this.kernel;
    const { type, dataPtr, validityPtr } = column;
    const width = VALUE_BYTES[type];
    const target = own.dataPtr + (own.packed?.count ?? this.rowCount) * width;
    const presentCount = validityPtr === 0 ? count : call.countBits(validityPtr, from, count);
    // address of the first value, in the batch's layout
    const first = dataPtr + (column.isPacked ? call.countBits(validityPtr, 0, from) : from) * width;
    const isString = type === ColumnType.string;
    if (validityPtr === 0 || (column.isPacked && own.packed !== undefined)) {
      if (isString) this.textNext = call.copyViews(first, 0, 0, presentCount, target, this.textNext) >>> 0;
      else call.copyBytes(target, first, presentCount * width);
    } else if (column.isPacked) {
      if (isString) this.textNext = call.spreadViews(first, validityPtr, from, count, target, this.textNext) >>> 0;
      else call.spreadValues(width, first, validityPtr, from, count, target);
    } else if (own.packed !== undefined) {
      if (isString) this.textNext = call.packViews(dataPtr, validityPtr, from, count, target, this.textNext) >>> 0;
      else call.packValues(width, dataPtr, validityPtr, from, count, target);
    } else if (isString) {
      this.textNext = call.copyViews(dataPtr, validityPtr, from, count, target, this.textNext) >>> 0;
    } else {
      call.copyBytes(target, first, count * width);
      call.clearAbsent(width, target, validityPtr, from, count);
    }
    if (own.packed !== undefined) own.packed.count += presentCount;
  }

  /** Adds a column for which `presentCount` of the first `rowCount` rows have a value. */
  private addColumn({ columnId, type }: ColumnRun, presentCount: number, rowCount: number): SegmentColumn {
    const isPacked = this.capacity >= PACKED_CAPACITY_MIN && presentCount < rowCount * PACKED_BELOW;
    // rows before its first value are NULL
    const validityPtr = isPacked || this.rowCount > 0 ? this.allocateBitmap() : 0;
    const valueCapacity = isPacked ? PACKED_VALUES_MIN : this.capacity;
    const own = {
      ...{ columnId, type, dataPtr: this.allocate(valueCapacity * VALUE_BYTES[type]), validityPtr },
      packed: isPacked ? { count: 0, capacity: valueCapacity } : undefined,
      ...{ gapFrom: 0, lastBatch: -1 },
    };
    this.columns.set(columnId, own);
    this.columnsChanged();
    return own;
  }

  /** Makes room for `count` more values. The column moves; its old memory stays for current readers. */
  private growPacked(own: SegmentColumn, packed: PackedValues, count: number): void {
    const wanted = packed.count + count;
    if (wanted <= packed.capacity) return;
    const width = VALUE_BYTES[own.type];
    const capacity = Math.min(this.capacity, Math.max(wanted, packed.capacity * 2));
    const fresh = this.allocate(capacity * width);
    this.kernel.call.copyBytes(fresh, own.dataPtr, packed.count * width);
    this.retire(own.dataPtr, packed.capacity * width);
    own.dataPtr = fresh;
    packed.capacity = capacity;
    this.columnsChanged();
  }

  private needValidity(own: SegmentColumn): void {
    if (own.validityPtr !== 0) return;
    const validityPtr = this.allocateBitmap();
    this.kernel.call.setBits(validityPtr, 0, this.rowCount);
    own.validityPtr = validityPtr;
    this.columnsChanged();
  }

  private columnsChanged(): void {
    this.cachedColumns = undefined;
    this.lastRun = undefined;
    this.targetsPtr = 0;
  }

  private allocateBitmap(): number {
    const bytes = bitmapBytes(this.capacity);
    const ptr = this.allocate(bytes);
    this.kernel.call.fillBytes(ptr, 0, bytes);
    return ptr;
  }

  /** Makes room for the description of this many columns. */
  private reserveTargets(columnCount: number): void {
    if (columnCount <= this.targetsRoom) return;
    this.targetsBlock = this.allocate(appendTargetsBytes(columnCount));
    this.targetsRoom = columnCount;
    this.targetsPtr = 0;
  }

  /** Describes the columns for `appendAlike` in the order of `batch`, if it has all of them and none is packed or text. */
  private writeTargets({ columns }: BufferBatch): void {
    if (columns.length !== this.columns.size) return;
    const targets: SegmentColumn[] = [];
    for (const { columnId } of columns) {
      const own = this.columns.get(columnId);
      if (own === undefined || own.packed !== undefined || own.type === ColumnType.string) return;
      targets.push(own);
    }
    this.targetsPtr = this.targetsBlock;
    writeAppendTargets(this.kernel, this.targetsPtr, { seriesPtr: this.seriesPtr, timePtr: this.timePtr, columns: targets });
  }

  private retire(ptr: number, bytes: number): void {
    this.blocks.splice(
      this.blocks.findIndex((word, i) => i % 2 === 0 && word === ptr),
      2,
    );
    this.bytes_ -= Heap.footprint(bytes);
    this.reclaimer.defer(() => this.kernel.heap.free(ptr, bytes));
  }

  private allocate(bytes: number): number {
    const ptr = this.kernel.heap.alloc(bytes);
    this.blocks.push(ptr, bytes);
    this.bytes_ += Heap.footprint(bytes);
    return ptr;
  }
}
