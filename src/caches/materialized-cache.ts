// One cache: its state, what it has seen of its table, and its rows for readers.

import type { CacheMemory } from "../kernel/cache/memory.ts";
import { Blocks } from "../kernel/memory/blocks.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { RowSelection, type SelectedRun } from "../kernel/scan/row-selection.ts";
import type { CacheClock } from "../model/cache-table.ts";
import type { CacheDef } from "../model/caches.ts";
import { LIMITS } from "../model/limits.ts";
import { ALL_TIME, type TimeRange } from "../model/query/scan.ts";
import type { Reclaimer } from "../model/reclaimer.ts";
import { type Run, wholeRun } from "../model/rows/run.ts";
import type { Turns } from "../model/turns.ts";
import type { TableSnapshot } from "../scan/snapshot.ts";
import { type KnownOfTable, TableReader } from "../scan/table-reader.ts";
import { takeRows } from "../scan/taken-rows.ts";
import type { BlockCache } from "../storage/block-cache/block-cache.ts";
import { type Mark, markOf, runsOf, sequenceOf, type UnseenPart, unseenParts } from "./cache-parts.ts";
import type { CacheAnswer, CacheState } from "./cache-state.ts";
import { DistinctState } from "./distinct-state.ts";
import { LastState } from "./last-state.ts";

const NS_PER_MS = 1_000_000n;
/** The retention bounds of two snapshots taken at about the same time may differ by this much. */
const RETENTION_SLACK_NS = 60_000n * NS_PER_MS;

export interface MaterializedCacheParts {
  readonly kernel: Kernel;
  readonly cache: BlockCache;
  readonly known: (tableId: number) => KnownOfTable;
  readonly memory: CacheMemory;
  /** Frees data that running answers may still read. */
  readonly reclaimer: Reclaimer;
  /** False: the cache starts with rows written after its first feed. */
  readonly fillsFromHistory: boolean;
}

/** What the state has seen of its table. */
interface Seen {
  readonly mark: Mark;
  readonly lastDeletion: number;
  retentionMinNs: bigint;
  fedMs: number;
}

/** Limits of arrival times: a row arrives at its own time, clamped to these. */
interface Entry {
  readonly leastNs: bigint;
  readonly mostNs: bigint;
}

/** One cache and its progress through its table. */
export class MaterializedCache {
  /** True after filling failed: it is updated again only after a reader has opened it. */
  isResting = false;
  private state: LastState | DistinctState | null = null;
  private seen: Seen | null = null;
  private current: CacheAnswer | null = null;
  /** Start of a cache that is not filled from history. */
  private startNs: bigint | null = null;

  constructor(
    private readonly parts: MaterializedCacheParts,
    readonly def: CacheDef,
  ) {}

  get isEmpty(): boolean {
    return this.state === null;
  }

  get memory(): CacheMemory {
    return this.parts.memory;
  }

  get bytes(): number {
    return this.parts.memory.bytes;
  }

  /** Updates the cache to the snapshot, unless it has seen a later one. After an exception its state is either valid or discarded.
   *  @throws NoRoomError, TsdbError cancelled, corrupt_file, io, overloaded */
  async bring(snapshot: TableSnapshot, clock: CacheClock, turns: Turns): Promise<void> {
    const unseen = this.unseen(snapshot);
    if (unseen === "older") return;
    if (unseen === null) await this.fill(snapshot, clock, turns);
    else if (unseen.length > 0) await this.follow(unseen, snapshot, clock, turns);
  }

  /** The visible rows, after `bring`. Borrowed: the reader holds the reclaimer. @throws NoRoomError, TsdbError overloaded */
  answer({ retentionMinNs }: TableSnapshot, nowMs: number): CacheAnswer {
    const visible = { minEnteredNs: this.minEnteredNs(nowMs), minTimeNs: retentionMinNs };
    const known = this.current;
    if (known !== null && known.leastEnteredNs >= visible.minEnteredNs && known.leastTimeNs >= retentionMinNs) return known;
    this.forgetAnswer();
    this.current = this.change((state) => state.answer(visible));
    return this.current!;
  }

  /** Frees expired rows. @throws NoRoomError, TsdbError overloaded */
  evict(nowMs: number): void {
    this.change((state) => state.expire(this.minEnteredNs(nowMs)));
  }

  count(): { keys: number; rows: number } {
    return this.state?.count() ?? { keys: 0, rows: 0 };
  }

  /** Discards the state; it can be filled again. Idempotent. */
  release(): void {
    this.forgetAnswer();
    this.state?.release();
    this.state = null;
    this.seen = null;
  }

  /** Null: everything. */
  private unseen(snapshot: TableSnapshot): UnseenPart[] | "older" | null {
    const { seen } = this;
    if (seen === null) return null;
    const { lastDeletion = 0, retentionMinNs } = snapshot;
    if (lastDeletion !== seen.lastDeletion) return lastDeletion < seen.lastDeletion ? "older" : null;
    if (sequenceOf(snapshot) < seen.mark.sequence) return "older";
    if (retentionMinNs < seen.retentionMinNs - RETENTION_SLACK_NS) return null;
    if (retentionMinNs > seen.retentionMinNs) seen.retentionMinNs = retentionMinNs;
    return unseenParts(snapshot, seen.mark);
  }

  private async fill(snapshot: TableSnapshot, { nowMs, sinceMs }: CacheClock, turns: Turns): Promise<void> {
    this.release();
    const { def } = this;
    const { fillsFromHistory, kernel, memory, reclaimer } = this.parts;
    if (!fillsFromHistory) this.startNs ??= nsOf(sinceMs ?? nowMs);
    const createdNs = nsOf(def.createdMs);
    const entry = { leastNs: createdNs, mostNs: later(createdNs, nsOf(nowMs)) };
    let minNs = snapshot.retentionMinNs;
    const minEnteredNs = this.minEnteredNs(nowMs);
    if (createdNs < minEnteredNs) minNs = later(minNs, minEnteredNs);
    if (this.startNs !== null) minNs = later(minNs, this.startNs);
    const stateParts = { kernel, memory, reclaimer };
    const state = def.kind === "last" ? new LastState(stateParts, def, snapshot.table) : new DistinctState(stateParts, def, snapshot.table);
    try {
      await this.takeRows(state, snapshot, { minNs, maxNs: ALL_TIME.maxNs }, { entry, turns });
    } catch (error) {
      state.release();
      throw error;
    }
    this.state = state;
    this.seen = {
      mark: markOf(snapshot),
      lastDeletion: snapshot.lastDeletion ?? 0,
      retentionMinNs: snapshot.retentionMinNs,
      fedMs: nowMs,
    };
  }

  private async takeRows(state: CacheState, snapshot: TableSnapshot, range: TimeRange, { entry, turns }: Taking): Promise<void> {
    const { kernel, cache, known } = this.parts;
    const newestOnly = state.wantsNewestOnly;
    const needs = { tags: [], texts: [], fields: state.fields, series: true, time: true, keepsText: false };
    const canHold = state instanceof LastState && state.hasTagKeys && !newestOnly ? state.canHold.bind(state) : undefined;
    const request = { ...needs, range, newestOnly, bySeries: newestOnly, ...(canHold === undefined ? {} : { canHold }) };
    const pieces = new TableReader({ kernel, cache, limits: LIMITS, ...known(snapshot.table.id) }, snapshot, request);
    try {
      for (const piece of pieces.all()) {
        this.takePiece(state, piece, entry);
        this.keepMaps(state, snapshot, wholeRun(piece.run));
        await turns.pause();
      }
    } finally {
      pieces.release();
    }
  }

  /** No two pieces share series and time. */
  private takePiece(state: CacheState, piece: SelectedRun, entry: Entry): void {
    const { kernel } = this.parts;
    const run = wholeRun(piece.run);
    const selection = RowSelection.open(kernel, piece);
    if (selection === "none") return;
    if (selection === "all") {
      state.add({ run, first: 0, end: run.rowCount, isNew: true, ...entry });
      return;
    }
    const scratch = new Blocks(kernel);
    try {
      const rowsPtr = scratch.alloc(run.rowCount * 4);
      const count = selection.next(rowsPtr, run.rowCount);
      if (count === 0) return;
      const taken = takeRows(kernel, run, { rowsPtr, count });
      try {
        state.add({ run: taken, first: 0, end: count, isNew: true, ...entry });
      } finally {
        taken.release();
      }
    } finally {
      selection.release();
      scratch.release();
    }
  }

  /** Adds parts in order of sequence: where one ends before the next begins, the state is consistent, and the call may be cancelled. */
  private async follow(parts: readonly UnseenPart[], snapshot: TableSnapshot, { nowMs, sinceMs }: CacheClock, turns: Turns): Promise<void> {
    const seen = this.seen!;
    const since = nsOf(sinceMs ?? seen.fedMs);
    const live = { leastNs: since, mostNs: later(since, nsOf(nowMs)) };
    const createdNs = nsOf(this.def.createdMs);
    // rows that may be old count as history
    const mixed = { leastNs: createdNs, mostNs: later(createdNs, nsOf(nowMs)) };
    this.change((state) => {
      if (state instanceof LastState) state.expire(this.minEnteredNs(nowMs));
      state.setSnapshot(snapshot);
    });
    let reached = seen.mark.sequence;
    for (const [i, part] of parts.entries()) {
      const { rows } = part;
      // rows of one body may be in two segments, and a flush creates one block per day: the state is consistent when all of them are added
      if (rows.seqMin > reached) await turns.pause();
      await this.followPart(part, snapshot, { entry: part.isMixed ? mixed : live, turns });
      reached = Math.max(reached, rows.seqMax);
      if ("dictionary" in rows) seen.mark.segments.set(rows.seqMin, rows.rowCount);
      if ((parts[i + 1]?.rows.seqMin ?? Number.POSITIVE_INFINITY) > reached) seen.mark.sequence = reached;
    }
    seen.mark.segments = markOf(snapshot).segments;
    seen.fedMs = Math.max(seen.fedMs, nowMs);
  }

  private async followPart(part: UnseenPart, snapshot: TableSnapshot, { entry, turns }: Taking): Promise<void> {
    const { first, isMixed } = part;
    try {
      for (const run of runsOf(this.parts, snapshot, part, this.state!)) {
        this.change((state) => {
          state.add({ run, first, end: run.rowCount, isNew: run.unique && !isMixed, ...entry });
          this.keepMaps(state, snapshot, run);
        });
        if (!("dictionary" in part.rows)) await turns.pause();
      }
    } catch (error) {
      // it contains only some of the part's rows
      this.release();
      throw error;
    }
  }

  /** Keeps the mappings of segments and of the current block, which the next rows most likely belong to. */
  private keepMaps(state: CacheState, { runs }: TableSnapshot, run: Run | null): void {
    const ids = new Set(runs.map(({ dictionary }) => dictionary.id));
    if (run !== null) ids.add(run.dictionary.id);
    state.keepMaps(ids);
  }

  /** Runs a change that leaves the state unusable if it throws. */
  private change<T>(work: (state: LastState | DistinctState) => T): T | null {
    const { state } = this;
    if (state === null) return null;
    this.forgetAnswer();
    try {
      return work(state);
    } catch (error) {
      this.release();
      throw error;
    }
  }

  private forgetAnswer(): void {
    const { current } = this;
    this.current = null;
    if (current !== null) this.parts.reclaimer.defer(() => current.release());
  }

  private minEnteredNs(nowMs: number): bigint {
    const { def } = this;
    const seconds = def.kind === "last" ? def.ttlSeconds : def.maxAgeSeconds;
    return later(ALL_TIME.minNs + 1n, nsOf(nowMs) - nsOf(seconds * 1000));
  }
}

interface Taking {
  readonly entry: Entry;
  readonly turns: Turns;
}

function nsOf(ms: number): bigint {
  return BigInt(Math.floor(ms)) * NS_PER_MS;
}

function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
