// Reads the rows of a table that a scan may want, as runs in memory: buffer segments and pages of blocks in place, and merges of the times
// that may contain duplicates. One run at a time, so that little memory is held.
import { Blocks } from "../kernel/memory/blocks.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { denseRun } from "../kernel/scan/dense-run.ts";
import { HiddenRows } from "../kernel/scan/hidden-rows.ts";
import type { SelectedRun } from "../kernel/scan/row-selection.ts";
import { mergeRuns, type OwnedRun } from "../kernel/scan/run-merge.ts";
import { type AlonePart, type MergeSlice, planSlices } from "../kernel/scan/slices.ts";
import { SeriesFilter } from "../kernel/series/series-filter.ts";
import type { FieldTexts, TimeRange } from "../model/query/scan.ts";
import { VALUE_BYTES } from "../model/rows/column.ts";
import { I64_MAX, I64_MIN } from "../model/rows/int64.ts";
import { type DictionaryView, type Run, wholeRun } from "../model/rows/run.ts";
import { canHide } from "../model/rows/tombstone.ts";
import type { BlockCache } from "../storage/block-cache/block-cache.ts";
import type { CacheReader, Lease } from "../storage/block-cache/lease.ts";
import { BlockVisit, type RunNeeds } from "./block-visit.ts";
import { IndexLookup } from "./index-lookup.ts";
import { NewestRows } from "./newest-rows.ts";
import { ScanTally } from "./scan-tally.ts";
import type { JoinableSegments, SortedSegments } from "./segments/sorted-segments.ts";
import type { SeriesNumbers } from "./series-numbers.ts";
import type { BlockSnapshot, TableSnapshot } from "./snapshot.ts";
import { byTime, type Part, rowsInMemory, rowsOf, rowsWithin, summaryOf, tableParts } from "./table-parts.ts";

export interface PieceLimits {
  /** Approximate size of one merge. */
  readonly mergeBytesMax: number;
}

/** What earlier statements have learned about a table. */
export interface KnownOfTable {
  readonly numbers: SeriesNumbers;
  /** Null: segments are read in place. */
  readonly segments: SortedSegments | null;
}

export interface PieceParts extends KnownOfTable {
  readonly kernel: Kernel;
  readonly cache: BlockCache;
  readonly limits: PieceLimits;
}

/** With `keepsText`, text stays valid until `release`. */
export interface PieceRequest extends RunNeeds {
  /** With `newestOnly` and `keepsText`: runs have one row of each of their series, and stay valid until `release`. */
  readonly keepsRows?: boolean;
  /** Only the newest row of every series is wanted, and no field is tested. */
  readonly newestOnly: boolean;
  /** The field predicates that a file index can evaluate. */
  readonly texts: readonly FieldTexts[];
  /** Rows are selected or processed series by series: sorted runs are preferred. */
  readonly bySeries: boolean;
  /** If present, parts with later times come first, and a block is skipped if this returns false for its series and end time. If absent,
   *  all parts are returned, in any order. */
  readonly canHold?: (dictionary: DictionaryView, maxNs: bigint) => boolean;
}

type Releasable = { release(): void };

/** The runs of one scan. Used once. Owned: call `release`. */
export class TableReader {
  readonly tally: ScanTally;
  private readonly kernel: Kernel;
  private readonly cache: BlockCache;
  private readonly reader: CacheReader;
  private readonly limits: PieceLimits;
  private readonly numbers: SeriesNumbers;
  private readonly segments: SortedSegments | null;
  /** Upper bound of the rows within the range. */
  readonly rowCountMax: number;
  private readonly parts: readonly Part[];
  /** Segments share dictionaries, and thus its results. */
  private readonly filter: SeriesFilter;
  private readonly hidden: HiddenRows;
  private readonly kept: BlockVisit[] = [];
  private readonly keptRows: OwnedRun[] = [];
  private readonly choice: IndexLookup | null;

  constructor(
    { kernel, cache, limits, numbers, segments }: PieceParts,
    private readonly snapshot: TableSnapshot,
    private readonly request: PieceRequest,
  ) {
    this.kernel = kernel;
    this.cache = cache;
    this.limits = limits;
    this.numbers = numbers;
    this.segments = segments;
    this.tally = new ScanTally(snapshot);
    this.reader = cache.reader(this.tally.record);
    this.choice = IndexLookup.of(snapshot, request, cache.indexes);
    this.parts = tableParts(snapshot, request, segments);
    this.rowCountMax = this.parts.reduce((sum, part) => sum + rowsOf(part).rowCount, 0);
    this.filter = new SeriesFilter(kernel, request.tags);
    this.hidden = new HiddenRows(kernel, snapshot.tombstones);
  }

  /** Contains the times of all returned rows; null if there are none. */
  get times(): TimeRange | null {
    if (this.parts.length === 0) return null;
    let [minNs, maxNs] = [I64_MAX, I64_MIN];
    for (const part of this.parts) {
      const { minTimeNs, maxTimeNs } = rowsOf(part);
      if (minTimeNs < minNs) minNs = minTimeNs;
      if (maxTimeNs > maxNs) maxNs = maxTimeNs;
    }
    const { range } = this.request;
    return { minNs: minNs < range.minNs ? range.minNs : minNs, maxNs: maxNs > range.maxNs ? range.maxNs : maxNs };
  }

  /** Bytes of data kept for its text. */
  get keptBytes(): number {
    return this.kept.reduce((sum, visit) => sum + visit.textBytes, 0);
  }

  /** Returns the runs, once; each is valid until the next one. Field predicates are left to the caller: they apply to merged rows.
   *  @throws TsdbError corrupt_file naming file and offset, io, overloaded */
  *all(): Generator<SelectedRun> {
    const { newestOnly, range, canHold } = this.request;
    const { alone, merges } = planSlices(this.parts.map(summaryOf), range);
    if (newestOnly) {
      yield* this.newest(alone, merges);
      return;
    }
    const ordered = canHold === undefined ? alone : alone.toSorted((a, b) => this.latestFirst(a.index, b.index));
    for (const part of ordered) {
      const source = this.parts[part.index]!;
      if ("block" in source) yield* this.pages(source.block, part);
      else if ("group" in source) yield* this.joined(source.group, part);
      else yield* this.segment(source.run, part);
    }
    for (const slice of canHold === undefined ? merges : merges.toReversed()) yield* this.mergedPieces(slice);
  }

  /** The parts that may contain newest rows of series, latest times first. */
  private *newest(alone: readonly AlonePart[], merges: readonly MergeSlice[]): Generator<SelectedRun> {
    const newest = new NewestRows(this.kernel, { filter: this.filter, hidden: this.hidden }, this.numbers);
    for (const part of alone.toSorted((a, b) => this.latestFirst(a.index, b.index))) {
      const source = this.parts[part.index]!;
      if ("block" in source) yield* this.newestOfBlock(source.block, part, newest);
      else if ("group" in source) yield* this.newestOfGroup(source.group, part, newest);
      else yield* this.newestOfSegment(source.run, part, newest);
    }
    for (const slice of merges) {
      const canHold = slice.members.some((index) => {
        const part = this.parts[index]!;
        return "block" in part ? newest.canHoldBlock(part.block, slice.range.maxNs) : newest.canHold(rowsInMemory(part), slice.range.maxNs);
      });
      if (!canHold) continue;
      if (this.request.keepsRows !== true) yield* this.mergedPieces(slice);
      else for (const selected of this.mergedPieces(slice)) yield* this.taken(this.withOwnSeries(newest.takeMerged(selected)));
    }
  }

  /** Runs an allocation; if the kernel's memory is full, the cache is shrunk and it runs again. */
  withRoom<T>(make: () => T): T {
    return this.cache.withRoom(make);
  }

  /** Frees everything; idempotent. */
  release(): void {
    for (const rows of this.keptRows.splice(0)) rows.release();
    for (const visit of this.kept.splice(0)) visit.release();
    this.choice?.release();
    this.filter.release();
    this.hidden.release();
  }

  private *pages(block: BlockSnapshot, { range, except }: Times): Generator<SelectedRun> {
    const flags = this.choice?.pages(block) ?? null;
    if (flags === "none") {
      this.tally.blockRuledOut(block);
      return;
    }
    if (flags === null && except.length === 0 && this.isOnlyCounted(block, range)) {
      this.tally.counted(block);
      yield { run: { ...block, sorted: true, columns: [] }, selection: "all" };
      return;
    }
    const visit = this.visit(block, this.request);
    try {
      if (this.request.canHold?.(visit.dictionary, block.maxTimeNs) === false) return;
      for (const selected of visit.runs(range, except, flags)) {
        yield selected;
        visit.releasePage();
      }
    } finally {
      this.leave(visit);
    }
  }

  /** True if nothing but the number of its rows is wanted, and all of them are. */
  private isOnlyCounted(block: BlockSnapshot, { minNs, maxNs }: TimeRange): boolean {
    const { series, time, fields, tags, canHold } = this.request;
    if (series || time || fields.length + tags.length > 0 || canHold !== undefined) return false;
    const isWithin = block.minTimeNs >= minNs && block.maxTimeNs <= maxNs;
    return isWithin && !this.snapshot.tombstones.some((tombstone) => canHide(tombstone, block));
  }

  private *segment(run: Run, { range, except }: Times): Generator<SelectedRun> {
    if (!this.takesSegment(run)) return;
    const blocks = new Blocks(this.kernel);
    const lease = this.reader.lease();
    try {
      const { filter, hidden } = this;
      yield { run: this.readable(run, blocks, lease), selection: { range, except, filter, hidden } };
    } finally {
      blocks.release();
      lease.release();
    }
  }

  /** Segments in one sorted order if available, otherwise one after the other. */
  private *joined(group: JoinableSegments, times: Times): Generator<SelectedRun> {
    const lease = this.reader.lease();
    try {
      const run = this.sortedGroup(group, lease);
      if (run === null) for (const member of group.members) yield* this.segment(member, times);
      else yield { run, selection: { range: times.range, except: times.except, filter: this.filter, hidden: this.hidden } };
    } finally {
      lease.release();
    }
  }

  /** Null also if none of its series is wanted. */
  private sortedGroup(group: JoinableSegments, lease: Lease): Run | null {
    if (this.filter.wanted(group.dictionary).none) return null;
    const run = this.segments?.findJoined(group, this.request.fields, lease) ?? null;
    if (run !== null) for (const member of group.members) this.tally.segment(member);
    return run;
  }

  /** A segment with its wanted fields, unpacked; in sorted order if available. */
  private readable(run: Run, blocks: Blocks, lease: Lease): Run {
    const { fields, bySeries } = this.request;
    const sorted = bySeries ? (this.segments?.find(run, fields, lease) ?? null) : null;
    if (sorted !== null) return sorted;
    const isWanted = (columnId: number) => fields.some(({ id }) => id === columnId);
    return this.cache.withRoom(() => denseRun(this.kernel, run, isWanted, blocks));
  }

  /** The last rows of the block's series if they suffice, otherwise the newest ones of its pages. */
  private *newestOfBlock(block: BlockSnapshot, { range, except }: Times, newest: NewestRows): Generator<SelectedRun> {
    const latestNs = range.maxNs < block.maxTimeNs ? range.maxNs : block.maxTimeNs;
    if (!newest.canHoldBlock(block, latestNs) || !this.canHoldSeries(block)) return;
    const visit = this.visit(block, { ...this.request, series: true, time: true });
    try {
      if (!newest.canHoldBlock(block, latestNs, () => visit.dictionary)) return;
      const last = visit.lastRun(range, except);
      if (last !== null) {
        newest.noteBlock(block, wholeRun(last.run));
        if (this.request.keepsRows !== true || last.selection === "all") yield last;
        else yield* this.taken(newest.takeMerged(last));
        return;
      }
      for (const selected of visit.runs(range, except)) {
        yield* this.taken(newest.takeOfBlock(block, selected));
        // the text of copied rows is in their page
        visit.releasePage();
      }
    } finally {
      this.leave(visit);
    }
  }

  private *newestOfSegment(run: Run, { range, except }: Times, newest: NewestRows): Generator<SelectedRun> {
    if (!newest.canHold(run) || !this.takesSegment(run)) return;
    const blocks = new Blocks(this.kernel);
    const lease = this.reader.lease();
    let rows: OwnedRun | null;
    try {
      rows = newest.take(this.readable(run, blocks, lease), range, except);
    } finally {
      blocks.release();
      lease.release();
    }
    yield* this.taken(rows);
  }

  private *newestOfGroup(group: JoinableSegments, times: Times, newest: NewestRows): Generator<SelectedRun> {
    if (!newest.canHold(group)) return;
    const lease = this.reader.lease();
    let rows: OwnedRun | null;
    try {
      const run = this.sortedGroup(group, lease);
      if (run === null) {
        const latestFirst = group.members.toSorted((a, b) => byTime(b.maxTimeNs, a.maxTimeNs));
        for (const member of latestFirst) yield* this.newestOfSegment(member, times, newest);
        return;
      }
      rows = newest.take(run, times.range, times.except);
    } finally {
      lease.release();
    }
    yield* this.taken(rows);
  }

  /** The rows with a dictionary of their own: that of a merge ends with it. */
  private withOwnSeries(run: OwnedRun | null): OwnedRun | null {
    if (run === null) return null;
    try {
      return this.cache.withRoom(() => mergeRuns(this.kernel, [run], this.request.fields, { ownDictionary: true }));
    } finally {
      run.release();
    }
  }

  private *taken(run: OwnedRun | null): Generator<SelectedRun> {
    if (run === null) return;
    try {
      yield { run, selection: "all" };
    } finally {
      if (this.request.keepsRows === true) this.keptRows.push(run);
      else run.release();
    }
  }

  /** Merges the times in which parts may contain duplicates. The result references the text of its inputs. */
  private *merged({ members, range }: MergeSlice): Generator<SelectedRun> {
    const { tags, fields } = this.request;
    const visits: BlockVisit[] = [];
    const owned: Releasable[] = [];
    try {
      const hidden = new HiddenRows(this.kernel, this.snapshot.tombstones);
      owned.push(hidden);
      const runs = members.flatMap((index): Run[] => {
        const part = this.parts[index]!;
        if ("run" in part) return this.takesSegment(part.run) ? [part.run] : [];
        if ("group" in part) return part.group.members.filter((run) => rowsWithin(run, range) > 0 && this.takesSegment(run));
        // a merge needs series and time of every row, and the next slice other rows of the same pages
        const visit = this.visit(part.block, { ...this.request, series: true, time: true, keepsText: true, isOnePass: false });
        visits.push(visit);
        return visit.taken(range, owned);
      });
      if (runs.length === 0) return;
      const run = this.cache.withRoom(() => mergeRuns(this.kernel, runs, fields, { range, tags, hidden }));
      owned.push(run);
      yield { run, selection: "all" };
    } finally {
      for (const each of owned.reverse()) each.release();
      for (const visit of visits) this.leave(visit);
    }
  }

  private *mergedPieces(slice: MergeSlice): Generator<SelectedRun> {
    const left = this.narrowed(slice);
    if (left !== null) for (const piece of this.cutMerge(left)) yield* this.merged(piece);
  }

  /** Removes blocks without a wanted series, and times at which no row with the wanted texts was written; null if nothing remains. */
  private narrowed({ members, range }: MergeSlice): MergeSlice | null {
    const { choice } = this;
    if (choice === null) return { members, range };
    const left = members.filter((index) => {
      const part = this.parts[index]!;
      return !("block" in part) || this.canHoldSeries(part.block);
    });
    const blocks: BlockSnapshot[] = [];
    const runs: TimeRange[] = [];
    for (const index of left) {
      const part = this.parts[index]!;
      if ("block" in part) blocks.push(part.block);
      else runs.push({ minNs: rowsOf(part).minTimeNs, maxNs: rowsOf(part).maxTimeNs });
    }
    const times = left.length === 0 ? null : choice.times(blocks, runs, range, (block, flags) => this.pageTimes(block, flags));
    if (times !== null) {
      const within = left.filter((index) => rowsWithin(rowsOf(this.parts[index]!), times) > 0);
      if (within.length > 0) return { range: times, members: within };
    }
    for (const block of blocks) if (choice.pages(block) === "none") this.tally.blockRuledOut(block);
    return null;
  }

  private pageTimes(block: BlockSnapshot, flags: Uint8Array): TimeRange | null {
    const visit = this.visit(block, this.request);
    try {
      return visit.timesOf(flags);
    } finally {
      visit.release();
    }
  }

  private canHoldSeries(block: BlockSnapshot): boolean {
    if (this.choice === null || this.choice.canHoldSeries(block)) return true;
    this.tally.blockRuledOut(block);
    return false;
  }

  /** Splits a slice into shorter ones of about the rows that one merge may hold, assuming an even distribution over time. */
  private cutMerge({ members, range }: MergeSlice): MergeSlice[] {
    const rowCount = members.reduce((sum, index) => sum + rowsWithin(rowsOf(this.parts[index]!), range), 0);
    const spanNs = range.maxNs - range.minNs + 1n;
    const wanted = BigInt(Math.ceil(rowCount / this.mergeRowsMax));
    const count = wanted < spanNs ? Number(wanted) : Number(spanNs);
    if (count <= 1) return [{ members, range }];
    return Array.from({ length: count }, (_, i) => {
      const minNs = range.minNs + (spanNs * BigInt(i)) / BigInt(count);
      const maxNs = range.minNs + (spanNs * BigInt(i + 1)) / BigInt(count) - 1n;
      const within = members.filter((index) => rowsWithin(rowsOf(this.parts[index]!), { minNs, maxNs }) > 0);
      return { range: { minNs, maxNs }, members: within };
    });
  }

  /** A merge holds its rows twice, with series, time and position in addition to their fields. */
  private get mergeRowsMax(): number {
    const width = this.request.fields.reduce((sum, { type }) => sum + VALUE_BYTES[type], 16);
    return this.limits.mergeBytesMax / (2 * width);
  }

  private visit(block: BlockSnapshot, needs: RunNeeds): BlockVisit {
    const { kernel, cache, reader, tally } = this;
    return new BlockVisit({ kernel, cache, reader, tally, tombstones: this.snapshot.tombstones }, block, needs);
  }

  private leave(visit: BlockVisit): void {
    if (this.request.keepsText) this.kept.push(visit);
    else visit.release();
  }

  private takesSegment(run: Run): boolean {
    if (this.filter.wanted(run.dictionary).none) return false;
    this.tally.segment(run);
    return true;
  }

  private latestFirst(a: number, b: number): number {
    return byTime(rowsOf(this.parts[b]!).maxTimeNs, rowsOf(this.parts[a]!).maxTimeNs);
  }
}

/** The times of a part to read, except those returned by other runs. */
type Times = Pick<AlonePart, "range" | "except">;
