// Determines the series of a table with a visible row in a time range. Dictionaries decide wherever possible: if all rows of a block are
// within the range and none are hidden, its dictionary has exactly the wanted series, and no page is read. In the query worker.

import type { Kernel } from "../kernel/memory/kernel.ts";
import { HiddenRows } from "../kernel/scan/hidden-rows.ts";
import { RowSelection } from "../kernel/scan/row-selection.ts";
import { SeriesFilter } from "../kernel/series/series-filter.ts";
import { assert } from "../model/assert.ts";
import type { SeriesPredicate, TimeRange } from "../model/query/scan.ts";
import type { DictionaryView, PartialRun, Run } from "../model/rows/run.ts";
import { canHide } from "../model/rows/tombstone.ts";
import type { BlockCache } from "../storage/block-cache/block-cache.ts";
import type { CacheReader } from "../storage/block-cache/lease.ts";
import { BlockIndex } from "./block-index.ts";
import { BlockVisit } from "./block-visit.ts";
import type { ScanTally } from "./scan-tally.ts";
import type { BlockSnapshot, TableSnapshot } from "./snapshot.ts";

/** Series that have rows. Other sets may contain the same series under other ids. */
export interface SeriesSet {
  /** Borrowed until the next set is requested. */
  readonly dictionary: DictionaryView;
  /** A byte per series, 1 = has rows; null: all have. */
  readonly marks: Uint8Array | null;
  /** The block that the dictionary is of; null: it is in memory. */
  readonly block: BlockSnapshot | null;
}

export interface SeriesParts {
  readonly kernel: Kernel;
  readonly cache: BlockCache;
  readonly tally: ScanTally;
}

/** Row numbers that a selection writes at a time. */
const ROWS_AT_ONCE = 16_384;

/** Returns sets of at least one series, of those that satisfy `tags`. A caller that abandons it calls `return`. @throws TsdbError
 *  corrupt_file, io, overloaded */
export function* visibleSeries(
  parts: SeriesParts,
  snapshot: TableSnapshot,
  range: TimeRange,
  tags: readonly SeriesPredicate[] = [],
): Generator<SeriesSet, void, void> {
  const { kernel, cache, tally } = parts;
  const filter = new SeriesFilter(kernel, tags);
  const hidden = new HiddenRows(kernel, snapshot.tombstones);
  try {
    const within = (run: Run) => run.rowCount > 0 && run.minTimeNs <= range.maxNs && run.maxTimeNs >= range.minNs;
    for (const runs of Map.groupBy(snapshot.runs.filter(within), ({ dictionary }) => dictionary.id).values()) {
      const set = markSegments(kernel, filter, runs, (run) => {
        tally.segment(run);
        return RowSelection.open(kernel, { run, selection: { range, filter, hidden } });
      });
      if (set !== null) yield set;
    }
    const reader = cache.reader(tally.record);
    for (const block of BlockIndex.of(snapshot.blocks).within(range)) yield* seriesOfBlock(parts, reader, snapshot, block, { range, tags });
  } finally {
    filter.release();
    hidden.release();
  }
}

/** The dictionaries of all parts that may have rows in the range, each valid until the next one is requested. @throws as visibleSeries */
export function* seriesOfParts(parts: SeriesParts, snapshot: TableSnapshot, range: TimeRange): Generator<DictionaryView, void, void> {
  const { kernel, cache, tally } = parts;
  const { minNs, maxNs } = range;
  const seen = new Set<DictionaryView>();
  for (const { rowCount, minTimeNs, maxTimeNs, dictionary } of snapshot.runs) {
    if (rowCount === 0 || minNs > maxNs || minTimeNs > maxNs || maxTimeNs < minNs || seen.has(dictionary)) continue;
    seen.add(dictionary);
    yield dictionary;
  }
  const reader = cache.reader(tally.record);
  for (const block of BlockIndex.of(snapshot.blocks).within(range)) {
    const needs = { range, tags: [], fields: [], series: true, time: false, keepsText: false };
    const visit = new BlockVisit({ kernel, cache, reader, tally, tombstones: [] }, block, needs);
    try {
      yield visit.dictionary;
    } finally {
      visit.release();
    }
  }
}

/** True if a visible row is within the range. */
export function hasVisibleRows(parts: SeriesParts, snapshot: TableSnapshot, range: TimeRange): boolean {
  // the newest row of a part without hidden rows
  const isSeen = (rows: Pick<Run, "rowCount" | "minTimeNs" | "maxTimeNs" | "seqMin" | "seqMax">) =>
    rows.rowCount > 0 &&
    rows.maxTimeNs >= range.minNs &&
    rows.maxTimeNs <= range.maxNs &&
    !snapshot.tombstones.some((tombstone) => canHide(tombstone, rows));
  if (snapshot.runs.some(isSeen) || snapshot.blocks.some(isSeen)) return true;
  for (const _set of visibleSeries(parts, snapshot, range)) return true;
  return false;
}

/** For runs that share series ids; uses the dictionary view that contains all of them. Runs are left out once all series are marked. */
function markSegments(
  kernel: Kernel,
  filter: SeriesFilter,
  runs: readonly Run[],
  select: (run: Run) => RowSelection | "none" | "all",
): SeriesSet | null {
  const dictionary = runs.map((run) => run.dictionary).reduce((a, b) => (a.seriesCount >= b.seriesCount ? a : b));
  const { count, none } = filter.wanted(dictionary);
  if (none) return null;
  const marks = new Uint8Array(dictionary.seriesCount);
  let left = count;
  for (const run of runs) {
    left -= markRows(kernel, run, select(run), marks);
    if (left === 0) break;
  }
  return left === count ? null : { dictionary, marks, block: null };
}

/** Marks the series of the selected rows; returns how many were not marked before. */
function markRows(
  kernel: Kernel,
  { seriesPtr, rowCount }: PartialRun,
  selection: RowSelection | "none" | "all",
  marks: Uint8Array,
): number {
  if (selection === "none") return 0;
  assert(seriesPtr !== undefined, "series are marked by those of the rows");
  const ids = kernel.u32.subarray(seriesPtr / 4, seriesPtr / 4 + rowCount);
  let marked = 0;
  if (selection === "all") {
    for (let row = 0; row < ids.length; row++) {
      const id = ids[row]!;
      marked += 1 - marks[id]!;
      marks[id] = 1;
    }
    return marked;
  }
  const rowsPtr = kernel.heap.alloc(ROWS_AT_ONCE * 4);
  try {
    for (let count = ROWS_AT_ONCE; count === ROWS_AT_ONCE; ) {
      count = selection.next(rowsPtr, ROWS_AT_ONCE);
      const rows = kernel.u32.subarray(rowsPtr / 4, rowsPtr / 4 + count);
      for (let i = 0; i < count; i++) {
        const id = ids[rows[i]!]!;
        marked += 1 - marks[id]!;
        marks[id] = 1;
      }
    }
  } finally {
    kernel.heap.free(rowsPtr, ROWS_AT_ONCE * 4);
    selection.release();
  }
  return marked;
}

function* seriesOfBlock(
  { kernel, cache, tally }: SeriesParts,
  reader: CacheReader,
  { tombstones }: TableSnapshot,
  block: BlockSnapshot,
  { range, tags }: { readonly range: TimeRange; readonly tags: readonly SeriesPredicate[] },
): Generator<SeriesSet, void, void> {
  const needs = { range, tags, fields: [], series: true, time: false, keepsText: false };
  const visit = new BlockVisit({ kernel, cache, reader, tally, tombstones }, block, needs);
  try {
    const { dictionary } = visit;
    const { none, wantedPtr, count } = visit.filter.wanted(dictionary);
    if (none || dictionary.seriesCount === 0) return;
    const isWhole = block.minTimeNs >= range.minNs && block.maxTimeNs <= range.maxNs;
    if (isWhole && !tombstones.some((tombstone) => canHide(tombstone, block))) {
      const wanted = wantedPtr === 0 ? null : kernel.u8.slice(wantedPtr, wantedPtr + dictionary.seriesCount);
      yield { dictionary, marks: wanted, block };
      return;
    }
    const marks = new Uint8Array(dictionary.seriesCount);
    let left = count;
    // a range that ends behind the block has the last row of each series that it has rows of
    const last = visit.lastRun(range, []);
    for (const selected of last === null ? visit.runs(range, []) : [last]) {
      left -= markRows(kernel, selected.run, RowSelection.open(kernel, selected), marks);
      visit.releasePage();
      if (left === 0) break;
    }
    if (left < count) yield { dictionary, marks, block };
  } finally {
    visit.release();
  }
}
