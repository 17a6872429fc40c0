// Sorts the keys of a cache by their columns: NULL first, texts by bytes, numbers by value.
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import type { CacheKeys } from "./keys.ts";
import type { CacheMemory } from "./memory.ts";

/** Rank of each key in one column: ranks[codes[key]]. */
interface RankedColumn {
  readonly codesPtr: number;
  readonly ranksPtr: number;
  readonly rankCount: number;
}

export interface KeyList {
  /** u32 per key. */
  readonly listPtr: number;
  readonly count: number;
}

/** The sorted list of all keys, cached until keys are added or renumbered. */
export class KeyOrder {
  private ptr = 0;
  private count = 0;

  constructor(
    private readonly kernel: Kernel,
    private readonly memory: CacheMemory,
    private readonly columns: readonly ColumnDef[],
  ) {}

  /** All keys in order, u32 each. Borrowed until `forget`. @throws NoRoomError, TsdbError overloaded */
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

  /** Invalidates the list after keys were renumbered or removed. Idempotent. */
  forget(): void {
    if (this.ptr !== 0) this.memory.free(this.ptr, this.count * 4);
    this.ptr = 0;
  }
}

/** Sorts the listed keys by `columns`, in place. @throws TsdbError overloaded */
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

/** Ranks of a tag column's values; null if no key has the tag. */
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
  // ranksPtr serves as the sort's scratch before it receives the ranks; view 0 stands for NULL
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
