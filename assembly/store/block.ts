// The series of one block: numbered from 0 in the order of the block's rows, with a dictionary of just the tag values they have.

/** Numbers the series of `count` rows that are ordered by series: ids of the table to `ids`, first row of each to `offsets`, whose last
 *  entry is `count`. Returns how many there are. */
export function blockSeries(series: u32, rows: u32, count: u32, ids: u32, offsets: u32): u32 {
  let found: u32 = 0;
  let last: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const id = load<u32>(series + (load<u32>(rows + (i << 2)) << 2));
    if (i != 0 && id == last) continue;
    store<u32>(ids + (found << 2), id);
    store<u32>(offsets + (found << 2), i);
    last = id;
    found++;
  }
  store<u32>(offsets + (found << 2), count);
  return found;
}

/** The ranks of one tag column for the block's series, made dense: `target` u32[count], 0 = absent. `views` gets the number of the table's
 *  view for each code from 1 on. `map` is u32[valueCount]. Returns the highest code. */
export function blockCodes(
  codes: u32,
  ids: u32,
  count: u32,
  ranks: u32,
  sorted: u32,
  valueCount: u32,
  map: u32,
  target: u32,
  views: u32,
): u32 {
  memory.fill(map, 0, valueCount << 2);
  for (let i: u32 = 0; i < count; i++) {
    const id = load<u32>(ids + (i << 2));
    const rank = load<u32>(ranks + (load<u32>(codes + (id << 2)) << 2));
    store<u32>(target + (i << 2), rank);
    store<u32>(map + (rank << 2), 1);
  }
  let code: u32 = 0;
  for (let rank: u32 = 1; rank < valueCount; rank++) {
    if (load<u32>(map + (rank << 2)) == 0) continue;
    store<u32>(views + (code << 2), load<u32>(sorted + ((rank - 1) << 2)) + 1);
    code++;
    store<u32>(map + (rank << 2), code);
  }
  store<u32>(map, 0);
  for (let i: u32 = 0; i < count; i++) {
    const at = target + (i << 2);
    store<u32>(at, load<u32>(map + (load<u32>(at) << 2)));
  }
  return code;
}

/** 1 when u32[count] ascend strictly from 0 to `last`. */
export function isOffsets(offsets: u32, count: u32, last: u32): bool {
  if (load<u32>(offsets) != 0 || load<u32>(offsets + ((count - 1) << 2)) != last) return false;
  for (let i: u32 = 1; i < count; i++) {
    if (load<u32>(offsets + (i << 2)) <= load<u32>(offsets + ((i - 1) << 2))) return false;
  }
  return true;
}

/** 1 when all of u32[count] are below `limit`. */
export function areBelow(codes: u32, count: u32, limit: u32): bool {
  let most: u32 = 0;
  for (let i: u32 = 0; i < count; i++) most = max(most, load<u32>(codes + (i << 2)));
  return count == 0 || most < limit;
}

/** 1 when none of u32[count] is less than the one before it. */
export function neverDescend(codes: u32, count: u32): bool {
  for (let i: u32 = 1; i < count; i++) {
    if (load<u32>(codes + (i << 2)) < load<u32>(codes + ((i - 1) << 2))) return false;
  }
  return true;
}

/** Series of rows [from, from + count): u32 each to `target`. Offsets as isOffsets says, of more rows than are asked for. */
export function fillSeries(offsets: u32, firstSeries: u32, from: u32, count: u32, target: u32): void {
  const end = from + count;
  for (let series = firstSeries, row = from; row < end; series++) {
    const seriesEnd = min(load<u32>(offsets + ((series + 1) << 2)), end);
    for (; row < seriesEnd; row++, target += 4) store<u32>(target, series);
  }
}

/** The same of listed rows, ascending, whose numbers count from `from`. */
export function listedSeries(offsets: u32, seriesCount: u32, from: u32, rows: u32, count: u32, target: u32): void {
  if (count == 0) return;
  let series = seriesOfRow(offsets, seriesCount, from + load<u32>(rows));
  for (const end = rows + (count << 2); rows < end; rows += 4, target += 4) {
    const row = from + load<u32>(rows);
    while (load<u32>(offsets + ((series + 1) << 2)) <= row) series++;
    store<u32>(target, series);
  }
}

/** The last series whose first row is at or before `row`. */
export function seriesOfRow(offsets: u32, seriesCount: u32, row: u32): u32 {
  let low: u32 = 0;
  let high = seriesCount;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (load<u32>(offsets + (middle << 2)) <= row) low = middle;
    else high = middle;
  }
  return low;
}
