// The state of last-value and distinct-value caches: kept in one query worker, fed from snapshots of their tables. Who reads a cache scans
// its rows as those of a table; they stay as they were until the last reader that has them is gone.

import { CacheMemory, NoRoomError } from "../kernel/cache/memory.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { type CacheClock, type CacheStats, type CacheTable, cacheColumns } from "../model/cache-table.ts";
import type { CacheDef, CacheKind } from "../model/caches.ts";
import { TsdbError } from "../model/errors.ts";
import { LIMITS } from "../model/limits.ts";
import { ALL_TIME } from "../model/query/scan.ts";
import { Turns } from "../model/turns.ts";
import { noSeriesNumbers } from "../scan/series-numbers.ts";
import type { TableSnapshot } from "../scan/snapshot.ts";
import type { KnownOfTable } from "../scan/table-reader.ts";
import { TableScan } from "../scan/table-scan.ts";
import type { BlockCache } from "../storage/block-cache/block-cache.ts";
import { Pins } from "../storage/buffer/pins.ts";
import { MaterializedCache } from "./materialized-cache.ts";

export interface CacheManagerParts {
  readonly kernel: Kernel;
  readonly cache: BlockCache;
  readonly known: (tableId: number) => KnownOfTable;
  /** Of all caches together. */
  readonly bytesMax: number;
  /** Whether caches that are new here begin with what their table has. */
  readonly fillsFromHistory: { readonly last: boolean; readonly distinct: boolean };
  /** Without a pause; a few milliseconds when absent. */
  readonly turnMs?: number;
}

/** Without a pause: a feed makes room for statements. */
const TURN_MS = 2;
const NEVER_ABORTED = new AbortController().signal;

export class CacheManager {
  private readonly pins = new Pins();
  /** By cache id. */
  private readonly caches = new Map<number, MaterializedCache>();
  /** Ends of what is done for a cache, by its id. */
  private readonly tails = new Map<number, Promise<unknown>>();
  /** Memory of caches that have gone counts as long as somebody reads them. */
  private readonly memories = new Set<CacheMemory>();

  constructor(private readonly parts: CacheManagerParts) {}

  /** Brings caches of the snapshot's table up to date with it, pausing every few milliseconds. The snapshot stays pinned until it settles.
   *  Calls for one cache take turns. A cache that does not fit, or whose history cannot be read, is let go of until the next `open`, which
   *  says so if it is still like that. @throws TsdbError cancelled, corrupt_file, io, overloaded */
  async feed(caches: readonly CacheDef[], snapshot: TableSnapshot, clock: CacheClock, signal = NEVER_ABORTED): Promise<void> {
    for (const def of caches) {
      await this.inTurn(def, async () => {
        const cache = this.of(def);
        if (cache.isResting) return;
        try {
          await cache.bring(snapshot, clock, new Turns(signal, this.parts.turnMs ?? TURN_MS));
        } catch (error) {
          // not again with each feed
          if (cache.isEmpty && !signal.aborted) cache.isResting = true;
          if (!(error instanceof NoRoomError)) throw error;
        }
      });
    }
  }

  /** The cache's rows, up to date with the snapshot (which stays pinned until it settles) or with a later one that it has seen.
   *  @throws TsdbError query_limit (memory), cancelled, corrupt_file, io, overloaded */
  open(def: CacheDef, snapshot: TableSnapshot, clock: CacheClock, signal: AbortSignal): Promise<CacheTable> {
    const turns = new Turns(signal, this.parts.turnMs ?? TURN_MS);
    const { promise: left, reject } = Promise.withResolvers<never>();
    // who still waits for others may go at once
    const leave = () => reject(new TsdbError("cancelled", "the query was cancelled"));
    signal.addEventListener("abort", leave);
    const opened = this.inTurn(def, async () => {
      signal.removeEventListener("abort", leave);
      turns.check();
      const cache = this.of(def);
      try {
        await cache.bring(snapshot, clock, turns);
        return this.table(cache, snapshot, clock.nowMs);
      } catch (error) {
        if (!(error instanceof NoRoomError)) throw error;
        cache.release();
        cache.isResting = true;
        const mib = Math.round(this.parts.bytesMax / (1 << 20));
        const message = `Resources exhausted: cache ${def.name} does not fit into the ${mib} MiB of all caches; --cache-mem-limit sets the limit`;
        throw new TsdbError("query_limit", message, { cache: def.name, max: this.parts.bytesMax });
      }
    });
    return Promise.race([opened, left]);
  }

  /** The others are freed. */
  keepOnly(caches: readonly CacheDef[]): void {
    const ids = new Set(caches.map(({ id }) => id));
    for (const id of this.caches.keys()) {
      if (ids.has(id)) continue;
      // not under a feed
      void this.inTurnOf(id, async () => {
        this.caches.get(id)?.release();
        this.caches.delete(id);
      });
    }
  }

  /** Frees what has expired in caches of these kinds, unless something is done for them at the moment. */
  evict(kinds: readonly CacheKind[], nowMs: number): void {
    for (const [id, cache] of this.caches) {
      if (this.tails.has(id) || !kinds.includes(cache.def.kind)) continue;
      try {
        cache.evict(nowMs);
      } catch (error) {
        if (!(error instanceof NoRoomError)) throw error;
      }
    }
    this.forgetMemories();
  }

  /** Resolves when what has been asked for so far is done. */
  async idle(): Promise<void> {
    await Promise.all(this.tails.values());
  }

  /** Of all caches, with what is only read any more. */
  get bytes(): number {
    return this.parts.bytesMax - this.roomBytes();
  }

  stats(): CacheStats[] {
    return [...this.caches.values()].map((cache) => ({ cacheId: cache.def.id, bytes: cache.bytes, ...cache.count() }));
  }

  private of(def: CacheDef): MaterializedCache {
    const known = this.caches.get(def.id);
    if (known !== undefined) return known;
    const { kernel, cache: blocks, known: knownOf, fillsFromHistory } = this.parts;
    const memory = new CacheMemory(
      kernel,
      () => this.roomBytes(),
      (make) => blocks.withRoom(make),
    );
    this.memories.add(memory);
    const cache = new MaterializedCache(
      { kernel, cache: blocks, known: knownOf, memory, reclaimer: this.pins, fillsFromHistory: fillsFromHistory[def.kind] },
      def,
    );
    this.caches.set(def.id, cache);
    return cache;
  }

  private roomBytes(): number {
    let taken = 0;
    for (const { bytes } of this.memories) taken += bytes;
    return this.parts.bytesMax - taken;
  }

  private table(cache: MaterializedCache, snapshot: TableSnapshot, nowMs: number): CacheTable {
    const { kernel, cache: blocks } = this.parts;
    const { run } = cache.answer(snapshot, nowMs);
    cache.isResting = false;
    const pin = this.pins.take();
    const table = { ...snapshot.table, columns: cacheColumns(cache.def, snapshot.table) };
    const rows = { table, retentionMinNs: ALL_TIME.minNs, tombstones: [], runs: run.rowCount === 0 ? [] : [run], blocks: [] };
    return new CacheScan(kernel, rows, blocks, () => pin.release());
  }

  private inTurn<T>({ id }: CacheDef, work: () => Promise<T>): Promise<T> {
    return this.inTurnOf(id, work);
  }

  private inTurnOf<T>(id: number, work: () => Promise<T>): Promise<T> {
    const before = this.tails.get(id);
    const result = before === undefined ? work() : before.then(work);
    const end = result
      .catch(() => {})
      .then(() => {
        if (this.tails.get(id) === end) this.tails.delete(id);
      });
    this.tails.set(id, end);
    return result;
  }

  private forgetMemories(): void {
    const used = new Set([...this.caches.values()].map(({ memory }) => memory));
    for (const memory of this.memories) if (memory.bytes === 0 && !used.has(memory)) this.memories.delete(memory);
  }
}

class CacheScan extends TableScan {
  constructor(
    kernel: Kernel,
    snapshot: TableSnapshot,
    blocks: BlockCache,
    private readonly onClose: () => void,
  ) {
    super(kernel, snapshot, blocks, LIMITS, { numbers: noSeriesNumbers(kernel), segments: null });
  }

  override close(): void {
    super.close();
    this.onClose();
  }
}
