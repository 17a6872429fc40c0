// The distinct combinations of some tags among the series of a table: what depends on tags alone is computed once for each of them.
import type { ColumnDef } from "../rows/column.ts";
import type { MergedGroups } from "./merged-groups.ts";
import type { SeriesPredicate, SeriesTest, TimeRange } from "./scan.ts";
import type { ScanCursor } from "./scan-chunk.ts";

export interface CombinationRequest {
  readonly tags: readonly ColumnDef[];
  /** Contains the times of all rows that the combinations are needed for. */
  readonly range: TimeRange;
  /** Only series that satisfy these are needed. */
  readonly where: readonly SeriesPredicate[];
}

/** Numbered combinations. Owned: call `release` after the last scan that uses them. */
export interface TagCombinations {
  readonly count: number;
  /** Within this process: equal only for equal combinations under equal numbers. Null if that is not known. */
  readonly key: string | null;
  /** A row per combination in order of numbers, with its number as an integer and its tags. */
  rows(): ScanCursor;
  /** @param passes a byte per combination, 1 = passes */
  test(passes: Uint8Array): SeriesTest;
  /** @param first for each combination the lowest number of a combination in the same group */
  merge(first: Uint32Array): MergedGroups;
  release(): void;
}
