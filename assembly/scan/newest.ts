// Of every series the newest selected row of a run. Sorted runs are walked range by range; of unsorted ones those of which each series'
// rows ascend in time from the end, until all wanted series have been met; others whole.
import { exclusionAt, hides } from "./exclusion";
import { nextRange, Selection } from "./select";

/** Of a sorted run: row numbers, ascending, to `target` (room for as many as there are series or rows, whichever are fewer). Returns how
 *  many. The selection is at its end afterwards. */
export function newestSorted(selection: Selection, target: u32): u32 {
  let out = target;
  let last: u32 = 0;
  while (nextRange(selection)) {
    const row = selection.end - 1;
    const id = load<u32>(selection.series + (row << 2));
    // a later range of the same series
    if (out != target && id == last) out -= 4;
    store<u32>(out, row);
    out += 4;
    last = id;
  }
  return (out - target) >> 2;
}

/** Of an unsorted run of which each series' rows ascend in time; `found` is a zeroed byte per series, of which `left` are wanted. */
export function newestAscending(selection: Selection, left: u32, found: u32, target: u32): u32 {
  const limit = target + (min(left, selection.rowCount) << 2);
  let out = limit;
  for (let row = selection.rowCount; row > 0 && left > 0; ) {
    row--;
    const id = load<u32>(selection.series + (row << 2));
    if (load<u8>(found + id) != 0 || !isSelected(selection, id, row)) continue;
    store<u8>(found + id, 1);
    out -= 4;
    store<u32>(out, row);
    left--;
  }
  if (out != target) memory.copy(target, out, limit - out);
  return (limit - out) >> 2;
}

/** Of any run; `best` is a zeroed u32 per series. Of rows at one time the later one. */
export function newestUnordered(selection: Selection, best: u32, target: u32): u32 {
  const rowCount = selection.rowCount;
  const times = selection.times;
  for (let row: u32 = 0; row < rowCount; row++) {
    const id = load<u32>(selection.series + (row << 2));
    if (!isSelected(selection, id, row)) continue;
    const at = best + (id << 2);
    const known = load<u32>(at);
    if (known == 0 || load<i64>(times + (row << 3)) >= load<i64>(times + ((known - 1) << 3))) store<u32>(at, row + 1);
  }
  let out = target;
  for (let row: u32 = 0; row < rowCount; row++) {
    if (load<u32>(best + (load<u32>(selection.series + (row << 2)) << 2)) != row + 1) continue;
    store<u32>(out, row);
    out += 4;
  }
  return (out - target) >> 2;
}

/** Predicates on fields are not judged. */
// @ts-ignore: decorator
@inline
function isSelected(selection: Selection, id: u32, row: u32): bool {
  if (selection.wanted != 0 && load<u8>(selection.wanted + id) == 0) return false;
  const time = load<i64>(selection.times + (row << 3));
  if (<u64>time - <u64>selection.minTime > selection.timeSpan) return false;
  for (let i: u32 = 0; i < selection.exclusionCount; i++) {
    const exclusion = exclusionAt(selection.exclusions, i);
    if (time >= exclusion.minTime && time <= exclusion.maxTime && hides(exclusion, id)) return false;
  }
  return true;
}
