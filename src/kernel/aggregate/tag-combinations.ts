// The distinct combinations of some tags over the dictionaries of a scan, numbered as they appear; tests of them, and groups merged from
// them.
import { assert } from "../../model/assert.ts";
import { LIMITS } from "../../model/limits.ts";
import type { MergedGroups } from "../../model/query/merged-groups.ts";
import { isSeriesTest, type SeriesPredicate, type SeriesTest, type TagPredicate } from "../../model/query/scan.ts";
import type { ScanChunk, ScanColumn, ScanCursor } from "../../model/query/scan-table.ts";
import type { TagCombinations } from "../../model/query/tag-combinations.ts";
import { type ColumnDef, ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { DictionaryView } from "../../model/rows/run.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import { bitmapBytes } from "../scan/rows.ts";
import { SeriesFilter } from "../series/series-filter.ts";
import { AggregateGroups } from "./groups.ts";

const CHUNK_ROWS = LIMITS.vectorRows;
const NULL_COLUMN: ScanColumn = { dataPtr: 0, validityPtr: 0 };

/** Combinations in the kernel's memory. */
export class KernelCombinations implements TagCombinations {
  private readonly groups: AggregateGroups;
  private readonly blocks: Blocks;
  private readonly filter: SeriesFilter;
  /** The dictionaries that the combinations are from: an id is never reused, and a dictionary only grows. */
  private readonly learned: string[] = [];

  /** @param tags at least one. @param where of other series nothing is known */
  constructor(
    private readonly kernel: Kernel,
    private readonly tags: readonly ColumnDef[],
    private readonly where: readonly SeriesPredicate[],
  ) {
    assert(tags.length > 0, "combinations of no tags");
    this.blocks = new Blocks(kernel);
    this.groups = new AggregateGroups(kernel, tags);
    this.filter = new SeriesFilter(kernel, where);
  }

  get count(): number {
    return this.groups.count;
  }

  get memoryBytes(): number {
    return this.groups.memoryBytes;
  }

  get key(): string | null {
    const values: (readonly [number, TagPredicate["values"]])[] = [];
    for (const predicate of this.where) {
      if (isSeriesTest(predicate)) return null;
      values.push([predicate.columnId, predicate.values]);
    }
    return `${this.tags.map(({ id }) => id).join()};${this.learned.join()};${JSON.stringify(values)}`;
  }

  /** Adds the combinations of a dictionary's series. @throws TsdbError overloaded */
  learn(dictionary: DictionaryView): void {
    this.learned.push(`${dictionary.id}:${dictionary.seriesCount}`);
    this.lookUp(dictionary);
  }

  private lookUp(dictionary: DictionaryView): void {
    const { none, wantedPtr } = this.filter.wanted(dictionary);
    if (!none) this.groups.learnSeries(dictionary, wantedPtr);
  }

  rows(): ScanCursor {
    return new CombinationCursor(this.kernel, this.groups, this.tags.length);
  }

  test(passes: Uint8Array): SeriesTest {
    const known = this.count;
    assert(passes.length === known, `${passes.length} results for ${known} combinations`);
    const passesPtr = this.blocks.allocZeroed(known + 1);
    this.kernel.u8.set(passes, passesPtr);
    return {
      of: (dictionary) => {
        this.lookUp(dictionary);
        assert(this.count === known, "a combination that was not tested");
        return { combinationsPtr: this.groups.mapOf(dictionary), passesPtr };
      },
    };
  }

  merge(first: Uint32Array): MergedGroups {
    const known = this.count;
    assert(first.length === known, `${first.length} results for ${known} combinations`);
    // numbers of the groups by combination, and of their first combination by group
    const numbers = new Uint32Array(known);
    const shown: number[] = [];
    first.forEach((other, i) => {
      assert(other <= i && first[other] === other, `combination ${i} is in the group of ${other}`);
      numbers[i] = other === i ? shown.push(i) - 1 : numbers[other]!;
    });
    const numbersPtr = this.put(numbers);
    const shownPtr = this.put(Uint32Array.from(shown));
    const found = new Map<DictionaryView, number>();
    const groupsOf = (dictionary: DictionaryView) => {
      this.lookUp(dictionary);
      assert(this.count === known, "a combination that is in no group");
      const ptr = this.blocks.alloc(Math.max(1, dictionary.seriesCount) * 4);
      this.kernel.call.renumberGroups(this.groups.mapOf(dictionary), dictionary.seriesCount, numbersPtr, ptr);
      found.set(dictionary, ptr);
      return ptr;
    };
    return {
      count: shown.length,
      of: (dictionary) => found.get(dictionary) ?? groupsOf(dictionary),
      tag: (index) => {
        const { codesPtr, valuesPtr } = this.groups.tag(index);
        const shownCodes = this.blocks.alloc(Math.max(1, shown.length) * 4);
        this.kernel.call.gather4(codesPtr, shownPtr, shown.length, shownCodes);
        return { codesPtr: shownCodes, valuesPtr };
      },
    };
  }

  release(): void {
    this.blocks.release();
    this.groups.release();
    this.filter.release();
  }

  private put(numbers: Uint32Array): number {
    const ptr = this.blocks.alloc(Math.max(1, numbers.length) * 4);
    this.kernel.u32.set(numbers, ptr / 4);
    return ptr;
  }
}

/** Returns the combinations in chunks: numbers, then tags. */
class CombinationCursor implements ScanCursor {
  private readonly blocks: Blocks;
  private readonly numbersPtr: number;
  private readonly idsPtr: number;
  private readonly tags: readonly { readonly viewsPtr: number; readonly validityPtr: number }[];
  private nextRow = 0;
  private isClosed = false;

  constructor(
    private readonly kernel: Kernel,
    private readonly groups: AggregateGroups,
    tagCount: number,
  ) {
    this.blocks = new Blocks(kernel);
    try {
      this.numbersPtr = this.blocks.alloc(CHUNK_ROWS * 8);
      this.idsPtr = this.blocks.alloc(CHUNK_ROWS * 4);
      this.tags = Array.from({ length: tagCount }, () => ({
        viewsPtr: this.blocks.alloc(CHUNK_ROWS * VALUE_BYTES[ColumnType.tag]),
        validityPtr: this.blocks.alloc(bitmapBytes(CHUNK_ROWS)),
      }));
    } catch (error) {
      this.blocks.release();
      throw error;
    }
  }

  next(): ScanChunk | null {
    const first = this.nextRow;
    const count = Math.min(CHUNK_ROWS, this.groups.count - first);
    if (this.isClosed || count <= 0) return null;
    this.nextRow += count;
    const { kernel, numbersPtr, idsPtr } = this;
    for (let i = 0; i < count; i++) {
      kernel.i64[numbersPtr / 8 + i] = BigInt(first + i);
      kernel.u32[idsPtr / 4 + i] = first + i;
    }
    const columns = this.tags.map(({ viewsPtr, validityPtr }, i): ScanColumn => {
      const { codesPtr, valuesPtr } = this.groups.tag(i);
      const present = kernel.call.gatherTags(idsPtr, 0, 0, count, codesPtr, valuesPtr, viewsPtr, validityPtr);
      return present === 0 ? NULL_COLUMN : { dataPtr: viewsPtr, validityPtr: present === count ? 0 : validityPtr };
    });
    return { rowCount: count, columns: [{ dataPtr: numbersPtr, validityPtr: 0 }, ...columns] };
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.blocks.release();
  }
}
