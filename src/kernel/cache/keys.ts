// The keys of a cache: what rows have in its key columns, numbered from 0, whatever dictionary their series are of.

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

/** Keys of rows: `map` has that of each id at `idsPtr`, or, when it is 0, the ids are keys. */
export interface KeysOfRows {
  readonly idsPtr: number;
  readonly mapPtr: number;
}

export interface CacheKeysParts {
  readonly kernel: Kernel;
  readonly memory: CacheMemory;
  /** Of what answers may still read. */
  readonly reclaimer: Reclaimer;
  /** Key columns in their order: tags and fields. */
  readonly columns: readonly ColumnDef[];
  /** True: a row without a value in one of them has no key. */
  readonly skipsNulls: boolean;
}

export class CacheKeys {
  /** Of the key's tags. */
  readonly tags: SeriesMaps;
  private readonly fields: readonly ColumnDef[];
  private readonly rowKeysPtr: number;
  private notedBytes = 0;

  constructor(private readonly parts: CacheKeysParts) {
    const { kernel, columns, skipsNulls } = parts;
    const tagIds = columns.filter(({ type }) => type === ColumnType.tag).map(({ id }) => id);
    this.fields = columns.filter(({ type }) => type !== ColumnType.tag);
    this.tags = new SeriesMaps({ ...parts, tagIds, skipsWithout: skipsNulls });
    this.rowKeysPtr = this.fields.length === 0 ? 0 : kernel.call.rowKeysCreate() >>> 0;
    this.note();
  }

  get count(): number {
    return this.fields.length === 0 ? this.tags.count : this.parts.kernel.call.rowKeysCount(this.rowKeysPtr);
  }

  /** Keys of tags alone are not looked up yet: `learn` does that when one is met that is not known. Others are, to a block of `scratch`.
   *  @throws NoRoomError, TsdbError overloaded */
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

  /** @throws NoRoomError, TsdbError overloaded */
  learn({ run, first, end }: RowsOfRun): void {
    this.tags.learn(run.dictionary, { seriesPtr: run.seriesPtr, rowsPtr: 0, first, end });
  }

  /** Key of the tags of each key listed: a series of `tags`. Borrowed from `blocks`, or the list itself. */
  tagKeys(listPtr: number, count: number, blocks: Blocks): number {
    if (this.fields.length === 0) return listPtr;
    const target = blocks.alloc(Math.max(1, count) * 4);
    this.parts.kernel.call.rowKeysTags(this.rowKeysPtr, listPtr, count, target);
    return target;
  }

  /** The values of a field of each key listed as views with a bitmap, in `blocks`; longer text lies in the keys. Of numbers views that
   *  are in the same order. */
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

  /** Those of this kind with only the `count` keys listed (ascending), in their order: key i is that of place i. `this` is left as it is.
   *  @throws NoRoomError, TsdbError overloaded */
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

  /** When no answer reads them any more. Not to be used afterwards. */
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
