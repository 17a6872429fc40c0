// The newest row of every combination of some tags, in order of these, from runs that hold one row for each of their series: numbers the
// series of all runs, keeps the newest row of each, and orders numbers instead of rows. Wraps assembly/scan/newest-union.ts.

import { LIMITS } from "../../model/limits.ts";
import type { TagOrder } from "../../model/query/scan.ts";
import type { ScanChunk, ScanColumn, ScanCursor } from "../../model/query/scan-table.ts";
import { RECLAIM_AT_ONCE } from "../../model/reclaimer.ts";
import { type ColumnDef, ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun, DictionaryView, Run, TagColumnView } from "../../model/rows/run.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import { SeriesDictionary } from "../series/series-dictionary.ts";
import { SeriesUnion } from "../series/series-union.ts";
import { assertDense } from "./dense-run.ts";
import { bitmapBytes, gatherBitmap, gatherColumn } from "./rows.ts";

const CHUNK_ROWS = LIMITS.vectorRows;
const NULL_COLUMN: ScanColumn = { dataPtr: 0, validityPtr: 0 };

/** The series of several dictionaries under common numbers. */
interface CommonSeries {
  readonly seriesCount: number;
  readonly tags: readonly TagColumnView[];
  /** True: numbers are in the order of all tags, columns by ascending id, absent values first. */
  readonly isOrdered: boolean;
  /** u32 per series of the dictionary with this id; 0 = they are numbers themselves. */
  mapOf(dictionaryId: number): number;
  release(): void;
}

interface Source {
  readonly run: Run;
  /** The place of its first row. */
  readonly base: number;
}

/** Rows in order, to be read once. Owned: call `release`. The runs must outlive it. */
export class NewestInOrder {
  private readonly blocks: Blocks;
  private readonly sources: readonly Source[];
  private bestTimesPtr = 0;
  private placesPtr = 0;
  private numbersPtr = 0;
  private count = 0;
  private isInRunOrder = false;

  private constructor(
    private readonly kernel: Kernel,
    runs: readonly Run[],
    private readonly series: CommonSeries,
  ) {
    this.blocks = new Blocks(kernel);
    let base = 0;
    this.sources = runs.map((run) => {
      const source = { run, base };
      base += run.rowCount;
      return source;
    });
  }

  /** Of rows that are alike in all keys one with the greatest time remains. In steps of about ten milliseconds for a million series.
   *  @param runs each with series and time, dense, and at most one row for each series @throws TsdbError overloaded */
  static *of(kernel: Kernel, runs: readonly Run[], keys: readonly TagOrder[]): Generator<void, NewestInOrder, void> {
    const series = commonSeries(kernel, runs);
    const found = new NewestInOrder(kernel, runs, series);
    let isKept = false;
    try {
      yield;
      found.keepNewest();
      yield;
      yield* found.order(keys);
      isKept = true;
      return found;
    } finally {
      // failed or abandoned
      if (!isKept) found.release();
    }
  }

  get rowCount(): number {
    return this.count;
  }

  /** @throws TsdbError overloaded */
  open(columns: readonly ColumnDef[]): ScanCursor {
    const blocks = new Blocks(this.kernel);
    try {
      return this.opened(columns, blocks);
    } catch (error) {
      blocks.release();
      throw error;
    }
  }

  private opened(columns: readonly ColumnDef[], blocks: Blocks): ScanCursor {
    const readers = columns.map((column) => this.reader(column, blocks));
    const places = new ChunkPlaces(this.kernel, this.sources, this.placesPtr, blocks);
    let at = 0;
    return {
      next: (): ScanChunk | null => {
        const rowCount = Math.min(CHUNK_ROWS, this.count - at);
        if (rowCount <= 0) return null;
        places.find(this.numbersPtr + at * 4, rowCount);
        at += rowCount;
        return { rowCount, columns: readers.map((read) => read(places)) };
      },
      close: () => blocks.release(),
    };
  }

  release(): void {
    this.blocks.release();
    this.series.release();
  }

  private keepNewest(): void {
    const { kernel, blocks, series } = this;
    const { call } = kernel;
    const count = Math.max(1, series.seriesCount);
    this.bestTimesPtr = blocks.alloc(count * 8);
    this.placesPtr = blocks.allocZeroed(count * 4);
    for (const { run, base } of this.sources) {
      const mapPtr = series.mapOf(run.dictionary.id);
      call.newestKeep(run.seriesPtr, run.timePtr, run.rowCount, mapPtr, base, this.bestTimesPtr, this.placesPtr);
    }
    this.numbersPtr = blocks.alloc(count * 4);
    this.count = call.newestNumbers(this.placesPtr, series.seriesCount, this.numbersPtr);
  }

  private *order(keys: readonly TagOrder[]): Generator<void, void, void> {
    const { kernel, series, count, bestTimesPtr } = this;
    const { call } = kernel;
    const tags = keys.map(({ columnId }) => series.tags.find((tag) => tag.columnId === columnId && tag.valueCount > 1));
    const [only] = this.sources;
    // a sorted run of one dictionary has its rows in the order of its series
    this.isInRunOrder = this.sources.length === 1 && only!.run.sorted;
    if (!this.isOrderedBy(keys, tags)) {
      this.isInRunOrder = false;
      const scratch = new Blocks(kernel);
      try {
        let other = scratch.alloc(Math.max(1, count) * 4);
        for (let i = keys.length - 1; i >= 0; i--) {
          const tag = tags[i];
          // no row has the tag
          if (tag === undefined) continue;
          other = this.sortBy(tag, keys[i]!, other);
          yield;
        }
      } finally {
        scratch.release();
      }
    }
    const codes = tags.flatMap((tag) => (tag === undefined ? [] : [tag.codesPtr]));
    const keysPtr = this.blocks.alloc(Math.max(1, codes.length) * 4);
    kernel.u32.set(codes, keysPtr / 4);
    this.count = call.newestOfGroups(this.numbersPtr, count, keysPtr, codes.length, bestTimesPtr);
  }

  /** True if ascending numbers are in the order of the keys. */
  private isOrderedBy(keys: readonly TagOrder[], tags: readonly (TagColumnView | undefined)[]): boolean {
    const { series, numbersPtr, count } = this;
    if (!series.isOrdered) return false;
    const ordered = series.tags.filter(({ valueCount }) => valueCount > 1).sort((a, b) => a.columnId - b.columnId);
    let next = 0;
    return keys.every(({ isDescending, nullsFirst }, i) => {
      const tag = tags[i];
      // no row has the tag
      if (tag === undefined) return true;
      const isNext = tag === ordered[next++] && !isDescending;
      return isNext && (nullsFirst || this.kernel.call.newestHaveTag(tag.codesPtr, numbersPtr, count) !== 0);
    });
  }

  /** A stable sort of the numbers; returns the memory that it leaves free. */
  private sortBy({ codesPtr, valuesPtr, valueCount, isSorted }: TagColumnView, order: TagOrder, otherPtr: number): number {
    const { kernel, count } = this;
    const { call } = kernel;
    const scratch = new Blocks(kernel);
    try {
      const ranksPtr = scratch.alloc(valueCount * 4);
      if (!isSorted) {
        const sortedPtr = scratch.alloc(valueCount * 4);
        // ranksPtr serves as the sort's scratch before it receives the ranks; view 0 stands for NULL
        call.sortViews(valuesPtr + VALUE_BYTES[ColumnType.tag], valueCount - 1, sortedPtr, ranksPtr);
        call.rankCodes(sortedPtr, valueCount, ranksPtr);
      }
      call.newestRanks(ranksPtr, valueCount, Number(isSorted ?? false), Number(order.isDescending), Number(order.nullsFirst));
      const countsPtr = scratch.alloc((valueCount + 2) * 4);
      call.orderSeriesByTag(this.numbersPtr, count, codesPtr, ranksPtr, valueCount + 1, countsPtr, otherPtr);
      call.copyBytes(this.numbersPtr, otherPtr, count * 4);
      return otherPtr;
    } finally {
      scratch.release();
    }
  }

  private reader(column: ColumnDef, blocks: Blocks): ColumnReader {
    const { call } = this.kernel;
    if (column.type === ColumnType.tag) {
      const tag = this.series.tags.find(({ columnId }) => columnId === column.id);
      if (tag === undefined) return () => NULL_COLUMN;
      const views = blocks.alloc(CHUNK_ROWS * VALUE_BYTES[ColumnType.tag]);
      const validity = blocks.alloc(bitmapBytes(CHUNK_ROWS));
      return ({ numbersPtr, count }) => {
        const present = call.gatherTags(numbersPtr, 0, 0, count, tag.codesPtr, tag.valuesPtr, views, validity);
        return present === 0 ? NULL_COLUMN : { dataPtr: views, validityPtr: present === count ? 0 : validity };
      };
    }
    if (column.type === ColumnType.time) {
      const times = blocks.alloc(CHUNK_ROWS * VALUE_BYTES[ColumnType.time]);
      return ({ numbersPtr, count }) => {
        call.gather8(this.bestTimesPtr, numbersPtr, count, times);
        return { dataPtr: times, validityPtr: 0 };
      };
    }
    const fields = this.sources.map(({ run }) => {
      const field = run.columns.find(({ columnId }) => columnId === column.id);
      if (field !== undefined) assertDense(field);
      return field;
    });
    return fields.every((field) => field === undefined) ? () => NULL_COLUMN : this.fieldReader(column, fields, blocks);
  }

  private fieldReader({ type }: ColumnDef, fields: readonly (ColumnRun | undefined)[], blocks: Blocks): ColumnReader {
    const { kernel, isInRunOrder } = this;
    const { call } = kernel;
    const width = VALUE_BYTES[type];
    const values = blocks.alloc(CHUNK_ROWS * width);
    const validity = blocks.alloc(bitmapBytes(CHUNK_ROWS));
    const scatter = { 1: call.scatter1, 8: call.scatter8, 16: call.scatter16 }[width]!;
    return ({ runs, rowsPtr, count }) => {
      const [only] = runs;
      const field = fields[only!.source];
      if (runs.length === 1 && field !== undefined) {
        const { dataPtr, validityPtr } = field;
        const first = kernel.u32[rowsPtr / 4]!;
        const isContiguous = isInRunOrder && kernel.u32[rowsPtr / 4 + count - 1]! - first === count - 1;
        if (isContiguous && validityPtr === 0) return { dataPtr: dataPtr + first * width, validityPtr: 0 };
        gatherColumn(kernel, type, { sourcePtr: dataPtr, rowsPtr, count, targetPtr: values });
        if (validityPtr === 0) return { dataPtr: values, validityPtr: 0 };
        gatherBitmap(kernel, { sourcePtr: validityPtr, rowsPtr, count, targetPtr: validity });
        return { dataPtr: values, validityPtr: validity };
      }
      // absent values are 0
      call.fillBytes(values, 0, count * width);
      call.fillBytes(validity, 0, bitmapBytes(count));
      for (const { source, rowsPtr: ofRun, indexesPtr, rowCount } of runs) {
        const found = fields[source];
        if (found !== undefined) scatter(found.dataPtr, found.validityPtr, ofRun, rowCount, indexesPtr, values, validity);
      }
      return { dataPtr: values, validityPtr: validity };
    };
  }
}

/** Reads one column of a chunk. */
type ColumnReader = (places: ChunkPlaces) => ScanColumn;

/** Rows of a chunk that are in one run. */
interface RunRows {
  /** Index of the run. */
  readonly source: number;
  readonly rowCount: number;
  readonly rowsPtr: number;
  /** u32 each: its number within the chunk. */
  readonly indexesPtr: number;
}

/** Where the rows of one chunk are. */
class ChunkPlaces {
  numbersPtr = 0;
  count = 0;
  /** Ascending by run. */
  runs: readonly RunRows[] = [];
  /** Of all rows, run by run. */
  readonly rowsPtr: number;
  private readonly indexesPtr: number;
  private readonly runPtr: number;
  private readonly runsPtr: number;
  private readonly basesPtr: number;
  private readonly startsPtr: number;

  constructor(
    private readonly kernel: Kernel,
    private readonly sources: readonly Source[],
    private readonly placesPtr: number,
    blocks: Blocks,
  ) {
    this.rowsPtr = blocks.alloc(CHUNK_ROWS * 4);
    this.indexesPtr = blocks.alloc(CHUNK_ROWS * 4);
    this.runPtr = blocks.alloc(CHUNK_ROWS * 4);
    this.runsPtr = blocks.alloc((sources.length + 1) * 8);
    this.basesPtr = blocks.alloc((sources.length + 1) * 4);
    this.startsPtr = blocks.allocZeroed((sources.length + 1) * 4);
    const last = sources.at(-1);
    const end = last === undefined ? 0 : last.base + last.run.rowCount;
    kernel.u32.set([...sources.map(({ base }) => base), end], this.basesPtr / 4);
  }

  find(numbersPtr: number, count: number): void {
    const { kernel, sources, rowsPtr, indexesPtr } = this;
    this.numbersPtr = numbersPtr;
    this.count = count;
    const places = [this.placesPtr, this.basesPtr, sources.length, this.runPtr, this.startsPtr] as const;
    const found = kernel.call.newestByRun(numbersPtr, count, ...places, rowsPtr, indexesPtr, this.runsPtr);
    const words = kernel.u32.subarray(this.runsPtr / 4, this.runsPtr / 4 + (found + 1) * 2);
    this.runs = Array.from({ length: found }, (_, i): RunRows => {
      const first = words[i * 2 + 1]!;
      const rowCount = words[i * 2 + 3]! - first;
      return { source: words[i * 2]!, rowCount, rowsPtr: rowsPtr + first * 4, indexesPtr: indexesPtr + first * 4 };
    });
  }
}

/** @throws TsdbError overloaded */
function commonSeries(kernel: Kernel, runs: readonly Run[]): CommonSeries {
  // views of one dictionary taken at different moments share ids: the longest contains all of them
  const views = new Map<number, DictionaryView>();
  for (const { dictionary } of runs) {
    const known = views.get(dictionary.id);
    if (known === undefined || known.seriesCount < dictionary.seriesCount) views.set(dictionary.id, dictionary);
  }
  const [only] = views.values();
  if (only === undefined) return { seriesCount: 0, tags: [], isOrdered: true, mapOf: () => 0, release: () => {} };
  const areSorted = [...views.values()].every(({ tags }) => tags.every(({ isSorted }) => isSorted === true));
  if (views.size === 1) {
    // dictionaries of files are in order, and so are their values
    return { seriesCount: only.seriesCount, tags: only.tags, isOrdered: areSorted, mapOf: () => 0, release: () => {} };
  }
  return areSorted ? unionOf(kernel, [...views.values()]) : numberingOf(kernel, runs, [...views.values()]);
}

function unionOf(kernel: Kernel, views: readonly DictionaryView[]): CommonSeries {
  const union = new SeriesUnion(kernel);
  try {
    for (const view of views) union.add(view);
  } catch (error) {
    union.release();
    throw error;
  }
  const { seriesCount } = union;
  const tags = union.tags.map((tag): TagColumnView => ({ ...tag, isSorted: true }));
  const indexes = new Map(views.map(({ id }, index) => [id, index]));
  return { seriesCount, tags, isOrdered: true, mapOf: (id) => union.map(indexes.get(id)!), release: () => union.release() };
}

/** Only series that have a row get a number. */
function numberingOf(kernel: Kernel, runs: readonly Run[], views: readonly DictionaryView[]): CommonSeries {
  const numbers = new SeriesDictionary(kernel, { lastTimeFloorNs: 0n, reclaimer: RECLAIM_AT_ONCE });
  const blocks = new Blocks(kernel);
  const release = () => {
    numbers.release();
    blocks.release();
  };
  try {
    const maps = new Map<number, number>();
    for (const view of views) {
      const used = blocks.allocZeroed(Math.max(1, view.seriesCount));
      const map = blocks.alloc(Math.max(1, view.seriesCount) * 4);
      for (const run of runs) if (run.dictionary.id === view.id) kernel.call.mergeMarkSeries(run.seriesPtr, 0, run.rowCount, used);
      numbers.importSeries(view, used, map);
      maps.set(view.id, map);
    }
    const { seriesCount, tags } = numbers.view();
    return { seriesCount, tags, isOrdered: false, mapOf: (id) => maps.get(id)!, release };
  } catch (error) {
    release();
    throw error;
  }
}
