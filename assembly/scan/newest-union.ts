// Of several runs that hold one row for each of their series, the newest row of every series of the table, and these in order of tags.
// Series have a number in the union of all dictionaries, rows a place: their number among the rows of all runs.

/** Takes over the rows of one run that are newer than what is known of their series. `map`: u32 number of each of its series, 0 = they are
 *  numbers themselves. `places` has the place of each number's row, and one more: 0 = none; the run's rows begin at place `base`. */
export function newestKeep(series: u32, times: u32, rowCount: u32, map: u32, base: u32, bestTimes: u32, places: u32): void {
  for (let row: u32 = 0; row < rowCount; row++) {
    const id = load<u32>(series + (row << 2));
    const number = map == 0 ? id : load<u32>(map + (id << 2));
    const time = load<i64>(times + (row << 3));
    const place = places + (number << 2);
    const best = bestTimes + (number << 3);
    if (load<u32>(place) != 0 && load<i64>(best) >= time) continue;
    store<u32>(place, base + row + 1);
    store<i64>(best, time);
  }
}

/** Numbers with a place, ascending. Returns how many. */
export function newestNumbers(places: u32, count: u32, target: u32): u32 {
  let out = target;
  for (let number: u32 = 0; number < count; number++) {
    store<u32>(out, number);
    out += <u32>(load<u32>(places + (number << 2)) != 0) << 2;
  }
  return (out - target) >> 2;
}

/** Ranks of a tag's codes from 0 on, for orderSeriesByTag: `ranks` has those of an ascending order (rankCodes), or with `isSorted` the
 *  codes are that. At most valueCount + 1 ranks. */
export function newestRanks(ranks: u32, valueCount: u32, isSorted: bool, isDescending: bool, nullsFirst: bool): void {
  store<u32>(ranks, nullsFirst ? 0 : valueCount);
  for (let code: u32 = 1; code < valueCount; code++) {
    const at = ranks + (code << 2);
    const rank = isSorted ? code : load<u32>(at);
    store<u32>(at, isDescending ? valueCount - rank : rank);
  }
}

/** True if none of the numbers has code 0. */
export function newestHaveTag(codes: u32, numbers: u32, count: u32): bool {
  let isMissing: u32 = 0;
  for (let i: u32 = 0; i < count; i++) isMissing |= <u32>(load<u32>(codes + (load<u32>(numbers + (i << 2)) << 2)) == 0);
  return isMissing == 0;
}

/** Of neighbours with equal codes in all of `keyCount` tags (u32 each: where their codes are), the one with the newest row, in place.
 *  Returns how many are left. */
export function newestOfGroups(numbers: u32, count: u32, keys: u32, keyCount: u32, bestTimes: u32): u32 {
  let out: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const number = load<u32>(numbers + (i << 2));
    if (out != 0) {
      const at = numbers + ((out - 1) << 2);
      const last = load<u32>(at);
      if (areAlike(number, last, keys, keyCount)) {
        if (load<i64>(bestTimes + (number << 3)) > load<i64>(bestTimes + (last << 3))) store<u32>(at, number);
        continue;
      }
    }
    store<u32>(numbers + (out << 2), number);
    out++;
  }
  return out;
}

function areAlike(a: u32, b: u32, keys: u32, keyCount: u32): bool {
  for (let i: u32 = 0; i < keyCount; i++) {
    const codes = load<u32>(keys + (i << 2));
    if (load<u32>(codes + (a << 2)) != load<u32>(codes + (b << 2))) return false;
  }
  return true;
}

/** Where the rows of `count` numbers are, run by run: `bases` has the place of each run's first row, and of the end. Rows go to `rows`,
 *  which of the numbers they are of to `indexes`, and | run u32 | rows before it u32 | to `runs`, which has room for a run more.
 *  `run` u32[count] is scratch, and so is `starts` u32[runCount + 1], which is all 0 before and afterwards. Returns how many runs there
 *  are. */
export function newestByRun(
  numbers: u32,
  count: u32,
  places: u32,
  bases: u32,
  runCount: u32,
  run: u32,
  starts: u32,
  rows: u32,
  indexes: u32,
  runs: u32,
): u32 {
  let last: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const place = load<u32>(places + (load<u32>(numbers + (i << 2)) << 2)) - 1;
    // neighbours are mostly in one run
    if (place < load<u32>(bases + (last << 2)) || place >= load<u32>(bases + (last << 2), 4)) last = runOf(bases, runCount, place);
    store<u32>(run + (i << 2), last);
    const at = starts + (last << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
  let found: u32 = 0;
  let before: u32 = 0;
  for (let i: u32 = 0; i < runCount; i++) {
    const rowCount = load<u32>(starts + (i << 2));
    if (rowCount == 0) continue;
    store<u32>(runs + (found << 3), i);
    store<u32>(runs + (found << 3), before, 4);
    store<u32>(starts + (i << 2), before);
    before += rowCount;
    found++;
  }
  store<u32>(runs + (found << 3), before, 4);
  for (let i: u32 = 0; i < count; i++) {
    const holder = load<u32>(run + (i << 2));
    const to = load<u32>(starts + (holder << 2));
    const place = load<u32>(places + (load<u32>(numbers + (i << 2)) << 2)) - 1;
    store<u32>(rows + (to << 2), place - load<u32>(bases + (holder << 2)));
    store<u32>(indexes + (to << 2), i);
    store<u32>(starts + (holder << 2), to + 1);
  }
  for (let i: u32 = 0; i < found; i++) store<u32>(starts + (load<u32>(runs + (i << 3)) << 2), 0);
  return found;
}

/** The run that has the place. */
function runOf(bases: u32, runCount: u32, place: u32): u32 {
  let low: u32 = 0;
  let high = runCount;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (load<u32>(bases + (middle << 2)) <= place) low = middle;
    else high = middle;
  }
  return low;
}
