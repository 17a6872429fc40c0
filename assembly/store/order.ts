// The order of rows in a file: UTC days, in a day series in order of their tag values, in a series time.
import { VIEW_BYTES } from "../abi";
import { INLINE_MAX, viewText } from "../memory/views";

const DAY_NS: i64 = 86_400_000_000_000;

/** Numbers 0 .. count-1 to `numbers`, in order of the bytes of their views' texts. `scratch` is as large as `numbers`. */
export function sortViews(views: u32, count: u32, numbers: u32, scratch: u32): void {
  for (let i: u32 = 0; i < count; i++) store<u32>(numbers + (i << 2), i);
  let from = numbers;
  let to = scratch;
  for (let width: u32 = 1; width < count; width <<= 1) {
    for (let left: u32 = 0; left < count; left += width << 1) {
      mergeNumbers(views, from, left, min(left + width, count), min(left + (width << 1), count), to);
    }
    const swapped = from;
    from = to;
    to = swapped;
  }
  if (from != numbers) memory.copy(numbers, from, count << 2);
}

function mergeNumbers(views: u32, from: u32, left: u32, middle: u32, end: u32, to: u32): void {
  let right = middle;
  for (let out = left; out < end; out++) {
    const takeLeft = left < middle && (right == end || !isLess(views, load<u32>(from + (right << 2)), load<u32>(from + (left << 2))));
    const at = takeLeft ? left++ : right++;
    store<u32>(to + (out << 2), load<u32>(from + (at << 2)));
  }
}

function isLess(views: u32, a: u32, b: u32): bool {
  return isLessView(views + a * VIEW_BYTES, views + b * VIEW_BYTES);
}

/** Bytes compare as unsigned, a text before its own continuations. */
export function isLessView(viewA: u32, viewB: u32): bool {
  // the prefix as a big-endian number compares as its bytes; padding is 0, which is no byte's successor
  const prefixA = bswap(load<u32>(viewA, 4));
  const prefixB = bswap(load<u32>(viewB, 4));
  if (prefixA != prefixB) return prefixA < prefixB;
  const bytesA = load<u32>(viewA);
  const bytesB = load<u32>(viewB);
  const order = memory.compare(viewText(viewA), viewText(viewB), min(bytesA, bytesB));
  return order != 0 ? order < 0 : bytesA < bytesB;
}

/** ranks[code] of a tag column: 0 for absent (code 0), else one more than the place of view `code` among the sorted. `sorted` holds
 *  the numbers of views 1 .. valueCount-1, less one. */
export function rankCodes(sorted: u32, valueCount: u32, ranks: u32): void {
  store<u32>(ranks, 0);
  for (let i: u32 = 1; i < valueCount; i++) store<u32>(ranks + ((load<u32>(sorted + ((i - 1) << 2)) + 1) << 2), i);
}

/** Brings series ids into the order of one tag column, those of equal values staying as they were. `counts` is u32[valueCount + 1]. */
export function orderSeriesByTag(order: u32, count: u32, codes: u32, ranks: u32, valueCount: u32, counts: u32, target: u32): void {
  memory.fill(counts, 0, (valueCount + 1) << 2);
  for (let i: u32 = 0; i < count; i++) {
    const at = counts + (rankOf(load<u32>(order + (i << 2)), codes, ranks) << 2) + 4;
    store<u32>(at, load<u32>(at) + 1);
  }
  for (let rank: u32 = 0; rank < valueCount; rank++) {
    const at = counts + (rank << 2);
    store<u32>(at, load<u32>(at) + load<u32>(at, 4), 4);
  }
  for (let i: u32 = 0; i < count; i++) {
    const series = load<u32>(order + (i << 2));
    const at = counts + (rankOf(series, codes, ranks) << 2);
    const place = load<u32>(at);
    store<u32>(at, place + 1);
    store<u32>(target + (place << 2), series);
  }
}

// @ts-ignore: decorator
@inline
function rankOf(series: u32, codes: u32, ranks: u32): u32 {
  return load<u32>(ranks + (load<u32>(codes + (series << 2)) << 2));
}

/** First row of each series, and the end of the last: starts u32[seriesCount + 1]. Rows are sorted by series. */
export function seriesStarts(series: u32, rowCount: u32, seriesCount: u32, starts: u32): void {
  let next: u32 = 0;
  for (let row: u32 = 0; row < rowCount; row++) {
    const id = load<u32>(series + (row << 2));
    for (; next <= id; next++) store<u32>(starts + (next << 2), row);
  }
  for (; next <= seriesCount; next++) store<u32>(starts + (next << 2), rowCount);
}

/** Row numbers, series by series in the order given. */
export function orderRows(order: u32, seriesCount: u32, starts: u32, rows: u32): void {
  for (let i: u32 = 0; i < seriesCount; i++) {
    const at = starts + (load<u32>(order + (i << 2)) << 2);
    for (let row = load<u32>(at), end = load<u32>(at, 4); row < end; row++, rows += 4) store<u32>(rows, row);
  }
}

/** Days since 1970-01-01 UTC, rounded down. */
export function dayOf(time: i64): i32 {
  const day = time / DAY_NS;
  return <i32>(day * DAY_NS > time ? day - 1 : day);
}

// The day of the row before: neighbours are mostly of one day, and a comparison is cheaper than a division. Bounds are inclusive and cut
// at the ends of i64, where a day's would wrap around into the other end.
let day: i32 = 0;
let dayMin: i64 = 1;
let dayMax: i64 = 0;

function findDay(time: i64): void {
  day = dayOf(time);
  dayMin = day < dayOf(i64.MIN_VALUE) + 1 ? i64.MIN_VALUE : <i64>day * DAY_NS;
  dayMax = day == dayOf(i64.MAX_VALUE) ? i64.MAX_VALUE : <i64>(day + 1) * DAY_NS - 1;
}

/** Adds the rows of each day to counts[day - firstDay]. */
export function countDays(times: u32, rowCount: u32, firstDay: i32, counts: u32): void {
  for (const end = times + (rowCount << 3); times < end; times += 8) {
    const time = load<i64>(times);
    if (time < dayMin || time > dayMax) findDay(time);
    const at = counts + (<u32>(day - firstDay) << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
}

/** Moves row numbers to the places of their day, those of one day staying in order. offsets[day - firstDay] is where each day begins, and
 *  ends up where it ends. */
export function placeDays(times: u32, rows: u32, count: u32, firstDay: i32, offsets: u32, target: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const row = load<u32>(rows + (i << 2));
    const time = load<i64>(times + (row << 3));
    if (time < dayMin || time > dayMax) findDay(time);
    const at = offsets + (<u32>(day - firstDay) << 2);
    const place = load<u32>(at);
    store<u32>(at, place + 1);
    store<u32>(target + (place << 2), row);
  }
}

/** Text outside views of the fullest page of `pageRows` rows. */
export function pageTextMax(views: u32, validity: u32, rows: u32, count: u32, pageRows: u32): f64 {
  let most: f64 = 0;
  let text: f64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    if (i % pageRows == 0) text = 0;
    const row = load<u32>(rows + (i << 2));
    if (validity != 0 && ((load<u8>(validity + (row >> 3)) >> <u8>(row & 7)) & 1) == 0) continue;
    const bytes = load<u32>(views + row * VIEW_BYTES);
    if (bytes > INLINE_MAX) text += bytes;
    most = max(most, text);
  }
  return most;
}
