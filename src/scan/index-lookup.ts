// Consults file indexes: which blocks and pages of a scan may contain a row with the texts searched for. A row merged from several writes
// can be found through any of them, so for such rows indexes only narrow the times.
import { type FieldTexts, isSeriesTest, type SeriesPredicate, type TimeRange } from "../model/query/scan.ts";
import { intersection } from "../model/rows/time-ranges.ts";
import type { FileIndexCache } from "../storage/file-index/cache.ts";
import { type Needle, needleOf } from "../storage/file-index/format.ts";
import type { FileIndexRef } from "../storage/file-index/list.ts";
import type { BlockSnapshot, TableSnapshot } from "./snapshot.ts";

/** u8 per page, non-zero = may contain a wanted row; "none" = no page can; null = no information. */
export type PageFlags = Uint8Array | "none" | null;

/** With more texts, one page in ten would be a false positive, and looking them up would take as long as decoding the page. */
const TEXTS_MAX = 100;

interface Wanted {
  readonly columnId: number;
  readonly needles: readonly Needle[];
}

/** The index lookup of one scan. */
export class IndexLookup {
  private readonly refs: ReadonlyMap<number, FileIndexRef>;

  private constructor(
    refs: readonly FileIndexRef[],
    /** Tag predicates: their values do not change when a row is written again. */
    private readonly tags: readonly Wanted[],
    private readonly fields: readonly Wanted[],
    private readonly cache: FileIndexCache,
  ) {
    this.refs = new Map(refs.map((ref) => [ref.fileId, ref]));
  }

  /** Returns null if no index can help. */
  static of(
    { indexes = [] }: TableSnapshot,
    { tags, texts }: { tags: readonly SeriesPredicate[]; texts: readonly FieldTexts[] },
    cache: FileIndexCache,
  ): IndexLookup | null {
    if (indexes.length === 0) return null;
    const wanted = ({ columnId, values }: { columnId: number; values: readonly (string | null)[] }): Wanted[] => {
      // absent values are in no index
      const present = values.filter((value) => value !== null);
      return present.length < values.length || present.length > TEXTS_MAX ? [] : [{ columnId, needles: present.map(needleOf) }];
    };
    // a test of series reads dictionaries
    const [ofTags, ofFields] = [tags.flatMap((tag) => (isSeriesTest(tag) ? [] : wanted(tag))), texts.flatMap(wanted)];
    return ofTags.length + ofFields.length === 0 ? null : new IndexLookup(indexes, ofTags, ofFields, cache);
  }

  /** The pages that may contain wanted rows, for rows that are not merged with others. */
  pages(block: BlockSnapshot): PageFlags {
    let all: Uint8Array | null = null;
    for (const wanted of [...this.tags, ...this.fields]) {
      const found = this.look(block, wanted);
      if (found === "none") return "none";
      if (found === null) continue;
      all = all === null ? found : all.map((flag, page) => flag & found[page]!);
    }
    return all?.includes(1) === false ? "none" : all;
  }

  /** True if the block may contain a wanted series. */
  canHoldSeries(block: BlockSnapshot): boolean {
    return this.tags.every((wanted) => this.look(block, wanted) !== "none");
  }

  /** The times within `range` that wanted merged rows may have; null if none. `timesOf`: time range of a block's flagged pages.
   *  `others`: times of rows without an index. */
  times(
    blocks: readonly BlockSnapshot[],
    others: readonly TimeRange[],
    range: TimeRange,
    timesOf: (block: BlockSnapshot, flags: Uint8Array) => TimeRange | null,
  ): TimeRange | null {
    let left: TimeRange | null = range;
    for (const wanted of this.fields) {
      const times = [...others];
      for (const block of blocks) {
        const found = this.look(block, wanted);
        if (found === "none") continue;
        const within = found === null ? { minNs: block.minTimeNs, maxNs: block.maxTimeNs } : timesOf(block, found);
        if (within !== null) times.push(within);
      }
      if (times.length === 0) return null;
      left = left === null ? null : intersection(left, around(times));
    }
    return left;
  }

  /** Closes what it has opened. */
  release(): void {
    this.cache.rest();
  }

  private look(block: BlockSnapshot, { columnId, needles }: Wanted): PageFlags {
    const ref = this.refs.get(block.fileId);
    return ref === undefined ? null : this.cache.pages(ref, block, columnId, needles);
  }
}

function around(times: readonly TimeRange[]): TimeRange {
  return times.reduce((a, b) => ({ minNs: a.minNs < b.minNs ? a.minNs : b.minNs, maxNs: a.maxNs > b.maxNs ? a.maxNs : b.maxNs }));
}
