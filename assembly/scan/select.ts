// Which rows of a run a scan wants: those of wanted series within a range of times that no deletion hides and whose fields satisfy
// predicates. An unsorted run is read row by row; in one sorted by series and time, binary search finds the ranges of each wanted series.
import { EXPRESSION_ROWS, PREDICATE_BYTES } from "../abi";
import { hostAlloc, hostFree } from "../memory/host";
import { exclusionAt, hides, keepVisible } from "./exclusion";
import { countMatching, listMatching } from "./matches";
import { keepMatching, Predicate } from "./predicate";

/** | series u32 | first row u32 | end u32 | */
export const RANGE_BYTES: u32 = 12;

/** The rows of a run that are still selected. */
@unmanaged
export class Selection {
  minTime: i64;
  /** maxTime - minTime, so that one unsigned comparison tests both ends. */
  timeSpan: u64;
  series: u32;
  times: u32;
  rowCount: u32;
  /** u8 per series, not 0 = wanted; 0 = all are. */
  wanted: u32;
  seriesCount: u32;
  sorted: u32;
  exclusions: u32;
  exclusionCount: u32;
  predicates: u32;
  predicateCount: u32;
  /** Memory of MATCH_BYTES, if there are predicates. */
  work: u32;
  /** Rows [at, end) are selected and not yet given out; rows from `end` on are not yet looked at. Unsorted: at = end. */
  at: u32;
  end: u32;
}

/** Rows side by side from which on predicates are asked of all of them, not of a list. */
const ADJACENT_MIN: u32 = 64;

/** A selection of the rows with wanted series and minTime <= time <= maxTime. */
export function selectionCreate(
  series: u32,
  times: u32,
  rowCount: u32,
  sorted: u32,
  wanted: u32,
  seriesCount: u32,
  minTime: i64,
  maxTime: i64,
): u32 {
  const ptr = hostAlloc(offsetof<Selection>());
  const selection = changetype<Selection>(ptr);
  selection.minTime = minTime;
  selection.timeSpan = <u64>maxTime - <u64>minTime;
  selection.series = series;
  selection.times = times;
  selection.rowCount = rowCount;
  selection.wanted = wanted;
  selection.seriesCount = seriesCount;
  selection.sorted = sorted;
  selection.exclusions = 0;
  selection.exclusionCount = 0;
  selection.predicates = 0;
  selection.predicateCount = 0;
  selection.work = 0;
  selection.at = 0;
  selection.end = 0;
  return ptr;
}

/** A selection of all rows of a run, whose series and times are not read: in place of those of one series. */
export function selectionOfAll(rowCount: u32): u32 {
  const ptr = selectionCreate(0, 0, rowCount, 1, 0, 0, i64.MIN_VALUE, i64.MAX_VALUE);
  changetype<Selection>(ptr).end = rowCount;
  return ptr;
}

/** Frees a selection. */
export function selectionFree(ptr: u32): void {
  hostFree(ptr, offsetof<Selection>());
}

/** Leaves out what `count` exclusions (drawn in abi.ts) hide. The list belongs to the caller and is read until the selection is freed. */
export function selectionExclude(selection: Selection, exclusions: u32, count: u32): void {
  selection.exclusions = exclusions;
  selection.exclusionCount = count;
}

/** Leaves out what does not satisfy all of `count` predicates (drawn in abi.ts), which stay the caller's as well, as `work` does, memory of
 *  MATCH_BYTES. Row numbers only: selectionRanges knows nothing of them. */
export function selectionWhere(selection: Selection, predicates: u32, count: u32, work: u32): void {
  selection.work = work;
  selection.predicates = predicates;
  selection.predicateCount = count;
}

/** Writes the next row numbers, ascending, at most `max`, to `target`. Returns how many; fewer than `max`: these were the last. */
export function selectionNext(selection: Selection, target: u32, max: u32): u32 {
  if (selection.sorted != 0 && selection.predicateCount == 0) return nextSorted(selection, target, max);
  if (selection.sorted != 0) return nextMatching(selection, target, max);
  let kept: u32 = 0;
  for (let more = true; more; ) {
    const rows = target + (kept << 2);
    const room = max - kept;
    const found = nextUnsorted(selection, rows, room);
    let left = found;
    for (let i: u32 = 0; i < selection.exclusionCount; i++) {
      left = keepVisible(exclusionAt(selection.exclusions, i), selection.series, selection.times, rows, left);
    }
    kept += keepListed(selection, rows, left);
    more = found == room && kept < max;
  }
  return kept;
}

function keepListed(selection: Selection, rows: u32, count: u32): u32 {
  for (let i: u32 = 0; i < selection.predicateCount; i++) {
    count = keepMatching(changetype<Predicate>(selection.predicates + i * PREDICATE_BYTES), rows, count);
  }
  return count;
}

/** Of a sorted run with predicates. */
function nextMatching(selection: Selection, target: u32, max: u32): u32 {
  let kept: u32 = 0;
  while (kept < max && (selection.at != selection.end || nextRange(selection))) {
    const rows = target + (kept << 2);
    const room = max - kept;
    const first = selection.at;
    const count = min(selection.end - first, EXPRESSION_ROWS);
    if (count < ADJACENT_MIN) {
      kept += keepListed(selection, rows, nextShort(selection, rows, room));
      continue;
    }
    const found = listMatching(selection.predicates, selection.predicateCount, first, count, selection.work, rows, room);
    selection.at = found == room ? load<u32>(rows + ((found - 1) << 2)) + 1 : first + count;
    kept += found;
  }
  return kept;
}

/** Rows of the next ranges that are short, without predicates. */
function nextShort(selection: Selection, target: u32, max: u32): u32 {
  let count: u32 = 0;
  while (count < max && (selection.at != selection.end || nextRange(selection)) && selection.end - selection.at < ADJACENT_MIN) {
    const last = min(selection.end, selection.at + max - count);
    for (; selection.at < last; selection.at++, count++) store<u32>(target + (count << 2), selection.at);
  }
  return count;
}

/** Of a sorted run: how many rows are selected that were not given out yet. */
export function selectionCount(selection: Selection): u32 {
  let count: u32 = 0;
  for (; selection.at != selection.end || nextRange(selection); selection.at = selection.end) {
    count += countMatching(selection.predicates, selection.predicateCount, selection.at, selection.end, selection.work);
  }
  return count;
}

/** Of a sorted run: writes the next ranges | series u32 | first row u32 | end u32 |, ascending, at most `max`. A series may have several.
 *  Returns how many; fewer than `max`: these were the last. Not to be mixed with selectionNext. */
export function selectionRanges(selection: Selection, target: u32, max: u32): u32 {
  let count: u32 = 0;
  while (count < max && nextRange(selection)) {
    const at = target + count * RANGE_BYTES;
    store<u32>(at, load<u32>(selection.series + (selection.at << 2)));
    store<u32>(at, selection.at, 4);
    store<u32>(at, selection.end, 8);
    count++;
  }
  return count;
}

function nextSorted(selection: Selection, target: u32, max: u32): u32 {
  let out = target;
  const limit = target + (max << 2);
  while (out < limit) {
    if (selection.at == selection.end && !nextRange(selection)) break;
    const last = min(selection.end, selection.at + ((limit - out) >> 2));
    let row = selection.at;
    for (; row < last; row++, out += 4) store<u32>(out, row);
    selection.at = row;
  }
  return (out - target) >> 2;
}

function nextUnsorted(selection: Selection, target: u32, max: u32): u32 {
  const rowCount = selection.rowCount;
  const times = selection.times;
  const series = selection.series;
  const wanted = selection.wanted;
  const minTime = <u64>selection.minTime;
  const span = selection.timeSpan;
  let row = selection.end;
  let out = target;
  const limit = target + (max << 2);
  // Every row is stored; the pointer moves on only behind a selected one. Without a branch the cost does not depend on the data.
  if (wanted == 0) {
    for (; row < rowCount && out < limit; row++) {
      store<u32>(out, row);
      out += <u32>(load<u64>(times + (row << 3)) - minTime <= span) << 2;
    }
  } else if (span == u64.MAX_VALUE) {
    for (; row < rowCount && out < limit; row++) {
      store<u32>(out, row);
      out += <u32>(load<u8>(wanted + load<u32>(series + (row << 2))) != 0) << 2;
    }
  } else {
    for (; row < rowCount && out < limit; row++) {
      store<u32>(out, row);
      const isWanted = load<u8>(wanted + load<u32>(series + (row << 2))) != 0;
      out += (<u32>(load<u64>(times + (row << 3)) - minTime <= span) & <u32>isWanted) << 2;
    }
  }
  selection.at = row;
  selection.end = row;
  return (out - target) >> 2;
}

/** Moves [at, end) to the next selected rows of one series. False when there are none. */
export function nextRange(selection: Selection): bool {
  const rowCount = selection.rowCount;
  const series = selection.series;
  const wanted = selection.wanted;
  const minTime = selection.minTime;
  const maxTime = <i64>(<u64>minTime + selection.timeSpan);
  let row = selection.end;
  while (row < rowCount) {
    let id = load<u32>(series + (row << 2));
    if (wanted != 0 && load<u8>(wanted + id) == 0) {
      do id++;
      while (id < selection.seriesCount && load<u8>(wanted + id) == 0);
      row = id < selection.seriesCount ? seriesFrom(series, row, rowCount, id) : rowCount;
      continue;
    }
    const seriesEnd = seriesFrom(series, row, rowCount, id + 1);
    const first = minTime == i64.MIN_VALUE ? row : timeFrom(selection.times, row, seriesEnd, minTime);
    const last = maxTime == i64.MAX_VALUE ? seriesEnd : timeFrom(selection.times, first, seriesEnd, maxTime + 1);
    if (first < last && selectVisible(selection, id, first, last)) return true;
    row = seriesEnd;
  }
  selection.at = rowCount;
  selection.end = rowCount;
  return false;
}

/** Sets [at, end) to the first rows in [first, last) of series `id` that no exclusion hides. The rest of the series is looked at by the
 *  next call: what lies behind the range of times is skipped then. False when all are hidden. */
function selectVisible(selection: Selection, id: u32, first: u32, last: u32): bool {
  const times = selection.times;
  const count = selection.exclusionCount;
  let end = last;
  for (let i: u32 = 0; i < count; i++) {
    const exclusion = exclusionAt(selection.exclusions, i);
    if (!hides(exclusion, id)) continue;
    const time = load<i64>(times + (first << 3));
    if (exclusion.minTime > time) {
      end = timeFrom(times, first, end, exclusion.minTime);
    } else if (exclusion.maxTime >= time) {
      if (exclusion.maxTime == i64.MAX_VALUE) return false;
      first = timeFrom(times, first, last, exclusion.maxTime + 1);
      if (first == last) return false;
      // what ended behind the old beginning says nothing about the new one
      end = last;
      i = u32.MAX_VALUE;
    }
  }
  selection.at = first;
  selection.end = end;
  return true;
}

/** First row in [from, to) whose series is at least `id`: doubling steps, then halving, as series are often short. Or they are longer than
 *  the rest of a page, which its last row tells. */
function seriesFrom(series: u32, from: u32, to: u32, id: u32): u32 {
  if (from < to && load<u32>(series + ((to - 1) << 2)) < id) return to;
  let step: u32 = 1;
  let low = from;
  while (low + step < to && load<u32>(series + ((low + step) << 2)) < id) {
    low += step;
    step <<= 1;
  }
  let high = min(to, low + step);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (load<u32>(series + (middle << 2)) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** First row in [from, to) whose time is at least `time`. The ends first: most pages lie within a range as a whole, and each step of the
 *  search would wait for memory. */
export function timeFrom(times: u32, from: u32, to: u32, time: i64): u32 {
  if (from < to) {
    if (load<i64>(times + (from << 3)) >= time) return from;
    if (load<i64>(times + ((to - 1) << 3)) < time) return to;
  }
  while (from < to) {
    const middle = (from + to) >> 1;
    if (load<i64>(times + (middle << 3)) < time) from = middle + 1;
    else to = middle;
  }
  return from;
}
