// Whether rows can be there twice, decided as they come: by the newest time of each series, and by a few gaps behind it in which the series
// has no row. Bodies that overtake each other leave such a gap and then fill it, so that they cost no merge although they come out of
// order. A row that is neither newer nor in a known gap may be a duplicate: it is reported as one, and readers check it.
import { elementAt, freePages, reserveIndex, roomTo } from "./paged-array";
import { firstGaps, GAPS_LOG2, keepsGaps, SeriesDictionary, TIME_LOG2 } from "./series-dictionary";

/** A gap: | from i64 | to i64 |, both ends excluded; from >= to - 1 = none. A series has four, the longest first. */
const GAP_BYTES: u32 = 16;
const LAST_GAP: u32 = (1 << GAPS_LOG2) - GAP_BYTES;
/** A gap that lies so many times its length behind is given up for a shorter one. */
const STALE_SHIFT: u64 = 4;
/** Gaps are kept of so many more series with each call, beside as many as it has rows, when rows turn out to be disordered: 4 MiB. */
const GAPS_MORE: u32 = 65536;

export const NOTED_UNIQUE: u32 = 1;
export const NOTED_ASCENDING: u32 = 2;

/** For a new dictionary: at most four gaps, the longest first, in which the table has no row. */
export function seriesSetGaps(dictionary: SeriesDictionary, gaps: u32, count: u32): void {
  memory.copy(firstGaps(dictionary), gaps, min(count * GAP_BYTES, 1 << GAPS_LOG2));
}

// of the last call of seriesNoteTimes
let overlapMin: i64 = i64.MAX_VALUE;
let overlapMax: i64 = i64.MIN_VALUE;

/** The least time of rows that may be duplicates. */
export function notedOverlapMin(): i64 {
  return overlapMin;
}

/** The greatest time of rows that may be duplicates. */
export function notedOverlapMax(): i64 {
  return overlapMax;
}

/** Notes the times of rows. NOTED_UNIQUE: no row has the series and time of another one, in the call or in an earlier one; else all those
 *  that may lie between notedOverlapMin and notedOverlapMax. NOTED_ASCENDING: every row was newer than its series' last one. */
export function seriesNoteTimes(dictionary: SeriesDictionary, series: u32, times: u32, rowCount: u32): u32 {
  reserveGaps(dictionary, rowCount);
  const lastTimes = dictionary.lastTimes.pages;
  const gaps = dictionary.gaps.pages;
  const gapsTo = roomTo(dictionary.gaps, GAPS_LOG2);
  let earliest = i64.MAX_VALUE;
  let latest = i64.MIN_VALUE;
  let noted = NOTED_UNIQUE | NOTED_ASCENDING;
  for (const end = series + (rowCount << 2); series < end; series += 4, times += 8) {
    const id = load<u32>(series);
    const at = elementAt(lastTimes, id, TIME_LOG2);
    const last = load<i64>(at);
    const time = load<i64>(times);
    if (time > last) {
      if (id < gapsTo) noteStep(elementAt(gaps, id, GAPS_LOG2), last, time);
      store<i64>(at, time);
      continue;
    }
    noted &= ~NOTED_ASCENDING;
    if (id < gapsTo && fillGap(elementAt(gaps, id, GAPS_LOG2), time)) continue;
    noted &= ~NOTED_UNIQUE;
    earliest = min(earliest, time);
    latest = max(latest, time);
  }
  if (noted != (NOTED_UNIQUE | NOTED_ASCENDING)) dictionary.isDisordered = 1;
  dictionary.notedCount = dictionary.count;
  overlapMin = earliest;
  overlapMax = latest;
  return noted;
}

/** Before anything is noted, because it may fail. */
function reserveGaps(dictionary: SeriesDictionary, rowCount: u32): void {
  const gaps = dictionary.gaps;
  if (!keepsGaps(dictionary.count, dictionary.isDisordered)) {
    // those that were few are many now
    if (gaps.pageCount != 0) freePages(gaps);
    return;
  }
  let room = roomTo(gaps, GAPS_LOG2);
  const wanted = min(dictionary.count, room + rowCount + GAPS_MORE);
  while (room < wanted) {
    reserveIndex(gaps, room, GAPS_LOG2);
    const end = roomTo(gaps, GAPS_LOG2);
    // of a series that has rows nobody knows what they have filled
    for (room = max(room, dictionary.notedCount); room < end; room++) {
      memory.copy(elementAt(gaps.pages, room, GAPS_LOG2), firstGaps(dictionary), 1 << GAPS_LOG2);
    }
    room = end;
  }
}

// @ts-ignore: decorator
@inline
function lengthOf(gap: u32): u64 {
  return load<u64>(gap, 8) - load<u64>(gap);
}

/** A series goes on from `last` to `time`: nothing lies between. Remembered when it is longer than the shortest gap known. */
// @ts-ignore: decorator
@inline
function noteStep(gaps: u32, last: i64, time: i64): void {
  const shortest = gaps + LAST_GAP;
  const length = lengthOf(shortest);
  const isStale = (<u64>time - load<u64>(shortest, 8)) >> STALE_SHIFT > length;
  if (<u64>time - <u64>last > length || isStale) replaceShortest(gaps, last, time);
}

/** Gives the last gap's place to another one; the others move so that the longest is the first. */
function replaceShortest(gaps: u32, from: i64, to: i64): void {
  const length = <u64>to - <u64>from;
  let at = gaps + LAST_GAP;
  for (; at > gaps && lengthOf(at - GAP_BYTES) < length; at -= GAP_BYTES) v128.store(at, v128.load(at - GAP_BYTES));
  store<i64>(at, from);
  store<i64>(at, to, 8);
}

/** True when `time` lies in a gap, of which its two parts are left. */
function fillGap(gaps: u32, time: i64): bool {
  let at = gaps;
  for (; at <= gaps + LAST_GAP; at += GAP_BYTES) if (load<i64>(at) < time && time < load<i64>(at, 8)) break;
  if (at > gaps + LAST_GAP) return false;
  const from = load<i64>(at);
  const to = load<i64>(at, 8);
  const last = gaps + LAST_GAP;
  memory.copy(at, at + GAP_BYTES, last - at);
  v128.store(last, i64x2.splat(0));
  if (<u64>time - <u64>from > lengthOf(last)) replaceShortest(gaps, from, time);
  if (<u64>to - <u64>time > lengthOf(last)) replaceShortest(gaps, time, to);
  return true;
}
