// Holds the state of last-value and distinct-value caches in one query worker and updates it from snapshots of their tables. A reader scans
// a cache like a table; the rows of its answer stay valid until the last reader is done.

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
  /** Memory limit of all caches together. */
  readonly bytesMax: number;
  /** True: new caches are filled with existing rows of their table. */
  readonly fillsFromHistory: { readonly last: boolean; readonly distinct: boolean };
  /** Time without a pause; a few milliseconds if absent. */
  readonly turnMs?: number;
}

/** Time without a pause: statements run in between. */
const TURN_MS = 2;
const NEVER_ABORTED = new AbortController().signal;

/** The caches of one worker. */
export class CacheManager {
  private readonly pins = new Pins();
  /** By cache id. */
  private readonly caches = new Map<number, MaterializedCache>();
  /** The last pending task of each cache, by its id. */
  private readonly tails = new Map<number, Promise<unknown>>();
  /** Memory of removed caches counts until their last reader is done. */
  private readonly memories = new Set<CacheMemory>();

  constructor(private readonly parts: CacheManagerParts) {}

  /** Updates the caches to the snapshot of their table, pausing every few milliseconds. The snapshot stays pinned until it settles.
   *  Calls for one cache are serialized. A cache that exceeds its memory, or whose history cannot be read, is dropped until the next
   *  `open`, which fails if the cause persists. @throws TsdbError cancelled, corrupt_file, io, overloaded */
  async feed(caches: readonly CacheDef[], snapshot: TableSnapshot, clock: CacheClock, signal = NEVER_ABORTED): Promise<void> {
    for (const def of caches) {
      await this.inTurn(def, async () => {
        const cache = this.of(def);
        if (cache.isResting) return;
        try {
          await cache.bring(snapshot, clock, new Turns(signal, this.parts.turnMs ?? TURN_MS));
        } catch (error) {
          // do not retry with each feed
          if (cache.isEmpty && !signal.aborted) cache.isResting = true;
          if (!(error instanceof NoRoomError)) throw error;
        }
      });
    }
  }

  /** The cache's rows, updated to the snapshot (which stays pinned until it settles) or to a later one. @throws TsdbError query_limit
   *  (memory), cancelled, corrupt_file, io, overloaded */
  open(def: CacheDef, snapshot: TableSnapshot, clock: CacheClock, signal: AbortSignal): Promise<CacheTable> {
    const turns = new Turns(signal, this.parts.turnMs ?? TURN_MS);
    const { promise: left, reject } = Promise.withResolvers<never>();
    // a statement that waits for another task can be cancelled at once
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

  /** Frees all other caches. */
  keepOnly(caches: readonly CacheDef[]): void {
    const ids = new Set(caches.map(({ id }) => id));
    for (const id of this.caches.keys()) {
      if (ids.has(id)) continue;
      // not during a feed
      void this.inTurnOf(id, async () => {
        this.caches.get(id)?.release();
        this.caches.delete(id);
      });
    }
  }

  /** Frees expired rows in caches of these kinds, except caches with a running task. */
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

  /** Resolves when all pending tasks are done. */
  async idle(): Promise<void> {
    await Promise.all(this.tails.values());
  }

  /** Bytes of all caches, including removed ones with readers. */
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
