// The rows of a page that a statement wants, found before any of its columns is decoded: as parts | series u32 | first row u32 | end u32 |,
// each of one series, rows numbered within the page. Row offsets of the block say where series begin, so a page needs no ids.
import { copyBits } from "../memory/bits";
import { RANGE_BYTES, timeFrom } from "./select";

/** The rows of wanted series of a page: `wanted` has a byte for each of the block's series, 0 = all are wanted. `offsets`: of the block,
 *  see store/block.ts. Room for lastSeries - firstSeries + 1 parts. Returns how many there are. */
export function pageParts(offsets: u32, wanted: u32, firstSeries: u32, lastSeries: u32, firstRow: u32, rowCount: u32, target: u32): u32 {
  const end = firstRow + rowCount;
  let out = target;
  for (let series = firstSeries; series <= lastSeries; series++) {
    if (wanted != 0) {
      series = nextWanted(wanted, series, lastSeries);
      if (series > lastSeries) break;
    }
    const first = max(load<u32>(offsets + (series << 2)), firstRow);
    const last = min(load<u32>(offsets + (series << 2), 4), end);
    if (first >= last) continue;
    store<u32>(out, series);
    store<u32>(out, first - firstRow, 4);
    store<u32>(out, last - firstRow, 8);
    out += RANGE_BYTES;
  }
  return (out - target) / RANGE_BYTES;
}

/** The first wanted series from `series` on, or one past `last`. */
function nextWanted(wanted: u32, series: u32, last: u32): u32 {
  for (; series + 15 <= last && !v128.any_true(v128.load(wanted + series)); series += 16);
  while (series <= last && load<u8>(wanted + series) == 0) series++;
  return series;
}

/** Cuts parts to times from `minTime` to `maxTime`, in place, and drops those of which nothing is left. `times`: of the whole page, or with
 *  `isPacked` of the rows of the parts, one behind the other; those of the rows that are left are moved together then. Returns how many
 *  parts are left. */
export function cutParts(parts: u32, count: u32, times: u32, isPacked: bool, minTime: i64, maxTime: i64): u32 {
  const begun = parts;
  let out = parts;
  let packed: u32 = 0;
  let kept = times;
  for (const end = parts + count * RANGE_BYTES; parts < end; parts += RANGE_BYTES) {
    const series = load<u32>(parts);
    const first = load<u32>(parts, 4);
    const last = load<u32>(parts, 8);
    const begin = isPacked ? packed : first;
    packed += last - first;
    const from = timeFrom(times, begin, begin + last - first, minTime);
    const to = maxTime == i64.MAX_VALUE ? begin + last - first : timeFrom(times, from, begin + last - first, maxTime + 1);
    if (from == to) continue;
    store<u32>(out, series);
    store<u32>(out, first + from - begin, 4);
    store<u32>(out, first + to - begin, 8);
    out += RANGE_BYTES;
    if (!isPacked) continue;
    memory.copy(kept, times + (from << 3), (to - from) << 3);
    kept += (to - from) << 3;
  }
  return (out - begun) / RANGE_BYTES;
}

/** The same of the whole page by times as quotients (codec/divided.ts) of `width` bytes each, from `least` to `most`. */
export function cutDividedParts(parts: u32, count: u32, quotients: u32, width: u32, least: u32, most: u32): u32 {
  const begun = parts;
  let out = parts;
  for (const end = parts + count * RANGE_BYTES; parts < end; parts += RANGE_BYTES) {
    const series = load<u32>(parts);
    const last = load<u32>(parts, 8);
    const from = quotientFrom(quotients, width, load<u32>(parts, 4), last, least);
    const to = most == u32.MAX_VALUE ? last : quotientFrom(quotients, width, from, last, most + 1);
    if (from == to) continue;
    store<u32>(out, series);
    store<u32>(out, from, 4);
    store<u32>(out, to, 8);
    out += RANGE_BYTES;
  }
  return (out - begun) / RANGE_BYTES;
}

/** First row in [from, to) whose quotient is at least `least`. */
function quotientFrom(quotients: u32, width: u32, from: u32, to: u32, least: u32): u32 {
  while (from < to) {
    const middle = (from + to) >> 1;
    const quotient = width == 2 ? <u32>load<u16>(quotients + (middle << 1)) : load<u32>(quotients + (middle << 2));
    if (quotient < least) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Rows of all parts. */
export function countPartRows(parts: u32, count: u32): u32 {
  let rows: u32 = 0;
  for (const end = parts + count * RANGE_BYTES; parts < end; parts += RANGE_BYTES) rows += load<u32>(parts, 8) - load<u32>(parts, 4);
  return rows;
}

/** The parts as | first u32 | end u32 |, neighbours as one, to `target`, which may be `parts`. Returns how many. */
export function joinParts(parts: u32, count: u32, target: u32): u32 {
  let out = target;
  for (const end = parts + count * RANGE_BYTES; parts < end; parts += RANGE_BYTES) {
    const first = load<u32>(parts, 4);
    const last = load<u32>(parts, 8);
    if (out != target && load<u32>(out - 4) == first) {
      store<u32>(out - 4, last);
      continue;
    }
    store<u32>(out, first);
    store<u32>(out, last, 4);
    out += 8;
  }
  return (out - target) >> 3;
}

/** The series of each row of the parts, u32. */
export function partSeries(parts: u32, count: u32, target: u32): void {
  for (const end = parts + count * RANGE_BYTES; parts < end; parts += RANGE_BYTES) {
    const series = load<u32>(parts);
    for (let rows = load<u32>(parts, 8) - load<u32>(parts, 4); rows > 0; rows--, target += 4) store<u32>(target, series);
  }
}

/** Copies the values, of `size` bytes, of the rows of joined parts. */
export function partValues(source: u32, joined: u32, count: u32, size: u32, target: u32): void {
  for (const end = joined + (count << 3); joined < end; joined += 8) {
    const first = load<u32>(joined);
    const bytes = (load<u32>(joined, 4) - first) * size;
    memory.copy(target, source + first * size, bytes);
    target += bytes;
  }
}

/** Copies the bits of the rows of joined parts to a bitmap of `rows` bits, padded to 8 bytes. */
export function partBits(source: u32, joined: u32, count: u32, rows: u32, target: u32): void {
  memory.fill(target, 0, ((rows + 63) >> 6) << 3);
  let bit: u32 = 0;
  for (const end = joined + (count << 3); joined < end; joined += 8) {
    const first = load<u32>(joined);
    const length = load<u32>(joined, 4) - first;
    copyBits(source, first, target, bit, length);
    bit += length;
  }
}
