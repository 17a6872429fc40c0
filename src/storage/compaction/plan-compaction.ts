// Decides what compaction should do next, from the manifest's description of blocks: pure, so that tables of cases can test it.
//
// Blocks of one table, day and sequence range form a run. Runs of a table and day are ordered by their sequences, and only adjacent runs
// may be merged: otherwise a run's sequences would no longer decide which write is the later one. While a day is open, runs are merged as
// soon as enough adjacent ones have similar sizes; each merge multiplies the size of a row's run, so a row is rewritten only a few times. A
// day is closed some hours after its end. Then all its runs become one, marked as closed; late rows form separate runs on top of it until
// there are many of them or they are old.
//
// A deletion that may be taken back lies between the rows before and after it: until it is final, no run is of both.

import { ALL_TIME } from "../../model/query/scan.ts";
import { canHide, hidesWhole, type Tombstone } from "../../model/rows/tombstone.ts";
import { DAY_NS } from "../../model/time/time-units.ts";
import type { BlockOfTable } from "../manifest/manifest.ts";

export interface CompactionLimits {
  /** A day is closed this long after its end. */
  readonly closeAfterMs: number;
  /** A closed day is not merged while rows for it arrive: until this long after the last flush that contained some. */
  readonly quietMs: number;
  /** Minimum and maximum runs of an open day per merge. */
  readonly mergeRunsMin: number;
  readonly mergeRunsMax: number;
  /** Maximum share of the largest run in a merge's rows, as 1 / mergeGrowth: each merge multiplies the size of a row's run by at least
   *  this factor. */
  readonly mergeGrowth: number;
  /** A merge produces no run with more rows: larger ones wait for the end of the day ... */
  readonly mergedRowsMax: number;
  /** ... unless there are more runs than this: then the cheapest adjacent runs are merged, by cost per eliminated run. */
  readonly runsMax: number;
  /** Maximum rows of a block: a larger day is split into several. */
  readonly blockRowsMax: number;
  /** Late rows are merged into a closed day once they reach this share of it ... */
  readonly lateFraction: number;
  /** ... or this age, per `lateRowsPerWait` rows that must be rewritten, at most `lateWaitsMax` times. */
  readonly lateMs: number;
  readonly lateRowsPerWait: number;
  readonly lateWaitsMax: number;
  /** Closed days with fewer rows share files with those of other tables. */
  readonly smallRows: number;
  /** Tasks are combined into one job up to this many rows and blocks: the main thread commits a job's blocks without a pause. */
  readonly jobRowsMax: number;
  readonly jobBlocksMax: number;
  /** A deletion is applied to files at the latest this long after it was first seen. */
  readonly tombstoneMs: number;
}

const HOUR_MS = 3_600_000;
/** Clocks are set back by less all the time. */
const CLOCK_SLACK_MS = 60_000;

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

/** The planner's input for one table. */
export interface TableState {
  readonly tableId: number;
  /** Undefined if the table is deleted. */
  readonly table: { readonly name: string } | undefined;
  readonly blocks: readonly BlockOfTable[];
  /** Older rows are past their retention. */
  readonly retentionMinNs: bigint;
  /** Ascending ids. */
  readonly tombstones: readonly SeenTombstone[];
}

export interface SeenTombstone {
  readonly tombstone: Tombstone;
  readonly seenMs: number;
}

/** Blocks of one table and day to be merged into one run. */
export interface CompactionTask {
  readonly tableId: number;
  readonly dayStartNs: bigint;
  /** In order of sequence. */
  readonly inputs: readonly BlockOfTable[];
  readonly rowCount: number;
  /** True if the run contains all rows of a closed day, or as many as a block may hold. */
  readonly isClosed: boolean;
  /** True if no rows of lower sequences exist besides the run, so that all its rows are unique. */
  readonly isFirst: boolean;
}

export interface TablePlan {
  readonly tasks: readonly CompactionTask[];
  /** Blocks without a remaining row. */
  readonly dropped: readonly BlockOfTable[];
  /** When the plan may change without any change of the data; infinity = never. */
  readonly dueMs: number;
}

/** Blocks with adjacent sequences that a merge takes or leaves together. */
interface PlannedRun {
  readonly seqMin: number;
  readonly blocks: BlockOfTable[];
  rowCount: number;
  flushedMinMs: number;
  flushedMaxMs: number;
  isClosed: boolean;
}

/** Plans the tasks of one table. Pure. */
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
  const tasks = [...days].flatMap(([dayStartNs, blocks]) => planDay(state, { dayStartNs, runs: runsOf(blocks, clock) }, clock, limits));
  return { tasks, dropped, dueMs: clock.dueMs };
}

/** Tracks the earliest time at which an unmet condition will be met. */
class DueClock {
  dueMs = Number.POSITIVE_INFINITY;

  constructor(readonly nowMs: number) {}

  hasCome(ms: number): boolean {
    if (this.nowMs >= ms) return true;
    this.dueMs = Math.min(this.dueMs, ms);
    return false;
  }

  /** A time of the past; of a clock that was ahead: long ago. */
  past(ms: number): number {
    return ms > this.nowMs + CLOCK_SLACK_MS ? 0 : ms;
  }
}

function isGone({ block }: BlockOfTable, { retentionMinNs, tombstones }: TableState, clock: DueClock): boolean {
  if (retentionMinNs > ALL_TIME.minNs) {
    const leftMs = Number((block.maxTimeNs - retentionMinNs) / 1_000_000n);
    if (block.maxTimeNs < retentionMinNs || clock.hasCome(clock.nowMs + Math.max(1, leftMs + 1))) return true;
  }
  return tombstones.some(({ tombstone }) => tombstone.isHeld !== true && hidesWhole(tombstone, block));
}

/** The runs of a day by sequence. The parts of a large run share its sequence range. */
function runsOf(blocks: readonly BlockOfTable[], clock: DueClock): PlannedRun[] {
  const runs: PlannedRun[] = [];
  for (const each of blocks.toSorted((a, b) => a.block.seqMin - b.block.seqMin || a.block.index - b.block.index)) {
    const { seqMin, rowCount, closed: isClosed = false } = each.block;
    const [flushedMinMs, flushedMaxMs] = [clock.past(each.block.flushedMinMs), clock.past(each.block.flushedMaxMs)];
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
  const isCut = cutsOf(runs, state);
  for (const { from, end } of isOver ? partsOf(runs, isCut, limits) : []) {
    const part = runs.slice(from, end);
    if ((part.length === 1 && part[0]!.isClosed) || !shouldClose(part, clock, limits)) continue;
    if (part.length <= limits.mergeRunsMax) return [task(from, end, true)];
    // too many to read at once: start with the smallest adjacent ones
    const first = from + smallestWindow(part, limits.mergeRunsMax);
    return [task(first, first + limits.mergeRunsMax, false)];
  }
  const window = mergeWindow(runs, isCut, limits);
  if (window !== null) return [task(window.from, window.end, false)];
  const old = runs.findIndex(({ blocks }) => blocks.some(({ block }) => hasOldTombstone(block, state, clock, limits)));
  return old < 0 ? [] : [task(old, old + 1, runs[old]!.isClosed)];
}

/** Whether a run must not be merged with the run before it: deletions that may be taken back hide rows of one of them alone. */
function cutsOf(runs: readonly PlannedRun[], { tombstones }: TableState): (index: number) => boolean {
  const held = tombstones.filter(({ tombstone }) => tombstone.isHeld === true).map(({ tombstone }) => tombstone);
  const ofDay = held.filter((tombstone) => runs.some(({ blocks }) => blocks.some(({ block }) => canHide(tombstone, block))));
  const before = (index: number) => ofDay.filter(({ sequence }) => sequence < runs[index]!.seqMin).length;
  return (index) => ofDay.length > 0 && index > 0 && before(index) > before(index - 1);
}

/** Splits a day into parts of at most a block's rows; usually one. */
function partsOf(runs: readonly PlannedRun[], isCut: (index: number) => boolean, { blockRowsMax }: CompactionLimits): DayPart[] {
  const parts: DayPart[] = [];
  let rows = 0;
  runs.forEach(({ rowCount }, i) => {
    rows += rowCount;
    const last = parts.at(-1);
    if (last !== undefined && rows <= blockRowsMax && !isCut(i)) last.end = i + 1;
    else {
      parts.push({ from: i, end: i + 1 });
      rows = rowCount;
    }
  });
  return parts;
}

interface DayPart {
  readonly from: number;
  end: number;
}

/** True if a finished day, or a part of it, should become one run now. */
function shouldClose(runs: readonly PlannedRun[], clock: DueClock, limits: CompactionLimits): boolean {
  // what a deletion kept apart while it could be taken back joins the larger run
  const closedRowsMax = Math.max(...runs.map(({ isClosed, rowCount }) => (isClosed ? rowCount : 0)));
  const main = runs.find(({ isClosed, rowCount }) => isClosed && rowCount === closedRowsMax);
  const late = runs.filter((run) => run !== main);
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

/** Adjacent runs worth merging: among all candidates those whose largest run is smallest, extended as far as possible. */
function mergeWindow(runs: readonly PlannedRun[], isCut: (index: number) => boolean, limits: CompactionLimits): Window | null {
  let best: Window | null = null;
  let cheapest: Window | null = null;
  const cost = ({ from, end, total }: Window) => total / (end - from - 1);
  for (const window of windows(runs, isCut, limits)) {
    const { from, end, total, largest } = window;
    if (cheapest === null || cost(window) < cost(cheapest)) cheapest = window;
    if (largest * limits.mergeGrowth > total || total > limits.mergedRowsMax) continue;
    if (best === null || largest < best.largest || (largest === best.largest && end - from > best.end - best.from)) best = window;
  }
  return best ?? (runs.length > limits.runsMax ? cheapest : null);
}

function* windows(
  runs: readonly PlannedRun[],
  isCut: (index: number) => boolean,
  { mergeRunsMin, mergeRunsMax, blockRowsMax }: CompactionLimits,
): Generator<Window> {
  for (let from = 0; from < runs.length; from++) {
    let total = 0;
    let largest = 0;
    for (let end = from + 1; end <= Math.min(runs.length, from + mergeRunsMax) && !runs[end - 1]!.isClosed; end++) {
      if (end - 1 > from && isCut(end - 1)) break;
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
  return tombstones.some(({ tombstone, seenMs }) => {
    return tombstone.isHeld !== true && canHide(tombstone, block) && clock.hasCome(seenMs + limits.tombstoneMs);
  });
}

function rowsOf(runs: readonly PlannedRun[]): number {
  return runs.reduce((sum, { rowCount }) => sum + rowCount, 0);
}
