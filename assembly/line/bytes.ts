// Characters of line protocol and the few byte tests that every part of the parser uses.

export const TAB: u32 = 0x09;
export const NEWLINE: u32 = 0x0a;
export const RETURN: u32 = 0x0d;
export const SPACE: u32 = 0x20;
export const QUOTE: u32 = 0x22;
export const HASH: u32 = 0x23;
export const COMMA: u32 = 0x2c;
export const MINUS: u32 = 0x2d;
export const DOT: u32 = 0x2e;
export const ZERO: u32 = 0x30;
export const EQUALS: u32 = 0x3d;
export const BACKSLASH: u32 = 0x5c;

/** True at `\n` and at the `\r` of `\r\n`. The byte after a body is a newline, so its end is a line end too. */
// @ts-ignore: decorator
@inline
export function isLineEnd(p: usize): bool {
  const c: u32 = load<u8>(p);
  return c == NEWLINE || (c == RETURN && load<u8>(p + 1) == <u8>NEWLINE);
}

/** The first byte from `p` on that is no space. */
// @ts-ignore: decorator
@inline
export function skipSpaces(p: usize): usize {
  while (<u32>load<u8>(p) == SPACE) p++;
  return p;
}

/** Equality of `bytes` bytes; both sides must be readable to 16 bytes. */
// @ts-ignore: decorator
@inline
export function sameBytes(a: usize, b: usize, bytes: u32): bool {
  if (bytes < 16) {
    const differing = i8x16.bitmask(i8x16.ne(v128.load(a), v128.load(b)));
    return (differing & ((1 << bytes) - 1)) == 0;
  }
  const last = bytes - 16;
  let i: u32 = 0;
  for (; i + 16 < last; i += 32) {
    const first = v128.xor(v128.load(a + i), v128.load(b + i));
    if (v128.any_true(v128.or(first, v128.xor(v128.load(a + i, 16), v128.load(b + i, 16))))) return false;
  }
  if (i < last && v128.any_true(v128.xor(v128.load(a + i), v128.load(b + i)))) return false;
  // the last 16 bytes overlap the ones before: no mask is needed
  return !v128.any_true(v128.xor(v128.load(a + last), v128.load(b + last)));
}
