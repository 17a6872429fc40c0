// Absent rows take no place in encoded values: they are squeezed out before encoding, and put back as zeros after decoding, in place and
// from the end, because a value never moves forward past an unmoved one.
import { wordAt } from "./bits";

const ALL: u64 = ~0;

/** Copies the present values of `size` bytes (1, 8 or 16) to `target`. */
export function squeeze(values: u32, bitmap: u32, count: u32, size: u32, target: u32): void {
  for (let i: u32 = 0, words = (count + 63) >> 6; i < words; i++) {
    let word = wordAt(bitmap, i, count);
    const from = values + (i << 6) * size;
    if (word == ALL) {
      memory.copy(target, from, size << 6);
      target += size << 6;
      continue;
    }
    for (; word != 0; word &= word - 1) {
      move(from + <u32>ctz(word) * size, size, target);
      target += size;
    }
  }
}

/** Spreads `present` values at the front of `values` over the rows that are present; absent rows become 0. */
export function spread(values: u32, bitmap: u32, count: u32, size: u32, present: u32): void {
  let from = values + present * size;
  for (let i = (count + 63) >> 6; i-- > 0; ) {
    const word = wordAt(bitmap, i, count);
    const rows = min(count - (i << 6), 64);
    const first = values + (i << 6) * size;
    if (word == ALL) {
      from -= size << 6;
      memory.copy(first, from, size << 6);
      continue;
    }
    for (let row = rows; row-- > 0; ) {
      const at = first + row * size;
      if (((word >> row) & 1) != 0) {
        from -= size;
        move(from, size, at);
      } else {
        clear(at, size);
      }
    }
  }
}

// @ts-ignore: decorator
@inline
function move(from: u32, size: u32, to: u32): void {
  if (size == 8) store<u64>(to, load<u64>(from));
  else if (size == 1) store<u8>(to, load<u8>(from));
  else v128.store(to, v128.load(from));
}

// @ts-ignore: decorator
@inline
function clear(at: u32, size: u32): void {
  if (size == 8) store<u64>(at, 0);
  else if (size == 1) store<u8>(at, 0);
  else v128.store(at, i64x2.splat(0));
}
