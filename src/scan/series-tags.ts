// Evaluates conditions on tags and collects tags and values for a set of series. Values are processed as codes of their dictionary, each
// text once.
import { readStrings } from "../duckdb/string-reader.ts";
import { Blocks } from "../kernel/memory/blocks.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { SeriesDictionary } from "../kernel/series/series-dictionary.ts";
import { SeriesFilter } from "../kernel/series/series-filter.ts";
import { RECLAIM_AT_ONCE } from "../model/reclaimer.ts";
import type { ColumnDef } from "../model/rows/column.ts";
import type { DictionaryView, TagColumnView } from "../model/rows/run.ts";
import { inSteps, type Steps } from "../model/steps.ts";
import type { SeriesCondition } from "../tsdbql/plan/show-condition.ts";
import type { SeriesSet } from "./visible-series.ts";

const VIEW_BYTES = 16;

/** A byte per series, 1 = selected; null: all. */
export type Marks = Uint8Array | null;

/** The texts of a tag's codes; code 0 (absent) is "". */
export function* textsOf(kernel: Kernel, { valuesPtr, valueCount }: TagColumnView): Steps<string[]> {
  const texts = [""];
  const from = valuesPtr + VIEW_BYTES;
  const count = valueCount - 1;
  if (count <= 0) return texts;
  const { offsets, data } = readStrings(kernel.u8.subarray(from, from + count * VIEW_BYTES), count, null);
  const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  yield* inSteps(count, (first, end) => {
    for (let i = first; i < end; i++) texts.push(text.toString("utf8", offsets[i]!, offsets[i + 1]!));
  });
  return texts;
}

/** A tag's code per series: a view of kernel memory, borrowed. */
export function codesOf(kernel: Kernel, { seriesCount }: DictionaryView, { codesPtr }: TagColumnView): Uint32Array {
  return kernel.u32.subarray(codesPtr / 4, codesPtr / 4 + seriesCount);
}

/** Selects the series of the set that satisfy a condition, in which measurement names are already decided. Returns "none" if there are
 *  none. */
export function* chooseSeries(
  kernel: Kernel,
  set: SeriesSet,
  columns: readonly ColumnDef[],
  condition: SeriesCondition,
): Steps<{ readonly marks: Marks } | "none"> {
  if (condition.kind === "none") return "none";
  if (condition.kind === "all") return { marks: set.marks };
  const marks = yield* conditionMarks(kernel, set.dictionary, columns, condition);
  if (set.marks !== null) for (let i = 0; i < marks.length; i++) marks[i]! &= set.marks[i]!;
  return marks.includes(1) ? { marks } : "none";
}

function* conditionMarks(
  kernel: Kernel,
  dictionary: DictionaryView,
  columns: readonly ColumnDef[],
  condition: SeriesCondition,
): Steps<Uint8Array> {
  const { seriesCount } = dictionary;
  switch (condition.kind) {
    case "all":
    case "name":
      return new Uint8Array(seriesCount).fill(1);
    case "none":
      return new Uint8Array(seriesCount);
    case "and":
    case "or": {
      const a = yield* conditionMarks(kernel, dictionary, columns, condition.left);
      const b = yield* conditionMarks(kernel, dictionary, columns, condition.right);
      yield;
      if (condition.kind === "and") for (let i = 0; i < seriesCount; i++) a[i]! &= b[i]!;
      else for (let i = 0; i < seriesCount; i++) a[i]! |= b[i]!;
      return a;
    }
    case "has": {
      const [own, other] = [condition.tag, condition.other].map((tag) => presence(kernel, dictionary, findTag(dictionary, columns, tag)));
      for (let i = 0; i < seriesCount; i++) own![i]! &= condition.hasOther ? other![i]! : 1 - other![i]!;
      return own!;
    }
    case "tag": {
      const { text, isNegated } = condition.of;
      const column = columns.find(({ name }) => name === condition.tag);
      if (column !== undefined && text !== null) return equalMarks(kernel, dictionary, column, text, isNegated);
      const tag = findTag(dictionary, columns, condition.tag);
      if (tag === null) return new Uint8Array(seriesCount).fill(condition.of.accepts("") ? 1 : 0);
      const texts = yield* textsOf(kernel, tag);
      const accepted = new Uint8Array(texts.length);
      yield* inSteps(texts.length, (first, end) => {
        for (let i = first; i < end; i++) accepted[i] = condition.of.accepts(texts[i]!) ? 1 : 0;
      });
      const codes = codesOf(kernel, dictionary, tag);
      const marks = new Uint8Array(seriesCount);
      for (let i = 0; i < seriesCount; i++) marks[i] = accepted[codes[i]!]!;
      return marks;
    }
  }
}

/** Compares in the kernel, without creating strings. */
function equalMarks(kernel: Kernel, dictionary: DictionaryView, { id }: ColumnDef, text: string, isNegated: boolean): Uint8Array {
  const filter = new SeriesFilter(kernel, [{ columnId: id, values: [text === "" ? null : text] }]);
  try {
    const { none, wantedPtr } = filter.wanted(dictionary);
    const marks = new Uint8Array(dictionary.seriesCount).fill(none ? 0 : 1);
    if (!none && wantedPtr !== 0) marks.set(kernel.u8.subarray(wantedPtr, wantedPtr + marks.length));
    if (isNegated) for (let i = 0; i < marks.length; i++) marks[i] = 1 - marks[i]!;
    return marks;
  } finally {
    filter.release();
  }
}

function findTag({ tags }: DictionaryView, columns: readonly ColumnDef[], name: string): TagColumnView | null {
  const column = columns.find((each) => each.name === name);
  return column === undefined ? null : (tags.find(({ columnId }) => columnId === column.id) ?? null);
}

function presence(kernel: Kernel, dictionary: DictionaryView, tag: TagColumnView | null): Uint8Array {
  const marks = new Uint8Array(dictionary.seriesCount);
  if (tag === null) return marks;
  const codes = codesOf(kernel, dictionary, tag);
  for (let i = 0; i < marks.length; i++) marks[i] = codes[i] === 0 ? 0 : 1;
  return marks;
}

/** True if a selected series has a value of the tag. */
export function hasValue(kernel: Kernel, dictionary: DictionaryView, tag: TagColumnView, marks: Marks): boolean {
  const codes = codesOf(kernel, dictionary, tag);
  for (let i = 0; i < codes.length; i++) if (codes[i] !== 0 && (marks === null || marks[i] === 1)) return true;
  return false;
}

/** The distinct combinations of some tags over several series sets of one table, compared in the kernel. Owned: call `release`. */
export class SeriesTagUnion {
  private readonly dictionary: SeriesDictionary;

  /** @param tags the columns that distinguish series */
  constructor(
    private readonly kernel: Kernel,
    private readonly tags: readonly ColumnDef[],
  ) {
    this.dictionary = new SeriesDictionary(kernel, { lastTimeFloorNs: 0n, reclaimer: RECLAIM_AT_ONCE });
  }

  get seriesCount(): number {
    return this.dictionary.seriesCount;
  }

  /** Borrowed until the next call of `add`. */
  get view(): DictionaryView {
    return this.dictionary.view();
  }

  /** @throws TsdbError overloaded */
  add({ id, seriesCount, tags }: DictionaryView, marks: Marks): void {
    const { kernel } = this;
    const blocks = new Blocks(kernel);
    try {
      const usedPtr = blocks.alloc(Math.max(1, seriesCount));
      const numbersPtr = blocks.alloc(Math.max(1, seriesCount) * 4);
      if (marks === null) kernel.call.fillBytes(usedPtr, 1, seriesCount);
      else kernel.u8.set(marks, usedPtr);
      const wanted = tags.filter(({ columnId }) => this.tags.some((tag) => tag.id === columnId));
      this.dictionary.importSeries({ id, seriesCount, tags: wanted }, usedPtr, numbersPtr);
    } finally {
      blocks.release();
    }
  }

  release(): void {
    this.dictionary.release();
  }
}
