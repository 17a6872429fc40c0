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
  /** All of them are between these two. */
  readonly span: SeriesSpan;
}

/** Series from `first` to the one before `end`. */
export interface SeriesSpan {
  readonly first: number;
  readonly end: number;
}

const NONE: WantedSeries = { none: true, wantedPtr: 0, count: 0, span: { first: 0, end: 0 } };

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
    const { seriesCount } = dictionary;
    let choice: Choice = { wantedPtr: 0, count: seriesCount, span: { first: 0, end: seriesCount } };
    for (const { tag, predicate } of this.searchedFirst(dictionary)) {
      if (tag === undefined) {
        // no series has the tag
        if (!predicate.values.includes(null)) return NONE;
        continue;
      }
      const scratch = new Blocks(this.kernel);
      try {
        const list = this.codesOf(tag, predicate, scratch);
        if (list.count === 0) return NONE;
        choice = this.choose(tag, seriesCount, choice, { list, scratch });
        if (choice.count === 0) return NONE;
      } finally {
        scratch.release();
      }
    }
    // after the values, which may have decided for which series the tests are known
    for (const predicate of this.predicates) {
      if (!isSeriesTest(predicate)) continue;
      choice = this.test(predicate, dictionary, choice);
      if (choice.count === 0) return NONE;
    }
    return { none: false, ...choice, wantedPtr: choice.count === seriesCount ? 0 : choice.wantedPtr };
  }

  /** The predicates on values with their tags; first those whose series are found by a search, which leave the others less to look at. */
  private searchedFirst({ tags }: DictionaryView): { tag: TagColumnView | undefined; predicate: TagPredicate }[] {
    const values = this.predicates.filter((predicate): predicate is TagPredicate => !isSeriesTest(predicate));
    const all = values.map((predicate) => ({ predicate, tag: tags.find(({ columnId }) => columnId === predicate.columnId) }));
    const isSearched = ({ tag }: (typeof all)[number]) => tag?.inOrder === true;
    return all.length < 2 ? all : [...all.filter(isSearched), ...all.filter((each) => !isSearched(each))];
  }

  private test(test: SeriesTest, dictionary: DictionaryView, before: Choice): Choice {
    const { combinationsPtr, passesPtr } = test.of(dictionary);
    const { first, end } = before.span;
    const wantedPtr = this.listOf(before, dictionary.seriesCount);
    const groupsPtr = combinationsPtr + first * 4;
    const count = this.kernel.call.matchGroups(groupsPtr, end - first, passesPtr, wantedPtr + first, isNarrowed(before));
    return { ...before, wantedPtr, count };
  }

  /** The bytes of the choice so far, or room for them. */
  private listOf({ wantedPtr }: Choice, seriesCount: number): number {
    if (wantedPtr !== 0) return wantedPtr;
    // the kernel writes four bytes at a time
    return this.blocks.alloc(seriesCount + 4);
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

  private choose(tag: TagColumnView, seriesCount: number, before: Choice, { list, scratch }: ChoiceOfCodes): Choice {
    const { call } = this.kernel;
    if (tag.inOrder === true && before.wantedPtr === 0 && list.count <= COMPARED_MAX) return this.search(tag, seriesCount, list);
    const { first, end } = before.span;
    const wantedPtr = this.listOf(before, seriesCount);
    const codesPtr = tag.codesPtr + first * 4;
    const [targetPtr, narrows] = [wantedPtr + first, isNarrowed(before)];
    if (list.count <= COMPARED_MAX) {
      const count = call.chooseSeries(codesPtr, end - first, list.ptr, list.count, targetPtr, narrows);
      return { ...before, wantedPtr, count };
    }
    const match = scratch.allocZeroed(tag.valueCount);
    call.markCodes(list.ptr, list.count, match);
    return { ...before, wantedPtr, count: call.matchSeries(codesPtr, end - first, match, targetPtr, narrows) };
  }

  /** As `choose`, of codes in order: a few steps instead of a look at each of a million series. */
  private search({ codesPtr }: TagColumnView, seriesCount: number, { ptr, count: codeCount }: CodeList): Choice {
    const wantedPtr = this.blocks.allocZeroed(seriesCount);
    // after the allocation, which may move the views
    const { u8, u32 } = this.kernel;
    const codes = u32.subarray(codesPtr / 4, codesPtr / 4 + seriesCount);
    let [count, spanFirst, spanEnd] = [0, seriesCount, 0];
    for (const code of u32.subarray(ptr / 4, ptr / 4 + codeCount)) {
      const first = firstFrom(codes, code);
      const end = firstFrom(codes, code + 1);
      if (first === end) continue;
      u8.fill(1, wantedPtr + first, wantedPtr + end);
      count += end - first;
      spanFirst = Math.min(spanFirst, first);
      spanEnd = Math.max(spanEnd, end);
    }
    return { wantedPtr, count, span: { first: spanFirst, end: spanEnd } };
  }
}

interface CodeList {
  readonly ptr: number;
  readonly count: number;
}

interface ChoiceOfCodes {
  readonly list: CodeList;
  readonly scratch: Blocks;
}

/** The series that are wanted as far as is known; bytes outside the span are 0. */
type Choice = Omit<WantedSeries, "none">;

function isNarrowed({ wantedPtr }: Choice): 0 | 1 {
  return wantedPtr === 0 ? 0 : 1;
}

/** The first index with at least `code`, of codes that never descend. */
function firstFrom(codes: Uint32Array, code: number): number {
  let [low, high] = [0, codes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (codes[middle]! < code) low = middle + 1;
    else high = middle;
  }
  return low;
}
