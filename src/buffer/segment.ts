// A fixed number of rows of one table in shared memory. Columns are allocated at their first value and never move, so a run that captured
// the row count stays valid while rows are added behind it.
import { Heap } from "../kernel/heap.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { bitmapBytes, timeRange } from "../kernel/rows.ts";
import { assert } from "../model/assert.ts";
import { ColumnType, VALUE_BYTES } from "../model/column.ts";
import type { ColumnRun, DictionaryView, Run } from "../model/run.ts";

/** Rows of one table on their way into the buffer; all pointers are borrowed. */
export interface BufferBatch {
  readonly rowCount: number;
  /** u32 per row: ids of the table's SeriesDictionary. */
  readonly seriesPtr: number;
  /** i64 per row: nanoseconds since 1970. */
  readonly timePtr: number;
  /** Field columns, each at most once. A column that is not listed is NULL in every row. */
  readonly columns: readonly ColumnRun[];
  /** What SeriesDictionary.noteTimes said: no row has the series and time of an earlier one. */
  readonly unique: boolean;
}

interface SegmentColumn {
  readonly columnId: number;
  readonly type: ColumnType;
  readonly dataPtr: number;
  /** 0 while every row so far is present; from then on zero behind the last row. */
  validityPtr: number;
}

const TEXT_BYTES_MIN = 1024;
const TEXT_BYTES_DOUBLING_MAX = 256 * 1024;

export class Segment {
  rowCount = 0;
  minTimeNs = 2n ** 63n - 1n;
  maxTimeNs = -(2n ** 63n);
  seqMin = 0;
  seqMax = 0;
  private readonly seriesPtr: number;
  private readonly timePtr: number;
  private readonly columns = new Map<number, SegmentColumn>();
  private readonly blocks: { ptr: number; bytes: number }[] = [];
  private bytes_ = 0;
  // free end of the newest text chunk
  private textNext = 0;
  private textEnd = 0;
  private textChunkBytes = 0;
  private unique = true;
  private cachedColumns: readonly ColumnRun[] | undefined;

  constructor(
    private readonly kernel: Kernel,
    readonly capacity: number,
  ) {
    this.seriesPtr = this.allocate(capacity * 4);
    try {
      this.timePtr = this.allocate(capacity * 8);
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** Kernel memory that this segment really takes. */
  get bytes(): number {
    return this.bytes_;
  }

  /** Allocates all that `append` of rows [from, from + count) will need; what is visible does not change. @throws TsdbError overloaded */
  reserve(batch: BufferBatch, from: number, count: number): void {
    const { call } = this.kernel;
    const listed = new Set<number>();
    let textBytes = 0;
    for (const column of batch.columns) {
      if (column.validityPtr !== 0 && call.countBits(column.validityPtr, from, count) === 0) continue;
      listed.add(column.columnId);
      const own = this.columns.get(column.columnId) ?? this.addColumn(column);
      assert(own.type === column.type, `column ${column.columnId} has type ${column.type}, the segment's has ${own.type}`);
      if (column.validityPtr !== 0) this.needValidity(own);
      if (column.type === ColumnType.string) textBytes += call.textBytes(column.dataPtr, column.validityPtr, from, count) >>> 0;
    }
    for (const own of this.columns.values()) if (!listed.has(own.columnId)) this.needValidity(own);
    if (this.textEnd - this.textNext < textBytes) {
      const doubled = Math.min(TEXT_BYTES_DOUBLING_MAX, Math.max(TEXT_BYTES_MIN, this.textChunkBytes * 2));
      const chunkBytes = Math.max(doubled, textBytes);
      this.textNext = this.allocate(chunkBytes);
      this.textEnd = this.textNext + chunkBytes;
      this.textChunkBytes = chunkBytes;
    }
  }

  /** Copies rows [from, from + count) of a batch for which `reserve` was called. Allocates nothing, so it cannot fail half way. */
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
      if (own.validityPtr !== 0) {
        if (column.validityPtr === 0) call.setBits(own.validityPtr, at, count);
        else call.copyBits(column.validityPtr, from, own.validityPtr, at, count);
      }
      this.copyValues(column, own, from, count);
    }
    const { minNs, maxNs } = timeRange(this.kernel, batch.timePtr + from * 8, count);
    if (minNs < this.minTimeNs) this.minTimeNs = minNs;
    if (maxNs > this.maxTimeNs) this.maxTimeNs = maxNs;
    if (at === 0) this.seqMin = sequence;
    this.seqMax = sequence;
    this.unique &&= batch.unique;
    this.rowCount = at + count;
  }

  /** The rows so far; later rows stay hidden from it. */
  run(dictionary: DictionaryView): Run {
    this.cachedColumns ??= [...this.columns.values()].map((column) => ({ ...column }));
    return {
      rowCount: this.rowCount,
      seriesPtr: this.seriesPtr,
      timePtr: this.timePtr,
      columns: this.cachedColumns,
      dictionary,
      sorted: false,
      unique: this.unique,
      minTimeNs: this.minTimeNs,
      maxTimeNs: this.maxTimeNs,
      seqMin: this.seqMin,
      seqMax: this.seqMax,
    };
  }

  free(): void {
    for (const { ptr, bytes } of this.blocks) this.kernel.heap.free(ptr, bytes);
    this.blocks.length = 0;
  }

  private copyValues(column: ColumnRun, own: SegmentColumn, from: number, count: number): void {
    const { call } = this.kernel;
    const width = VALUE_BYTES[column.type];
    const target = own.dataPtr + this.rowCount * width;
    if (column.type === ColumnType.string) {
      this.textNext = call.copyViews(column.dataPtr, column.validityPtr, from, count, target, this.textNext) >>> 0;
    } else {
      call.copyBytes(target, column.dataPtr + from * width, count * width);
    }
  }

  private addColumn({ columnId, type }: ColumnRun): SegmentColumn {
    const own = { columnId, type, dataPtr: this.allocate(this.capacity * VALUE_BYTES[type]), validityPtr: 0 };
    // rows before its first value are NULL
    if (this.rowCount > 0) own.validityPtr = this.allocateBitmap();
    this.columns.set(columnId, own);
    this.cachedColumns = undefined;
    return own;
  }

  private needValidity(own: SegmentColumn): void {
    if (own.validityPtr !== 0) return;
    const validityPtr = this.allocateBitmap();
    this.kernel.call.setBits(validityPtr, 0, this.rowCount);
    own.validityPtr = validityPtr;
    this.cachedColumns = undefined;
  }

  private allocateBitmap(): number {
    const bytes = bitmapBytes(this.capacity);
    const ptr = this.allocate(bytes);
    this.kernel.call.fillBytes(ptr, 0, bytes);
    return ptr;
  }

  private allocate(bytes: number): number {
    const ptr = this.kernel.heap.alloc(bytes);
    this.blocks.push({ ptr, bytes });
    this.bytes_ += Heap.footprint(bytes);
    return ptr;
  }
}
