// Which rows of a run a scan wants: those of wanted series within a range of times. An unsorted run is read row by row; in one sorted by
// series and time, binary search finds the range of each wanted series.
import { hostAlloc, hostFree } from "../memory/host";

@unmanaged
class Selection {
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
  /** Rows [at, end) are selected and not yet given out; rows from `end` on are not yet looked at. Unsorted: at = end. */
  at: u32;
  end: u32;
}

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
  selection.at = 0;
  selection.end = 0;
  return ptr;
}

export function selectionFree(ptr: u32): void {
  hostFree(ptr, offsetof<Selection>());
}

/** Writes the next row numbers, ascending, at most `max`, to `target`. Returns how many; fewer than `max`: these were the last. */
export function selectionNext(selection: Selection, target: u32, max: u32): u32 {
  if (selection.sorted == 0) return nextUnsorted(selection, target, max);
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
function nextRange(selection: Selection): bool {
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
    const first = timeFrom(selection.times, row, seriesEnd, minTime);
    const last = maxTime == i64.MAX_VALUE ? seriesEnd : timeFrom(selection.times, first, seriesEnd, maxTime + 1);
    if (first < last) {
      selection.at = first;
      selection.end = last;
      // The rest of the series is skipped by the next call: its times lie behind the range.
      return true;
    }
    row = seriesEnd;
  }
  selection.at = rowCount;
  selection.end = rowCount;
  return false;
}

/** First row in [from, to) whose series is at least `id`: doubling steps, then halving, as series are often short. */
function seriesFrom(series: u32, from: u32, to: u32, id: u32): u32 {
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

/** First row in [from, to) whose time is at least `time`. */
function timeFrom(times: u32, from: u32, to: u32, time: i64): u32 {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (load<i64>(times + (middle << 3)) < time) from = middle + 1;
    else to = middle;
  }
  return from;
}
