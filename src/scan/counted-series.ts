// Counts the values of tags, or their combinations, that series with visible rows have: in dictionaries, without a row per series.
import { Blocks } from "../kernel/memory/blocks.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import type { AggregateRequest } from "../model/query/aggregate.ts";
import type { ScanChunk, ScanCursor } from "../model/query/scan-chunk.ts";
import type { ColumnDef } from "../model/rows/column.ts";
import type { DictionaryView, TagColumnView } from "../model/rows/run.ts";
import type { Steps } from "../model/steps.ts";
import type { SeriesNumbers } from "./series-numbers.ts";
import { type Marks, SeriesTagUnion } from "./series-tags.ts";
import type { SeriesSet } from "./visible-series.ts";

/** What is counted. */
export type CountedTags = Pick<Required<AggregateRequest>, "groupBy" | "counted">;

export interface CountParts {
  readonly kernel: Kernel;
  readonly numbers: SeriesNumbers;
  /** Runs `task`, again after making room if there is no memory. */
  readonly withRoom: <T>(task: () => T) => T;
}

/** Combinations of codes that are numbered, a byte each; of more, series are compared. */
const NUMBERED_MAX = 1 << 24;

/** @param sets returns the sets of series, from the first one at each call. Pauses after each. @throws what they throw, TsdbError
 *  overloaded */
export function* countedSeries(parts: CountParts, sets: () => Iterable<SeriesSet>, wanted: CountedTags): Steps<number> {
  const { numbers } = parts;
  let ofFirst: number | null = null;
  let setCount = 0;
  /** By number; null: too many series for that. */
  let marks: Uint8Array | null = new Uint8Array(0);
  for (const set of sets()) {
    ofFirst = setCount++ === 0 ? countOf(parts, set.dictionary, set.marks, wanted) : null;
    const known: Uint32Array | null = marks === null ? null : numbersOf(numbers, set);
    marks = marks === null || known === null ? null : marked(marks, known, set.marks, numbers.seriesCount);
    if (marks === null && setCount > 1) return yield* countOfUnion(parts, sets(), wanted);
    yield;
  }
  if (setCount === 0) return 0;
  if (ofFirst !== null) return ofFirst;
  // another statement may have released the numbers meanwhile
  return numbers.isUsable ? countOf(parts, numbers.view, marks, wanted) : yield* countOfUnion(parts, sets(), wanted);
}

function numbersOf(numbers: SeriesNumbers, { dictionary, block }: SeriesSet): Uint32Array | null {
  return block === null ? numbers.ofMemory(dictionary) : numbers.ofBlock(block, () => dictionary);
}

/** Marks the numbers of a set's series. */
function marked(marks: Uint8Array, numbers: Uint32Array, ofSet: Marks, seriesCount: number): Uint8Array {
  let all = marks;
  if (marks.length < seriesCount) {
    all = new Uint8Array(seriesCount);
    all.set(marks);
  }
  const count = ofSet?.length ?? numbers.length;
  for (let i = 0; i < count; i++) if (ofSet === null || ofSet[i] === 1) all[numbers[i]!] = 1;
  return all;
}

function* countOfUnion(parts: CountParts, sets: Iterable<SeriesSet>, wanted: CountedTags): Steps<number> {
  const union = new SeriesTagUnion(parts.kernel, wanted.groupBy);
  try {
    for (const { dictionary, marks } of sets) {
      parts.withRoom(() => union.add(dictionary, marks));
      yield;
    }
    return countOf(parts, union.view, null, wanted);
  } finally {
    union.release();
  }
}

/** The same of one dictionary. */
function countOf(parts: CountParts, dictionary: DictionaryView, marks: Marks, { groupBy, counted }: CountedTags): number {
  const tags = dictionary.tags.filter(({ columnId }) => groupBy.some(({ id }) => id === columnId));
  const marked = marks === null ? dictionary.seriesCount : sum(marks);
  // all of them without any of the tags
  if (tags.length === 0) return marked > 0 && counted === "all" ? 1 : 0;
  if (tags.length === dictionary.tags.length && counted === "all") return marked;
  const numberCount = tags.reduce((product, { valueCount }) => product * valueCount, 1);
  if (numberCount > NUMBERED_MAX) return countOfCombinations(parts, dictionary, marks, groupBy);
  return parts.withRoom(() => countOfCodes(parts.kernel, dictionary, marks, { tags, numberCount, counted }));
}

interface NumberedTags {
  readonly tags: readonly TagColumnView[];
  /** Possible combinations of their codes. */
  readonly numberCount: number;
  readonly counted: CountedTags["counted"];
}

function countOfCodes(kernel: Kernel, { seriesCount }: DictionaryView, marks: Marks, { tags, numberCount, counted }: NumberedTags): number {
  const { call } = kernel;
  const blocks = new Blocks(kernel);
  try {
    const markedPtr = marks === null ? 0 : blocks.alloc(seriesCount);
    if (marks !== null) kernel.u8.set(marks, markedPtr);
    const foundPtr = blocks.allocZeroed(numberCount);
    let codesPtr = tags[0]!.codesPtr;
    if (tags.length > 1) {
      codesPtr = blocks.allocZeroed(seriesCount * 4);
      for (const tag of tags) call.combineCodes(tag.codesPtr, seriesCount, tag.valueCount, codesPtr);
    }
    const count = call.noteCodes(codesPtr, seriesCount, markedPtr, foundPtr);
    // code 0: absent
    return counted === "present" ? count - kernel.u8[foundPtr]! : count;
  } finally {
    blocks.release();
  }
}

function countOfCombinations(parts: CountParts, dictionary: DictionaryView, marks: Marks, groupBy: readonly ColumnDef[]): number {
  const union = new SeriesTagUnion(parts.kernel, groupBy);
  try {
    parts.withRoom(() => union.add(dictionary, marks));
    return union.seriesCount;
  } finally {
    union.release();
  }
}

function sum(marks: Uint8Array): number {
  let total = 0;
  for (let i = 0; i < marks.length; i++) total += marks[i]!;
  return total;
}

/** One row with an integer. */
export class NumberCursor implements ScanCursor {
  private ptr: number;
  private isRead = false;

  /** @throws TsdbError overloaded */
  constructor(
    private readonly kernel: Kernel,
    value: number,
  ) {
    this.ptr = kernel.heap.alloc(8);
    kernel.i64[this.ptr / 8] = BigInt(value);
  }

  next(): ScanChunk | null {
    if (this.isRead) return null;
    this.isRead = true;
    return { rowCount: 1, columns: [{ dataPtr: this.ptr, validityPtr: 0 }] };
  }

  /** Idempotent. */
  close(): void {
    if (this.ptr !== 0) this.kernel.heap.free(this.ptr, 8);
    this.ptr = 0;
    this.isRead = true;
  }
}
