// A block as a statement reads it: which of its pages can hold wanted rows, found before anything of them is decoded, and those as runs,
// with no more columns than are looked at.
import { HiddenRows } from "../kernel/hidden-rows.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { SeriesFilter } from "../kernel/series-filter.ts";
import { type ColumnDef, TIME_COLUMN } from "../model/column.ts";
import { TsdbError } from "../model/errors.ts";
import type { DictionaryView, Run } from "../model/run.ts";
import type { TagPredicate, TimeRange } from "../model/scan.ts";
import { canHide, type Tombstone } from "../model/tombstone.ts";
import type { BlockCache, Lease, OpenBlock } from "../store/block-cache.ts";
import type { BlockPage, BlockSeries } from "../store/data-block.ts";
import type { ScanTally } from "./scan-tally.ts";
import type { BlockSnapshot } from "./snapshot.ts";

/** What a scan wants of each run. */
export interface RunNeeds {
  readonly range: TimeRange;
  readonly tags: readonly TagPredicate[];
  /** Field columns that are handed on or tested. */
  readonly fields: readonly ColumnDef[];
  /** The rows' series, or times, are looked at whichever rows are chosen. */
  readonly series: boolean;
  readonly time: boolean;
}

export interface VisitParts {
  readonly kernel: Kernel;
  readonly cache: BlockCache;
  readonly tally: ScanTally;
  /** Deletions that may hide rows of the table. */
  readonly tombstones: readonly Tombstone[];
}

export class BlockVisit {
  /** Of the tag predicates and deletions, with what was found for this block. */
  readonly filter: SeriesFilter;
  readonly hidden: HiddenRows;
  private readonly lease: Lease;
  private readonly pageLease: Lease;
  private readonly block: OpenBlock;
  private readonly tombstones: readonly Tombstone[];
  private series: BlockSeries | undefined;
  private readonly emptyDictionary: DictionaryView;

  /** @throws TsdbError corrupt_file, io */
  constructor(
    private readonly parts: VisitParts,
    private readonly meta: BlockSnapshot,
    private readonly needs: RunNeeds,
  ) {
    const { kernel, cache, tally, tombstones } = parts;
    this.lease = cache.lease(tally.record);
    this.pageLease = cache.lease(tally.record);
    this.filter = new SeriesFilter(kernel, needs.tags);
    this.tombstones = tombstones.filter((tombstone) => canHide(tombstone, meta));
    this.hidden = new HiddenRows(kernel, this.tombstones);
    this.emptyDictionary = { id: -1, seriesCount: 0, tags: [] };
    try {
      this.block = cache.open(meta, this.lease);
    } catch (error) {
      this.lease.release();
      throw error;
    }
    tally.opened(meta, this.block.pages.length);
  }

  /** A run per page that can hold wanted rows within the range; valid until `releasePage`, or `release`.
   *  @throws TsdbError corrupt_file naming file and offset, io, overloaded */
  *runs(range: TimeRange): Generator<Run> {
    for (const page of this.choosePages(range)) yield this.run(page, range);
  }

  /** What is held for the runs so far. */
  get bytes(): number {
    return this.pageLease.bytes;
  }

  /** Lets go of the runs so far. */
  releasePage(): void {
    this.pageLease.release();
  }

  /** Idempotent. */
  release(): void {
    this.filter.release();
    this.hidden.release();
    this.pageLease.release();
    this.lease.release();
    this.block.close();
  }

  private choosePages({ minNs, maxNs }: TimeRange): number[] {
    const { pages } = this.block;
    const inTime = pages.flatMap(({ minTimeNs, maxTimeNs }, page) => (minTimeNs <= maxNs && maxTimeNs >= minNs ? [page] : []));
    if (inTime.length === 0 || this.needs.tags.length === 0) return inTime;
    const { none, wantedPtr } = this.filter.wanted(this.readSeries().dictionary);
    if (none) return [];
    if (wantedPtr === 0) return inTime;
    const { u8 } = this.parts.kernel;
    return inTime.filter((page) => {
      const { firstSeries, lastSeries } = pages[page]!;
      return u8.subarray(wantedPtr + firstSeries, wantedPtr + lastSeries + 1).includes(1);
    });
  }

  private run(page: number, range: TimeRange): Run {
    const { needs, block, meta, pageLease: lease } = this;
    const { rowCount, minTimeNs, maxTimeNs } = block.pages[page]!;
    const { unique, seqMin, seqMax } = meta;
    this.parts.tally.page(meta, page, rowCount);
    const isWhole = this.takesWhole(block.pages[page]!, range);
    const dictionary = isWhole && !needs.series ? this.emptyDictionary : this.readSeries().dictionary;
    const seriesPtr = isWhole && !needs.series ? 0 : block.seriesIds(page, this.readSeries(), lease);
    const timePtr = isWhole && !needs.time ? 0 : this.column(page, TIME_COLUMN, lease)!.dataPtr;
    const columns = needs.fields.flatMap((field) => this.column(page, field, lease) ?? []);
    return { rowCount, seriesPtr, timePtr, columns, dictionary, sorted: true, unique, minTimeNs, maxTimeNs, seqMin, seqMax };
  }

  /** No row of the page is left out because of its series or time. */
  private takesWhole({ minTimeNs, maxTimeNs }: BlockPage, { minNs, maxNs }: TimeRange): boolean {
    if (minTimeNs < minNs || maxTimeNs > maxNs) return false;
    if (this.needs.tags.length > 0 && this.filter.wanted(this.readSeries().dictionary).wantedPtr !== 0) return false;
    return this.tombstones.length === 0;
  }

  private readSeries(): BlockSeries {
    this.series ??= this.block.series(this.lease);
    return this.series;
  }

  private column(page: number, { id, type }: ColumnDef, lease: Lease) {
    const column = this.block.column(page, id, lease);
    if (column !== null && column.type !== type) {
      const { source } = this.meta;
      const file = source.kind === "path" ? source.path : "object in memory";
      throw new TsdbError("corrupt_file", `cannot read ${file}: column ${id} has type ${column.type}, the table's has ${type}`, { file });
    }
    return column;
  }
}
