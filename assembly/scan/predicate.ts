// Field columns compared with constants: lists of row numbers are narrowed in place. Every row number is stored; the target moves on only
// behind a kept one. Without a branch the cost does not depend on the data.
import {
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
  VIEW_BYTES,
} from "../abi";
import { keepTrue } from "../expression/program";
import { bitAt } from "../memory/bits";
import { equalViews } from "../memory/views";
import { areAdjacent, keepFour } from "./kept-rows";
import { isInTexts } from "./texts";

/** Drawn in abi.ts. */
@unmanaged
export class Predicate {
  kind: u32;
  negated: u32;
  data: u32;
  validity: u32;
  low: u64;
  span: u64;
}

if (offsetof<Predicate>() != PREDICATE_BYTES) ERROR("abi.ts: PREDICATE_BYTES drifted");

/** Keeps those of `count` rows whose value is present and satisfies the predicate, or of which a program is true. Returns how many. */
export function keepMatching(predicate: Predicate, rows: u32, count: u32): u32 {
  const data = predicate.data;
  const validity = predicate.validity;
  const low = predicate.low;
  const span = predicate.span;
  const end = rows + (count << 2);
  let out = rows;
  switch (predicate.kind) {
    case PREDICATE_PROGRAM:
      return keepTrue(<u32>low, rows, count);
    case PREDICATE_FLOAT_BELOW:
      return keepNumbers(PREDICATE_FLOAT_BELOW, predicate, rows, count);
    case PREDICATE_FLOAT_UP_TO:
      return keepNumbers(PREDICATE_FLOAT_UP_TO, predicate, rows, count);
    case PREDICATE_FLOAT_EQUAL:
      return keepNumbers(PREDICATE_FLOAT_EQUAL, predicate, rows, count);
    case PREDICATE_FLOAT_NUMBER:
      return keepNumbers(PREDICATE_FLOAT_NUMBER, predicate, rows, count);
    case PREDICATE_INTEGER:
      return keepNumbers(PREDICATE_INTEGER, predicate, rows, count);
    case PREDICATE_NARROW_1:
      return keepNarrow<u8>(predicate, rows, count);
    case PREDICATE_NARROW_2:
      return keepNarrow<u16>(predicate, rows, count);
    case PREDICATE_NARROW_4:
      return keepNarrow<u32>(predicate, rows, count);
    case PREDICATE_BOOLEAN:
      for (let at = rows; at < end; at += 4) {
        const row = load<u32>(at);
        store<u32>(out, row);
        out += (presentAt(validity, row) & (<u32>(low >> load<u8>(data + row)) & 1)) << 2;
      }
      break;
    case PREDICATE_TEXT:
      for (let at = rows; at < end; at += 4) {
        const row = load<u32>(at);
        store<u32>(out, row);
        // absent values have views too, of whatever
        out += <u32>(presentAt(validity, row) != 0 && equalViews(data + row * VIEW_BYTES, <u32>low)) << 2;
      }
      break;
    case PREDICATE_TEXTS:
      for (let at = rows; at < end; at += 4) {
        const row = load<u32>(at);
        store<u32>(out, row);
        const isIn = presentAt(validity, row) != 0 && isInTexts(data + row * VIEW_BYTES, <u32>low, <u32>(low >> 32), <u32>span);
        out += <u32>isIn << 2;
      }
      break;
    default:
      unreachable();
  }
  return (out - rows) >> 2;
}

// @ts-ignore: decorator
@inline
function presentAt(validity: u32, row: u32): u32 {
  return validity == 0 ? 1 : <u32>bitAt(validity, row);
}

/** keepMatching for 8-byte values. `kind` is a constant: each has loops of its own. */
// @ts-ignore: decorator
@inline
function keepNumbers(kind: u32, predicate: Predicate, rows: u32, count: u32): u32 {
  const data = predicate.data;
  const validity = predicate.validity;
  const low = i64x2.splat(predicate.low);
  const span = spanInOrder(predicate);
  const flip: u32 = predicate.negated != 0 ? 15 : 0;
  const fourEnd = rows + ((count & ~3) << 2);
  let out = rows;
  let at = rows;
  if (areAdjacent(rows, count)) {
    const first = load<u32>(rows);
    let numbers = i32x4.add(i32x4.splat(first), i32x4(0, 1, 2, 3));
    for (let from = data + (first << 3); at < fourEnd; at += 16, from += 32) {
      let bits = (pairBits(kind, v128.load(from), low, span) | (pairBits(kind, v128.load(from, 16), low, span) << 2)) ^ flip;
      if (validity != 0) bits &= presentOf(validity, numbers);
      out = keepFour(numbers, bits, out);
      numbers = i32x4.add(numbers, i32x4.splat(4));
    }
  } else {
    for (; at < fourEnd; at += 16) {
      const numbers = v128.load(at);
      const a = pairAt(data, i32x4.extract_lane(numbers, 0), i32x4.extract_lane(numbers, 1));
      const b = pairAt(data, i32x4.extract_lane(numbers, 2), i32x4.extract_lane(numbers, 3));
      let bits = (pairBits(kind, a, low, span) | (pairBits(kind, b, low, span) << 2)) ^ flip;
      if (validity != 0) bits &= presentOf(validity, numbers);
      out = keepFour(numbers, bits, out);
    }
  }
  for (const end = rows + (count << 2); at < end; at += 4) {
    const row = load<u32>(at);
    const bit = (pairBits(kind, i64x2.splat(load<u64>(data + (row << 3))), low, span) ^ flip) & 1;
    store<u32>(out, row);
    out += (presentAt(validity, row) & bit) << 2;
  }
  return (out - rows) >> 2;
}

const SIGN: u64 = 1 << 63;

/** What pairMask takes: unsigned numbers in the order of signed ones. */
// @ts-ignore: decorator
@inline
export function spanInOrder(predicate: Predicate): v128 {
  return i64x2.splat(predicate.span ^ SIGN);
}

/** All bits of each of two values: 1 = it is below the number, up to it, and so on, before a negation. */
// @ts-ignore: decorator
@inline
export function pairMask(kind: u32, pair: v128, low: v128, span: v128): v128 {
  if (kind == PREDICATE_FLOAT_BELOW) return f64x2.lt(pair, low);
  if (kind == PREDICATE_FLOAT_UP_TO) return f64x2.le(pair, low);
  if (kind == PREDICATE_FLOAT_EQUAL) return f64x2.eq(pair, low);
  if (kind == PREDICATE_FLOAT_NUMBER) return f64x2.eq(pair, pair);
  return i64x2.le_s(v128.xor(i64x2.sub(pair, low), i64x2.splat(SIGN)), span);
}

// @ts-ignore: decorator
@inline
function pairBits(kind: u32, pair: v128, low: v128, span: v128): u32 {
  return i64x2.bitmask(pairMask(kind, pair, low, span));
}

// @ts-ignore: decorator
@inline
function pairAt(data: u32, a: u32, b: u32): v128 {
  return v128.load64_lane(data + (b << 3), v128.load64_zero(data + (a << 3)), 1);
}

// @ts-ignore: decorator
@inline
function presentOf(validity: u32, numbers: v128): u32 {
  return (
    <u32>bitAt(validity, i32x4.extract_lane(numbers, 0)) |
    (<u32>bitAt(validity, i32x4.extract_lane(numbers, 1)) << 1) |
    (<u32>bitAt(validity, i32x4.extract_lane(numbers, 2)) << 2) |
    (<u32>bitAt(validity, i32x4.extract_lane(numbers, 3)) << 3)
  );
}

/** keepMatching for differences of 1, 2 or 4 bytes. Many rows side by side are not listed (matches.ts). */
function keepNarrow<T>(predicate: Predicate, rows: u32, count: u32): u32 {
  const data = predicate.data;
  const validity = predicate.validity;
  const low = <T>predicate.low;
  const span = <T>predicate.span;
  const flip = predicate.negated & 1;
  let out = rows;
  for (let at = rows, end = rows + (count << 2); at < end; at += 4) {
    const row = load<u32>(at);
    const bit = <u32>(<T>(load<T>(data + row * sizeof<T>()) - low) <= span) ^ flip;
    store<u32>(out, row);
    out += (presentAt(validity, row) & bit) << 2;
  }
  return (out - rows) >> 2;
}
