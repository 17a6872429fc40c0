// The keys of a cache in order of their columns: NULL first, texts by their bytes, numbers by size.
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import type { CacheKeys } from "./keys.ts";
import type { CacheMemory } from "./memory.ts";

/** Ranks of keys in a column: ranks[codes[key's place]]. */
interface RankedColumn {
  readonly codesPtr: number;
  readonly ranksPtr: number;
  readonly rankCount: number;
}

export interface KeyList {
  /** u32 each. */
  readonly listPtr: number;
  readonly count: number;
}

/** All keys in their order, kept until there are others. */
export class KeyOrder {
  private ptr = 0;
  private count = 0;

  constructor(
    private readonly kernel: Kernel,
    private readonly memory: CacheMemory,
    private readonly columns: readonly ColumnDef[],
  ) {}

  /** u32 for each of the keys. @throws NoRoomError, TsdbError overloaded */
  of(keys: CacheKeys): number {
    const { kernel, memory, columns } = this;
    const { count } = keys;
    if (this.ptr !== 0 && this.count === count) return this.ptr;
    this.forget();
    const ptr = memory.alloc(count * 4);
    try {
      const list = kernel.u32.subarray(ptr / 4, ptr / 4 + count);
      for (let key = 0; key < count; key++) list[key] = key;
      sortKeys(kernel, keys, columns, { listPtr: ptr, count });
    } catch (error) {
      memory.free(ptr, count * 4);
      throw error;
    }
    this.ptr = ptr;
    this.count = count;
    return ptr;
  }

  /** The keys are numbered anew, or gone. Idempotent. */
  forget(): void {
    if (this.ptr !== 0) this.memory.free(this.ptr, this.count * 4);
    this.ptr = 0;
  }
}

/** Brings the listed keys in order of `columns`, in place. @throws TsdbError overloaded */
function sortKeys(kernel: Kernel, keys: CacheKeys, columns: readonly ColumnDef[], { listPtr, count }: KeyList): void {
  const { call } = kernel;
  const scratch = new Blocks(kernel);
  try {
    const tagsPtr = keys.tagKeys(listPtr, count, scratch);
    let order = scratch.alloc(count * 4);
    let other = scratch.alloc(count * 4);
    const placesPtr = scratch.alloc(count * 4);
    const places = kernel.u32.subarray(placesPtr / 4, placesPtr / 4 + count);
    for (let place = 0; place < count; place++) places[place] = place;
    call.copyBytes(order, placesPtr, count * 4);
    for (const column of columns.toReversed()) {
      const ranked =
        column.type === ColumnType.tag
          ? rankTag(kernel, keys, column, { tagsPtr, count }, scratch)
          : rankField(kernel, keys, column, { listPtr, count }, { placesPtr, scratch });
      if (ranked === null) continue;
      const { codesPtr, ranksPtr, rankCount } = ranked;
      const counts = scratch.alloc((rankCount + 1) * 4);
      call.orderSeriesByTag(order, count, codesPtr, ranksPtr, rankCount, counts, other);
      [order, other] = [other, order];
    }
    call.gather4(listPtr, order, count, other);
    call.copyBytes(listPtr, other, count * 4);
  } finally {
    scratch.release();
  }
}

/** Null: no key has one. */
function rankTag(
  kernel: Kernel,
  keys: CacheKeys,
  column: ColumnDef,
  { tagsPtr, count }: { tagsPtr: number; count: number },
  scratch: Blocks,
): RankedColumn | null {
  const tag = keys.tags.view().tags.find(({ columnId }) => columnId === column.id);
  if (tag === undefined || tag.valueCount <= 1) return null;
  const { call } = kernel;
  const codesPtr = scratch.alloc(count * 4);
  call.gather4(tag.codesPtr, tagsPtr, count, codesPtr);
  const sortedPtr = scratch.alloc(tag.valueCount * 4);
  const ranksPtr = scratch.alloc(tag.valueCount * 4);
  // ranksPtr serves as the sort's scratch before it gets its contents; view 0 is no value
  call.sortViews(tag.valuesPtr + 16, tag.valueCount - 1, sortedPtr, ranksPtr);
  call.rankCodes(sortedPtr, tag.valueCount, ranksPtr);
  return { codesPtr, ranksPtr, rankCount: tag.valueCount };
}

function rankField(
  kernel: Kernel,
  keys: CacheKeys,
  column: ColumnDef,
  list: KeyList,
  { placesPtr, scratch }: { placesPtr: number; scratch: Blocks },
): RankedColumn {
  const { call } = kernel;
  const { ptr, validityPtr } = keys.fieldViews(column, list, scratch);
  const sortedPtr = scratch.alloc(list.count * 4);
  const ranksPtr = scratch.alloc(list.count * 4);
  call.sortViews(ptr, list.count, sortedPtr, ranksPtr);
  const rankCount = call.rankViews(ptr, validityPtr, sortedPtr, list.count, ranksPtr);
  return { codesPtr: placesPtr, ranksPtr, rankCount };
}
