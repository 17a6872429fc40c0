// Main's side of feeding caches: notices which tables with caches have rows that these have not seen, and sends the cache worker snapshots
// of
// them, soon after the first new body. Caches that are new to the cache worker are filled in the background; a reader of one does not
// wait for
// any of this: a statement brings what it reads up to date itself.

import type { CacheClock } from "../../model/cache-table.ts";
import type { CacheDef, CacheKind } from "../../model/caches.ts";
import { errorOf } from "../../model/errors.ts";
import type { TableDef } from "../../model/rows/column.ts";
import type { TableSnapshot } from "../../scan/snapshot.ts";
import type { Snapshots } from "../../scan/snapshots.ts";
import type { LiveTables } from "../../storage/buffer/live-tables.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import type { CacheTotals, FromQueryWorker } from "../wire/messages.ts";

type Fed = Extract<FromQueryWorker, { type: "fed" }>;

export interface TableFeed {
  readonly table: TableSnapshot;
  readonly caches: readonly CacheDef[];
  readonly clock: CacheClock;
  /** Called by the cache worker when it does not read the table any more, which for one that is lost may be after it has failed. */
  release(): void;
}

/** The worker that keeps the state of caches. */
export interface CacheWorker {
  /** Resolves when the tables are fed. Releases each of them, whatever happens. @throws when the worker is gone, or the server stops */
  feed(feeds: readonly TableFeed[]): Promise<Fed>;
  /** Resolves when the others are gone, and what has expired in those of `expiring`. @throws as feed */
  keep(caches: readonly CacheDef[], expiring: readonly CacheKind[], nowMs: number): Promise<Pick<Fed, "totals">>;
}

export interface CacheFeedsParts {
  readonly cacheWorker: CacheWorker;
  readonly catalog: Pick<Catalog, "caches" | "liveCaches" | "onCacheChanges" | "tableById">;
  readonly tables: Pick<LiveTables, "feedCaches">;
  readonly snapshots: Pick<Snapshots, "takeForCaches">;
  readonly fillsFromHistory: Readonly<Record<CacheKind, boolean>>;
  /** How often what has expired is freed. */
  readonly evictionMs: Readonly<Record<CacheKind, number>>;
  readonly nowMs: () => number;
  readonly onError: (error: Error, table: string) => void;
}

/** A body is fed after at most about this long. */
const FEED_DELAY_MS = 80;
/** Who makes caches makes several: the list goes to the cache worker when they are made. */
const KEEP_DELAY_MS = 20;
/** After a feed that failed, and twice as long after the next one. */
const RETRY_MS = 1000;
const RETRY_MS_MAX = 60_000;
/** Tables with few new rows go together. */
const FEED_TABLES_MAX = 16;

export interface CacheFeedsStats {
  readonly caches: Readonly<Record<CacheKind, number>>;
  readonly totals: Readonly<Record<CacheKind, CacheTotals>>;
  /** Since the start. */
  readonly feeds: number;
  readonly feedSeconds: number;
}

interface Failure {
  /** Arrival of the first body that was to be fed. */
  readonly sinceMs: number;
  readonly retryMs: number;
}

const KINDS: readonly CacheKind[] = ["last", "distinct"];
const NONE: CacheTotals = { bytes: 0, keys: 0, rows: 0 };

/** Keeps the caches up to date: watches tables with caches for new rows and sends the cache worker snapshots, one message at a time. */
export class CacheFeeds {
  /** Tables with new rows, those that wait longest first. */
  private readonly unfed = new Set<number>();
  /** Tables with caches that the cache worker has not met, in order of creation. */
  private readonly unfilled = new Set<number>();
  /** Of tables whose feed failed. */
  private readonly failures = new Map<number, Failure>();
  /** A table whose new caches are being filled; null: none. */
  private filling: number | null = null;
  private known: ReadonlyMap<number, CacheDef> = new Map();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly evictionTimers: readonly ReturnType<typeof setInterval>[];
  private keepTimer: ReturnType<typeof setTimeout> | undefined;
  /** The cache worker's list is not what it should be. */
  private keepSoon = false;
  private isStopped = false;
  private totals: CacheFeedsStats["totals"] = { last: NONE, distinct: NONE };
  private feeds = 0;
  private feedMs = 0;

  constructor(private readonly parts: CacheFeedsParts) {
    parts.catalog.onCacheChanges(() => this.follow());
    this.evictionTimers = KINDS.map((kind) => setInterval(() => this.keep([kind]), parts.evictionMs[kind]));
    this.follow();
  }

  get stats(): CacheFeedsStats {
    const caches = { last: 0, distinct: 0 };
    for (const { kind } of this.known.values()) caches[kind]++;
    return { caches, totals: this.totals, feeds: this.feeds, feedSeconds: this.feedMs / 1000 };
  }

  /** The cache worker is another one, which knows nothing. */
  cacheWorkerReplaced(): void {
    this.known = new Map();
    this.totals = { last: NONE, distinct: NONE };
    this.follow();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    clearTimeout(this.keepTimer);
    for (const timer of this.evictionTimers) clearInterval(timer);
    this.parts.catalog.onCacheChanges(() => {});
    this.parts.tables.feedCaches(new Set(), () => {});
  }

  /** Caches came or went. */
  private follow(): void {
    const { catalog, tables, fillsFromHistory } = this.parts;
    const live = catalog.liveCaches();
    const fresh = live.filter(({ id }) => !this.known.has(id));
    this.keepSoon ||= live.length > 0 || this.known.size > 0;
    this.known = new Map(live.map((cache) => [cache.id, cache]));
    tables.feedCaches(new Set(live.map(({ tableId }) => tableId)), ({ tableId }) => this.noteRows(tableId));
    if (this.keepSoon) this.keepTimer ??= setTimeout(() => this.keepListed(), KEEP_DELAY_MS);
    // what begins empty begins now
    const empty = fresh.filter(({ kind }) => !fillsFromHistory[kind]);
    for (const [tableId, caches] of Map.groupBy(empty, ({ tableId }) => tableId)) void this.send([tableId], () => caches);
    for (const { tableId, kind } of fresh) if (fillsFromHistory[kind]) this.unfilled.add(tableId);
    this.fill();
  }

  private noteRows(tableId: number): void {
    this.unfed.add(tableId);
    this.feedSoon(FEED_DELAY_MS);
  }

  private feedSoon(delayMs: number): void {
    if (this.isStopped || this.timer !== undefined) return;
    this.timer = setTimeout(() => void this.feedUnfed(), delayMs);
  }

  /** One message at a time. What comes meanwhile waits for the next round: the timer counts as set until this one is over. */
  private async feedUnfed(): Promise<void> {
    const due = [...this.unfed].filter((tableId) => tableId !== this.filling);
    for (let at = 0; at < due.length && !this.isStopped; at += FEED_TABLES_MAX) {
      const tableIds = due.slice(at, at + FEED_TABLES_MAX);
      for (const tableId of tableIds) this.unfed.delete(tableId);
      await this.send(tableIds);
    }
    this.timer = undefined;
    if ([...this.unfed].some((tableId) => tableId !== this.filling)) this.feedSoon(FEED_DELAY_MS);
  }

  /** Tables with caches that are new, one at a time: that may take long, and the others' rows go by. */
  private async fill(): Promise<void> {
    if (this.filling !== null) return;
    for (const tableId of this.unfilled) {
      if (this.isStopped) break;
      this.unfilled.delete(tableId);
      this.filling = tableId;
      await this.send([tableId]);
      this.filling = null;
      if (this.unfed.has(tableId)) this.feedSoon(FEED_DELAY_MS);
    }
  }

  private async send(tableIds: readonly number[], cachesOf = (tableId: number) => this.parts.catalog.caches(tableId)): Promise<void> {
    const { cacheWorker, catalog, snapshots, nowMs } = this.parts;
    const startMs = performance.now();
    const taken = tableIds.flatMap((tableId) => {
      const table = catalog.tableById(tableId);
      const caches = cachesOf(tableId).filter(({ id }) => this.known.has(id));
      if (table === undefined || caches.length === 0) return [];
      const { clock, ...pinned } = snapshots.takeForCaches(table);
      return [{ ...pinned, caches, clock: { ...clock, sinceMs: earlier(clock.sinceMs, this.failures.get(tableId)?.sinceMs ?? null) } }];
    });
    if (taken.length === 0) return;
    try {
      const { failed, totals } = await cacheWorker.feed(taken);
      this.totals = totals;
      const errors = new Map(failed.map(({ place, error }) => [place, error]));
      for (const [place, { table, clock }] of taken.entries()) {
        const error = errors.get(place);
        if (error === undefined) this.failures.delete(table.table.id);
        else this.failed(table.table, clock.sinceMs ?? nowMs(), errorOf(error));
      }
    } catch {
      // the cache worker is gone: another one is told of all caches
    }
    this.feeds++;
    this.feedMs += performance.now() - startMs;
  }

  private failed({ id: tableId, name }: TableDef, sinceMs: number, error: Error): void {
    if (this.isStopped) return;
    this.parts.onError(error, name);
    const retryMs = Math.min(RETRY_MS_MAX, (this.failures.get(tableId)?.retryMs ?? RETRY_MS / 2) * 2);
    this.failures.set(tableId, { sinceMs, retryMs });
    setTimeout(() => this.noteRows(tableId), retryMs).unref();
  }

  private keepListed(): void {
    this.keepTimer = undefined;
    void this.keep([]);
  }

  /** Tells the cache worker which caches there are: the others are gone, and what has expired in those of `expiring` can go. */
  private async keep(expiring: readonly CacheKind[]): Promise<void> {
    const caches = [...this.known.values()];
    if (!this.keepSoon && !caches.some(({ kind }) => expiring.includes(kind))) return;
    this.keepSoon = false;
    try {
      this.totals = (await this.parts.cacheWorker.keep(caches, expiring, this.parts.nowMs())).totals;
    } catch {
      // the cache worker is gone: another one is told of all caches
    }
  }
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.min(a, b);
}
