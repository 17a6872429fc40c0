// Merges runs into one: unifies series by their tags, sorts rows by series and time, merges duplicates field by field.
import { assert } from "../../model/assert.ts";
import { ALL_TIME, type SeriesPredicate, type TimeRange } from "../../model/query/scan.ts";
import { RECLAIM_AT_ONCE } from "../../model/reclaimer.ts";
import { type ColumnDef, ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun, DictionaryView, Run } from "../../model/rows/run.ts";
import { Blocks } from "../memory/blocks.ts";
import { nextDictionaryId } from "../memory/dictionary-id.ts";
import type { Kernel } from "../memory/kernel.ts";
import { SeriesDictionary } from "../series/series-dictionary.ts";
import { SeriesFilter } from "../series/series-filter.ts";
import { denseColumn } from "./dense-run.ts";
import type { HiddenRows } from "./hidden-rows.ts";
import { type RowChoice, RowSelection } from "./row-selection.ts";
import { bitmapBytes, timeRange } from "./rows.ts";

/** A run that owns its memory. Its text (tag values without `ownDictionary`, string fields) stays in the runs it was merged from. */
export type OwnedRun = Run & { release(): void };

export interface MergeOptions {
  /** Rows outside are omitted. */
  readonly range?: TimeRange;
  /** Rows of other series are omitted. */
  readonly tags?: readonly SeriesPredicate[];
  /** Rows hidden by deletions are omitted before merging; each run has its own sequence. */
  readonly hidden?: HiddenRows | undefined;
  /** True: the result gets its own dictionary with exactly its series, even if all runs share one. For files. */
  readonly ownDictionary?: boolean;
}

/** Memory for results. */
interface Room {
  alloc(bytes: number): number;
  allocZeroed(bytes: number): number;
}

/** The selected rows of one run. */
interface Input {
  readonly run: Run;
  /** u32 row numbers; 0 = all rows. */
  readonly rowsPtr: number;
  readonly count: number;
  /** Position of its first row among the rows of all inputs. */
  readonly base: number;
}

/** Merges `runs`: of two rows with equal series and time, the present fields of the later one win; later is the run of higher sequence
 *  (for equal sequences, the later one in `runs`), then the later row. The result has those field columns of `columns` that occur, is
 *  sorted, and contains each (series, time) once. It is `unique` if all `runs` were, that is, if none of its rows can equal a row of
 *  lower sequence elsewhere. The runs must outlive it. @throws TsdbError overloaded */
export function mergeRuns(kernel: Kernel, runs: readonly Run[], columns: readonly ColumnDef[], options: MergeOptions = {}): OwnedRun {
  const merge = RunMerge.open(kernel, runs, options);
  if (!(merge instanceof RunMerge)) return { ...merge, columns: project(merge, columns), release: () => {} };
  const blocks = new Blocks(kernel);
  try {
    const merged = columns.flatMap((column) => merge.column(column, blocks) ?? []);
    merge.forgetSources();
    return { ...merge.rows, columns: merged, release: releaseOnce([blocks, merge]) };
  } catch (error) {
    blocks.release();
    merge.release();
    throw error;
  }
}

/** A merge whose row order is computed first and whose columns are merged one at a time, so that a writer needs memory for one column
 *  only. */
export class RunMerge {
  private constructor(
    private readonly kernel: Kernel,
    /** The merged rows without columns. Freed by `release`. */
    readonly rows: Run,
    private readonly inputs: readonly Input[],
    /** u32 per row of all inputs: the row of the merge that it becomes. */
    private readonly placesPtr: number,
    /** Memory of rows, sources and places. */
    private readonly owned: { readonly rows: Blocks; readonly sources: Blocks; readonly series: { release(): void } },
  ) {}

  /** Parameters as for `mergeRuns`; returns the run itself if there is nothing to merge. @throws TsdbError overloaded */
  static open(kernel: Kernel, runs: readonly Run[], options: MergeOptions & { readonly ownDictionary: true }): RunMerge;
  static open(kernel: Kernel, runs: readonly Run[], options: MergeOptions): RunMerge | Run;
  static open(kernel: Kernel, runs: readonly Run[], options: MergeOptions): RunMerge | Run {
    const sources = new Blocks(kernel);
    const rows = new Blocks(kernel);
    const scratch = new Blocks(kernel);
    const filter = new SeriesFilter(kernel, options.tags ?? []);
    try {
      const inputs = takeRows(kernel, runs, { range: options.range ?? ALL_TIME, filter, hidden: options.hidden }, sources);
      if (isDone(inputs, options)) {
        sources.release();
        return inputs[0]!.run;
      }
      const series = unifySeries(kernel, inputs, { own: options.ownDictionary ?? false, blocks: scratch });
      try {
        const placesPtr = sources.alloc(inputs.reduce((sum, { count }) => sum + count, 0) * 4);
        const merged = orderInputs(kernel, inputs, series, { rows, placesPtr, scratch });
        return new RunMerge(kernel, merged, inputs, placesPtr, { rows, sources, series });
      } catch (error) {
        series.release();
        throw error;
      }
    } catch (error) {
      rows.release();
      sources.release();
      throw error;
    } finally {
      scratch.release();
      filter.release();
    }
  }

  /** Merges a field column into `blocks`; returns undefined if no input has it, or it is not a field. @throws TsdbError overloaded */
  column(column: ColumnDef, blocks: Blocks): ColumnRun | undefined {
    return mergeColumn(this.kernel, this.inputs, { column, rowCount: this.rows.rowCount, places: this.placesPtr, blocks });
  }

  /** Frees what merging columns needs; series and times stay. */
  forgetSources(): void {
    this.owned.sources.release();
  }

  release(): void {
    this.owned.sources.release();
    this.owned.rows.release();
    this.owned.series.release();
  }
}

/** Several runs of one dictionary in one order, columns on demand; nothing of it is freed here. The text of columns stays in the runs. */
export class JoinedOrder {
  private constructor(
    private readonly kernel: Kernel,
    /** Without columns. */
    readonly rows: Run,
    private readonly placesPtr: number,
  ) {}

  /** @param runs as for `mergeRuns`, ascending sequences. @throws TsdbError overloaded */
  static of(kernel: Kernel, runs: readonly Run[], room: Room): JoinedOrder {
    const { dictionary } = runs.reduce((longest, run) => (run.dictionary.seriesCount > longest.dictionary.seriesCount ? run : longest));
    assert(
      runs.every((run) => run.dictionary.id === dictionary.id),
      "runs of one dictionary",
    );
    const inputs = wholeInputs(runs);
    const scratch = new Blocks(kernel);
    try {
      const placesPtr = room.alloc(inputs.reduce((sum, { count }) => sum + count, 0) * 4);
      return new JoinedOrder(
        kernel,
        orderInputs(kernel, inputs, { dictionary, maps: new Map() }, { rows: room, placesPtr, scratch }),
        placesPtr,
      );
    } finally {
      scratch.release();
    }
  }

  /** A field of the same runs; undefined if none has it. @throws TsdbError overloaded */
  column(runs: readonly Run[], column: ColumnDef, room: Room): ColumnRun | undefined {
    const { rowCount } = this.rows;
    return mergeColumn(this.kernel, wholeInputs(runs), { column, rowCount, places: this.placesPtr, blocks: room });
  }
}

function wholeInputs(runs: readonly Run[]): Input[] {
  let base = 0;
  return runs.map((run) => {
    const input = { run, rowsPtr: 0, count: run.rowCount, base };
    base += run.rowCount;
    return input;
  });
}

function releaseOnce(owned: { release(): void }[]): () => void {
  let parts = owned;
  return () => {
    for (const part of parts) part.release();
    parts = [];
  };
}

/** True for a single sorted run of which every row is selected. */
function isDone(inputs: readonly Input[], options: MergeOptions): boolean {
  const [only] = inputs;
  return inputs.length === 1 && only!.run.sorted && only!.rowsPtr === 0 && !options.ownDictionary;
}

function project(run: Run, columns: readonly ColumnDef[]): ColumnRun[] {
  return run.columns.filter(({ columnId }) => columns.some(({ id }) => id === columnId));
}

/** The selected rows of each run that has any, ordered by sequence. */
function takeRows(kernel: Kernel, runs: readonly Run[], choice: RowChoice, blocks: Blocks): Input[] {
  const inputs: Input[] = [];
  let base = 0;
  for (const run of runs.toSorted((a, b) => a.seqMin - b.seqMin || a.seqMax - b.seqMax)) {
    const selection = RowSelection.open(kernel, { run, selection: choice });
    if (selection === "none") continue;
    let { rowsPtr, count } = { rowsPtr: 0, count: run.rowCount };
    if (selection !== "all") {
      try {
        rowsPtr = blocks.alloc(run.rowCount * 4);
        count = selection.next(rowsPtr, run.rowCount);
      } finally {
        selection.release();
      }
      if (count === run.rowCount) rowsPtr = 0;
    }
    if (count === 0) continue;
    inputs.push({ run, rowsPtr, count, base });
    base += count;
  }
  return inputs;
}

interface UnifiedSeries {
  readonly dictionary: DictionaryView;
  /** u32 per series of an input's dictionary, by dictionary id; 0 = ids are unchanged. */
  readonly maps: ReadonlyMap<number, number>;
  release(): void;
}

function unifySeries(kernel: Kernel, inputs: readonly Input[], { own, blocks }: { own: boolean; blocks: Blocks }): UnifiedSeries {
  // views of one dictionary taken at different moments share ids: the longest contains all of them
  const views = new Map<number, DictionaryView>();
  for (const { run } of inputs) {
    const known = views.get(run.dictionary.id);
    if (known === undefined || known.seriesCount < run.dictionary.seriesCount) views.set(run.dictionary.id, run.dictionary);
  }
  if (views.size === 0)
    return { dictionary: { id: nextDictionaryId(kernel), seriesCount: 0, tags: [] }, maps: new Map(), release: () => {} };
  if (views.size === 1 && !own) return { dictionary: [...views.values()][0]!, maps: new Map(), release: () => {} };
  const users = Map.groupBy(inputs, ({ run }) => run.dictionary.id);
  const unified = new SeriesDictionary(kernel, { lastTimeFloorNs: 0n, reclaimer: RECLAIM_AT_ONCE });
  try {
    const maps = new Map<number, number>();
    for (const view of views.values()) {
      const used = blocks.allocZeroed(view.seriesCount);
      const map = blocks.alloc(view.seriesCount * 4);
      for (const { run, rowsPtr, count } of users.get(view.id)!) kernel.call.mergeMarkSeries(run.seriesPtr, rowsPtr, count, used);
      unified.importSeries(view, used, map);
      maps.set(view.id, map);
    }
    return { dictionary: unified.view(), maps, release: () => unified.release() };
  } catch (error) {
    unified.release();
    throw error;
  }
}

/** Writes series and times of the merge, and to placesPtr the merged row of each input row. */
function orderInputs(
  kernel: Kernel,
  inputs: readonly Input[],
  { dictionary, maps }: Omit<UnifiedSeries, "release">,
  { rows, placesPtr, scratch }: { rows: Room; placesPtr: number; scratch: Blocks },
): Run {
  const { call } = kernel;
  const { seriesCount } = dictionary;
  const total = inputs.reduce((sum, { count }) => sum + count, 0);
  const timePtr = rows.alloc(total * 8);
  const seriesPtr = rows.alloc(total * 4);
  const numbers = scratch.alloc(total * 4);
  const offsets = scratch.allocZeroed(seriesCount * 4);
  const mapOf = (run: Run) => maps.get(run.dictionary.id) ?? 0;
  for (const { run, rowsPtr, count } of inputs) call.mergeCount(run.seriesPtr, rowsPtr, count, mapOf(run), offsets);
  call.mergeOffsets(offsets, seriesCount);
  for (const { run, rowsPtr, count, base } of inputs) {
    call.mergePlace(run.seriesPtr, run.timePtr, rowsPtr, count, mapOf(run), offsets, base, timePtr, numbers);
  }
  const unsortedMax = call.mergeUnsortedMax(timePtr, offsets, seriesCount);
  if (unsortedMax > 0) {
    call.mergeSort(timePtr, numbers, offsets, seriesCount, scratch.alloc(unsortedMax * 12), unsortedMax);
  }
  const rowCount = call.mergeNumber(timePtr, numbers, offsets, seriesCount, seriesPtr, placesPtr);
  const { minNs, maxNs } = rowCount === 0 ? { minNs: ALL_TIME.maxNs, maxNs: ALL_TIME.minNs } : timeRange(kernel, timePtr, rowCount);
  return {
    rowCount,
    seriesPtr,
    timePtr,
    columns: [],
    dictionary,
    sorted: true,
    unique: inputs.every(({ run }) => run.unique),
    minTimeNs: minNs,
    maxTimeNs: maxNs,
    seqMin: inputs[0]?.run.seqMin ?? 0,
    seqMax: inputs.reduce((max, { run }) => Math.max(max, run.seqMax), 0),
  };
}

function mergeColumn(
  kernel: Kernel,
  inputs: readonly Input[],
  { column, rowCount, places, blocks }: { column: ColumnDef; rowCount: number; places: number; blocks: Room },
): ColumnRun | undefined {
  const { id, type } = column;
  if (type === ColumnType.tag || type === ColumnType.time) return undefined;
  const sources = inputs.map(({ run }) => run.columns.find(({ columnId }) => columnId === id));
  if (sources.every((source) => source === undefined)) return undefined;
  const width = VALUE_BYTES[type];
  const allPresent = sources.every((source) => source?.validityPtr === 0);
  const validityPtr = allPresent ? 0 : blocks.allocZeroed(bitmapBytes(rowCount));
  // absent values are 0, so that equal rows produce identical files
  const dataPtr = allPresent ? blocks.alloc(rowCount * width) : blocks.allocZeroed(rowCount * width);
  const scatter = { 1: kernel.call.scatter1, 8: kernel.call.scatter8, 16: kernel.call.scatter16 }[width];
  assert(scatter !== undefined, `no scatter of ${width} bytes`);
  const unpacked = new Blocks(kernel);
  inputs.forEach(({ run, rowsPtr, count, base }, i) => {
    const found = sources[i];
    if (found === undefined) return;
    assert(found.type === type, `column ${id} has type ${found.type} in a run, ${type} in the table`);
    try {
      const source = denseColumn(kernel, found, run.rowCount, unpacked);
      scatter(source.dataPtr, source.validityPtr, rowsPtr, count, places + base * 4, dataPtr, validityPtr);
    } finally {
      unpacked.release();
    }
  });
  return { columnId: id, type, dataPtr, validityPtr };
}
