// The groups of an aggregation: distinct values of the tags grouped by, found by value once per tag value and series of each dictionary.
import type { ColumnDef } from "../../model/rows/column.ts";
import type { DictionaryView } from "../../model/rows/run.ts";
import type { Kernel } from "../memory/kernel.ts";

/** What is known of dictionaries is forgotten beyond this, the one at hand excepted: merges make a dictionary each. */
const SOURCES_BYTES_MAX = 64 << 20;
// assembly/scan/group-keys.ts: | codes u32 | views u32 | map of codes u32 |
const SOURCE_BYTES = 12;

/** u32 each, 0xffffffff = not met yet. */
interface Numbers {
  ptr: number;
  count: number;
}

/** What is known of one dictionary. Views of it from different moments share codes and series ids. */
interface Source {
  view: DictionaryView | undefined;
  /** Group of a series. */
  readonly groups: Numbers;
  /** By tag grouped by: number of the value of a code. */
  readonly values: readonly Numbers[];
  /** The tags of `view`, for the kernel. */
  readonly tagsPtr: number;
}

export class AggregateGroups {
  /** By dictionary id. */
  private readonly sources = new Map<number, Source>();
  private sourcesBytes = 0;
  /** 0: one group. */
  private readonly keys: number;

  constructor(
    private readonly kernel: Kernel,
    private readonly groupBy: readonly ColumnDef[],
    private readonly sourcesBytesMax = SOURCES_BYTES_MAX,
  ) {
    this.keys = groupBy.length === 0 ? 0 : kernel.call.groupKeysCreate(groupBy.length) >>> 0;
  }

  get count(): number {
    return this.keys === 0 ? 1 : this.kernel.call.groupKeysCount(this.keys) >>> 0;
  }

  /** Of the groups; what is known of dictionaries is bounded apart. */
  get memoryBytes(): number {
    return this.keys === 0 ? 0 : this.kernel.call.groupKeysBytes(this.keys) >>> 0;
  }

  /** The groups of a dictionary's series known so far: u32 per series, 0xffffffff = not known; or 0 when there is one group. Borrowed until
   *  the next call for this dictionary. @throws TsdbError overloaded */
  mapOf(dictionary: DictionaryView): number {
    return this.keys === 0 ? 0 : this.sourceOf(dictionary).groups.ptr;
  }

  /** Makes the groups of the series known that ranges of a sorted run are of. @throws TsdbError overloaded */
  learnRanges(dictionary: DictionaryView, rangesPtr: number, count: number): void {
    if (this.keys === 0) return;
    const { tagsPtr, groups } = this.sourceOf(dictionary);
    this.kernel.call.groupKeysLearnRanges(this.keys, tagsPtr, rangesPtr, count, groups.ptr);
  }

  /** The same for the rows listed, or rows [first, first + count) when rowsPtr is 0. */
  learnRows(
    dictionary: DictionaryView,
    seriesPtr: number,
    { rowsPtr, first, count }: { rowsPtr: number; first: number; count: number },
  ): void {
    if (this.keys === 0) return;
    const { tagsPtr, groups } = this.sourceOf(dictionary);
    this.kernel.call.groupKeysLearnRows(this.keys, tagsPtr, seriesPtr, rowsPtr, first, count, groups.ptr);
  }

  /** The tag at `index` of those grouped by: a code (u32) per group, 0 = absent, and a view per code. */
  tag(index: number): { codesPtr: number; valuesPtr: number } {
    const { call } = this.kernel;
    return { codesPtr: call.groupKeysCodes(this.keys, index) >>> 0, valuesPtr: call.groupKeysValues(this.keys, index) >>> 0 };
  }

  release(): void {
    this.forget();
    if (this.keys !== 0) this.kernel.call.groupKeysFree(this.keys);
  }

  private forget(): void {
    const { heap } = this.kernel;
    for (const { groups, values, tagsPtr } of this.sources.values()) {
      for (const { ptr, count } of [groups, ...values]) if (count > 0) heap.free(ptr, count * 4);
      heap.free(tagsPtr, this.groupBy.length * SOURCE_BYTES);
    }
    this.sources.clear();
    this.sourcesBytes = 0;
  }

  private sourceOf(view: DictionaryView): Source {
    let source = this.sources.get(view.id);
    if (source === undefined) {
      if (this.sourcesBytes > this.sourcesBytesMax) this.forget();
      source = {
        view: undefined,
        groups: { ptr: 0, count: 0 },
        values: this.groupBy.map(() => ({ ptr: 0, count: 0 })),
        tagsPtr: this.kernel.heap.alloc(this.groupBy.length * SOURCE_BYTES),
      };
      this.sources.set(view.id, source);
    }
    if (source.view !== view) {
      this.describe(source, view);
      source.view = view;
    }
    return source;
  }

  private describe({ groups, values, tagsPtr }: Source, { seriesCount, tags }: DictionaryView): void {
    this.grow(groups, seriesCount);
    this.groupBy.forEach(({ id }, i) => {
      const tag = tags.find(({ columnId }) => columnId === id);
      const map = values[i]!;
      this.grow(map, tag?.valueCount ?? 0);
      this.kernel.u32.set([tag?.codesPtr ?? 0, tag?.valuesPtr ?? 0, map.ptr], (tagsPtr + i * SOURCE_BYTES) / 4);
    });
  }

  private grow(numbers: Numbers, count: number): void {
    if (count <= numbers.count) return;
    const { heap, call } = this.kernel;
    const ptr = heap.alloc(count * 4);
    call.fillBytes(ptr, 0xff, count * 4);
    if (numbers.count > 0) {
      call.copyBytes(ptr, numbers.ptr, numbers.count * 4);
      heap.free(numbers.ptr, numbers.count * 4);
    }
    this.sourcesBytes += (count - numbers.count) * 4;
    numbers.ptr = ptr;
    numbers.count = count;
  }
}
