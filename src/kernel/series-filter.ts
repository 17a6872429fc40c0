// Which series of a dictionary satisfy a statement's tag predicates: found once per dictionary, by value, for all runs that share it.
import type { DictionaryView } from "../model/run.ts";
import type { TagPredicate } from "../model/scan.ts";
import { Blocks } from "./blocks.ts";
import type { Kernel } from "./kernel.ts";

/** `wantedPtr`: a byte per series, 1 = wanted; 0 = every series is. */
export interface WantedSeries {
  readonly none: boolean;
  readonly wantedPtr: number;
}

const ALL: WantedSeries = { none: false, wantedPtr: 0 };
const NONE: WantedSeries = { none: true, wantedPtr: 0 };

/** Up to so many wanted values are compared one after the other: cheaper than hashing every value of the column. */
const COMPARED_MAX = 4;

export class SeriesFilter {
  private readonly blocks: Blocks;
  private readonly found = new Map<DictionaryView, WantedSeries>();

  constructor(
    private readonly kernel: Kernel,
    private readonly predicates: readonly TagPredicate[],
  ) {
    this.blocks = new Blocks(kernel);
  }

  /** Borrowed until `release`. */
  wanted(dictionary: DictionaryView): WantedSeries {
    let wanted = this.found.get(dictionary);
    if (wanted === undefined) {
      wanted = this.find(dictionary);
      this.found.set(dictionary, wanted);
    }
    return wanted;
  }

  release(): void {
    this.blocks.release();
    this.found.clear();
  }

  private find({ seriesCount, tags }: DictionaryView): WantedSeries {
    let wantedPtr = 0;
    let left = seriesCount;
    for (const predicate of this.predicates) {
      const tag = tags.find(({ columnId }) => columnId === predicate.columnId);
      const nullWanted = predicate.values.includes(null);
      if (tag === undefined) {
        // absent from every series
        if (!nullWanted) return NONE;
        continue;
      }
      if (wantedPtr === 0) {
        wantedPtr = this.blocks.alloc(seriesCount);
        this.kernel.call.fillBytes(wantedPtr, 1, seriesCount);
      }
      const texts = predicate.values.filter((value) => value !== null);
      const scratch = new Blocks(this.kernel);
      try {
        const match = scratch.alloc(tag.valueCount);
        const views = scratch.allocViews(texts);
        // half of the slots stay empty
        const slotCount = texts.length <= COMPARED_MAX ? 0 : 2 ** Math.ceil(Math.log2(texts.length * 2));
        const slots = slotCount === 0 ? 0 : scratch.allocZeroed(slotCount * 8);
        this.kernel.call.matchCodes(tag.valuesPtr, tag.valueCount, views, texts.length, match, slots, slotCount);
        this.kernel.u8[match] = nullWanted ? 1 : 0;
        left = this.kernel.call.narrowSeries(tag.codesPtr, seriesCount, match, wantedPtr);
        if (left === 0) return NONE;
      } finally {
        scratch.release();
      }
    }
    return left === seriesCount ? ALL : { none: false, wantedPtr };
  }
}
