// Field columns compared with constants, and rows that deletions hide: lists of row numbers are narrowed in place. Every row number is
// stored; the target moves on only behind a kept one. Without a branch the cost does not depend on the data.
import {
  PREDICATE_BOOLEAN,
  PREDICATE_BYTES,
  PREDICATE_FLOAT_BELOW,
  PREDICATE_FLOAT_EQUAL,
  PREDICATE_FLOAT_NUMBER,
  PREDICATE_FLOAT_UP_TO,
  PREDICATE_TEXT,
  PREDICATE_TEXTS,
  VIEW_BYTES,
} from "../abi";
import { bitAt } from "../memory/bits";
import { equalViews } from "../memory/views";
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

/** Keeps those of `count` rows whose value is present and satisfies the predicate. Returns how many. */
export function keepMatching(predicate: Predicate, rows: u32, count: u32): u32 {
  const data = predicate.data;
  const validity = predicate.validity;
  const low = predicate.low;
  const span = predicate.span;
  const negated = predicate.negated;
  const value = reinterpret<f64>(low);
  const end = rows + (count << 2);
  let out = rows;
  switch (predicate.kind) {
    case PREDICATE_FLOAT_BELOW:
      for (let at = rows; at < end; at += 4) {
        const row = load<u32>(at);
        store<u32>(out, row);
        out += (presentAt(validity, row) & (<u32>(load<f64>(data + (row << 3)) < value) ^ negated)) << 2;
      }
      break;
    case PREDICATE_FLOAT_UP_TO:
      for (let at = rows; at < end; at += 4) {
        const row = load<u32>(at);
        store<u32>(out, row);
        out += (presentAt(validity, row) & (<u32>(load<f64>(data + (row << 3)) <= value) ^ negated)) << 2;
      }
      break;
    case PREDICATE_FLOAT_EQUAL:
      for (let at = rows; at < end; at += 4) {
        const row = load<u32>(at);
        store<u32>(out, row);
        out += (presentAt(validity, row) & (<u32>(load<f64>(data + (row << 3)) == value) ^ negated)) << 2;
      }
      break;
    case PREDICATE_FLOAT_NUMBER:
      for (let at = rows; at < end; at += 4) {
        const row = load<u32>(at);
        const found = load<f64>(data + (row << 3));
        store<u32>(out, row);
        out += (presentAt(validity, row) & (<u32>(found == found) ^ negated)) << 2;
      }
      break;
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
    default: // PREDICATE_INTEGER
      for (let at = rows; at < end; at += 4) {
        const row = load<u32>(at);
        store<u32>(out, row);
        out += (presentAt(validity, row) & (<u32>(load<u64>(data + (row << 3)) - low <= span) ^ negated)) << 2;
      }
  }
  return (out - rows) >> 2;
}

// @ts-ignore: decorator
@inline
function presentAt(validity: u32, row: u32): u32 {
  return validity == 0 ? 1 : <u32>bitAt(validity, row);
}
