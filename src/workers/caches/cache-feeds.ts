// Main's side of cache updates: detects tables with caches that have unseen rows, and sends snapshots of them to the cache worker, soon
// after the first new body. New caches are filled in the background. Readers do not wait for any of this: a statement updates the caches
// that it reads itself.

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
  /** Called when the cache worker no longer reads the table; if the worker was lost, possibly after the call has failed. */
  release(): void;
}

/** The worker that holds the state of caches. */
export interface CacheWorker {
  /** Resolves when the tables are applied. Releases each of them in any case. @throws if the worker is lost, or the server stops */
  feed(feeds: readonly TableFeed[]): Promise<Fed>;
  /** Resolves when all other caches are removed, and expired rows in those of `expiring`. @throws as feed */
  keep(caches: readonly CacheDef[], expiring: readonly CacheKind[], nowMs: number): Promise<Pick<Fed, "totals">>;
}

export interface CacheFeedsParts {
  readonly cacheWorker: CacheWorker;
  readonly catalog: Pick<Catalog, "caches" | "liveCaches" | "onCacheChanges" | "tableById">;
  readonly tables: Pick<LiveTables, "feedCaches">;
  readonly snapshots: Pick<Snapshots, "takeForCaches">;
  readonly fillsFromHistory: Readonly<Record<CacheKind, boolean>>;
  /** Interval at which memory of expired rows is freed. */
  readonly evictionMs: Readonly<Record<CacheKind, number>>;
  readonly nowMs: () => number;
  readonly onError: (error: Error, table: string) => void;
}

/** Approximate maximum delay until a body is applied. */
const FEED_DELAY_MS = 80;
/** Clients often create several caches in a row: the list is sent after this delay. */
const KEEP_DELAY_MS = 20;
/** Delay after a failed update; doubles with each further failure. */
const RETRY_MS = 1000;
const RETRY_MS_MAX = 60_000;
/** Tables with few new rows are combined into one message. */
const FEED_TABLES_MAX = 16;

export interface CacheFeedsStats {
  readonly caches: Readonly<Record<CacheKind, number>>;
  readonly totals: Readonly<Record<CacheKind, CacheTotals>>;
  /** Since the server started. */
  readonly feeds: number;
  readonly feedSeconds: number;
}

interface Failure {
  /** Arrival of the first body that was to be applied. */
  readonly sinceMs: number;
  readonly retryMs: number;
}

const KINDS: readonly CacheKind[] = ["last", "distinct"];
const NONE: CacheTotals = { bytes: 0, keys: 0, rows: 0 };

/** Keeps the caches up to date: watches tables with caches for new rows and sends snapshots to the cache worker, one message at a time. */
export class CacheFeeds {
  /** Tables with new rows, longest waiting first. */
  private readonly unfed = new Set<number>();
  /** Tables with caches that the cache worker does not know, in order of creation. */
  private readonly unfilled = new Set<number>();
  /** Tables whose update failed. */
  private readonly failures = new Map<number, Failure>();
  /** The table whose new caches are being filled; null: none. */
  private filling: number | null = null;
  private known: ReadonlyMap<number, CacheDef> = new Map();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly evictionTimers: readonly ReturnType<typeof setInterval>[];
  private keepTimer: ReturnType<typeof setTimeout> | undefined;
  /** True if the cache worker's list of caches is outdated. */
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

  /** The cache worker was replaced by one without state. */
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

  /** Caches were created or deleted. */
  private follow(): void {
    const { catalog, tables, fillsFromHistory } = this.parts;
    const live = catalog.liveCaches();
    const fresh = live.filter(({ id }) => !this.known.has(id));
    this.keepSoon ||= live.length > 0 || this.known.size > 0;
    this.known = new Map(live.map((cache) => [cache.id, cache]));
    tables.feedCaches(new Set(live.map(({ tableId }) => tableId)), ({ tableId }) => this.noteRows(tableId));
    if (this.keepSoon) this.keepTimer ??= setTimeout(() => this.keepListed(), KEEP_DELAY_MS);
    // caches that start empty start now
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

  /** Sends one message at a time. The timer counts as set until this round is over, so later rows wait for the next one. */
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

  /** Fills new caches, one table at a time; this may take long, and updates of other tables continue meanwhile. */
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
      // the cache worker was lost: its replacement receives the list of all caches
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

  /** Sends the list of existing caches to the cache worker, which removes all others and frees expired rows in those of `expiring`. */
  private async keep(expiring: readonly CacheKind[]): Promise<void> {
    const caches = [...this.known.values()];
    if (!this.keepSoon && !caches.some(({ kind }) => expiring.includes(kind))) return;
    this.keepSoon = false;
    try {
      this.totals = (await this.parts.cacheWorker.keep(caches, expiring, this.parts.nowMs())).totals;
    } catch {
      // the cache worker was lost: its replacement receives the list of all caches
    }
  }
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.min(a, b);
}
