// The cache worker's side of cache updates: applies the table snapshots that main sends.

import type { CacheManager } from "../../caches/cache-manager.ts";
import type { CacheKind } from "../../model/caches.ts";
import { describeError, type ErrorDescription } from "../../model/errors.ts";
import type { TableSnapshot } from "../../scan/snapshot.ts";
import type { CacheTotals, FeedMessage, FromQueryWorker, KeepMessage } from "../wire/messages.ts";

/** Applies snapshots of the main thread to the caches of this worker. Every message is answered with the sizes of all caches. */
export class CacheFeeder {
  private readonly stopped = new AbortController();
  private kinds: ReadonlyMap<number, CacheKind> = new Map();

  constructor(private readonly cacheWorker: Pick<CacheManager, "feed" | "keepOnly" | "evict" | "stats">) {}

  /** Returns the reply. Never throws: failed tables are reported, the others are updated. */
  async feed(id: number, tables: readonly TableSnapshot[], feeds: FeedMessage["feeds"]): Promise<FromQueryWorker> {
    const failed: { place: number; error: ErrorDescription }[] = [];
    for (const [place, { caches, clock }] of feeds.entries()) {
      try {
        await this.cacheWorker.feed(caches, tables[place]!, clock, this.stopped.signal);
      } catch (error) {
        failed.push({ place, error: describeError(error) });
      }
    }
    return { type: "fed", id, failed, totals: this.totals() };
  }

  /** Returns the reply. */
  keep({ id, caches, expiring, nowMs }: KeepMessage): FromQueryWorker {
    this.kinds = new Map(caches.map((cache) => [cache.id, cache.kind]));
    this.cacheWorker.keepOnly(caches);
    this.cacheWorker.evict(expiring, nowMs);
    return { type: "fed", id, failed: [], totals: this.totals() };
  }

  /** Aborts running and later updates. */
  stop(): void {
    this.stopped.abort();
  }

  private totals(): Readonly<Record<CacheKind, CacheTotals>> {
    const totals = { last: { bytes: 0, keys: 0, rows: 0 }, distinct: { bytes: 0, keys: 0, rows: 0 } };
    for (const { cacheId, bytes, keys, rows } of this.cacheWorker.stats()) {
      const total = totals[this.kinds.get(cacheId) ?? "last"];
      total.bytes += bytes;
      total.keys += keys;
      total.rows += rows;
    }
    return totals;
  }
}
