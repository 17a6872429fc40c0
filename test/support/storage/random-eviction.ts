// Random eviction of series, as under memory pressure.
import { type EvictionCandidate, SeriesMemory } from "../../../src/storage/buffer/series-memory.ts";

/** At each flush any table may lose its series. */
export class RandomEviction extends SeriesMemory {
  constructor(private readonly below: (n: number) => number) {
    super(Number.MAX_SAFE_INTEGER);
  }

  override get isDue(): boolean {
    return true;
  }

  override choose(tables: Iterable<EvictionCandidate>): Set<number> {
    return new Set(Array.from(tables, ({ tableId }) => tableId).filter(() => this.below(2) === 0));
  }
}
