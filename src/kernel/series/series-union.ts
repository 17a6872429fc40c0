// The union of several sorted series lists, numbered in file order: the basis for merging blocks. Lists are added one by one to the union
// so far, so that memory holds the union and two lists, however many blocks are merged.
import { UNIFY_UNORDERED, VIEW_BYTES } from "../../../assembly/abi.ts";
import { TsdbError } from "../../model/errors.ts";
import type { DictionaryView, TagColumnView } from "../../model/rows/run.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";

/** Tags and series in the layout of a DictionaryView, in memory of its own. */
interface SeriesList {
  readonly seriesCount: number;
  /** Ascending column ids. */
  readonly tags: readonly TagColumnView[];
  readonly blocks: Blocks;
}

interface SeriesMap {
  readonly ptr: number;
  readonly seriesCount: number;
}

/** A growing union of series lists. Owned: call `release`. */
export class SeriesUnion {
  private list: SeriesList;
  private readonly maps: SeriesMap[] = [];
  /** Maps, and the text of tag values. */
  private readonly kept: Blocks;

  constructor(private readonly kernel: Kernel) {
    this.list = { seriesCount: 0, tags: [], blocks: new Blocks(kernel) };
    this.kept = new Blocks(kernel);
  }

  /** A series' number is its position in file order. */
  get seriesCount(): number {
    return this.list.seriesCount;
  }

  /** u32 code per series, string views by code; values are ascending. Borrowed until the next `add`. */
  get tags(): readonly TagColumnView[] {
    return this.list.tags;
  }

  /** u32 per series of the list added as number `index`: its number in the union. Borrowed until the next `add`. */
  map(index: number): number {
    return this.maps[index]!.ptr;
  }

  /** Adds a list whose series and tag values are in file order; it may be freed afterwards. @throws TsdbError corrupt_file if it is not
   *  sorted, overloaded; the union must be released then */
  add(dictionary: DictionaryView): void {
    const scratch = new Blocks(this.kernel);
    const blocks = new Blocks(this.kernel);
    try {
      this.unify(dictionary, scratch, blocks);
    } catch (error) {
      blocks.release();
      throw error;
    } finally {
      scratch.release();
    }
  }

  release(): void {
    this.list.blocks.release();
    this.kept.release();
  }

  private unify(dictionary: DictionaryView, scratch: Blocks, blocks: Blocks): void {
    const { call } = this.kernel;
    const { list } = this;
    const added = dictionary.tags.filter(({ valueCount }) => valueCount > 1);
    const columnIds = [...new Set([...list.tags, ...added].map(({ columnId }) => columnId))].sort((a, b) => a - b);
    const columns = columnIds.map((columnId) => {
      const of = (tags: readonly TagColumnView[]) => tags.find((tag) => tag.columnId === columnId);
      return this.unifyValues(columnId, of(list.tags), of(added), { list, dictionary, scratch, blocks });
    });
    const pointers = (pick: (column: (typeof columns)[number]) => number): number => {
      const ptr = scratch.alloc(Math.max(1, columns.length) * 4);
      this.kernel.u32.set(columns.map(pick), ptr / 4);
      return ptr;
    };
    const ownMap = scratch.alloc(Math.max(1, list.seriesCount) * 4);
    const addedMap = this.kept.alloc(Math.max(1, dictionary.seriesCount) * 4);
    const seriesCount = checked(
      call.unifySeries(
        columns.length,
        pointers(({ ownCodes }) => ownCodes),
        list.seriesCount,
        pointers(({ addedCodes }) => addedCodes),
        dictionary.seriesCount,
        ownMap,
        addedMap,
      ),
      "series",
    );
    const tags = columns.map(({ columnId, ownCodes, addedCodes, valuesPtr, valueCount }): TagColumnView => {
      const codesPtr = blocks.allocZeroed(Math.max(1, seriesCount) * 4);
      if (ownCodes !== 0) call.scatterCodes(ownCodes, list.seriesCount, ownMap, codesPtr);
      if (addedCodes !== 0) call.scatterCodes(addedCodes, dictionary.seriesCount, addedMap, codesPtr);
      return { columnId, codesPtr, valuesPtr, valueCount };
    });
    for (const map of this.maps) call.gather4(ownMap, map.ptr, map.seriesCount, map.ptr);
    this.maps.push({ ptr: addedMap, seriesCount: dictionary.seriesCount });
    list.blocks.release();
    this.list = { seriesCount, tags, blocks };
  }

  /** Merges the values of a tag column of both lists and maps the codes of each (0 = no series has the tag). */
  private unifyValues(
    columnId: number,
    own: TagColumnView | undefined,
    added: TagColumnView | undefined,
    { list, dictionary, scratch, blocks }: { list: SeriesList; dictionary: DictionaryView; scratch: Blocks; blocks: Blocks },
  ) {
    const { call } = this.kernel;
    const ownCount = (own?.valueCount ?? 1) - 1;
    const addedCount = (added?.valueCount ?? 1) - 1;
    const [ownViews, addedViews] = [own?.valuesPtr ?? 0, added?.valuesPtr ?? 0];
    const ownMap = scratch.alloc((ownCount + 1) * 4);
    const addedMap = scratch.alloc((addedCount + 1) * 4);
    const what = `values of tag column ${columnId}`;
    const count = checked(call.unifyValues(ownViews, ownCount, addedViews, addedCount, ownMap, addedMap), what);
    const valuesPtr = blocks.allocZeroed((count + 1) * VIEW_BYTES);
    call.placeViews(ownViews, ownCount, ownMap, valuesPtr);
    const textBytes = call.placeViews(addedViews, addedCount, addedMap, valuesPtr) >>> 0;
    if (textBytes > 0) call.moveText(addedViews, addedCount, addedMap, valuesPtr, this.kept.alloc(textBytes));
    const ownCodes = own?.codesPtr ?? 0;
    if (ownCodes !== 0) call.gather4(ownMap, ownCodes, list.seriesCount, ownCodes);
    const addedCodes = added === undefined ? 0 : scratch.alloc(Math.max(1, dictionary.seriesCount) * 4);
    if (added !== undefined) call.gather4(addedMap, added.codesPtr, dictionary.seriesCount, addedCodes);
    return { columnId, valuesPtr, valueCount: count + 1, ownCodes, addedCodes };
  }
}

function checked(count: number, what: string): number {
  if (count === UNIFY_UNORDERED) throw new TsdbError("corrupt_file", `${what} are not in order`);
  return count >>> 0;
}
