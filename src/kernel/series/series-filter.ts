// Finds the series of a dictionary that satisfy a statement's tag predicates: evaluated by value once per dictionary, for all runs that
// share it.

import { isSeriesTest, type SeriesPredicate, type SeriesTest, type TagPredicate } from "../../model/query/scan.ts";
import type { DictionaryView, TagColumnView } from "../../model/rows/run.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";

/** `wantedPtr`: a byte per series, 1 = wanted; 0 = every series is wanted. */
export interface WantedSeries {
  readonly none: boolean;
  readonly wantedPtr: number;
  /** Number of wanted series. */
  readonly count: number;
}

const NONE: WantedSeries = { none: true, wantedPtr: 0, count: 0 };

/** Up to this many codes are compared with those of four series at a time (SIMD); more are looked up in a table. */
const COMPARED_MAX = 8;

/** The tag predicates of one statement, evaluated for dictionaries. Owned: call `release`. */
export class SeriesFilter {
  private readonly blocks: Blocks;
  private readonly found = new Map<DictionaryView, WantedSeries>();

  constructor(
    private readonly kernel: Kernel,
    private readonly predicates: readonly SeriesPredicate[],
  ) {
    this.blocks = new Blocks(kernel);
  }

  /** The wanted series of a dictionary. Borrowed until `release`. @throws TsdbError overloaded */
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

  private find(dictionary: DictionaryView): WantedSeries {
    const { seriesCount, tags } = dictionary;
    let wantedPtr = 0;
    let left = seriesCount;
    for (const predicate of this.predicates) {
      if (isSeriesTest(predicate)) continue;
      const tag = tags.find(({ columnId }) => columnId === predicate.columnId);
      if (tag === undefined) {
        // no series has the tag
        if (!predicate.values.includes(null)) return NONE;
        continue;
      }
      const scratch = new Blocks(this.kernel);
      try {
        const list = this.codesOf(tag, predicate, scratch);
        if (list.count === 0) return NONE;
        const narrows = wantedPtr === 0 ? 0 : 1;
        // the kernel writes four bytes at a time
        if (wantedPtr === 0) wantedPtr = this.blocks.alloc(seriesCount + 4);
        left = this.choose(tag, seriesCount, { list, wantedPtr, narrows, scratch });
        if (left === 0) return NONE;
      } finally {
        scratch.release();
      }
    }
    // after the values, which may have decided for which series the tests are known
    for (const predicate of this.predicates) {
      if (!isSeriesTest(predicate)) continue;
      const narrows = wantedPtr === 0 ? 0 : 1;
      if (wantedPtr === 0) wantedPtr = this.blocks.alloc(seriesCount + 4);
      left = this.test(predicate, dictionary, wantedPtr, narrows);
      if (left === 0) return NONE;
    }
    return { none: false, wantedPtr: left === seriesCount ? 0 : wantedPtr, count: left };
  }

  private test(test: SeriesTest, dictionary: DictionaryView, wantedPtr: number, narrows: 0 | 1): number {
    const { combinationsPtr, passesPtr } = test.of(dictionary);
    return this.kernel.call.matchGroups(combinationsPtr, dictionary.seriesCount, passesPtr, wantedPtr, narrows);
  }

  /** Codes (u32) of those wanted values that occur in the dictionary. */
  private codesOf({ valuesPtr, valueCount, isSorted }: TagColumnView, { values }: TagPredicate, scratch: Blocks): CodeList {
    const { call } = this.kernel;
    const texts = [...new Set(values)].filter((value) => value !== null);
    const ptr = scratch.alloc((texts.length + 1) * 4);
    const hasNull = texts.length < new Set(values).size;
    if (hasNull) this.kernel.u32[ptr / 4] = 0;
    const from = hasNull ? 1 : 0;
    if (texts.length === 0) return { ptr, count: from };
    const views = scratch.allocViews(texts);
    if (isSorted) return { ptr, count: from + call.findCodes(valuesPtr, valueCount, views, texts.length, ptr + from * 4) };
    // load factor at most one half
    const slotCount = 2 ** Math.ceil(Math.log2(texts.length * 2 + 1));
    const slots = scratch.allocZeroed(slotCount * 9);
    return { ptr, count: from + call.scanCodes(valuesPtr, valueCount, views, texts.length, ptr + from * 4, slots, slotCount) };
  }

  private choose(
    { codesPtr, valueCount }: TagColumnView,
    seriesCount: number,
    { list, wantedPtr, narrows, scratch }: { list: CodeList; wantedPtr: number; narrows: 0 | 1; scratch: Blocks },
  ): number {
    const { call } = this.kernel;
    if (list.count <= COMPARED_MAX) return call.chooseSeries(codesPtr, seriesCount, list.ptr, list.count, wantedPtr, narrows);
    const match = scratch.allocZeroed(valueCount);
    call.markCodes(list.ptr, list.count, match);
    return call.matchSeries(codesPtr, seriesCount, match, wantedPtr, narrows);
  }
}

interface CodeList {
  readonly ptr: number;
  readonly count: number;
}
