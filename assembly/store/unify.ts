// One list of series out of two, each in the order of files: what a merge of blocks numbers its rows by. Lists of codes and of series are
// merged as they stand; what they become is told by maps from the numbers of either list to those of both.
import { UNIFY_UNORDERED, VIEW_BYTES } from "../abi";
import { memoryBase } from "../memory/host";
import { INLINE_MAX, viewBytes, viewText } from "../memory/views";
import { isLessView } from "./order";

/** A list is not in strictly ascending order. */
const UNORDERED: u32 = <u32>UNIFY_UNORDERED;

/** Merges the values of a tag column: views 1 .. countA of `viewsA` and 1 .. countB of `viewsB`, each in strictly ascending order. Maps get
 *  the code in the union for each code, 0 for 0. Returns how many values there are in the union. */
export function unifyValues(viewsA: u32, countA: u32, viewsB: u32, countB: u32, mapA: u32, mapB: u32): u32 {
  store<u32>(mapA, 0);
  store<u32>(mapB, 0);
  let a: u32 = 1;
  let b: u32 = 1;
  let code: u32 = 0;
  while (a <= countA || b <= countB) {
    let takeA = a <= countA;
    let takeB = b <= countB;
    if (takeA && takeB) {
      takeA = !isLessView(viewsB + b * VIEW_BYTES, viewsA + a * VIEW_BYTES);
      takeB = !takeA || !isLessView(viewsA + a * VIEW_BYTES, viewsB + b * VIEW_BYTES);
    }
    code++;
    if (takeA) {
      if (a > 1 && !isLessView(viewsA + (a - 1) * VIEW_BYTES, viewsA + a * VIEW_BYTES)) return UNORDERED;
      store<u32>(mapA + (a << 2), code);
      a++;
    }
    if (takeB) {
      if (b > 1 && !isLessView(viewsB + (b - 1) * VIEW_BYTES, viewsB + b * VIEW_BYTES)) return UNORDERED;
      store<u32>(mapB + (b << 2), code);
      b++;
    }
  }
  return code;
}

/** Puts the views 1 .. count to their places in the union. Of those whose place is empty, long text is counted. */
export function placeViews(views: u32, count: u32, map: u32, target: u32): u32 {
  let newBytes: u32 = 0;
  for (let i: u32 = 1; i <= count; i++) {
    const from = views + i * VIEW_BYTES;
    const to = target + load<u32>(map + (i << 2)) * VIEW_BYTES;
    if (load<u64>(to) != 0 || load<u64>(to, 8) != 0) continue;
    // the empty text stays an empty view
    v128.store(to, v128.load(from));
    if (viewBytes(from) > INLINE_MAX) newBytes += viewBytes(from);
  }
  return newBytes;
}

/** Brings the long text of those of views 1 .. count that `placeViews` took to `text`. Returns its end. */
export function moveText(views: u32, count: u32, map: u32, target: u32, text: u32): u32 {
  for (let i: u32 = 1; i <= count; i++) {
    const from = views + i * VIEW_BYTES;
    const to = target + load<u32>(map + (i << 2)) * VIEW_BYTES;
    const bytes = viewBytes(from);
    if (bytes <= INLINE_MAX || load<u64>(to, 8) != load<u64>(from, 8)) continue;
    memory.copy(text, viewText(from), bytes);
    store<u64>(to, memoryBase + <u64>text, 8);
    text += bytes;
  }
  return text;
}

/** Merges two lists of series, each in strictly ascending order of their codes, first tag first. `tagsA` and `tagsB`: u32[tagCount], where
 *  a list's codes of that tag are, 0 = no series has it. Maps get the number in the union of each series. Returns how many there are. */
export function unifySeries(tagCount: u32, tagsA: u32, countA: u32, tagsB: u32, countB: u32, mapA: u32, mapB: u32): u32 {
  let a: u32 = 0;
  let b: u32 = 0;
  let next: u32 = 0;
  while (a < countA || b < countB) {
    const order = a == countA ? 1 : b == countB ? -1 : compareSeries(tagCount, tagsA, a, tagsB, b);
    if (order <= 0) {
      if (a > 0 && compareSeries(tagCount, tagsA, a - 1, tagsA, a) >= 0) return UNORDERED;
      store<u32>(mapA + (a << 2), next);
      a++;
    }
    if (order >= 0) {
      if (b > 0 && compareSeries(tagCount, tagsB, b - 1, tagsB, b) >= 0) return UNORDERED;
      store<u32>(mapB + (b << 2), next);
      b++;
    }
    next++;
  }
  return next;
}

function compareSeries(tagCount: u32, tagsA: u32, a: u32, tagsB: u32, b: u32): i32 {
  for (let i: u32 = 0; i < tagCount; i++) {
    const codesA = load<u32>(tagsA + (i << 2));
    const codesB = load<u32>(tagsB + (i << 2));
    const codeA = codesA == 0 ? 0 : load<u32>(codesA + (a << 2));
    const codeB = codesB == 0 ? 0 : load<u32>(codesB + (b << 2));
    if (codeA != codeB) return codeA < codeB ? -1 : 1;
  }
  return 0;
}

/** target[map[i]] = codes[i]. */
export function scatterCodes(codes: u32, count: u32, map: u32, target: u32): void {
  for (let i: u32 = 0; i < count; i++) store<u32>(target + (load<u32>(map + (i << 2)) << 2), load<u32>(codes + (i << 2)));
}
