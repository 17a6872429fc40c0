// What file indexes say of the blocks that a scan comes to: which of them, and which of their pages, can hold a row with the texts that it
// looks for. A row that is merged of several writes is found by any of them: of such rows only times are ruled out.
import type { FieldTexts, TagPredicate, TimeRange } from "../model/query/scan.ts";
import { intersection } from "../model/rows/time-ranges.ts";
import type { FileIndexCache } from "../storage/file-index/cache.ts";
import { type Needle, needleOf } from "../storage/file-index/format.ts";
import type { FileIndexRef } from "../storage/file-index/list.ts";
import type { BlockSnapshot, TableSnapshot } from "./snapshot.ts";

/** u8 per page, not 0 = it can hold a wanted row; "none" = no page can; null: nothing is known. */
export type PageFlags = Uint8Array | "none" | null;

/** Of more, one in ten pages would seem to have one anyway, and to look for them would take as long as to decode the page. */
const TEXTS_MAX = 100;

interface Wanted {
  readonly columnId: number;
  readonly needles: readonly Needle[];
}

export class IndexLookup {
  private readonly refs: ReadonlyMap<number, FileIndexRef>;

  private constructor(
    refs: readonly FileIndexRef[],
    /** The value does not change when a row is written again. */
    private readonly tags: readonly Wanted[],
    private readonly fields: readonly Wanted[],
    private readonly cache: FileIndexCache,
  ) {
    this.refs = new Map(refs.map((ref) => [ref.fileId, ref]));
  }

  /** Null when no index can say anything. */
  static of(
    { indexes = [] }: TableSnapshot,
    { tags, texts }: { tags: readonly TagPredicate[]; texts: readonly FieldTexts[] },
    cache: FileIndexCache,
  ): IndexLookup | null {
    if (indexes.length === 0) return null;
    const wanted = ({ columnId, values }: { columnId: number; values: readonly (string | null)[] }): Wanted[] => {
      // what is absent is in no index
      const present = values.filter((value) => value !== null);
      return present.length < values.length || present.length > TEXTS_MAX ? [] : [{ columnId, needles: present.map(needleOf) }];
    };
    const [ofTags, ofFields] = [tags.flatMap(wanted), texts.flatMap(wanted)];
    return ofTags.length + ofFields.length === 0 ? null : new IndexLookup(indexes, ofTags, ofFields, cache);
  }

  /** Of rows that are merged with no others. */
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

  /** Whether the block can hold a series that is wanted. */
  canHoldSeries(block: BlockSnapshot): boolean {
    return this.tags.every((wanted) => this.look(block, wanted) !== "none");
  }

  /** The times within `range` that merged rows which are wanted can have; null: none. `timesOf`: of the pages of a block that are marked.
   *  `others`: times of rows that no index knows. */
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

  /** Lets go of what it has open. */
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
