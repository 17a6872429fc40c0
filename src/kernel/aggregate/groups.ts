// The groups of an aggregation: the distinct values of its tag columns. Each series of each dictionary is looked up by value once.
import type { MergedGroups } from "../../model/query/merged-groups.ts";
import type { ColumnDef } from "../../model/rows/column.ts";
import type { DictionaryView } from "../../model/rows/run.ts";
import type { Kernel } from "../memory/kernel.ts";

/** Mappings of dictionaries are discarded beyond this size, except the one in use: every merge creates a new dictionary. */
const SOURCES_BYTES_MAX = 64 << 20;
// assembly/scan/group-keys.ts: | codes u32 | views u32 | map of codes u32 |
const SOURCE_BYTES = 12;

/** An array of u32; 0xffffffff = not looked up yet. */
interface Numbers {
  ptr: number;
  count: number;
}

/** The mapping of one dictionary. Views of one dictionary taken at different moments share codes and series ids. */
interface Source {
  view: DictionaryView | undefined;
  /** Group of each series. */
  readonly groups: Numbers;
  /** For each grouping tag: number of the value of each code. */
  readonly values: readonly Numbers[];
  /** The tags of `view` in the kernel's layout. */
  readonly tagsPtr: number;
}

/** The groups of one aggregation, as described at AggregateGroups. Owned: call `release`. */
export type Groups = Pick<AggregateGroups, "count" | "memoryBytes" | "mapOf" | "learnRanges" | "learnRows" | "tag" | "release">;

/** Groups that were numbered before the aggregation; the caller owns them. */
export class FixedGroups implements Groups {
  readonly memoryBytes = 0;

  constructor(private readonly merged: MergedGroups) {}

  get count(): number {
    return this.merged.count;
  }

  mapOf(dictionary: DictionaryView): number {
    return this.merged.of(dictionary);
  }

  learnRanges(): void {}

  learnRows(): void {}

  tag(index: number): { codesPtr: number; valuesPtr: number } {
    return this.merged.tag(index);
  }

  release(): void {}
}

/** Numbers the groups of one aggregation. Owned: call `release`. */
export class AggregateGroups {
  /** By dictionary id. */
  private readonly sources = new Map<number, Source>();
  private sourcesBytes = 0;
  /** 0 if there are no grouping tags, hence one group. */
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

  /** Memory of the groups. The mappings of dictionaries have their own limit. */
  get memoryBytes(): number {
    return this.keys === 0 ? 0 : this.kernel.call.groupKeysBytes(this.keys) >>> 0;
  }

  /** Maps the series of a dictionary to groups: u32 per series, 0xffffffff = not looked up yet; 0 if there is only one group. Borrowed
   *  until the next call for this dictionary. @throws TsdbError overloaded */
  mapOf(dictionary: DictionaryView): number {
    return this.keys === 0 ? 0 : this.sourceOf(dictionary).groups.ptr;
  }

  /** Looks up the groups of all series that occur in ranges of a sorted run. @throws TsdbError overloaded */
  learnRanges(dictionary: DictionaryView, rangesPtr: number, count: number): void {
    if (this.keys === 0) return;
    const { tagsPtr, groups } = this.sourceOf(dictionary);
    this.kernel.call.groupKeysLearnRanges(this.keys, tagsPtr, rangesPtr, count, groups.ptr);
  }

  /** The same for all series, or those that are wanted: a byte per series at `wantedPtr`. */
  learnSeries(dictionary: DictionaryView, wantedPtr: number): void {
    if (this.keys === 0) return;
    const { tagsPtr, groups } = this.sourceOf(dictionary);
    this.kernel.call.groupKeysLearnSeries(this.keys, tagsPtr, dictionary.seriesCount, wantedPtr, groups.ptr);
  }

  /** The same for the listed rows, or rows [first, first + count) if rowsPtr is 0. */
  learnRows(
    dictionary: DictionaryView,
    seriesPtr: number,
    { rowsPtr, first, count }: { rowsPtr: number; first: number; count: number },
  ): void {
    if (this.keys === 0) return;
    const { tagsPtr, groups } = this.sourceOf(dictionary);
    this.kernel.call.groupKeysLearnRows(this.keys, tagsPtr, seriesPtr, rowsPtr, first, count, groups.ptr);
  }

  /** The grouping tag at `index`: a code (u32) per group, 0 = absent, and a string view per code. Borrowed until the next lookup. */
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
