// Which of rows side by side satisfy predicates: each predicate clears the bytes of rows that do not, in blocks that stay in the
// processor's first cache. The rows that are left are counted, or listed.
import {
  EXPRESSION_ROWS,
  MATCH_BYTES,
  PREDICATE_BOOLEAN,
  PREDICATE_BYTES,
  PREDICATE_FLOAT_BELOW,
  PREDICATE_FLOAT_EQUAL,
  PREDICATE_FLOAT_NUMBER,
  PREDICATE_FLOAT_UP_TO,
  PREDICATE_INTEGER,
  PREDICATE_NARROW_1,
  PREDICATE_NARROW_2,
  PREDICATE_NARROW_4,
  PREDICATE_PROGRAM,
  PREDICATE_TEXT,
  PREDICATE_TEXTS,
  TRUTH_TRUE,
  VIEW_BYTES,
} from "../abi";
import { forgetFailure, hasFailed, keepTrue, truthsOf } from "../expression/program";
import { bitAt, sixteenBits } from "../memory/bits";
import { equalViews } from "../memory/views";
import { keepFour } from "./kept-rows";
import { pairMask, Predicate, spanInOrder } from "./predicate";
import { isInTexts } from "./texts";

// Memory for the work on a block: | a byte per row | a list of rows, u32 each |
if (EXPRESSION_ROWS * 5 != MATCH_BYTES) ERROR("abi.ts: MATCH_BYTES drifted");

/** The number of rows in [first, end) that satisfy all of `count` predicates. `memory` is of MATCH_BYTES. An integer that does not fit
 *  marks its program as failed, in a row that satisfies those before it. */
export function countMatching(predicates: u32, count: u32, first: u32, end: u32, memory: u32): u32 {
  if (count == 0) return end - first;
  let found: u32 = 0;
  for (; first < end; first += EXPRESSION_ROWS) {
    const rows = min<u32>(end - first, EXPRESSION_ROWS);
    keepMatches(predicates, count, first, rows, memory);
    found += countKept(memory, rows);
  }
  return found;
}

/** Writes the numbers of the first rows that satisfy them, at most `room`, of `rows` rows from `first` on, at most EXPRESSION_ROWS. Returns
 *  how many. */
export function listMatching(predicates: u32, count: u32, first: u32, rows: u32, memory: u32, target: u32, room: u32): u32 {
  keepMatches(predicates, count, first, rows, memory);
  return listKept(memory, first, rows, target, room);
}

function keepMatches(predicates: u32, count: u32, first: u32, rows: u32, kept: u32): void {
  memory.fill(kept, 0xff, rows);
  for (let i: u32 = 0; i < count; i++) clearOthers(changetype<Predicate>(predicates + i * PREDICATE_BYTES), first, rows, kept);
}

function listKept(kept: u32, first: u32, rows: u32, target: u32, room: u32): u32 {
  const limit = target + (room << 2);
  let out = target;
  let i: u32 = 0;
  for (const whole = rows & ~15; i < whole; i += 16) {
    let bits = <u32>i8x16.bitmask(v128.load(kept + i));
    if (bits == 0) continue;
    if (out + 64 <= limit) {
      let numbers = i32x4.add(i32x4.splat(first + i), i32x4(0, 1, 2, 3));
      for (let four: u32 = 0; four < 4; four++, bits >>= 4) {
        out = keepFour(numbers, bits & 15, out);
        numbers = i32x4.add(numbers, i32x4.splat(4));
      }
    } else {
      for (; bits != 0 && out < limit; bits &= bits - 1, out += 4) store<u32>(out, first + i + ctz(bits));
    }
  }
  for (; i < rows && out < limit; i++) {
    store<u32>(out, first + i);
    out += (<u32>load<u8>(kept + i) & 1) << 2;
  }
  return (out - target) >> 2;
}

function countKept(kept: u32, rows: u32): u32 {
  const end = kept + rows;
  let found: u32 = 0;
  for (const whole = kept + (rows & ~15); kept < whole; kept += 16) found += popcnt(i8x16.bitmask(v128.load(kept)));
  for (; kept < end; kept++) found += load<u8>(kept) & 1;
  return found;
}

/** Clears the bytes of those of `count` rows from `first` on that do not satisfy the predicate. */
function clearOthers(predicate: Predicate, first: u32, count: u32, kept: u32): void {
  const data = predicate.data;
  const validity = predicate.validity;
  if (validity != 0) clearAbsent(validity, first, count, kept);
  switch (predicate.kind) {
    case PREDICATE_PROGRAM:
      clearUntrue(<u32>predicate.low, first, count, kept);
      break;
    case PREDICATE_FLOAT_BELOW:
      clearNumbers(PREDICATE_FLOAT_BELOW, predicate, first, count, kept);
      break;
    case PREDICATE_FLOAT_UP_TO:
      clearNumbers(PREDICATE_FLOAT_UP_TO, predicate, first, count, kept);
      break;
    case PREDICATE_FLOAT_EQUAL:
      clearNumbers(PREDICATE_FLOAT_EQUAL, predicate, first, count, kept);
      break;
    case PREDICATE_FLOAT_NUMBER:
      clearNumbers(PREDICATE_FLOAT_NUMBER, predicate, first, count, kept);
      break;
    case PREDICATE_INTEGER:
      clearNumbers(PREDICATE_INTEGER, predicate, first, count, kept);
      break;
    case PREDICATE_NARROW_1:
      clearNarrow<u8>(predicate, first, count, kept);
      break;
    case PREDICATE_NARROW_2:
      clearNarrow<u16>(predicate, first, count, kept);
      break;
    case PREDICATE_NARROW_4:
      clearNarrow<u32>(predicate, first, count, kept);
      break;
    case PREDICATE_BOOLEAN:
      for (let i: u32 = 0; i < count; i++) keepIf(kept + i, (predicate.low >> load<u8>(data + first + i)) & 1);
      break;
    case PREDICATE_TEXT:
      // absent values have views too, of whatever
      for (let i: u32 = 0, view = data + first * VIEW_BYTES; i < count; i++, view += VIEW_BYTES) {
        keepIf(kept + i, <u64>(load<u8>(kept + i) != 0 && equalViews(view, <u32>predicate.low)));
      }
      break;
    case PREDICATE_TEXTS:
      for (let i: u32 = 0, view = data + first * VIEW_BYTES; i < count; i++, view += VIEW_BYTES) {
        const isKept = load<u8>(kept + i) != 0;
        keepIf(kept + i, <u64>(isKept && isInTexts(view, <u32>predicate.low, <u32>(predicate.low >> 32), <u32>predicate.span)));
      }
      break;
    default:
      unreachable();
  }
}

/** Clears a byte if `bit` is 0, not 1. */
// @ts-ignore: decorator
@inline
function keepIf(at: u32, bit: u64): void {
  store<u8>(at, load<u8>(at) & -<u8>bit);
}

// @ts-ignore: decorator
@inline
function keepSixteen(at: u32, mask: v128): void {
  v128.store(at, v128.and(v128.load(at), mask));
}

function clearAbsent(validity: u32, first: u32, count: u32, kept: u32): void {
  const bits = i8x16(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
  const whole = count & ~15;
  for (let i: u32 = 0; i < whole; i += 16) {
    const present = sixteenBits(validity, first + i);
    if (present == 0xffff) continue;
    const bytes = v128.shuffle<u8>(i16x8.splat(<i16>present), i16x8.splat(0), 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    keepSixteen(kept + i, i8x16.eq(v128.and(bytes, bits), bits));
  }
  for (let i = whole; i < count; i++) keepIf(kept + i, <u64>bitAt(validity, first + i));
}

function clearUntrue(program: u32, first: u32, count: u32, kept: u32): void {
  const hadFailed = hasFailed(program);
  const truths = truthsOf(program, first, count);
  if (!hadFailed && hasFailed(program)) {
    const listed = listKept(kept, first, count, kept + EXPRESSION_ROWS, count);
    if (listed < count) {
      forgetFailure(program);
      keepListed(program, kept + EXPRESSION_ROWS, listed, first, count, kept);
      return;
    }
  }
  const wanted = i8x16.splat(<i8>TRUTH_TRUE);
  const whole = count & ~15;
  for (let i: u32 = 0; i < whole; i += 16) keepSixteen(kept + i, i8x16.eq(v128.load(truths + i), wanted));
  for (let i = whole; i < count; i++) keepIf(kept + i, <u64>(load<u8>(truths + i) == TRUTH_TRUE));
}

/** Asks a program of the listed rows alone: others may have failed. */
function keepListed(program: u32, list: u32, listed: u32, first: u32, count: u32, kept: u32): void {
  const left = keepTrue(program, list, listed);
  memory.fill(kept, 0, count);
  for (let i: u32 = 0; i < left; i++) store<u8>(kept + load<u32>(list + (i << 2)) - first, 0xff);
}

/** Of 8-byte values. `kind` is a constant: each has loops of its own. */
// @ts-ignore: decorator
@inline
function clearNumbers(kind: u32, predicate: Predicate, first: u32, count: u32, kept: u32): void {
  const low = i64x2.splat(predicate.low);
  const span = spanInOrder(predicate);
  const flip = i8x16.splat(predicate.negated != 0 ? -1 : 0);
  const whole = kept + (count & ~15);
  const end = kept + count;
  let from = predicate.data + (first << 3);
  for (; kept < whole; kept += 16, from += 128) {
    const a = i16x8.narrow_i32x4_s(fourMask(kind, from, low, span), fourMask(kind, from + 32, low, span));
    const b = i16x8.narrow_i32x4_s(fourMask(kind, from + 64, low, span), fourMask(kind, from + 96, low, span));
    keepSixteen(kept, v128.xor(i8x16.narrow_i16x8_s(a, b), flip));
  }
  for (; kept < end; kept++, from += 8) {
    const mask = v128.xor(pairMask(kind, i64x2.splat(load<u64>(from)), low, span), flip);
    store<u8>(kept, load<u8>(kept) & i8x16.extract_lane_u(mask, 0));
  }
}

// @ts-ignore: decorator
@inline
function fourMask(kind: u32, from: u32, low: v128, span: v128): v128 {
  const a = pairMask(kind, v128.load(from), low, span);
  const b = pairMask(kind, v128.load(from, 16), low, span);
  return v128.shuffle<i32>(a, b, 0, 2, 4, 6);
}

/** Of differences of 1, 2 or 4 bytes. */
// @ts-ignore: decorator
@inline
function clearNarrow<T>(predicate: Predicate, first: u32, count: u32, kept: u32): void {
  const low = <T>predicate.low;
  const span = <T>predicate.span;
  const lows = v128.splat<T>(low);
  const spans = v128.splat<T>(span);
  const flip = i8x16.splat(predicate.negated != 0 ? -1 : 0);
  const whole = kept + (count & ~15);
  const end = kept + count;
  let from = predicate.data + first * sizeof<T>();
  for (; kept < whole; kept += 16, from += 16 * sizeof<T>()) {
    let mask: v128;
    if (sizeof<T>() == 1) mask = withinMask<T>(from, lows, spans);
    else if (sizeof<T>() == 2) mask = i8x16.narrow_i16x8_s(withinMask<T>(from, lows, spans), withinMask<T>(from + 16, lows, spans));
    else {
      const a = i16x8.narrow_i32x4_s(withinMask<T>(from, lows, spans), withinMask<T>(from + 16, lows, spans));
      const b = i16x8.narrow_i32x4_s(withinMask<T>(from + 32, lows, spans), withinMask<T>(from + 48, lows, spans));
      mask = i8x16.narrow_i16x8_s(a, b);
    }
    keepSixteen(kept, v128.xor(mask, flip));
  }
  for (; kept < end; kept++, from += sizeof<T>()) {
    keepIf(kept, <u64>(<T>(load<T>(from) - low) <= span) ^ (predicate.negated & 1));
  }
}

/** A lane passes if the lesser of its difference and the span is itself. */
// @ts-ignore: decorator
@inline
function withinMask<T>(from: u32, lows: v128, spans: v128): v128 {
  const offsets = v128.sub<T>(v128.load(from), lows);
  return v128.eq<T>(v128.min<T>(offsets, spans), offsets);
}
