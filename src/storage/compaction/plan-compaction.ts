// What compaction should do next, decided from what the manifest says of blocks: pure, so that tables of cases can test it.
//
// Blocks of one table, day and range of sequences are a run. Runs of a table and day are ordered by their sequences, and only
// neighbours may be merged: otherwise "the later write wins" would no longer be decided by a run's sequences. While a day is open its
// runs are merged as soon as many of like size are neighbours, so each merge makes its rows part of a run several times as large and a
// row is rewritten a few times at most. A day is closed some hours after its end. Then all its runs become one, and are marked as closed;
// rows
// that come later stay a run on top of it until there are many of them or they are old.

import { ALL_TIME } from "../../model/query/scan.ts";
import { canHide, type Tombstone } from "../../model/rows/tombstone.ts";
import { DAY_NS } from "../../model/time/time-units.ts";
import type { BlockOfTable } from "../manifest/manifest.ts";

export interface CompactionLimits {
  /** A day is closed so long after its end. */
  readonly closeAfterMs: number;
  /** A closed day is left alone while rows for it are coming in: until so long after the last flush that brought some. */
  readonly quietMs: number;
  /** Runs of an open day that a merge takes, at least and at most. */
  readonly mergeRunsMin: number;
  readonly mergeRunsMax: number;
  /** Of a merge's rows, one in so many may be of its largest run: each merge multiplies the size of a row's run by this. */
  readonly mergeGrowth: number;
  /** A merge makes no run of more rows: larger ones wait for their day's end ... */
  readonly mergedRowsMax: number;
  /** ... unless there are more runs than this: then those are merged that cost least for each run that goes. */
  readonly runsMax: number;
  /** No block has more rows: a larger day stays in several. */
  readonly blockRowsMax: number;
  /** Late rows are merged into a closed day when they are this part of it ... */
  readonly lateFraction: number;
  /** ... or this old, for every `lateRowsPerWait` rows that have to be rewritten, at most `lateWaitsMax` times. */
  readonly lateMs: number;
  readonly lateRowsPerWait: number;
  readonly lateWaitsMax: number;
  /** A closed day of fewer rows shares a file with those of other tables. */
  readonly smallRows: number;
  /** Tasks are joined to one job up to so many rows, and blocks: the main thread handles a job's blocks in one go. */
  readonly jobRowsMax: number;
  readonly jobBlocksMax: number;
  /** A deletion is applied to files so long after it was first seen, if no merge has done it before. */
  readonly tombstoneMs: number;
}

const HOUR_MS = 3_600_000;

export const COMPACTION_LIMITS: CompactionLimits = {
  closeAfterMs: 4 * HOUR_MS,
  quietMs: 60_000,
  mergeRunsMin: 8,
  mergeRunsMax: 32,
  mergeGrowth: 4,
  mergedRowsMax: 16_000_000,
  runsMax: 32,
  blockRowsMax: 500_000_000,
  lateFraction: 0.05,
  lateMs: HOUR_MS,
  lateRowsPerWait: 10_000_000,
  lateWaitsMax: 24,
  smallRows: 65_536,
  jobRowsMax: 4_000_000,
  jobBlocksMax: 2000,
  tombstoneMs: 600_000,
};

/** Every day is closed, nothing waits: for tests. */
export const COMPACT_EVERYTHING: CompactionLimits = {
  ...COMPACTION_LIMITS,
  closeAfterMs: Number.NEGATIVE_INFINITY,
  quietMs: Number.NEGATIVE_INFINITY,
  lateMs: Number.NEGATIVE_INFINITY,
  tombstoneMs: Number.NEGATIVE_INFINITY,
};

/** What the planner is told of a table. */
export interface TableState {
  readonly tableId: number;
  /** Undefined: the table is deleted. */
  readonly table: { readonly name: string } | undefined;
  readonly blocks: readonly BlockOfTable[];
  /** Rows before it are past their retention. */
  readonly retentionMinNs: bigint;
  /** Ascending ids. */
  readonly tombstones: readonly SeenTombstone[];
}

export interface SeenTombstone {
  readonly tombstone: Tombstone;
  readonly seenMs: number;
}

/** Blocks of one table and day that become one run. */
export interface CompactionTask {
  readonly tableId: number;
  readonly dayStartNs: bigint;
  /** In order of sequence. */
  readonly inputs: readonly BlockOfTable[];
  readonly rowCount: number;
  /** The run is all that there is of a closed day, or as much as a block may hold. */
  readonly isClosed: boolean;
  /** The run has no rows of lower sequences beside it, so all its rows are unique. */
  readonly isFirst: boolean;
}

export interface TablePlan {
  readonly tasks: readonly CompactionTask[];
  /** Blocks of which no row exists any more. */
  readonly dropped: readonly BlockOfTable[];
  /** When the plan may be another one although nothing has changed; infinity = never. */
  readonly dueMs: number;
}

/** Neighbours in sequence that a merge takes or leaves together. */
interface PlannedRun {
  readonly seqMin: number;
  readonly blocks: BlockOfTable[];
  rowCount: number;
  flushedMinMs: number;
  flushedMaxMs: number;
  isClosed: boolean;
}

/** The tasks of one table. Pure. */
export function planTable(state: TableState, nowMs: number, limits: CompactionLimits): TablePlan {
  if (state.table === undefined) return { tasks: [], dropped: state.blocks, dueMs: Number.POSITIVE_INFINITY };
  const dropped: BlockOfTable[] = [];
  const days = new Map<bigint, BlockOfTable[]>();
  const clock = new DueClock(nowMs);
  for (const each of state.blocks) {
    if (isGone(each, state, clock)) dropped.push(each);
    else {
      const day = days.get(each.block.dayStartNs);
      if (day === undefined) days.set(each.block.dayStartNs, [each]);
      else day.push(each);
    }
  }
  const tasks = [...days].flatMap(([dayStartNs, blocks]) => planDay(state, { dayStartNs, runs: runsOf(blocks) }, clock, limits));
  return { tasks, dropped, dueMs: clock.dueMs };
}

/** Remembers when the first of the conditions that are not met yet will be. */
class DueClock {
  dueMs = Number.POSITIVE_INFINITY;

  constructor(readonly nowMs: number) {}

  hasCome(ms: number): boolean {
    if (this.nowMs >= ms) return true;
    this.dueMs = Math.min(this.dueMs, ms);
    return false;
  }
}

function isGone({ block }: BlockOfTable, { retentionMinNs, tombstones }: TableState, clock: DueClock): boolean {
  if (retentionMinNs > ALL_TIME.minNs) {
    const leftMs = Number((block.maxTimeNs - retentionMinNs) / 1_000_000n);
    if (block.maxTimeNs < retentionMinNs || clock.hasCome(clock.nowMs + Math.max(1, leftMs + 1))) return true;
  }
  return tombstones.some(({ tombstone }) => {
    const { tags, range } = tombstone;
    const isWhole = tags.length === 0 && range.minNs <= block.minTimeNs && range.maxNs >= block.maxTimeNs;
    return isWhole && canHide(tombstone, block);
  });
}

/** Runs of a day in order of sequence. The parts of a large run share its range of sequences. */
function runsOf(blocks: readonly BlockOfTable[]): PlannedRun[] {
  const runs: PlannedRun[] = [];
  for (const each of blocks.toSorted((a, b) => a.block.seqMin - b.block.seqMin || a.block.index - b.block.index)) {
    const { seqMin, rowCount, flushedMinMs, flushedMaxMs, closed: isClosed = false } = each.block;
    const last = runs.at(-1);
    if (last?.seqMin !== seqMin) {
      runs.push({ seqMin, blocks: [each], rowCount, flushedMinMs, flushedMaxMs, isClosed });
      continue;
    }
    last.blocks.push(each);
    last.rowCount += rowCount;
    last.flushedMinMs = Math.min(last.flushedMinMs, flushedMinMs);
    last.flushedMaxMs = Math.max(last.flushedMaxMs, flushedMaxMs);
    last.isClosed &&= isClosed;
  }
  return runs;
}

function planDay(
  state: TableState,
  { dayStartNs, runs }: { dayStartNs: bigint; runs: readonly PlannedRun[] },
  clock: DueClock,
  limits: CompactionLimits,
): CompactionTask[] {
  const task = (from: number, end: number, isClosed: boolean): CompactionTask => {
    const inputs = runs.slice(from, end).flatMap(({ blocks }) => blocks);
    return { tableId: state.tableId, dayStartNs, inputs, rowCount: rowsOf(runs.slice(from, end)), isClosed, isFirst: from === 0 };
  };
  const endMs = Number((dayStartNs + DAY_NS) / 1_000_000n);
  const isOver = clock.hasCome(endMs + limits.closeAfterMs);
  for (const { from, end } of isOver ? partsOf(runs, limits) : []) {
    const part = runs.slice(from, end);
    if ((part.length === 1 && part[0]!.isClosed) || !shouldClose(part, clock, limits)) continue;
    if (part.length <= limits.mergeRunsMax) return [task(from, end, true)];
    // too many to read at once: the smallest neighbours first
    const first = from + smallestWindow(part, limits.mergeRunsMax);
    return [task(first, first + limits.mergeRunsMax, false)];
  }
  const window = mergeWindow(runs, limits);
  if (window !== null) return [task(window.from, window.end, false)];
  const old = runs.findIndex(({ blocks }) => blocks.some(({ block }) => hasOldTombstone(block, state, clock, limits)));
  return old < 0 ? [] : [task(old, old + 1, runs[old]!.isClosed)];
}

/** A day in parts that a block may hold: one, unless it is huge. */
function partsOf(runs: readonly PlannedRun[], { blockRowsMax }: CompactionLimits): { from: number; end: number }[] {
  const parts: { from: number; end: number }[] = [];
  let rows = 0;
  runs.forEach(({ rowCount }, i) => {
    rows += rowCount;
    const last = parts.at(-1);
    if (last !== undefined && rows <= blockRowsMax) last.end = i + 1;
    else {
      parts.push({ from: i, end: i + 1 });
      rows = rowCount;
    }
  });
  return parts;
}

/** Whether a day that is over, or a part of it, is to become one run now. */
function shouldClose(runs: readonly PlannedRun[], clock: DueClock, limits: CompactionLimits): boolean {
  const late = runs.filter(({ isClosed }) => !isClosed);
  const closedRows = rowsOf(runs) - rowsOf(late);
  const lateRows = rowsOf(late);
  const waits = Math.min(limits.lateWaitsMax, Math.max(1, closedRows / limits.lateRowsPerWait));
  if (clock.hasCome(Math.min(...late.map(({ flushedMinMs }) => flushedMinMs)) + waits * limits.lateMs)) return true;
  if (lateRows < closedRows * limits.lateFraction) return false;
  return clock.hasCome(Math.max(...late.map(({ flushedMaxMs }) => flushedMaxMs)) + limits.quietMs);
}

interface Window {
  readonly from: number;
  readonly end: number;
  readonly total: number;
  readonly largest: number;
}

/** Neighbours worth merging: of all that are, those whose largest is smallest, and of these as many as there are. */
function mergeWindow(runs: readonly PlannedRun[], limits: CompactionLimits): Window | null {
  let best: Window | null = null;
  let cheapest: Window | null = null;
  const cost = ({ from, end, total }: Window) => total / (end - from - 1);
  for (const window of windows(runs, limits)) {
    const { from, end, total, largest } = window;
    if (cheapest === null || cost(window) < cost(cheapest)) cheapest = window;
    if (largest * limits.mergeGrowth > total || total > limits.mergedRowsMax) continue;
    if (best === null || largest < best.largest || (largest === best.largest && end - from > best.end - best.from)) best = window;
  }
  return best ?? (runs.length > limits.runsMax ? cheapest : null);
}

function* windows(runs: readonly PlannedRun[], { mergeRunsMin, mergeRunsMax, blockRowsMax }: CompactionLimits): Generator<Window> {
  for (let from = 0; from < runs.length; from++) {
    let total = 0;
    let largest = 0;
    for (let end = from + 1; end <= Math.min(runs.length, from + mergeRunsMax) && !runs[end - 1]!.isClosed; end++) {
      total += runs[end - 1]!.rowCount;
      largest = Math.max(largest, runs[end - 1]!.rowCount);
      if (total > blockRowsMax) break;
      if (end - from >= mergeRunsMin) yield { from, end, total, largest };
    }
  }
}

function smallestWindow(runs: readonly PlannedRun[], count: number): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let from = 0; from + count <= runs.length; from++) {
    const rows = rowsOf(runs.slice(from, from + count));
    if (rows < least) [best, least] = [from, rows];
  }
  return best;
}

function hasOldTombstone(block: BlockOfTable["block"], { tombstones }: TableState, clock: DueClock, limits: CompactionLimits): boolean {
  return tombstones.some(({ tombstone, seenMs }) => canHide(tombstone, block) && clock.hasCome(seenMs + limits.tombstoneMs));
}

function rowsOf(runs: readonly PlannedRun[]): number {
  return runs.reduce((sum, { rowCount }) => sum + rowCount, 0);
}
