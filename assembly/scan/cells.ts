// Which cell of an aggregation a row belongs to: the group of its series and the bin of its time. Dense: cell = group * bins + bin.
// Hashed, for many bins of which few have rows: cells are numbered as they appear, through linear probing over
//   slot: | hash u32 | cell + 1 u32, 0 = empty |     key of a cell: | bin u64 | group u32 | 0 u32 |
import { hashOf, hashPair } from "../memory/hash";
import { hostAlloc, hostFree } from "../memory/host";
import { moveTagged, putTagged } from "../memory/tagged-slots";
import { NO_GROUP } from "./group-keys";
import { RANGE_BYTES } from "./select";

/** | cell u32 | first row u32 | end u32 |: rows side by side that belong to one cell. */
export const SPAN_BYTES: u32 = 12;
const KEY_BYTES: u32 = 16;
const CELLS_MIN: u32 = 1024;

/** The cells (group × time bin) of an aggregation. */
@unmanaged
export class Cells {
  /** Begin of bin 0, wrapped: time - origin, unsigned, is a row's offset. */
  origin: u64;
  /** Nanoseconds of a bin. */
  width: u64;
  /** Bins of a group; 1 = times do not matter; 0 = hashed. */
  bins: u32;
  slots: u32;
  slotMask: u32;
  keys: u32;
  keyCapacity: u32;
  /** Hashed: cells so far. */
  count: u32;
  /** Hashed: no cell beyond this many. */
  cellsMax: u32;
  /** Not 0: a row found no cell, because there would be too many. */
  full: u32;
  /** Where cellsCut goes on: range, and row within it; 0 = its begin. */
  cutRange: u32;
  cutRow: u32;
}

/** `bins` 0: hashed. */
export function cellsCreate(origin: i64, width: u64, bins: u32, cellsMax: u32): u32 {
  const ptr = hostAlloc(offsetof<Cells>());
  memory.fill(ptr, 0, offsetof<Cells>());
  const cells = changetype<Cells>(ptr);
  cells.origin = <u64>origin;
  cells.width = width;
  cells.bins = bins;
  cells.cellsMax = cellsMax;
  return ptr;
}

/** Frees the cells. */
export function cellsFree(cells: Cells): void {
  if (cells.keys != 0) hostFree(cells.keys, tableBytes(cells.keyCapacity));
  hostFree(<u32>changetype<usize>(cells), offsetof<Cells>());
}

/** Hashed: cells so far. */
export function cellsCount(cells: Cells): u32 {
  return cells.count;
}

/** 1 if a row found no room in the table of hashed cells. */
export function cellsFull(cells: Cells): u32 {
  return cells.full;
}

/** Turns dense cells into hashed ones: the dense cell list[i] becomes cell i. */
export function cellsHash(cells: Cells, list: u32, count: u32): void {
  const bins = cells.bins;
  cells.bins = 0;
  for (let i: u32 = 0; i < count; i++) {
    const cell = load<u32>(list + (i << 2));
    hashedCell(cells, cell / bins, cell % bins);
  }
}

/** Group and begin of the bin of each cell listed; groups or times 0 = not wanted. */
export function cellsDescribe(cells: Cells, list: u32, count: u32, groups: u32, times: u32): void {
  const bins = cells.bins;
  for (let i: u32 = 0; i < count; i++) {
    const cell = load<u32>(list + (i << 2));
    const key = cells.keys + cell * KEY_BYTES;
    const group = bins != 0 ? cell / bins : load<u32>(key, 8);
    const bin = bins != 0 ? <u64>(cell - group * bins) : load<u64>(key);
    if (groups != 0) store<u32>(groups + (i << 2), group);
    if (times != 0) store<u64>(times + (i << 3), cells.origin + bin * cells.width);
  }
}

// @ts-ignore: decorator
@inline
function cellOf(cells: Cells, group: u32, bin: u64): u32 {
  return cells.bins != 0 ? group * cells.bins + <u32>bin : hashedCell(cells, group, bin);
}

function hashedCell(cells: Cells, group: u32, bin: u64): u32 {
  let sum = hashPair(0, <u32>bin, group);
  // few have more bins
  if (bin >> 32 != 0) sum += hashPair(1, <u32>(bin >> 32), 0);
  const hash = hashOf(sum);
  if (cells.slots != 0) {
    for (let at = hash & cells.slotMask; ; at = (at + 1) & cells.slotMask) {
      const slot = cells.slots + (at << 3);
      const tagged = load<u32>(slot, 4);
      if (tagged == 0) break;
      const key = cells.keys + (tagged - 1) * KEY_BYTES;
      if (load<u32>(slot) == hash && load<u64>(key) == bin && load<u32>(key, 8) == group) return tagged - 1;
    }
  }
  return addCell(cells, group, bin, hash);
}

function addCell(cells: Cells, group: u32, bin: u64, hash: u32): u32 {
  const cell = cells.count;
  if (cell >= cells.cellsMax) {
    cells.full = 1;
    return 0;
  }
  if (cell == cells.keyCapacity) growCells(cells);
  const key = cells.keys + cell * KEY_BYTES;
  store<u64>(key, bin);
  store<u32>(key, group, 8);
  store<u32>(key, 0, 12);
  putTagged(cells.slots, cells.slotMask, hash, cell + 1);
  cells.count = cell + 1;
  return cell;
}

/** Keys, and behind them twice as many slots: one block, so that it grows whole or not at all. */
// @ts-ignore: decorator
@inline
function tableBytes(capacity: u32): u32 {
  return capacity * (KEY_BYTES + 16);
}

/** Doubles keys and slots. */
function growCells(cells: Cells): void {
  const old = cells.keyCapacity;
  const capacity = max(CELLS_MIN, old << 1);
  const keys = hostAlloc(tableBytes(capacity));
  const slots = keys + capacity * KEY_BYTES;
  const mask = (capacity << 1) - 1;
  moveTagged(cells.slots, old << 1, slots, mask);
  if (old != 0) {
    memory.copy(keys, cells.keys, old * KEY_BYTES);
    hostFree(cells.keys, tableBytes(old));
  }
  cells.keys = keys;
  cells.keyCapacity = capacity;
  cells.slots = slots;
  cells.slotMask = mask;
}

/** Cuts the ranges of a sorted run where bins end. Writes at most `max` spans; fewer: these were the last, and the next call begins with
 *  new ranges. `map`: u32 group per series; 0 = one group. */
export function cellsCut(cells: Cells, ranges: u32, rangeCount: u32, times: u32, map: u32, spans: u32, max: u32): u32 {
  let count: u32 = 0;
  const width = cells.width;
  const origin = cells.origin;
  // the rows of the last span: times are mostly regular
  let guess: u32 = 1;
  for (let i = cells.cutRange; i < rangeCount; i++) {
    const range = ranges + i * RANGE_BYTES;
    const to = load<u32>(range, 8);
    const group = map != 0 ? load<u32>(map + (load<u32>(range) << 2)) : 0;
    let row = cells.cutRow != 0 ? cells.cutRow : load<u32>(range, 4);
    cells.cutRow = 0;
    let bin: u64 = 0;
    let begin: u64 = 0;
    let end = to;
    while (row < to) {
      if (count == max) {
        cells.cutRange = i;
        cells.cutRow = row;
        return count;
      }
      if (cells.bins != 1) {
        const time = load<u64>(times + (row << 3));
        const offset = time - origin;
        if (offset - begin >= width) {
          if (offset - begin - width < width) {
            bin++;
            begin += width;
          } else {
            bin = offset / width;
            begin = bin * width;
          }
        }
        end = spanEnd(times, row, to, begin + width - offset, guess);
        guess = end - row;
      }
      const span = spans + count * SPAN_BYTES;
      store<u32>(span, cellOf(cells, group, bin));
      store<u32>(span, row, 4);
      store<u32>(span, end, 8);
      count++;
      row = end;
    }
  }
  // when the last span was the last that fits, the next call finds nothing and begins anew
  cells.cutRange = count == max ? rangeCount : 0;
  return count;
}

/** First row in (row, to] that lies `left` nanoseconds or more behind `row`, or `to`. */
function spanEnd(times: u32, row: u32, to: u32, left: u64, guess: u32): u32 {
  const time = load<u64>(times + (row << 3));
  // low is within, high is not, or is `to`
  let low = row;
  let high = to;
  const probe = row + guess;
  if (probe < to) {
    if (load<u64>(times + ((probe - 1) << 3)) - time < left) {
      if (load<u64>(times + (probe << 3)) - time >= left) return probe;
      low = probe;
    } else {
      high = probe - 1;
    }
  } else if (load<u64>(times + ((to - 1) << 3)) - time < left) {
    return to;
  }
  let step: u32 = 1;
  while (low + step < high && load<u64>(times + ((low + step) << 3)) - time < left) {
    low += step;
    step <<= 1;
  }
  high = min(high, low + step);
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (load<u64>(times + (middle << 3)) - time < left) low = middle;
    else high = middle;
  }
  return high;
}

/** target[i] = cell of the row listed, or of row first + i when `rows` is 0. Returns how many: fewer than `count` when the next row is of a
 *  series without a group yet. */
export function cellsOfRows(
  cells: Cells,
  series: u32,
  times: u32,
  rows: u32,
  first: u32,
  count: u32,
  map: u32,
  target: u32,
): u32 {
  const width = cells.width;
  const origin = cells.origin;
  const bins = cells.bins;
  let bin: u64 = 0;
  let begin: u64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = rows != 0 ? load<u32>(rows + (i << 2)) : first + i;
    let group: u32 = 0;
    if (map != 0) {
      group = load<u32>(map + (load<u32>(series + (row << 2)) << 2));
      if (group == NO_GROUP) return i;
    }
    if (bins != 1) {
      const offset = load<u64>(times + (row << 3)) - origin;
      if (offset - begin >= width) {
        bin = offset / width;
        begin = bin * width;
      }
    }
    store<u32>(target + (i << 2), bins != 0 ? group * bins + <u32>bin : hashedCell(cells, group, bin));
  }
  return count;
}

/** target[i] = group of the row listed, or of row first + i when `rows` is 0; 0 without a map. Returns how many, as cellsOfRows. */
export function groupsOfRows(series: u32, rows: u32, first: u32, count: u32, map: u32, target: u32): u32 {
  if (map == 0) {
    memory.fill(target, 0, count << 2);
    return count;
  }
  for (let i: u32 = 0; i < count; i++) {
    const row = rows != 0 ? load<u32>(rows + (i << 2)) : first + i;
    const group = load<u32>(map + (load<u32>(series + (row << 2)) << 2));
    if (group == NO_GROUP) return i;
    store<u32>(target + (i << 2), group);
  }
  return count;
}

/** Replaces the groups of rows by their cells. Not for one bin, where these are the same. */
export function cellsOfGroups(cells: Cells, times: u32, rows: u32, first: u32, count: u32, groups: u32): void {
  const bins = cells.bins;
  for (let i: u32 = 0; i < count; i++) {
    const row = rows != 0 ? load<u32>(rows + (i << 2)) : first + i;
    const bin = (load<u64>(times + (row << 3)) - cells.origin) / cells.width;
    const group = load<u32>(groups + (i << 2));
    store<u32>(groups + (i << 2), bins != 0 ? group * bins + <u32>bin : hashedCell(cells, group, bin));
  }
}

/** Joins rows side by side of one cell to spans. Returns how many, or 0 when they would be more than `max`. */
export function cellsJoin(cells: u32, rows: u32, first: u32, count: u32, spans: u32, max: u32): u32 {
  let found: u32 = 0;
  for (let i: u32 = 0; i < count; ) {
    if (found == max) return 0;
    const cell = load<u32>(cells + (i << 2));
    const row = rows != 0 ? load<u32>(rows + (i << 2)) : first + i;
    let end = row + 1;
    for (i++; i < count && load<u32>(cells + (i << 2)) == cell && (rows == 0 || load<u32>(rows + (i << 2)) == end); i++) end++;
    const span = spans + found * SPAN_BYTES;
    store<u32>(span, cell);
    store<u32>(span, row, 4);
    store<u32>(span, end, 8);
    found++;
  }
  return found;
}

/** Lists the cells from `from` on that have rows, at most `max`. Returns how many; fewer: these were the last. */
export function cellsWithRows(rowCounts: u32, from: u32, cellCount: u32, target: u32, max: u32): u32 {
  let out = target;
  const limit = target + (max << 2);
  for (let cell = from; cell < cellCount && out < limit; cell++) {
    store<u32>(out, cell);
    out += <u32>(load<u64>(rowCounts + (cell << 3)) != 0) << 2;
  }
  return (out - target) >> 2;
}
