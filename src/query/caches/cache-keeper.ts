// The state of last-value and distinct-value caches: kept in one query worker, fed from snapshots of their tables.
import type { Kernel } from "../../kernel/kernel.ts";
import type { CacheDef } from "../../model/caches.ts";
import type { BlockCache } from "../../store/block-cache.ts";
import type { KnownOfTable } from "../pieces.ts";
import type { TableSnapshot } from "../snapshot.ts";
import type { CacheClock, CacheStats, CacheTable } from "./cache-table.ts";

export interface CacheKeeperParts {
  readonly kernel: Kernel;
  readonly cache: BlockCache;
  readonly known: (tableId: number) => KnownOfTable;
  /** Of all caches together. */
  readonly bytesMax: number;
  /** Whether caches that are new here begin with what their table has. */
  readonly fillsFromHistory: { readonly last: boolean; readonly distinct: boolean };
}

export interface CacheKeeper {
  /** Brings caches of the snapshot's table up to date with it, pausing every few milliseconds. The snapshot stays pinned until it settles.
   *  Calls for one cache take turns. A cache that does not fit is let go of: the next `open` says so. @throws TsdbError cancelled,
   *  corrupt_file, io, overloaded */
  feed(caches: readonly CacheDef[], snapshot: TableSnapshot, clock: CacheClock, signal?: AbortSignal): Promise<void>;
  /** The cache's rows, up to date with the snapshot (which stays pinned until it settles) or with a later one that it has seen.
   *  @throws TsdbError query_limit (memory), cancelled, corrupt_file, io, overloaded */
  open(cache: CacheDef, snapshot: TableSnapshot, clock: CacheClock, signal: AbortSignal): Promise<CacheTable>;
  /** The others are freed. */
  keepOnly(caches: readonly CacheDef[]): void;
  /** Frees what has expired. */
  evict(nowMs: number): void;
  stats(): CacheStats[];
  /** Whether an open cache table of this cache has, for certain: of every series that has rows at or after `minNs` the newest one
   *  (a last-value cache), all values of rows at or after `minNs` (a distinct-value cache; `minNs` null: of all rows). */
  covers(cache: CacheDef, snapshot: TableSnapshot, nowMs: number, minNs: bigint | null): boolean;
}
