// The parts of a table that a scan reads: blocks, and rows in memory.
import type { TimeRange } from "../model/query/scan.ts";
import type { Run } from "../model/rows/run.ts";
import { BlockIndex } from "./block-index.ts";
import type { JoinableSegments, SortedSegments } from "./segments/sorted-segments.ts";
import type { BlockSnapshot, TableSnapshot } from "./snapshot.ts";

/** Rows in memory, those of several segments, or a block that is read on demand. */
export type Part = { readonly run: Run } | { readonly group: JoinableSegments } | { readonly block: BlockSnapshot };

/** Those that may have rows within the range. @param bySeries scans prefer sorted rows: groups of segments are in the place of their
 *  members */
export function tableParts(
  { blocks, runs, tombstones }: TableSnapshot,
  { range, bySeries }: { readonly range: TimeRange; readonly bySeries: boolean },
  segments: SortedSegments | null,
): Part[] {
  const { minNs, maxNs } = range;
  // a deletion hides rows of a whole run, or none
  const inMemory = segments === null || !bySeries || tombstones.length > 0 ? runs : segments.joinable(runs);
  return [
    ...BlockIndex.of(blocks)
      .within(range)
      .map((block) => ({ block })),
    ...inMemory
      .filter((rows) => minNs <= maxNs && rows.minTimeNs <= maxNs && rows.maxTimeNs >= minNs)
      .map((rows) => ("members" in rows ? { group: rows } : { run: rows })),
  ];
}

export type Rows = Pick<Run, "rowCount" | "minTimeNs" | "maxTimeNs" | "unique" | "overlaps">;

/** What is known of a part without reading it. */
export function rowsOf(part: Part): Rows {
  return "block" in part ? part.block : rowsInMemory(part);
}

/** The same of rows in memory. */
export function rowsInMemory(part: Exclude<Part, { readonly block: BlockSnapshot }>): Run | JoinableSegments {
  return "run" in part ? part.run : part.group;
}

/** Ascending. */
export function byTime(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What a plan of slices depends on. */
export function summaryOf(part: Part) {
  const { minTimeNs, maxTimeNs, unique, overlaps } = rowsOf(part);
  return { minTimeNs, maxTimeNs, unique, overlaps, sorted: "block" in part || rowsInMemory(part).sorted };
}

/** Estimated rows in the range, assuming an even distribution over time; 0 only if there can be none. */
export function rowsWithin({ rowCount, minTimeNs, maxTimeNs }: Rows, { minNs, maxNs }: TimeRange): number {
  const from = minTimeNs > minNs ? minTimeNs : minNs;
  const to = maxTimeNs < maxNs ? maxTimeNs : maxNs;
  if (from > to) return 0;
  return Math.max(1, (rowCount * Number(to - from + 1n)) / Number(maxTimeNs - minTimeNs + 1n));
}
