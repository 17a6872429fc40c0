// The series of rows, numbered as they are seen, by some tags. A series is looked up once for each dictionary, not with every row.
import { CacheMemory } from "../../../kernel/cache/memory.ts";
import type { Kernel } from "../../../kernel/memory/kernel.ts";
import { SeriesMaps } from "../../../kernel/series/series-maps.ts";
import { assert } from "../../../model/assert.ts";
import type { ScanSeries } from "../../../model/query/scan-table.ts";
import { RECLAIM_AT_ONCE } from "../../../model/reclaimer.ts";
import type { ColumnDef } from "../../../model/rows/column.ts";
import type { Steps } from "../../../model/steps.ts";
import { codesOf, textsOf } from "../../../scan/series-tags.ts";

/** A tag of all series. */
export interface TagOfSeries {
  /** By series. */
  readonly codes: Uint32Array;
  /** By code; "" for absent, which is code 0. */
  readonly texts: readonly string[];
}

/** Collects the series of rows. Owned: must be disposed of. */
export class RowSeries {
  private readonly maps: SeriesMaps;
  private numbers = new Uint32Array(0);
  private rowCount = 0;
  /** Dictionary of the last appended rows. */
  private dictionaryId = -1;
  private isReleased = false;

  /** @param tags columns that distinguish the series */
  constructor(
    private readonly kernel: Kernel,
    private readonly tags: readonly ColumnDef[],
  ) {
    const memory = new CacheMemory(
      kernel,
      () => Number.POSITIVE_INFINITY,
      (make) => make(),
    );
    this.maps = new SeriesMaps({ kernel, memory, reclaimer: RECLAIM_AT_ONCE, tagIds: tags.map(({ id }) => id), skipsWithout: false });
  }

  /** The number of series. */
  get count(): number {
    return this.maps.count;
  }

  get bytes(): number {
    return this.numbers.byteLength;
  }

  /** @throws TsdbError overloaded */
  append({ idsPtr, dictionary }: ScanSeries, rowCount: number): void {
    const { kernel, maps } = this;
    if (dictionary.id !== this.dictionaryId) maps.keepMaps(new Set([dictionary.id]));
    this.dictionaryId = dictionary.id;
    maps.learn(dictionary, { seriesPtr: idsPtr, rowsPtr: 0, first: 0, end: rowCount });
    const map = maps.mapOf(dictionary) / 4;
    const end = this.rowCount + rowCount;
    if (end > this.numbers.length) {
      const grown = new Uint32Array(Math.max(end, this.numbers.length * 2));
      grown.set(this.numbers);
      this.numbers = grown;
    }
    const { numbers, rowCount: count } = this;
    const { u32 } = kernel;
    const ids = idsPtr / 4;
    for (let i = 0; i < rowCount; i++) numbers[count + i] = u32[map + u32[ids + i]!]!;
    this.rowCount = end;
  }

  /** Borrowed: the number of each row's series. */
  view(): Uint32Array {
    return this.numbers.subarray(0, this.rowCount);
  }

  /** In the order of the columns; null: no series has the tag. */
  *tagsOfSeries(): Steps<(TagOfSeries | null)[]> {
    const { kernel, maps } = this;
    assert(!this.isReleased, "tags of series whose memory is freed");
    const view = maps.view();
    const found: (TagOfSeries | null)[] = [];
    for (const { id } of this.tags) {
      const tag = view.tags.find(({ columnId }) => columnId === id);
      found.push(tag === undefined ? null : { texts: yield* textsOf(kernel, tag), codes: codesOf(kernel, view, tag).slice() });
    }
    return found;
  }

  [Symbol.dispose](): void {
    this.isReleased = true;
    this.maps.release();
  }
}
