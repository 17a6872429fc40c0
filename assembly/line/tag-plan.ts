// The tags that the last new series of a table had, in their order: the next new series mostly has the same names with other values. A key
// that is read along the plan needs no check of its names, because a line with them has been found good; everything unusual about it (an
// escape, a byte that is not ASCII, another name) sends the line to the careful path (check.ts).
import { DIALECT_V2 } from "../abi";
import { BACKSLASH, COMMA, EQUALS, sameBytes } from "./bytes";
import { Parser, Table, TagEntry, reallocate, release } from "./structures";

@unmanaged
class TagStep {
  // the name with its "=", and 0xff for each byte that counts: the first 16
  name0: u64;
  name1: u64;
  mask0: u64;
  mask1: u64;
  /** Bytes of the name with its "=". */
  keyBytes: u32;
  keyPtr: u32;
  tagIndex: u32;
  pad0: u32;
}

const STEP_BYTES: u32 = offsetof<TagStep>();

/** Takes the tags of a series as the plan, by its record at `recordPtr`. */
export function makeTagPlan(parser: Parser, table: Table, recordPtr: usize): void {
  const count = load<u32>(recordPtr);
  if (count > table.tagPlanCapacity) {
    const bytes = table.tagPlanCapacity * STEP_BYTES;
    table.tagPlanCount = 0;
    table.tagPlanPtr = reallocate(parser, table.tagPlanPtr, bytes, count * STEP_BYTES, 0);
    table.tagPlanCapacity = count;
  }
  for (let i: u32 = 0; i < count; i++) {
    const tagIndex = load<u32>(recordPtr + i * 12, 4);
    const entry = changetype<TagEntry>(load<u32>(table.tagsPtr + (tagIndex << 2)));
    const step = changetype<TagStep>(table.tagPlanPtr + i * STEP_BYTES);
    if (!isPlain(entry)) {
      table.tagPlanCount = 0;
      return;
    }
    step.keyBytes = entry.keyBytes + 1;
    step.keyPtr = entry.keyPtr;
    step.tagIndex = tagIndex;
    const bytes = min<u32>(16, entry.keyBytes + 1);
    memory.fill(changetype<usize>(step), 0, 32);
    memory.copy(changetype<usize>(step), entry.keyPtr, bytes);
    memory.fill(changetype<usize>(step) + offsetof<TagStep>("mask0"), 0xff, bytes);
  }
  table.tagPlanCount = count;
}

/** False when the name is written with escapes: its text in a line is another. */
function isPlain(entry: TagEntry): bool {
  for (let i: u32 = 0; i < entry.keyBytes; i++) {
    const c: u32 = load<u8>(entry.keyPtr + i);
    if (c == BACKSLASH || c == COMMA || c == 0x3d || c <= 0x20) return false;
  }
  return true;
}

/** Reads the tags between `p`, the first comma, and `end`, the space behind the last one, along the plan into a record at `target`, which
 *  has room for it. False when they are other tags or need the careful path. */
export function followTagPlan(parser: Parser, table: Table, p: usize, end: usize, target: usize): bool {
  const count = table.tagPlanCount;
  const commas = i8x16.splat(<i8>COMMA);
  const slashes = i8x16.splat(<i8>BACKSLASH);
  const blanks = i8x16.splat(0x20);
  // in one dialect an equals sign may stand in a value
  const equals = i8x16.splat(<i8>(parser.dialect == DIALECT_V2 ? EQUALS : COMMA));
  store<u32>(target, count);
  let at: usize = table.tagPlanPtr;
  for (let i: u32 = 0; i < count; i++, at += STEP_BYTES, target += 12) {
    if (<u32>load<u8>(p) != COMMA) return false;
    p++;
    const step = changetype<TagStep>(at);
    const differing = v128.and(v128.xor(v128.load(p), v128.load(at)), v128.load(at, offsetof<TagStep>("mask0")));
    if (v128.any_true(differing)) return false;
    if (step.keyBytes > 16 && !sameBytes(p, step.keyPtr, step.keyBytes)) return false;
    p += step.keyBytes;
    const value = p;
    let stops: i32;
    while (true) {
      const block = v128.load(p);
      // signed: blanks, everything below them, and bytes that are not ASCII
      const odd = v128.or(i8x16.le_s(block, blanks), i8x16.eq(block, slashes));
      stops = i8x16.bitmask(v128.or(odd, v128.or(i8x16.eq(block, commas), i8x16.eq(block, equals))));
      if (stops != 0) break;
      p += 16;
    }
    p += ctz(stops);
    const next: u32 = load<u8>(p);
    if (p == value || (next != COMMA && p != end)) return false;
    store<u32>(target, step.tagIndex, 4);
    store<u32>(target, <u32>value, 8);
    store<u32>(target, <u32>(p - value), 12);
  }
  return p == end;
}

/** Frees the tag plan of a table. */
export function releaseTagPlan(parser: Parser, table: Table): void {
  release(parser, table.tagPlanPtr, table.tagPlanCapacity * STEP_BYTES);
}
