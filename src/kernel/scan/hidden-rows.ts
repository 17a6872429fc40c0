// Finds the rows of a run that the table's tombstones hide. Series are matched once per dictionary, for all runs that share it.
import type { Run } from "../../model/rows/run.ts";
import type { Tombstone } from "../../model/rows/tombstone.ts";
import type { Kernel } from "../memory/kernel.ts";
import { SeriesFilter } from "../series/series-filter.ts";

/** Rows hidden by one tombstone: those within [minNs, maxNs] of series whose byte at `seriesPtr` is not 0; seriesPtr 0 = every series. */
export interface Exclusion {
  readonly seriesPtr: number;
  readonly minNs: bigint;
  readonly maxNs: bigint;
}

/** The tombstones of one table, evaluated for runs. Owned: call `release`. */
export class HiddenRows {
  private readonly parts: readonly { readonly tombstone: Tombstone; readonly filter: SeriesFilter }[];

  /** @param tombstones those of one table */
  constructor(kernel: Kernel, tombstones: readonly Tombstone[]) {
    this.parts = tombstones.map((tombstone) => ({ tombstone, filter: new SeriesFilter(kernel, tombstone.tags) }));
  }

  /** Returns "all" if one tombstone hides the whole run; otherwise the exclusions that overlap it, possibly none. A tombstone applies to
   *  runs with sequences up to its own. Exclusions are borrowed until `release`. @throws TsdbError overloaded */
  of(run: Pick<Run, "dictionary" | "minTimeNs" | "maxTimeNs" | "seqMax">): "all" | readonly Exclusion[] {
    const exclusions: Exclusion[] = [];
    for (const { tombstone, filter } of this.parts) {
      const { minNs, maxNs } = tombstone.range;
      if (run.seqMax > tombstone.sequence || run.minTimeNs > maxNs || run.maxTimeNs < minNs || minNs > maxNs) continue;
      const { none, wantedPtr } = filter.wanted(run.dictionary);
      if (none) continue;
      if (wantedPtr === 0 && minNs <= run.minTimeNs && maxNs >= run.maxTimeNs) return "all";
      exclusions.push({ seriesPtr: wantedPtr, minNs, maxNs });
    }
    return exclusions;
  }

  release(): void {
    for (const { filter } of this.parts) filter.release();
  }
}
