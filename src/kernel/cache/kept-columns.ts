// Field values of cached rows, indexed by slot: one column per field seen so far. Text is copied into memory of their own.

import type { Reclaimer } from "../../model/reclaimer.ts";
import { type ColumnDef, ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun } from "../../model/rows/run.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import { denseColumn } from "../scan/dense-run.ts";
import { bitmapBytes, gatherBitmap, gatherColumn } from "../scan/rows.ts";
import { type CacheMemory, GrowingBlock } from "./memory.ts";

/** Below this size, unused text is not searched for. */
const TEXT_BYTES_MIN = 256 << 10;

export interface KeptColumnsParts {
  readonly kernel: Kernel;
  readonly memory: CacheMemory;
  /** Frees text that running answers may still reference. */
  readonly reclaimer: Reclaimer;
}

/** Which row of a run is stored in which slot, u32 each; of two rows for one slot, the one further back is the later one. */
export interface RowsForSlots {
  readonly rowsPtr: number;
  readonly placesPtr: number;
  readonly count: number;
}

interface Chunk {
  readonly ptr: number;
  readonly bytes: number;
}

class KeptColumn {
  readonly values: GrowingBlock;
  readonly validity: GrowingBlock;
  chunks: Chunk[] = [];
  textBytes = 0;
  /** Text size at which unused text is collected. */
  textBytesMax = TEXT_BYTES_MIN;

  constructor(
    { kernel, memory }: KeptColumnsParts,
    readonly type: ColumnType,
  ) {
    this.values = new GrowingBlock(kernel, memory, VALUE_BYTES[type]);
    this.validity = new GrowingBlock(kernel, memory, 1 / 8);
  }

  reserve(count: number): void {
    this.values.reserve(count);
    this.validity.reserve(count);
  }
}

/** The cached field columns of one cache, indexed by slot. Owned: call `release`. */
export class KeptColumns {
  /** By column id. */
  private readonly columns = new Map<number, KeptColumn>();

  constructor(private readonly parts: KeptColumnsParts) {}

  /** Makes room for `slotCount` slots. @throws NoRoomError, TsdbError overloaded */
  reserve(slotCount: number): void {
    for (const column of this.columns.values()) column.reserve(slotCount);
  }

  /** Marks the values of the listed slots as absent. */
  clear(listPtr: number, count: number): void {
    for (const { validity } of this.columns.values()) this.parts.kernel.call.clearBits(validity.ptr, listPtr, count);
  }

  /** Copies the present values of a run's rows into their slots. @throws NoRoomError, TsdbError overloaded */
  put(columns: readonly ColumnRun[], rowCount: number, list: RowsForSlots, slotCount: number): void {
    for (const column of columns) {
      const scratch = new Blocks(this.parts.kernel);
      try {
        this.putColumn(denseColumn(this.parts.kernel, column, rowCount, scratch), list, slotCount);
      } finally {
        scratch.release();
      }
    }
  }

  /** Gathers the values of `count` listed slots into `blocks`; text that does not fit its view stays here. @throws TsdbError overloaded */
  gather(wanted: readonly ColumnDef[], { listPtr, count }: { listPtr: number; count: number }, blocks: Blocks): ColumnRun[] {
    const { kernel } = this.parts;
    return wanted.flatMap(({ id, type }) => {
      const column = this.columns.get(id);
      if (column === undefined) return [];
      const dataPtr = blocks.alloc(count * VALUE_BYTES[type]);
      const validityPtr = blocks.alloc(bitmapBytes(count));
      gatherColumn(kernel, type, { sourcePtr: column.values.ptr, rowsPtr: listPtr, count, targetPtr: dataPtr });
      gatherBitmap(kernel, { sourcePtr: column.validity.ptr, rowsPtr: listPtr, count, targetPtr: validityPtr });
      // an absent value may still have the bytes of an earlier row
      if (count > 0) kernel.call.clearAbsent(VALUE_BYTES[type], dataPtr, validityPtr, 0, count);
      return [{ columnId: id, type, dataPtr, validityPtr }];
    });
  }

  /** Keeps the listed slots (ascending) alone: the slot at position i of the list becomes slot i. */
  only(listPtr: number, count: number): void {
    const { kernel } = this.parts;
    for (const { type, values, validity } of this.columns.values()) {
      gatherColumn(kernel, type, { sourcePtr: values.ptr, rowsPtr: listPtr, count, targetPtr: values.ptr });
      gatherBitmap(kernel, { sourcePtr: validity.ptr, rowsPtr: listPtr, count, targetPtr: validity.ptr });
      validity.cut(count);
    }
  }

  /** Frees everything; the object must not be used afterwards. */
  release(): void {
    for (const column of this.columns.values()) {
      column.values.release();
      column.validity.release();
      this.dropText(column, column.chunks);
    }
    this.columns.clear();
  }

  private putColumn({ columnId, type, dataPtr, validityPtr }: ColumnRun, list: RowsForSlots, slotCount: number): void {
    const { call } = this.parts.kernel;
    let column = this.columns.get(columnId);
    if (column === undefined) {
      column = new KeptColumn(this.parts, type);
      this.columns.set(columnId, column);
    }
    column.reserve(slotCount);
    const { rowsPtr, placesPtr, count } = list;
    const scatter = { 1: call.scatter1, 8: call.scatter8, 16: call.scatter16 }[VALUE_BYTES[type]]!;
    scatter(dataPtr, validityPtr, rowsPtr, count, placesPtr, column.values.ptr, column.validity.ptr);
    if (type === ColumnType.string) this.ownText(column, list, slotCount);
  }

  private ownText(column: KeptColumn, { placesPtr, count }: RowsForSlots, slotCount: number): void {
    const { call } = this.parts.kernel;
    const { values, validity } = column;
    const bytes = call.textBytesOf(values.ptr, validity.ptr, placesPtr, count);
    if (bytes === 0) return;
    const { ptr } = this.addChunk(column, bytes);
    call.ownText(values.ptr, validity.ptr, placesPtr, count, ptr);
    if (column.textBytes > column.textBytesMax) this.compactText(column, slotCount);
  }

  private compactText(column: KeptColumn, slotCount: number): void {
    const { call } = this.parts.kernel;
    const { values, validity } = column;
    const before = column.chunks;
    const bytes = call.textBytes(values.ptr, validity.ptr, 0, slotCount);
    column.chunks = [];
    try {
      const { ptr } = this.addChunk(column, bytes);
      call.copyViews(values.ptr, validity.ptr, 0, slotCount, values.ptr, ptr);
    } finally {
      this.dropText(column, before);
    }
    column.textBytesMax = Math.max(TEXT_BYTES_MIN, bytes * 3);
  }

  private addChunk(column: KeptColumn, bytes: number): Chunk {
    const chunk = { ptr: this.parts.memory.alloc(bytes), bytes };
    column.chunks.push(chunk);
    column.textBytes += bytes;
    return chunk;
  }

  private dropText(column: KeptColumn, chunks: readonly Chunk[]): void {
    const { memory, reclaimer } = this.parts;
    for (const { ptr, bytes } of chunks) {
      column.textBytes -= bytes;
      reclaimer.defer(() => memory.free(ptr, bytes));
    }
  }
}
