// Orders rows of equal time from different series: by their tags, compared one after another in a given order, absent first. Storage
// returns such rows in write or file order, so without this an answer would depend on where its rows are stored. Series are numbered as
// they are seen, and only those with rows.
import { CacheMemory } from "../../../kernel/cache/memory.ts";
import type { Kernel } from "../../../kernel/memory/kernel.ts";
import { SeriesMaps } from "../../../kernel/series/series-maps.ts";
import type { ScanSeries } from "../../../model/query/scan-table.ts";
import { RECLAIM_AT_ONCE } from "../../../model/reclaimer.ts";
import type { ColumnDef } from "../../../model/rows/column.ts";
import { compareTexts } from "../../../model/rows/text-order.ts";
import { inSteps, type Steps, sortInSteps } from "../../../model/steps.ts";
import { codesOf, textsOf } from "../../../scan/series-tags.ts";

/** Collects the series of rows. Owned: must be disposed of. */
export class SeriesOfRows {
  private readonly maps: SeriesMaps;
  private numbers = new Uint32Array(0);
  private count = 0;
  /** Dictionary of the last appended rows. */
  private dictionaryId = -1;

  /** @param tags columns that distinguish the series, in order of comparison; at least one */
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
    const end = this.count + rowCount;
    if (end > this.numbers.length) {
      const grown = new Uint32Array(Math.max(end, this.numbers.length * 2));
      grown.set(this.numbers);
      this.numbers = grown;
    }
    const { numbers, count } = this;
    const { u32 } = kernel;
    const ids = idsPtr / 4;
    for (let i = 0; i < rowCount; i++) numbers[count + i] = u32[map + u32[ids + i]!]!;
    this.count = end;
  }

  /** The position of each row's series among all series; null: there is only one. */
  *places(rows: Uint32Array | null): Steps<Uint32Array | null> {
    if (this.maps.count <= 1) return null;
    const placeOf = yield* this.order();
    const { numbers } = this;
    const places = new Uint32Array(rows?.length ?? this.count);
    yield* inSteps(places.length, (from, to) => {
      for (let i = from; i < to; i++) places[i] = placeOf[numbers[rows === null ? i : rows[i]!]!]!;
    });
    return places;
  }

  [Symbol.dispose](): void {
    this.maps.release();
  }

  /** All series numbers in order. */
  private *order(): Steps<Uint32Array> {
    const { kernel, maps } = this;
    const view = maps.view();
    const keys: { readonly codes: Uint32Array; readonly ranks: Uint32Array }[] = [];
    for (const { id } of this.tags) {
      const tag = view.tags.find(({ columnId }) => columnId === id);
      if (tag === undefined) continue;
      const texts = yield* textsOf(kernel, tag);
      // code 0 stands for absent, which comes first
      const codes = Uint32Array.from(texts.keys());
      yield* sortInSteps(codes, (a, b) => compareTexts(texts[a]!, texts[b]!));
      keys.push({ codes: codesOf(kernel, view, tag).slice(), ranks: yield* placesOf(codes) });
    }
    const order = Uint32Array.from({ length: maps.count }, (_, number) => number);
    yield* sortInSteps(order, (a, b) => {
      for (const { codes, ranks } of keys) {
        if (codes[a] !== codes[b]) return ranks[codes[a]!]! - ranks[codes[b]!]!;
      }
      return 0;
    });
    return yield* placesOf(order);
  }
}

/** The position of each number in an ordered list. */
function* placesOf(order: Uint32Array): Steps<Uint32Array> {
  const places = new Uint32Array(order.length);
  yield* inSteps(order.length, (from, to) => {
    for (let i = from; i < to; i++) places[order[i]!] = i;
  });
  return places;
}
