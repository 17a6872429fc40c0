// Numbers series by a subset of their tags, independent of dictionaries, and maps each dictionary's series to these numbers. A series is
// looked up once, when rows of it arrive.
import type { Reclaimer } from "../../model/reclaimer.ts";
import type { DictionaryView } from "../../model/rows/run.ts";
import type { CacheMemory } from "../cache/memory.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import { SeriesDictionary } from "./series-dictionary.ts";

/** assembly/cache/keys.ts: KEY_UNKNOWN. */
const UNKNOWN = 0xfffffffe;

export interface SeriesMapsParts {
  readonly kernel: Kernel;
  readonly memory: CacheMemory;
  /** Frees arrays that moved and that running answers may still read. */
  readonly reclaimer: Reclaimer;
  /** Null: all tags. */
  readonly tagIds: readonly number[] | null;
  /** True: series that lack one of the tags get no number. */
  readonly skipsWithout: boolean;
}

/** Rows first .. end - 1, of the list at `rowsPtr` if that is not 0. */
export interface SeriesRows {
  readonly seriesPtr: number;
  readonly rowsPtr: number;
  readonly first: number;
  readonly end: number;
}

interface SeriesMap {
  readonly ptr: number;
  readonly bytes: number;
}

/** One numbering of tag combinations. Owned: call `release`. */
export class SeriesMaps {
  private readonly dictionary: SeriesDictionary;
  /** u32 per series, by dictionary id. */
  private readonly maps = new Map<number, SeriesMap>();
  private notedBytes = 0;

  constructor(private readonly parts: SeriesMapsParts) {
    this.dictionary = new SeriesDictionary(parts.kernel, { lastTimeFloorNs: 0n, reclaimer: parts.reclaimer });
  }

  get count(): number {
    return this.dictionary.seriesCount;
  }

  /** All numbered combinations as a dictionary, for readers that the `reclaimer` tracks. */
  view(): DictionaryView {
    return this.dictionary.view();
  }

  /** The number of each series of the dictionary (u32): KEY_UNKNOWN before it is looked up, KEY_NONE if it has none. Borrowed until the
   *  next call. @throws NoRoomError, TsdbError overloaded */
  mapOf({ id, seriesCount }: DictionaryView): number {
    const { kernel, memory } = this.parts;
    const known = this.maps.get(id);
    const bytes = seriesCount * 4;
    if (known !== undefined && known.bytes >= bytes) return known.ptr;
    const ptr = memory.alloc(bytes);
    if (known !== undefined) kernel.call.copyBytes(ptr, known.ptr, known.bytes);
    kernel.u32.fill(UNKNOWN, (ptr + (known?.bytes ?? 0)) / 4, (ptr + bytes) / 4);
    if (known !== undefined) memory.free(known.ptr, known.bytes);
    this.maps.set(id, { ptr, bytes });
    return ptr;
  }

  /** Looks up the unknown series of rows, adding new combinations. @throws NoRoomError, TsdbError overloaded */
  learn(dictionary: DictionaryView, { seriesPtr, rowsPtr, first, end }: SeriesRows): void {
    const mapPtr = this.mapOf(dictionary);
    const scratch = new Blocks(this.parts.kernel);
    try {
      const usedPtr = scratch.allocZeroed(dictionary.seriesCount);
      const isAny = this.parts.kernel.call.markUnknown(seriesPtr, rowsPtr, first, end, mapPtr, usedPtr) !== 0;
      if (isAny) this.number(dictionary, usedPtr, mapPtr);
    } finally {
      scratch.release();
    }
  }

  /** Looks up all series. @throws as learn */
  learnAll(dictionary: DictionaryView): void {
    const { kernel } = this.parts;
    const { seriesCount } = dictionary;
    const mapPtr = this.mapOf(dictionary);
    const scratch = new Blocks(kernel);
    try {
      const usedPtr = scratch.alloc(seriesCount);
      kernel.call.fillBytes(usedPtr, 1, seriesCount);
      this.number(dictionary, usedPtr, mapPtr);
    } finally {
      scratch.release();
    }
  }

  /** Adds the `count` listed series of another numbering, in list order. Returns a map from its numbers to these, in `scratch`. */
  adopt(view: DictionaryView, { seriesPtr, count }: { seriesPtr: number; count: number }, scratch: Blocks): number {
    const { kernel } = this.parts;
    const usedPtr = scratch.allocZeroed(view.seriesCount);
    const mapPtr = scratch.alloc(view.seriesCount * 4);
    kernel.call.mergeMarkSeries(seriesPtr, 0, count, usedPtr);
    this.dictionary.importSeries(view, usedPtr, mapPtr);
    this.note();
    return mapPtr;
  }

  /** Discards the mappings of all other dictionaries. */
  keepMaps(dictionaryIds: ReadonlySet<number>): void {
    for (const [id, { ptr, bytes }] of this.maps) {
      if (dictionaryIds.has(id)) continue;
      this.parts.memory.free(ptr, bytes);
      this.maps.delete(id);
    }
  }

  /** Frees everything; the object must not be used afterwards. Views stay valid while the reclaimer has readers. */
  release(): void {
    this.keepMaps(new Set());
    this.dictionary.release();
    this.parts.memory.note(-this.notedBytes);
    this.notedBytes = 0;
  }

  private number(dictionary: DictionaryView, usedPtr: number, mapPtr: number): void {
    const { kernel, tagIds, skipsWithout } = this.parts;
    const tags = tagIds === null ? dictionary.tags : dictionary.tags.filter(({ columnId }) => tagIds.includes(columnId));
    if (skipsWithout) {
      for (const id of tagIds ?? []) {
        const codesPtr = tags.find(({ columnId }) => columnId === id)?.codesPtr ?? 0;
        kernel.call.skipWithoutTag(codesPtr, dictionary.seriesCount, usedPtr, mapPtr);
      }
    }
    try {
      this.dictionary.importSeries({ ...dictionary, tags }, usedPtr, mapPtr);
    } finally {
      this.note();
    }
  }

  private note(): void {
    const bytes = this.dictionary.memoryBytes;
    const delta = bytes - this.notedBytes;
    this.notedBytes = bytes;
    if (delta !== 0) this.parts.memory.note(delta);
  }
}
