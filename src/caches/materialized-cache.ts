// One cache: its state, what of its table it has seen, and its rows for who reads them.

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
/** Between two snapshots of about the same time retention may seem to go back by so much. */
const RETENTION_SLACK_NS = 60_000n * NS_PER_MS;

export interface MaterializedCacheParts {
  readonly kernel: Kernel;
  readonly cache: BlockCache;
  readonly known: (tableId: number) => KnownOfTable;
  readonly memory: CacheMemory;
  /** Of what answers may still read. */
  readonly reclaimer: Reclaimer;
  /** False: it begins with what is written from its first feed on. */
  readonly fillsFromHistory: boolean;
}

/** What the state knows of its table. */
interface Seen {
  readonly mark: Mark;
  readonly lastDeletion: number;
  retentionMinNs: bigint;
  fedMs: number;
}

/** When rows entered: at their times, but not before nor after these. */
interface Entry {
  readonly leastNs: bigint;
  readonly mostNs: bigint;
}

export class MaterializedCache {
  /** It could not be filled: it is fed when somebody has read it. */
  isResting = false;
  private state: LastState | DistinctState | null = null;
  private seen: Seen | null = null;
  private current: CacheAnswer | null = null;
  /** Where a cache begins that does not fill from history. */
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

  /** Up to date with the snapshot, unless it has seen a later one. When it throws, it has a right state or none.
   *  @throws NoRoomError, TsdbError cancelled, corrupt_file, io, overloaded */
  async bring(snapshot: TableSnapshot, clock: CacheClock, turns: Turns): Promise<void> {
    const unseen = this.unseen(snapshot);
    if (unseen === "older") return;
    if (unseen === null) await this.fill(snapshot, clock, turns);
    else if (unseen.length > 0) await this.follow(unseen, snapshot, clock, turns);
  }

  /** The rows that can be seen, after `bring`. Borrowed: the reader holds the reclaimer.
   *  @throws NoRoomError, TsdbError overloaded */
  answer({ retentionMinNs }: TableSnapshot, nowMs: number): CacheAnswer {
    const visible = { minEnteredNs: this.minEnteredNs(nowMs), minTimeNs: retentionMinNs };
    const known = this.current;
    if (known !== null && known.leastEnteredNs >= visible.minEnteredNs && known.leastTimeNs >= retentionMinNs) return known;
    this.forgetAnswer();
    this.current = this.change((state) => state.answer(visible));
    return this.current!;
  }

  /** Frees what has expired. @throws NoRoomError, TsdbError overloaded */
  evict(nowMs: number): void {
    this.change((state) => state.expire(this.minEnteredNs(nowMs)));
  }

  count(): { keys: number; rows: number } {
    return this.state?.count() ?? { keys: 0, rows: 0 };
  }

  /** It may be filled again. Idempotent. */
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

  /** No two pieces have rows of one point. */
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

  /** Part by part, in order of sequence: where one ends before the next begins the state is right, and a statement may leave. */
  private async follow(parts: readonly UnseenPart[], snapshot: TableSnapshot, { nowMs, sinceMs }: CacheClock, turns: Turns): Promise<void> {
    const seen = this.seen!;
    const since = nsOf(sinceMs ?? seen.fedMs);
    const live = { leastNs: since, mostNs: later(since, nsOf(nowMs)) };
    const createdNs = nsOf(this.def.createdMs);
    // what may be old is taken for history
    const mixed = { leastNs: createdNs, mostNs: later(createdNs, nsOf(nowMs)) };
    this.change((state) => {
      if (state instanceof LastState) state.expire(this.minEnteredNs(nowMs));
      state.setSnapshot(snapshot);
    });
    let reached = seen.mark.sequence;
    for (const [i, part] of parts.entries()) {
      const { rows } = part;
      // rows of one body may be in two segments, and a flush makes a block of each day: the state is right when all of them are in
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
      // it has some of the part's rows
      this.release();
      throw error;
    }
  }

  /** Segments keep theirs, and what comes next is most likely of the same block. */
  private keepMaps(state: CacheState, { runs }: TableSnapshot, run: Run | null): void {
    const ids = new Set(runs.map(({ dictionary }) => dictionary.id));
    if (run !== null) ids.add(run.dictionary.id);
    state.keepMaps(ids);
  }

  /** Does something that leaves the state unusable when it throws. */
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
