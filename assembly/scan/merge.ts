// Merges runs into a run sorted by series and time, in which each (series, time) occurs once. Rows are ordered by a counting sort over
// series and a natural merge sort over times within a series; then every input row knows its output row, and columns are scattered in
// input order: the later write of a field wins, and NULL overwrites nothing. So rows of equal time may be sorted in any order.
// `rows` lists the rows taken of a run (0 = all of them), `map` gives the merged series of a run's series (0 = the same).
import { bitAt, putBit } from "../memory/bits";

// @ts-ignore: decorator
@inline
function rowAt(rows: u32, i: u32): u32 {
  return rows != 0 ? load<u32>(rows + (i << 2)) : i;
}

// @ts-ignore: decorator
@inline
function seriesAt(series: u32, map: u32, row: u32): u32 {
  const id = load<u32>(series + (row << 2));
  return map != 0 ? load<u32>(map + (id << 2)) : id;
}

/** used[series of each row] = 1. */
export function mergeMarkSeries(series: u32, rows: u32, count: u32, used: u32): void {
  for (let i: u32 = 0; i < count; i++) store<u8>(used + load<u32>(series + (rowAt(rows, i) << 2)), 1);
}

/** Adds the rows of a run to the counts per series. */
export function mergeCount(series: u32, rows: u32, count: u32, map: u32, counts: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const at = counts + (seriesAt(series, map, rowAt(rows, i)) << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
}

/** Turns counts per series into the first output position of each. */
export function mergeOffsets(counts: u32, seriesCount: u32): void {
  let sum: u32 = 0;
  for (const end = counts + (seriesCount << 2); counts < end; counts += 4) {
    const count = load<u32>(counts);
    store<u32>(counts, sum);
    sum += count;
  }
}

/** Places time and number (base + i) of each row behind the earlier ones of its series; offsets end up at each series' end. */
export function mergePlace(
  series: u32,
  times: u32,
  rows: u32,
  count: u32,
  map: u32,
  offsets: u32,
  base: u32,
  outTimes: u32,
  outNumbers: u32,
): void {
  for (let i: u32 = 0; i < count; i++) {
    const row = rowAt(rows, i);
    const offset = offsets + (seriesAt(series, map, row) << 2);
    const at = load<u32>(offset);
    store<u32>(offset, at + 1);
    store<i64>(outTimes + (at << 3), load<i64>(times + (row << 3)));
    store<u32>(outNumbers + (at << 2), base + i);
  }
}

/** Rows of the longest series whose times are not ascending: what mergeSort needs scratch for. */
export function mergeUnsortedMax(times: u32, ends: u32, seriesCount: u32): u32 {
  let longest: u32 = 0;
  let from: u32 = 0;
  for (let series: u32 = 0; series < seriesCount; series++) {
    const to = load<u32>(ends + (series << 2));
    if (to - from > longest && ascendingEnd(times, from, to) != to) longest = to - from;
    from = to;
  }
  return longest;
}

/** Sorts each series by time. Scratch: 12 bytes × mergeUnsortedMax. */
export function mergeSort(times: u32, numbers: u32, ends: u32, seriesCount: u32, scratch: u32, scratchRows: u32): void {
  let from: u32 = 0;
  for (let series: u32 = 0; series < seriesCount; series++) {
    const to = load<u32>(ends + (series << 2));
    if (ascendingEnd(times, from, to) != to) sortRange(times, numbers, from, to, scratch, scratch + (scratchRows << 3));
    from = to;
  }
}

// @ts-ignore: decorator
@inline
function timeAt(times: u32, row: u32): i64 {
  return load<i64>(times + (row << 3));
}

/** End of the longest non-descending stretch that begins at `from`. */
function ascendingEnd(times: u32, from: u32, to: u32): u32 {
  if (from >= to) return to;
  let row = from + 1;
  for (let last = timeAt(times, from); row < to; row++) {
    const time = timeAt(times, row);
    if (time < last) break;
    last = time;
  }
  return row;
}

// Stretches shorter than this are brought to this length by insertion.
const INSERTED: u32 = 16;

/** A natural merge sort: ascending stretches are taken as they are, which is how nearly all data arrives. */
function sortRange(times: u32, numbers: u32, from: u32, to: u32, scratchTimes: u32, scratchNumbers: u32): void {
  let start = from;
  while (start < to) start = prepareStretch(times, numbers, start, to);
  for (let merged = true; merged; ) {
    merged = false;
    start = from;
    while (start < to) {
      const middle = ascendingEnd(times, start, to);
      if (middle == to) break;
      const end = ascendingEnd(times, middle, to);
      mergeStretches(times, numbers, start, middle, end, scratchTimes, scratchNumbers);
      merged = true;
      start = end;
    }
  }
}

/** Makes an ascending stretch at `start`: reverses a descending one, extends a short one by insertion. Returns its end. */
function prepareStretch(times: u32, numbers: u32, start: u32, to: u32): u32 {
  let end = start + 1;
  while (end < to && timeAt(times, end) < timeAt(times, end - 1)) end++;
  if (end - start > 1) {
    for (let a = start, b = end - 1; a < b; a++, b--) swapRows(times, numbers, a, b);
  }
  end = ascendingEnd(times, start, to);
  const wanted = min(to, start + INSERTED);
  for (; end < wanted; end++) {
    const time = timeAt(times, end);
    const number = load<u32>(numbers + (end << 2));
    let at = end;
    for (; at > start && timeAt(times, at - 1) > time; at--) {
      store<i64>(times + (at << 3), timeAt(times, at - 1));
      store<u32>(numbers + (at << 2), load<u32>(numbers + ((at - 1) << 2)));
    }
    store<i64>(times + (at << 3), time);
    store<u32>(numbers + (at << 2), number);
  }
  return end;
}

function swapRows(times: u32, numbers: u32, a: u32, b: u32): void {
  const time = timeAt(times, a);
  store<i64>(times + (a << 3), timeAt(times, b));
  store<i64>(times + (b << 3), time);
  const number = load<u32>(numbers + (a << 2));
  store<u32>(numbers + (a << 2), load<u32>(numbers + (b << 2)));
  store<u32>(numbers + (b << 2), number);
}

/** Merges the ascending stretches [from, middle) and [middle, to). */
function mergeStretches(times: u32, numbers: u32, from: u32, middle: u32, to: u32, scratchTimes: u32, scratchNumbers: u32): void {
  // rows of the first stretch that are not behind the whole second one are in place already
  from = placeAfter(times, from, middle, timeAt(times, middle));
  const leftRows = middle - from;
  memory.copy(scratchTimes, times + (from << 3), leftRows << 3);
  memory.copy(scratchNumbers, numbers + (from << 2), leftRows << 2);
  let left: u32 = 0;
  let right = middle;
  let out = from;
  while (left < leftRows && right < to) {
    const leftTime = load<i64>(scratchTimes + (left << 3));
    const rightTime = timeAt(times, right);
    const takeLeft = leftTime <= rightTime;
    store<i64>(times + (out << 3), takeLeft ? leftTime : rightTime);
    store<u32>(numbers + (out << 2), load<u32>(takeLeft ? scratchNumbers + (left << 2) : numbers + (right << 2)));
    left += <u32>takeLeft;
    right += <u32>!takeLeft;
    out++;
  }
  // the rest of the second stretch lies in place
  memory.copy(times + (out << 3), scratchTimes + (left << 3), (leftRows - left) << 3);
  memory.copy(numbers + (out << 2), scratchNumbers + (left << 2), (leftRows - left) << 2);
}

/** First row in [from, to) with a later time. */
function placeAfter(times: u32, from: u32, to: u32, time: i64): u32 {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (timeAt(times, middle) <= time) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Numbers the distinct (series, time): places[number of an input row] = output row; times are compacted in place, outSeries is written.
 *  Returns the output rows. */
export function mergeNumber(times: u32, numbers: u32, ends: u32, seriesCount: u32, outSeries: u32, places: u32): u32 {
  let next: u32 = 0;
  let row: u32 = 0;
  for (let series: u32 = 0; series < seriesCount; series++) {
    const to = load<u32>(ends + (series << 2));
    let last: i64 = 0;
    for (const from = row; row < to; row++) {
      const time = timeAt(times, row);
      if (row == from || time != last) {
        store<i64>(times + (next << 3), time);
        store<u32>(outSeries + (next << 2), series);
        last = time;
        next++;
      }
      store<u32>(places + (load<u32>(numbers + (row << 2)) << 2), next - 1);
    }
  }
  return next;
}

// Scatter a column of one run: out[places[i]] = source[row i] where it is present. outValidity 0: every row of every run is, which is
// common enough for a loop of its own.

/** Copies values of 1 byte to their places in the merged run, where they are not null. */
export function scatter1(source: u32, validity: u32, rows: u32, count: u32, places: u32, out: u32, outValidity: u32): void {
  if (rows == 0 && outValidity == 0) {
    for (let i: u32 = 0; i < count; i++) store<u8>(out + load<u32>(places + (i << 2)), load<u8>(source + i));
    return;
  }
  for (let i: u32 = 0; i < count; i++) {
    const row = rowAt(rows, i);
    if (validity != 0 && !bitAt(validity, row)) continue;
    const place = load<u32>(places + (i << 2));
    store<u8>(out + place, load<u8>(source + row));
    if (outValidity != 0) putBit(outValidity, place);
  }
}

/** Copies values of 8 bytes to their places in the merged run, where they are not null. */
export function scatter8(source: u32, validity: u32, rows: u32, count: u32, places: u32, out: u32, outValidity: u32): void {
  if (rows == 0 && outValidity == 0) {
    for (let i: u32 = 0; i < count; i++) store<u64>(out + (load<u32>(places + (i << 2)) << 3), load<u64>(source + (i << 3)));
    return;
  }
  for (let i: u32 = 0; i < count; i++) {
    const row = rowAt(rows, i);
    if (validity != 0 && !bitAt(validity, row)) continue;
    const place = load<u32>(places + (i << 2));
    store<u64>(out + (place << 3), load<u64>(source + (row << 3)));
    if (outValidity != 0) putBit(outValidity, place);
  }
}

/** Copies values of 16 bytes to their places in the merged run, where they are not null. */
export function scatter16(source: u32, validity: u32, rows: u32, count: u32, places: u32, out: u32, outValidity: u32): void {
  if (rows == 0 && outValidity == 0) {
    for (let i: u32 = 0; i < count; i++) v128.store(out + (load<u32>(places + (i << 2)) << 4), v128.load(source + (i << 4)));
    return;
  }
  for (let i: u32 = 0; i < count; i++) {
    const row = rowAt(rows, i);
    if (validity != 0 && !bitAt(validity, row)) continue;
    const place = load<u32>(places + (i << 2));
    v128.store(out + (place << 4), v128.load(source + (row << 4)));
    if (outValidity != 0) putBit(outValidity, place);
  }
}
