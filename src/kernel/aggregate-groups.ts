// The groups of an aggregation: distinct values of the tags grouped by, found once per series of each dictionary, by value.
import type { ColumnDef } from "../model/column.ts";
import { RECLAIM_AT_ONCE } from "../model/reclaimer.ts";
import type { DictionaryView, TagColumnView } from "../model/run.ts";
import type { Kernel } from "./kernel.ts";
import { SeriesDictionary } from "./series-dictionary.ts";

/** u32 per series: its group; 0xffffffff = not met yet. */
interface GroupMap {
  ptr: number;
  seriesCount: number;
}

/** Marks the series that rows of a run are of. */
type Mark = (mapPtr: number, usedPtr: number) => number;

export class AggregateGroups {
  /** By dictionary id: views of one dictionary share their series ids. */
  private readonly maps = new Map<number, GroupMap>();
  private readonly groups: SeriesDictionary | undefined;
  private used: { ptr: number; bytes: number } = { ptr: 0, bytes: 0 };

  constructor(
    private readonly kernel: Kernel,
    private readonly groupBy: readonly ColumnDef[],
  ) {
    if (groupBy.length > 0) this.groups = new SeriesDictionary(kernel, { lastTimeFloorNs: 0n, reclaimer: RECLAIM_AT_ONCE });
  }

  get count(): number {
    return this.groups === undefined ? 1 : this.groups.seriesCount;
  }

  get memoryBytes(): number {
    return this.groups?.memoryBytes ?? 0;
  }

  /** The groups of a dictionary's series known so far: u32 per series, 0xffffffff = not known; or 0 when there is one group. Borrowed until
   *  the next call for this dictionary. @throws TsdbError overloaded */
  mapOf(dictionary: DictionaryView): number {
    return this.groups === undefined ? 0 : this.ownMap(dictionary).ptr;
  }

  /** Makes the groups of the series known that ranges of a sorted run are of. @throws TsdbError overloaded */
  learnRanges(dictionary: DictionaryView, rangesPtr: number, count: number): void {
    this.learn(dictionary, (map, used) => this.kernel.call.groupsMarkRanges(rangesPtr, count, map, used));
  }

  /** The same for the rows listed, or rows [first, first + count) when rowsPtr is 0. */
  learnRows(
    dictionary: DictionaryView,
    seriesPtr: number,
    { rowsPtr, first, count }: { rowsPtr: number; first: number; count: number },
  ): void {
    this.learn(dictionary, (map, used) => this.kernel.call.groupsMarkRows(seriesPtr, rowsPtr, first, count, map, used));
  }

  /** A tag grouped by, with a code per group; undefined when every group lacks it. */
  tag({ id }: ColumnDef): TagColumnView | undefined {
    return this.groups?.view().tags.find(({ columnId }) => columnId === id);
  }

  release(): void {
    for (const { ptr, seriesCount } of this.maps.values()) this.kernel.heap.free(ptr, seriesCount * 4);
    this.maps.clear();
    if (this.used.bytes > 0) this.kernel.heap.free(this.used.ptr, this.used.bytes);
    this.used = { ptr: 0, bytes: 0 };
    this.groups?.release();
  }

  private learn(dictionary: DictionaryView, mark: Mark): void {
    if (this.groups === undefined) return;
    const { ptr } = this.ownMap(dictionary);
    const usedPtr = this.usedOf(dictionary.seriesCount);
    if (mark(ptr, usedPtr) === 0) return;
    const tags = dictionary.tags.filter(({ columnId }) => this.groupBy.some(({ id }) => id === columnId));
    this.groups.importSeries({ ...dictionary, tags }, usedPtr, ptr);
    this.kernel.call.fillBytes(usedPtr, 0, dictionary.seriesCount);
  }

  private ownMap({ id, seriesCount }: DictionaryView): GroupMap {
    const known = this.maps.get(id);
    if (known !== undefined && known.seriesCount >= seriesCount) return known;
    const { heap, call } = this.kernel;
    const ptr = heap.alloc(seriesCount * 4);
    call.fillBytes(ptr, 0xff, seriesCount * 4);
    if (known !== undefined) {
      call.copyBytes(ptr, known.ptr, known.seriesCount * 4);
      heap.free(known.ptr, known.seriesCount * 4);
    }
    const map = { ptr, seriesCount };
    this.maps.set(id, map);
    return map;
  }

  /** A zeroed byte per series. */
  private usedOf(seriesCount: number): number {
    if (this.used.bytes < seriesCount) {
      const ptr = this.kernel.heap.allocZeroed(seriesCount);
      if (this.used.bytes > 0) this.kernel.heap.free(this.used.ptr, this.used.bytes);
      this.used = { ptr, bytes: seriesCount };
    }
    return this.used.ptr;
  }
}
