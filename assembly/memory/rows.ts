// Whole-column row operations: gather by row numbers, series mapping, range of times. A gather by ascending rows may run in place.

/** Copies the values of 1 byte in these rows. */
export function gather1(source: u32, rows: u32, count: u32, target: u32): void {
  for (let i: u32 = 0; i < count; i++) store<u8>(target + i, load<u8>(source + load<u32>(rows + (i << 2))));
}

/** Copies the values of 4 bytes in these rows. */
export function gather4(source: u32, rows: u32, count: u32, target: u32): void {
  const end = rows + (count << 2);
  for (; rows < end; rows += 4, target += 4) store<u32>(target, load<u32>(source + (load<u32>(rows) << 2)));
}

/** Copies the values of 8 bytes in these rows. */
export function gather8(source: u32, rows: u32, count: u32, target: u32): void {
  const end = rows + (count << 2);
  for (; rows < end; rows += 4, target += 8) store<u64>(target, load<u64>(source + (load<u32>(rows) << 3)));
}

/** Copies the values of 16 bytes in these rows. */
export function gather16(source: u32, rows: u32, count: u32, target: u32): void {
  const end = rows + (count << 2);
  for (; rows < end; rows += 4, target += 16) v128.store(target, v128.load(source + (load<u32>(rows) << 4)));
}

// Returned by the getters below: wasm globals are one instance's, so one thread's, own.
let foundMin: i64 = 0;
let foundMax: i64 = 0;

/** Finds the smallest and largest of `rowCount` (> 0) times; read them with foundTimeMin and foundTimeMax. */
export function findTimeRange(times: u32, rowCount: u32): void {
  let least = i64.MAX_VALUE;
  let most = i64.MIN_VALUE;
  const end = times + (rowCount << 3);
  for (; times < end; times += 8) {
    const time = load<i64>(times);
    least = min(least, time);
    most = max(most, time);
  }
  foundMin = least;
  foundMax = most;
}

/** The least time that the last search found. */
export function foundTimeMin(): i64 {
  return foundMin;
}

/** The greatest time that the last search found. */
export function foundTimeMax(): i64 {
  return foundMax;
}

/** 1 when rows are ordered by series, then time. */
export function isSorted(series: u32, times: u32, rowCount: u32): bool {
  for (let row: u32 = 1; row < rowCount; row++) {
    const before = load<u32>(series + ((row - 1) << 2));
    const here = load<u32>(series + (row << 2));
    if (here < before) return false;
    if (here == before && load<i64>(times + (row << 3)) < load<i64>(times + ((row - 1) << 3))) return false;
  }
  return true;
}

/** Lists those of `count` ids whose entry in `map` is `empty` (u32 each, repeats as they come) at `target`. Returns how many. */
export function unmappedIds(map: u32, ids: u32, count: u32, empty: u32, target: u32): u32 {
  const first = target;
  for (const end = ids + (count << 2); ids < end; ids += 4) {
    const id = load<u32>(ids);
    store<u32>(target, id);
    if (load<u32>(map + (id << 2)) == empty) target += 4;
  }
  return (target - first) >> 2;
}
