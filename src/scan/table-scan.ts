// Implements ScanTable on a snapshot's table: returns rows in chunks, or groups of them. Runs in the query worker.
import { Aggregator } from "../kernel/aggregate/aggregate.ts";
import { KernelCombinations } from "../kernel/aggregate/tag-combinations.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { NewestInOrder } from "../kernel/scan/newest-order.ts";
import { openRunCursor } from "../kernel/scan/scan.ts";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import { type AggregateRequest, readsSeriesAndTimes, storedColumnIds, type TimeBins } from "../model/query/aggregate.ts";
import {
  type FieldPredicate,
  type FieldTexts,
  type NewestRequest,
  predicateColumns,
  type ScanRequest,
  type SeriesPredicate,
  type TimeRange,
} from "../model/query/scan.ts";
import type { ScanRecord } from "../model/query/scan-record.ts";
import type { GroupTag, ScanChunk, ScanCursor, ScanTable } from "../model/query/scan-table.ts";
import type { CombinationRequest } from "../model/query/tag-combinations.ts";
import { type ColumnDef, ColumnType } from "../model/rows/column.ts";
import { type Run, wholeRun } from "../model/rows/run.ts";
import { BlockCache } from "../storage/block-cache/block-cache.ts";
import { BlockIndex } from "./block-index.ts";
import { type CountedTags, countedSeries, NumberCursor } from "./counted-series.ts";
import { ScanTally } from "./scan-tally.ts";
import { noSeriesNumbers } from "./series-numbers.ts";
import type { TableSnapshot } from "./snapshot.ts";
import { type KnownOfTable, type PieceLimits, type PieceRequest, TableReader } from "./table-reader.ts";
import { hasVisibleRows, type SeriesParts, type SeriesSet, seriesOfParts, visibleSeries } from "./visible-series.ts";

/** A table of a statement's snapshot. Owned: call `close`. */
export class TableScan implements ScanTable {
  readonly selectsExactly = true;
  readonly tableId: number;
  readonly name: string;
  readonly columns: readonly ColumnDef[];
  readonly rowCountMax: number;
  private readonly cursors = new Set<ScanCursor>();
  private readonly scans: { readonly tally: ScanTally }[] = [];

  constructor(
    private readonly kernel: Kernel,
    private readonly snapshot: TableSnapshot,
    private readonly cache = new BlockCache(kernel, 0),
    private readonly limits: PieceLimits = LIMITS,
    private readonly known: KnownOfTable = { numbers: noSeriesNumbers(kernel), segments: null },
    /** Checked before each run: a scan that finds nothing iterates over all of them without a pause. */
    private readonly signal: Pick<AbortSignal, "aborted"> = { aborted: false },
  ) {
    this.tableId = snapshot.table.id;
    this.name = snapshot.table.name;
    this.columns = snapshot.table.columns;
    this.rowCountMax = sum(snapshot.runs.map((run) => run.rowCount)) + BlockIndex.of(snapshot.blocks).rowCount;
  }

  get times(): TimeRange {
    const { runs, blocks } = this.snapshot;
    const ofBlocks = BlockIndex.of(blocks).times;
    const all = runs.map(({ minTimeNs, maxTimeNs }) => ({ minNs: minTimeNs, maxNs: maxTimeNs }));
    if (ofBlocks !== null) all.push(ofBlocks);
    const [first, ...others] = all;
    if (first === undefined) return { minNs: 0n, maxNs: 0n };
    return others.reduce((a, b) => ({ minNs: a.minNs < b.minNs ? a.minNs : b.minNs, maxNs: a.maxNs > b.maxNs ? a.maxNs : b.maxNs }), first);
  }

  open(request: ScanRequest): ScanCursor {
    const { columns, fields = [], newestOnly = false, withSeries = false } = request;
    const tags = [...request.tags, ...(request.tests ?? [])];
    const ids = new Set([...columns.map(({ id }) => id), ...fields.flatMap(predicateColumns)]);
    const looked = this.columns.filter(({ id }) => ids.has(id));
    const range = this.retained(request.range);
    const pieces = this.pieces({
      range,
      tags,
      fields: looked.filter(isField),
      texts: fields.filter(isTexts),
      // rows are selected by fields, or as the newest ones, series by series
      series: withSeries || fields.length > 0 || newestOnly || looked.some(({ type }) => type === ColumnType.tag),
      time: looked.some(({ type }) => type === ColumnType.time),
      keepsText: false,
      newestOnly: newestOnly && fields.length === 0,
      bySeries: tags.length > 0 || newestOnly,
    });
    return this.track(new PieceCursor(this.kernel, { ...request, range }, pieces, this.signal));
  }

  aggregate(request: AggregateRequest): ScanCursor | null {
    const steps = this.aggregateInSteps(request);
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  }

  *aggregateInSteps(request: AggregateRequest): Generator<void, ScanCursor | null, void> {
    const range = this.retained(request.range);
    const tags = [...request.tags, ...(request.tests ?? [])];
    const { counted } = request;
    if (counted !== undefined) return yield* this.countGroups({ ...request, counted }, range, tags);
    const newest = yield* this.newestGroups(request, range, tags);
    return newest ?? (yield* this.groupsWithin(request, range, tags, 0));
  }

  /** The groups of the latest bins; null if these have too few, which some bins before them may make up for. */
  private *newestGroups(
    request: AggregateRequest,
    range: TimeRange,
    tags: readonly SeriesPredicate[],
  ): Generator<void, ScanCursor | null, void> {
    const { bins, newestGroups: count = 0 } = request;
    if (bins === null || count === 0) return null;
    const all = this.timesWithin(range);
    for (const share of NEWEST_BINS) {
      const minNs = binStart(all.maxNs, bins) - BigInt(count * share - 1) * bins.widthNs;
      // most of the bins: all at once
      if (minNs - all.minNs < (all.maxNs - all.minNs) / 2n) return null;
      const found = yield* this.groupsWithin(request, { minNs, maxNs: range.maxNs }, tags, count);
      if (found !== null) return found;
    }
    return null;
  }

  /** The part of a range from the first to the last time of blocks and runs; its end before its start: there are no rows. */
  private timesWithin(range: TimeRange): TimeRange {
    let [minNs, maxNs] = [range.maxNs, range.minNs];
    for (const part of [...this.snapshot.runs, ...this.snapshot.blocks]) {
      if (part.minTimeNs > range.maxNs || part.maxTimeNs < range.minNs) continue;
      if (part.minTimeNs < minNs) minNs = part.minTimeNs;
      if (part.maxTimeNs > maxNs) maxNs = part.maxTimeNs;
    }
    return { minNs: minNs < range.minNs ? range.minNs : minNs, maxNs: maxNs > range.maxNs ? range.maxNs : maxNs };
  }

  /** The groups of the rows in a range; null if there are too many, a sum overflows, or they are fewer than `groupsMin`. */
  private *groupsWithin(
    request: AggregateRequest,
    range: TimeRange,
    tags: readonly SeriesPredicate[],
    groupsMin: number,
  ): Generator<void, ScanCursor | null, void> {
    const pieces = this.pieces({ range, tags, newestOnly: false, ...this.aggregateNeeds(request) });
    let groups: ScanCursor | null = null;
    try {
      groups = yield* this.group({ ...request, range }, pieces, groupsMin);
      return groups === null ? null : this.track(new GroupsCursor(groups, pieces));
    } finally {
      // refused, failed or abandoned
      if (groups === null) pieces.release();
    }
  }

  *newestInOrder({ columns, keys, ...request }: NewestRequest): Generator<void, ScanCursor | null, void> {
    const range = this.retained(request.range);
    const tags = [...request.tags, ...(request.tests ?? [])];
    const fields = this.columns.filter((column) => isField(column) && columns.some(({ id }) => id === column.id));
    const all = { series: true, time: true, keepsText: true, keepsRows: true, newestOnly: true, bySeries: true };
    const pieces = this.pieces({ range, tags, fields, texts: [], ...all });
    let isOpen = false;
    try {
      const runs: Run[] = [];
      for (const { run } of pieces.all()) {
        throwIfAborted(this.signal);
        runs.push(wholeRun(run));
        if (pieces.keptBytes > LIMITS.aggregateBytesMax) return null;
        yield;
      }
      const rows = yield* this.inOrder(runs, keys);
      if (rows === null) return null;
      const cursor = newestCursor(rows, columns, pieces);
      isOpen = true;
      return this.track(cursor);
    } finally {
      // refused, failed or abandoned
      if (!isOpen) pieces.release();
    }
  }

  /** Returns null if there is no memory for it. */
  private *inOrder(runs: readonly Run[], keys: NewestRequest["keys"]): Generator<void, NewestInOrder | null, void> {
    for (;;) {
      try {
        return yield* NewestInOrder.of(this.kernel, runs, keys);
      } catch (error) {
        if (!(error instanceof TsdbError) || error.kind !== "overloaded") throw error;
        if (!this.cache.makeRoom()) return null;
      }
    }
  }

  *combinations(request: CombinationRequest): Generator<void, KernelCombinations | null, void> {
    const range = this.retained(request.range);
    const found = new KernelCombinations(this.kernel, request.tags, request.where);
    let isKept = false;
    try {
      for (const dictionary of seriesOfParts(this.seriesParts(), this.snapshot, range)) {
        throwIfAborted(this.signal);
        this.cache.withRoom(() => found.learn(dictionary));
        if (found.memoryBytes > LIMITS.aggregateBytesMax) return null;
        yield;
      }
      isKept = true;
      return found;
    } finally {
      if (!isKept) found.release();
    }
  }

  /** The series with rows in a range, as returned by `visibleSeries`. */
  visibleSeries(range: TimeRange): Generator<SeriesSet, void, void> {
    return visibleSeries(this.seriesParts(), this.snapshot, this.retained(range));
  }

  hasRows(range: TimeRange): boolean {
    return hasVisibleRows(this.seriesParts(), this.snapshot, this.retained(range));
  }

  /** Statistics of its scans, in the order in which they were opened. */
  records(): ScanRecord[] {
    return this.scans.map(({ tally }) => tally.record);
  }

  /** Frees everything the scans hold. */
  close(): void {
    for (const cursor of this.cursors) cursor.close();
    this.cursors.clear();
  }

  private *countGroups(wanted: CountedTags, range: TimeRange, tags: readonly SeriesPredicate[]): Generator<void, ScanCursor, void> {
    const { kernel, cache, snapshot, signal } = this;
    const parts = this.seriesParts();
    const counting = { kernel, numbers: this.known.numbers, withRoom: <T>(task: () => T) => cache.withRoom(task) };
    const steps = countedSeries(counting, () => visibleSeries(parts, snapshot, range, tags), wanted);
    try {
      for (;;) {
        throwIfAborted(signal);
        const { done, value } = steps.next();
        if (done) return this.track(new NumberCursor(kernel, value));
        yield;
      }
    } finally {
      // no effect if it has ended
      steps.return(0);
    }
  }

  private aggregateNeeds(request: AggregateRequest): Pick<PieceRequest, "fields" | "texts" | "series" | "time" | "bySeries" | "keepsText"> {
    const { aggregates, fields } = request;
    const ids = new Set([...storedColumnIds(request), ...fields.flatMap(predicateColumns)]);
    const readsAll = readsSeriesAndTimes(request);
    return {
      fields: this.columns.filter((column) => ids.has(column.id) && isField(column)),
      texts: fields.filter(isTexts),
      // for runs whose rows are all wanted
      series: readsAll,
      time: readsAll,
      bySeries: readsAll || fields.length + request.tags.length + (request.tests?.length ?? 0) > 0,
      keepsText: aggregates.some(({ fn, column }) => (fn === "first" || fn === "last") && column?.type === ColumnType.string),
    };
  }

  /** Aggregates all runs; returns null if there are too many groups, or a sum overflows. */
  private *group(request: AggregateRequest, pieces: TableReader, groupsMin: number): Generator<void, ScanCursor | null, void> {
    const { times, rowCountMax } = pieces;
    if (times === null) return groupsMin === 0 ? NO_ROWS : null;
    const options = { memoryBytesMax: LIMITS.aggregateBytesMax, rowCountMax };
    const aggregator = this.cache.withRoom(() => new Aggregator(this.kernel, request, times, options));
    let isFinished = false;
    try {
      for (const piece of pieces.all()) {
        throwIfAborted(this.signal);
        const isFine = aggregator.add(piece);
        if (!isFine || pieces.keptBytes > LIMITS.aggregateBytesMax) return null;
        yield;
      }
      if (groupsMin > 0 && !aggregator.hasGroups(groupsMin)) return null;
      isFinished = true;
      return aggregator.finish();
    } finally {
      if (!isFinished) aggregator.release();
    }
  }

  /** Rows past their retention are treated as non-existent. */
  private retained({ minNs, maxNs }: TimeRange): TimeRange {
    const { retentionMinNs } = this.snapshot;
    return { minNs: minNs < retentionMinNs ? retentionMinNs : minNs, maxNs };
  }

  private seriesParts(): SeriesParts {
    const { kernel, cache, snapshot } = this;
    const tally = new ScanTally(snapshot);
    this.scans.push({ tally });
    return { kernel, cache, tally };
  }

  private pieces(request: PieceRequest): TableReader {
    const { kernel, cache, limits, known } = this;
    const pieces = new TableReader({ kernel, cache, limits, ...known }, this.snapshot, request);
    this.scans.push(pieces);
    return pieces;
  }

  private track(cursor: ScanCursor): ScanCursor {
    this.cursors.add(cursor);
    return cursor;
  }
}

/** How many times as many of the latest bins are read as groups are wanted: first without gaps, then with some. */
const NEWEST_BINS = [1, 16] as const;

function binStart(timeNs: bigint, { originNs, widthNs }: TimeBins): bigint {
  const offset = (timeNs - originNs) % widthNs;
  return timeNs - (offset < 0n ? offset + widthNs : offset);
}

const NO_ROWS: ScanCursor = { next: () => null, close: () => {} };

/** Returns the rows of all runs, one after another. */
class PieceCursor implements ScanCursor {
  private readonly left: ReturnType<TableReader["all"]>;
  private current: ScanCursor | null = null;
  private isDone = false;

  constructor(
    private readonly kernel: Kernel,
    private readonly request: ScanRequest,
    private readonly pieces: TableReader,
    private readonly signal: Pick<AbortSignal, "aborted">,
  ) {
    this.left = pieces.all();
  }

  next(): ScanChunk | null {
    while (!this.isDone) {
      const chunk = this.current?.next() ?? null;
      if (chunk !== null) {
        this.pieces.tally.returned(chunk.rowCount);
        return chunk;
      }
      throwIfAborted(this.signal);
      // close it before its rows are released
      this.current?.close();
      this.current = null;
      const { value: piece, done } = this.left.next();
      if (done) this.isDone = true;
      else this.current = this.pieces.withRoom(() => openRunCursor(this.kernel, piece, this.request));
    }
    return null;
  }

  close(): void {
    this.isDone = true;
    this.current?.close();
    this.current = null;
    this.left.return(undefined);
    this.pieces.release();
  }
}

/** Returns groups, whose text may be in the runs. */
class GroupsCursor implements ScanCursor {
  private isClosed = false;

  constructor(
    private readonly groups: ScanCursor,
    private readonly pieces: TableReader,
  ) {}

  next(): ScanChunk | null {
    const chunk = this.isClosed ? null : this.groups.next();
    if (chunk !== null) this.pieces.tally.returned(chunk.rowCount);
    return chunk;
  }

  groupTags(): readonly GroupTag[] {
    return this.isClosed ? [] : (this.groups.groupTags?.() ?? []);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.groups.close();
    this.pieces.release();
  }
}

/** Returns newest rows, whose values are in the runs. */
class NewestCursor implements ScanCursor {
  private isClosed = false;

  constructor(
    private readonly cursor: ScanCursor,
    private readonly rows: NewestInOrder,
    private readonly pieces: TableReader,
  ) {}

  next(): ScanChunk | null {
    const chunk = this.isClosed ? null : this.cursor.next();
    if (chunk !== null) this.pieces.tally.returned(chunk.rowCount);
    return chunk;
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.cursor.close();
    this.rows.release();
    this.pieces.release();
  }
}

/** Takes over rows and pieces; if it fails, the rows are freed. @throws TsdbError overloaded */
function newestCursor(rows: NewestInOrder, columns: readonly ColumnDef[], pieces: TableReader): NewestCursor {
  try {
    const cursor = pieces.withRoom(() => rows.open(columns));
    return new NewestCursor(cursor, rows, pieces);
  } catch (error) {
    rows.release();
    throw error;
  }
}

function throwIfAborted({ aborted }: Pick<AbortSignal, "aborted">): void {
  if (aborted) throw new TsdbError("cancelled", "the query was cancelled");
}

function isTexts(predicate: FieldPredicate): predicate is FieldTexts {
  return predicate.operator === "in";
}

function isField({ type }: ColumnDef): boolean {
  return type !== ColumnType.tag && type !== ColumnType.time;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
