// Which rows of a run the table's tombstones hide. Series are found once per dictionary, for all runs that share it.
import type { Run } from "../../model/rows/run.ts";
import type { Tombstone } from "../../model/rows/tombstone.ts";
import type { Kernel } from "../memory/kernel.ts";
import { SeriesFilter } from "../series/series-filter.ts";

/** Hidden rows of one tombstone: those within [minNs, maxNs] of series whose byte at `seriesPtr` is not 0; 0 = of every series. */
export interface Exclusion {
  readonly seriesPtr: number;
  readonly minNs: bigint;
  readonly maxNs: bigint;
}

export class HiddenRows {
  private readonly parts: readonly { readonly tombstone: Tombstone; readonly filter: SeriesFilter }[];

  /** `tombstones` of one table. */
  constructor(kernel: Kernel, tombstones: readonly Tombstone[]) {
    this.parts = tombstones.map((tombstone) => ({ tombstone, filter: new SeriesFilter(kernel, tombstone.tags) }));
  }

  /** "all": every row of the run is hidden by one tombstone. Otherwise what is hidden: nothing when the list is empty. A tombstone counts
   *  for runs of sequences up to its own. What the list points to is borrowed until `release`. @throws TsdbError overloaded */
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
