// Determines what a cache has not seen of its table: rows of segments and blocks beyond a sequence, in order of sequence.
import type { Kernel } from "../kernel/memory/kernel.ts";
import { ALL_TIME } from "../model/query/scan.ts";
import { type Run, wholeRun } from "../model/rows/run.ts";
import { canHide } from "../model/rows/tombstone.ts";
import { BlockVisit } from "../scan/block-visit.ts";
import { ScanTally } from "../scan/scan-tally.ts";
import type { BlockSnapshot, TableSnapshot } from "../scan/snapshot.ts";
import type { BlockCache } from "../storage/block-cache/block-cache.ts";
import type { CacheState } from "./cache-state.ts";

/** Everything seen: all rows up to a sequence, and the number of rows of segments that extend beyond it. */
export interface Mark {
  sequence: number;
  /** Rows seen, by seqMin of the segment. */
  segments: Map<number, number>;
}

export interface UnseenPart {
  readonly rows: Run | BlockSnapshot;
  /** First unseen row of a segment. */
  readonly first: number;
  /** True if an unknown part of the rows may have been seen. */
  readonly isMixed: boolean;
}

/** The mark after seeing the whole snapshot. */
export function markOf(snapshot: TableSnapshot): Mark {
  return { sequence: sequenceOf(snapshot), segments: new Map(snapshot.runs.map(({ seqMin, rowCount }) => [seqMin, rowCount])) };
}

/** The highest sequence of its rows. */
export function sequenceOf({ runs, blocks, sequence }: TableSnapshot): number {
  return sequence ?? [...runs, ...blocks].reduce((max, { seqMax }) => Math.max(max, seqMax), 0);
}

/** The parts beyond the mark, in order of sequence; null if deletions hide some of their rows. */
export function unseenParts({ runs, blocks, tombstones }: TableSnapshot, mark: Mark): UnseenPart[] | null {
  const unseen = [...blocks, ...runs].filter(({ seqMax }) => seqMax > mark.sequence).sort((a, b) => a.seqMin - b.seqMin);
  if (unseen.some((rows) => tombstones.some((tombstone) => canHide(tombstone, rows)))) return null;
  return unseen.flatMap((rows) => {
    const seen = "dictionary" in rows ? mark.segments.get(rows.seqMin) : undefined;
    if (seen === rows.rowCount) return [];
    return [{ rows, first: seen ?? 0, isMixed: seen === undefined && rows.seqMin <= mark.sequence }];
  });
}

/** The part's rows, page by page; each run is valid until the next one. @throws TsdbError corrupt_file, io, overloaded */
export function* runsOf(
  { kernel, cache }: { kernel: Kernel; cache: BlockCache },
  snapshot: TableSnapshot,
  { rows }: UnseenPart,
  { fields }: CacheState,
): Generator<Run, void, void> {
  if ("dictionary" in rows) {
    yield rows;
    return;
  }
  const tally = new ScanTally(snapshot);
  const needs = { range: ALL_TIME, tags: [], fields, series: true, time: true, keepsText: false };
  const visit = new BlockVisit({ kernel, cache, reader: cache.reader(tally.record), tally, tombstones: [] }, rows, needs);
  try {
    for (const { run } of visit.runs(ALL_TIME, [])) {
      yield wholeRun(run);
      visit.releasePage();
    }
  } finally {
    visit.release();
  }
}
