// Reads one block for a statement: determines the pages that may contain wanted rows before decoding anything, then returns these as runs
// with the needed columns only.
import { Blocks } from "../kernel/memory/blocks.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { HiddenRows } from "../kernel/scan/hidden-rows.ts";
import { PageParts } from "../kernel/scan/page-parts.ts";
import { RowSelection, type SelectedRun } from "../kernel/scan/row-selection.ts";
import type { OwnedRun } from "../kernel/scan/run-merge.ts";
import { SeriesFilter } from "../kernel/series/series-filter.ts";
import { TsdbError } from "../model/errors.ts";
import type { SeriesPredicate, TimeRange } from "../model/query/scan.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../model/rows/column.ts";
import { type ColumnRun, type DictionaryView, type GatherRows, type PartialRun, type Run, wholeRun } from "../model/rows/run.ts";
import { canHide, type Tombstone } from "../model/rows/tombstone.ts";
import { type BlockPage, type BlockSeries, timesOf } from "../storage/block/data-block.ts";
import type { BlockCache, OpenBlock } from "../storage/block-cache/block-cache.ts";
import type { CacheReader, Lease } from "../storage/block-cache/lease.ts";
import type { ScanTally } from "./scan-tally.ts";
import type { BlockSnapshot } from "./snapshot.ts";
import { takeRows } from "./taken-rows.ts";

/** With fewer rows per series than this, a block is read normally when newest rows are wanted: the last rows alone would be too large a
 *  share of it. */
const LAST_ROWS_SHARE = 4;
/** Of a page of which at most this share of rows is wanted, only these are decoded, unless its columns are in the cache. */
const FEW_ROWS_SHARE = 1 / 4;

/** The parts of a run that a scan needs. */
export interface RunNeeds {
  readonly range: TimeRange;
  readonly tags: readonly SeriesPredicate[];
  /** Field columns that are returned or tested. */
  readonly fields: readonly ColumnDef[];
  /** Series, or times, are needed even for pages whose rows are all wanted. */
  readonly series: boolean;
  readonly time: boolean;
  /** Text is used after the run was released. */
  readonly keepsText: boolean;
  /** Pages are read once and not kept in the cache, where a scan of everything would take the place of others' data. */
  readonly isOnePass?: boolean;
}

export interface VisitParts {
  readonly kernel: Kernel;
  readonly cache: BlockCache;
  /** The cache accounting of the scan. */
  readonly reader: CacheReader;
  readonly tally: ScanTally;
  /** Deletions that may hide rows of the table. */
  readonly tombstones: readonly Tombstone[];
}

/** One block opened for one scan. Owned: call `release`. */
export class BlockVisit {
  /** Filter for tag predicates and deletions, with its results for this block. */
  readonly filter: SeriesFilter;
  readonly hidden: HiddenRows;
  private readonly lease: Lease;
  private readonly pageLease: Lease;
  private readonly textLease: Lease;
  /** Decoded rows of the page, of pages that were handed over, and text. */
  private pageRows: Blocks;
  private readonly keptRows: Blocks[] = [];
  private readonly textRows: Blocks;
  private readonly block: OpenBlock;
  private readonly tombstones: readonly Tombstone[];
  private series: BlockSeries | undefined;

  /** @throws TsdbError corrupt_file, io */
  constructor(
    private readonly parts: VisitParts,
    private readonly meta: BlockSnapshot,
    private readonly needs: RunNeeds,
  ) {
    const { kernel, cache, reader, tally, tombstones } = parts;
    this.lease = reader.lease();
    this.pageLease = needs.isOnePass === true ? reader.passingLease() : reader.lease();
    this.textLease = reader.lease();
    this.pageRows = new Blocks(kernel);
    this.textRows = new Blocks(kernel);
    this.filter = new SeriesFilter(kernel, needs.tags);
    this.tombstones = tombstones.filter((tombstone) => canHide(tombstone, meta));
    this.hidden = new HiddenRows(kernel, this.tombstones);
    try {
      this.block = cache.open(meta, this.lease);
    } catch (error) {
      this.lease.release();
      throw error;
    }
    tally.opened(meta, this.block.pages.length);
  }

  /** Returns a run, and the selection of its rows, per page that may contain wanted rows within the range, except in the times of
   *  `except` and in pages that `flags` exclude; valid until `releasePage` or `release`. If all rows of a page are wanted, series and
   *  times are decoded only if needed. @throws TsdbError corrupt_file naming file and offset, io, overloaded */
  *runs(range: TimeRange, except: readonly TimeRange[], flags: Uint8Array | null = null): Generator<SelectedRun> {
    for (const page of this.choosePages(range, except, flags)) {
      const few = this.few(page, range, except);
      if (few === null) this.releasePage();
      else yield few === "many" ? this.run(page, range, except) : few;
    }
  }

  /** The time range of the flagged pages; null if there are none. */
  timesOf(flags: Uint8Array): TimeRange | null {
    const pages = this.block.pages.filter((_, page) => flags[page] !== 0);
    if (pages.length === 0) return null;
    const { minTimeNs: minNs, maxTimeNs: maxNs } = timesOf(pages);
    return { minNs, maxNs };
  }

  /** The wanted rows within the range. Pages with few of them are copied to runs added to `owned`; other pages stay decoded until
   *  `release`. @throws as runs */
  taken(range: TimeRange, owned: { release(): void }[]): Run[] {
    const runs: Run[] = [];
    for (const selected of this.runs(range, [])) {
      const taken = this.takeFew(selected);
      if (taken === "many") {
        runs.push(wholeRun(selected.run));
        this.keepPage();
        continue;
      }
      if (taken !== null) {
        owned.push(taken);
        runs.push(taken);
      }
      this.releasePage();
    }
    return runs;
  }

  /** The last row of every series; null if a wanted row may be another one, or if few series are wanted. Valid until `release`. @throws
   *  as runs */
  lastRun(range: TimeRange, except: readonly TimeRange[]): SelectedRun | null {
    const { needs, block, meta, lease, tombstones } = this;
    const { minTimeNs, maxTimeNs, unique, seqMin, seqMax, rowCount } = meta;
    const { minNs, maxNs } = range;
    const isCut = except.some((times) => times.minNs <= maxTimeNs && times.maxNs >= minTimeNs);
    if (maxTimeNs > maxNs || isCut || tombstones.length > 0 || rowCount < block.seriesCount * LAST_ROWS_SHARE) return null;
    const series = this.readSeries();
    const { dictionary } = series;
    if (this.filter.wanted(dictionary).count < dictionary.seriesCount) return null;
    const time = block.lastRows(TIME_COLUMN.id, series, lease)!;
    const columns = needs.fields.flatMap((field) => this.checked(block.lastRows(field.id, series, lease), field) ?? []);
    this.parts.tally.lastRows(meta, dictionary.seriesCount);
    const rows = { rowCount: dictionary.seriesCount, seriesPtr: block.lastIds(series, lease), timePtr: time.dataPtr, columns, dictionary };
    const run = { ...rows, sorted: true, unique, minTimeNs, maxTimeNs, seqMin, seqMax };
    const { filter, hidden } = this;
    return minTimeNs >= minNs ? { run, selection: "all" } : { run, selection: { range, filter, hidden } };
  }

  /** The block's series. @throws as runs */
  get dictionary(): DictionaryView {
    return this.readSeries().dictionary;
  }

  /** Bytes of text kept for later use. */
  get textBytes(): number {
    return this.textLease.bytes + this.textRows.bytes;
  }

  /** Releases the previous run. */
  releasePage(): void {
    this.pageLease.release();
    this.pageRows.release();
  }

  /** Idempotent. */
  release(): void {
    this.filter.release();
    this.hidden.release();
    this.pageLease.release();
    this.textLease.release();
    this.pageRows.release();
    for (const rows of this.keptRows.splice(0)) rows.release();
    this.textRows.release();
    this.lease.release();
    this.block.close();
  }

  /** Keeps the current page until `release`. */
  private keepPage(): void {
    this.pageLease.handOver(this.lease);
    this.keptRows.push(this.pageRows);
    this.pageRows = new Blocks(this.parts.kernel);
  }

  private choosePages(range: TimeRange, except: readonly TimeRange[], flags: Uint8Array | null): number[] {
    const { pages } = this.block;
    const isInTime = (page: BlockPage) => mayHold(page, range, except);
    // a block without rows in the range does not read its series
    if (!pages.some(isInTime)) return [];
    if (flags === null) {
      const isWanted = this.wantedPages();
      // series first: times are slow to compare, and a block has thousands of pages
      return numbersOf(pages, (page) => isWanted(page) && isInTime(page));
    }
    const inTime = numbersOf(pages, isInTime);
    const possible = inTime.filter((page) => flags[page] !== 0);
    this.parts.tally.pagesRuledOut(inTime.length - possible.length);
    if (possible.length === 0) return [];
    const isWanted = this.wantedPages();
    return possible.filter((page) => isWanted(pages[page]!));
  }

  /** Tells whether a page has wanted series. */
  private wantedPages(): (page: BlockPage) => boolean {
    if (this.needs.tags.length === 0) return () => true;
    const { none, wantedPtr, span } = this.filter.wanted(this.readSeries().dictionary);
    if (none) return () => false;
    if (wantedPtr === 0) return () => true;
    const { u8 } = this.parts.kernel;
    return (page) => page.lastSeries >= span.first && page.firstSeries < span.end && hasOne(u8, wantedPtr, page);
  }

  private run(page: number, range: TimeRange, except: readonly TimeRange[]): SelectedRun {
    const { needs, block, meta, pageLease: lease } = this;
    const { rowCount, minTimeNs, maxTimeNs } = block.pages[page]!;
    const { unique, seqMin, seqMax } = meta;
    this.parts.tally.page(meta, page, rowCount);
    const isWhole = this.takesWhole(block.pages[page]!, range, except);
    const columns = needs.fields.flatMap((field) => this.column(page, field) ?? []);
    const rows = { rowCount, columns, sorted: true, unique, minTimeNs, maxTimeNs, seqMin, seqMax };
    if (isWhole) return { run: this.withRowReaders(page, rows), selection: "all" };
    const { filter, hidden } = this;
    const { dictionary } = this.readSeries();
    const seriesPtr = block.seriesIds(page, this.readSeries(), lease);
    const timePtr = this.column(page, TIME_COLUMN)!.dataPtr;
    return { run: { ...rows, seriesPtr, dictionary, timePtr }, selection: { range, except, filter, hidden } };
  }

  /** The run with series and times as they are needed: conditions on fields may leave few of its rows. */
  private withRowReaders(page: number, rows: PartialRun): PartialRun {
    const { needs, block, pageLease: lease } = this;
    const series = needs.series ? this.readSeries() : null;
    const run: PartialRun = { ...rows, ...(series === null ? {} : { dictionary: series.dictionary }) };
    if (needs.time) {
      const times = this.column(page, TIME_COLUMN)!;
      defineLate(run, "timePtr", () => times.dataPtr);
      if (times.gather !== undefined) defineOwn(run, "gatherTimes", times.gather);
    }
    if (series !== null) {
      defineLate(run, "seriesPtr", () => block.seriesIds(page, series, lease));
      defineOwn(run, "gatherSeries", (rowsPtr, count, targetPtr) => block.gatherSeries(page, series, { rowsPtr, count, targetPtr }));
    }
    return run;
  }

  /** The wanted rows of a page alone, if they are few and their columns are not in the cache; null if there are none. */
  private few(page: number, range: TimeRange, except: readonly TimeRange[]): SelectedRun | null | "many" {
    const { needs, block, tombstones } = this;
    const { minTimeNs, maxTimeNs } = block.pages[page]!;
    if (tombstones.length > 0 || this.takesWhole(block.pages[page]!, range, except)) return "many";
    if (except.some((times) => times.minNs <= maxTimeNs && times.maxNs >= minTimeNs)) return "many";
    const columnIds = needs.fields.map(({ id }) => id);
    if (needs.time || minTimeNs < range.minNs || maxTimeNs > range.maxNs) columnIds.push(TIME_COLUMN.id);
    if (!block.isRare(page, columnIds)) return "many";
    const { dictionary, offsetsPtr } = this.readSeries();
    const { wantedPtr } = this.filter.wanted(dictionary);
    return this.parts.cache.withRoom(() => {
      const parts = new PageParts(this.parts.kernel, block.pages[page]!, offsetsPtr, wantedPtr);
      try {
        return this.fewOf(page, range, parts);
      } finally {
        parts.release();
      }
    });
  }

  private fewOf(page: number, range: TimeRange, parts: PageParts): SelectedRun | null | "many" {
    const { needs, block, meta, pageRows } = this;
    const { rowCount: allRows, minTimeNs, maxTimeNs } = block.pages[page]!;
    const rowsMax = allRows * FEW_ROWS_SHARE;
    const times = {
      minTimeNs: minTimeNs < range.minNs ? range.minNs : minTimeNs,
      maxTimeNs: maxTimeNs > range.maxNs ? range.maxNs : maxTimeNs,
    };
    let timePtr: number | undefined;
    if (parts.rowCount === 0) return null;
    if (minTimeNs < range.minNs || maxTimeNs > range.maxNs) {
      if (parts.rowCount <= rowsMax) {
        timePtr = this.rows(page, TIME_COLUMN, parts)!.dataPtr;
        parts.cut(timePtr, true, range);
      } else if (!block.cutNarrow(page, parts, range, this.pageLease)) parts.cut(this.column(page, TIME_COLUMN)!.dataPtr, false, range);
    }
    const { rowCount } = parts;
    if (rowCount === 0) return null;
    if (rowCount > rowsMax) return "many";
    this.parts.tally.page(meta, page, rowCount, allRows);
    const columns = needs.fields.flatMap((field) => this.rows(page, field, parts) ?? []);
    const { unique, seqMin, seqMax } = meta;
    const rows = { rowCount, columns, sorted: true, unique, ...times, seqMin, seqMax };
    const series = needs.series ? { seriesPtr: parts.series(pageRows), dictionary: this.readSeries().dictionary } : {};
    if (needs.time) timePtr ??= this.rows(page, TIME_COLUMN, parts)!.dataPtr;
    return { run: { ...rows, ...series, ...(needs.time ? { timePtr } : {}) }, selection: "all" };
  }

  /** True if no row of the page is excluded by its series or time. */
  private takesWhole({ minTimeNs, maxTimeNs }: BlockPage, { minNs, maxNs }: TimeRange, except: readonly TimeRange[]): boolean {
    if (minTimeNs < minNs || maxTimeNs > maxNs || except.some((times) => times.minNs <= maxTimeNs && times.maxNs >= minTimeNs))
      return false;
    if (this.needs.tags.length > 0 && this.filter.wanted(this.readSeries().dictionary).wantedPtr !== 0) return false;
    return this.tombstones.length === 0;
  }

  private takeFew(selected: SelectedRun): OwnedRun | "many" | null {
    const { kernel, cache } = this.parts;
    const selection = RowSelection.open(kernel, selected);
    if (selection === "none") return null;
    if (selection === "all") return "many";
    const run = wholeRun(selected.run);
    const scratch = new Blocks(kernel);
    try {
      const rowsPtr = scratch.alloc(run.rowCount * 4);
      const count = selection.next(rowsPtr, run.rowCount);
      if (count === 0) return null;
      return count > run.rowCount / 2 ? "many" : cache.withRoom(() => takeRows(kernel, run, { rowsPtr, count }));
    } finally {
      scratch.release();
      selection.release();
    }
  }

  private readSeries(): BlockSeries {
    this.series ??= this.block.series(this.lease);
    return this.series;
  }

  private column(page: number, field: ColumnDef): ColumnRun | null {
    const isKept = this.needs.keepsText && field.type === ColumnType.string;
    return this.checked(this.block.column(page, field.id, isKept ? this.textLease : this.pageLease), field);
  }

  private rows(page: number, field: ColumnDef, parts: PageParts): ColumnRun | null {
    const isKept = this.needs.keepsText && field.type === ColumnType.string;
    const [memory, lease] = isKept ? [this.textRows, this.textLease] : [this.pageRows, this.pageLease];
    return this.checked(this.block.rows(page, field.id, parts, memory, lease), field);
  }

  private checked(column: ColumnRun | null, { id, type }: ColumnDef): ColumnRun | null {
    if (column === null || column.type === type) return column;
    const { source } = this.meta;
    const file = source.kind === "path" ? source.path : "object in memory";
    throw new TsdbError("corrupt_file", `cannot read ${file}: column ${id} has type ${column.type}, the table's has ${type}`, { file });
  }
}

/** Adds a pointer that is computed when it is read for the first time. */
function defineLate(run: PartialRun, key: "seriesPtr" | "timePtr", compute: () => number): void {
  let value = 0;
  const get = () => {
    if (value === 0) value = compute();
    return value;
  };
  Object.defineProperty(run, key, { get, enumerable: true });
}

/** Adds what a run of some of its rows must not have: copies of its properties are without it. */
function defineOwn(run: PartialRun, key: "gatherSeries" | "gatherTimes", value: GatherRows): void {
  Object.defineProperty(run, key, { value, enumerable: false });
}

/** False: no row of the page is within the range, or all are in times of `except`. */
function mayHold({ minTimeNs, maxTimeNs }: BlockPage, { minNs, maxNs }: TimeRange, except: readonly TimeRange[]): boolean {
  if (minTimeNs > maxNs || maxTimeNs < minNs) return false;
  return !except.some((times) => times.minNs <= minTimeNs && times.maxNs >= maxTimeNs);
}

function numbersOf(pages: readonly BlockPage[], isChosen: (page: BlockPage) => boolean): number[] {
  const chosen: number[] = [];
  for (let number = 0; number < pages.length; number++) if (isChosen(pages[number]!)) chosen.push(number);
  return chosen;
}

/** A view costs as much as looking at so many bytes. */
const VIEW_BYTES = 32;

/** True if a series of the page is wanted. @param wantedPtr a byte per series */
function hasOne(u8: Uint8Array, wantedPtr: number, { firstSeries, lastSeries }: BlockPage): boolean {
  if (lastSeries - firstSeries >= VIEW_BYTES) return u8.subarray(wantedPtr + firstSeries, wantedPtr + lastSeries + 1).includes(1);
  for (let series = firstSeries; series <= lastSeries; series++) if (u8[wantedPtr + series] === 1) return true;
  return false;
}
