// The keys of a cache: the distinct values of its key columns, numbered from 0, independent of the dictionaries that the rows' series
// belong to.

import type { Reclaimer } from "../../model/reclaimer.ts";
import { type ColumnDef, ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { Run } from "../../model/rows/run.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import { denseColumn } from "../scan/dense-run.ts";
import { SeriesMaps } from "../series/series-maps.ts";
import type { CacheMemory } from "./memory.ts";

const FIELD_WORDS = 3;
const SIGN = 1n << 63n;

/** Rows first .. end - 1 of a run. */
export interface RowsOfRun {
  readonly run: Run;
  readonly first: number;
  readonly end: number;
}

/** Key numbers of rows: map[ids[row]], or ids[row] itself if `mapPtr` is 0. */
export interface KeysOfRows {
  readonly idsPtr: number;
  readonly mapPtr: number;
}

export interface CacheKeysParts {
  readonly kernel: Kernel;
  readonly memory: CacheMemory;
  /** Frees arrays that running answers may still read. */
  readonly reclaimer: Reclaimer;
  /** The key's columns in order: tags and fields. */
  readonly columns: readonly ColumnDef[];
  /** True: a row with a NULL in a key column has no key. */
  readonly skipsNulls: boolean;
}

/** The key numbering of one cache. Owned: call `release`. */
export class CacheKeys {
  /** Combinations of the key's tags. */
  readonly tags: SeriesMaps;
  private readonly fields: readonly ColumnDef[];
  private readonly rowKeysPtr: number;
  private notedBytes = 0;

  /** @throws NoRoomError, TsdbError overloaded */
  constructor(private readonly parts: CacheKeysParts) {
    const { kernel, columns, skipsNulls } = parts;
    const tagIds = columns.filter(({ type }) => type === ColumnType.tag).map(({ id }) => id);
    this.fields = columns.filter(({ type }) => type !== ColumnType.tag);
    this.tags = new SeriesMaps({ ...parts, tagIds, skipsWithout: skipsNulls });
    try {
      this.rowKeysPtr = this.fields.length === 0 ? 0 : kernel.call.rowKeysCreate() >>> 0;
    } catch (error) {
      this.tags.release();
      throw error;
    }
    try {
      this.note();
    } catch (error) {
      this.release();
      throw error;
    }
  }

  get count(): number {
    return this.fields.length === 0 ? this.tags.count : this.parts.kernel.call.rowKeysCount(this.rowKeysPtr);
  }

  /** Key numbers of rows. Keys of tags alone are mapped without a lookup: unknown ones must be added by `learn`. Other keys are looked
   *  up, and their numbers written to `scratch`. @throws NoRoomError, TsdbError overloaded */
  of({ run, first, end }: RowsOfRun, scratch: Blocks): KeysOfRows {
    const mapPtr = this.tags.mapOf(run.dictionary);
    if (this.fields.length === 0) return { idsPtr: run.seriesPtr, mapPtr };
    const { kernel, skipsNulls } = this.parts;
    const { call } = kernel;
    const fieldsPtr = this.describe(run, scratch);
    const keysPtr = scratch.alloc(end * 4);
    for (let row = first; row < end; ) {
      row = call.rowKeysOf(this.rowKeysPtr, run.seriesPtr, mapPtr, fieldsPtr, this.fields.length, skipsNulls ? 1 : 0, row, end, keysPtr);
      this.note();
      if (row < end) this.tags.learn(run.dictionary, { seriesPtr: run.seriesPtr, rowsPtr: 0, first: row, end });
    }
    return { idsPtr: keysPtr, mapPtr: 0 };
  }

  /** Adds the unknown keys of rows. @throws NoRoomError, TsdbError overloaded */
  learn({ run, first, end }: RowsOfRun): void {
    this.tags.learn(run.dictionary, { seriesPtr: run.seriesPtr, rowsPtr: 0, first, end });
  }

  /** The tag combination of each listed key: a series of `tags`, u32 each. Borrowed from `blocks`, or the list itself. */
  tagKeys(listPtr: number, count: number, blocks: Blocks): number {
    if (this.fields.length === 0) return listPtr;
    const target = blocks.alloc(Math.max(1, count) * 4);
    this.parts.kernel.call.rowKeysTags(this.rowKeysPtr, listPtr, count, target);
    return target;
  }

  /** The values of a key field for each listed key as string views with a bitmap, in `blocks`; text that does not fit its view stays in
   *  the keys. Numbers are encoded as views of the same sort order. */
  fieldViews(
    column: ColumnDef,
    { listPtr, count }: { listPtr: number; count: number },
    blocks: Blocks,
  ): { ptr: number; validityPtr: number } {
    const { kernel } = this.parts;
    const ptr = blocks.alloc(Math.max(1, count) * 16);
    const validityPtr = blocks.allocZeroed(Math.ceil(count / 64) * 8 + 8);
    const widthsPtr = blocks.alloc(this.fields.length * 4);
    kernel.u32.set(
      this.fields.map(({ type }) => VALUE_BYTES[type]),
      widthsPtr / 4,
    );
    const index = this.fields.findIndex(({ id }) => id === column.id);
    const sign = column.type === ColumnType.integer ? SIGN : 0n;
    kernel.call.rowKeysViews(this.rowKeysPtr, listPtr, count, widthsPtr, index, sign, ptr, validityPtr);
    return { ptr, validityPtr };
  }

  /** Creates keys with only the `count` listed ones (ascending): key i is the one at position i of the list. Does not change this
   *  object. @throws NoRoomError, TsdbError overloaded */
  only(listPtr: number, count: number): CacheKeys {
    const { kernel } = this.parts;
    const kept = new CacheKeys(this.parts);
    const scratch = new Blocks(kernel);
    try {
      const tagKeys = this.tagKeys(listPtr, count, scratch);
      const view = this.tags.view();
      const mapPtr = kept.tags.adopt(view, { seriesPtr: tagKeys, count }, scratch);
      if (this.fields.length > 0) {
        const target = scratch.alloc(Math.max(1, count) * 4);
        kernel.call.rowKeysMove(this.rowKeysPtr, listPtr, count, mapPtr, kept.rowKeysPtr, target);
        kept.note();
      }
      return kept;
    } catch (error) {
      kept.release();
      throw error;
    } finally {
      scratch.release();
    }
  }

  /** Frees everything once no answer reads it; the object must not be used afterwards. */
  release(): void {
    const { kernel, memory, reclaimer } = this.parts;
    this.tags.release();
    if (this.rowKeysPtr === 0) return;
    reclaimer.defer(() => kernel.call.rowKeysFree(this.rowKeysPtr));
    memory.note(-this.notedBytes);
    this.notedBytes = 0;
  }

  private describe({ columns, rowCount }: Run, scratch: Blocks): number {
    const { kernel } = this.parts;
    const ptr = scratch.alloc(this.fields.length * FIELD_WORDS * 4);
    this.fields.forEach(({ id, type }, i) => {
      const found = columns.find(({ columnId }) => columnId === id);
      const column = found === undefined ? null : denseColumn(kernel, found, rowCount, scratch);
      kernel.u32.set([VALUE_BYTES[type], column?.dataPtr ?? 0, column?.validityPtr ?? 0], ptr / 4 + i * FIELD_WORDS);
    });
    return ptr;
  }

  private note(): void {
    if (this.rowKeysPtr === 0) return;
    const bytes = this.parts.kernel.call.rowKeysBytes(this.rowKeysPtr) >>> 0;
    const delta = bytes - this.notedBytes;
    this.notedBytes = bytes;
    if (delta !== 0) this.parts.memory.note(delta);
  }
}
