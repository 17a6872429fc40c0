// Text inside a line: quoted strings, escapes, UTF-8. Text without escapes stays where it is in the body; unescaped text goes to the
// parser's scratch block, which is as large as the body and never outgrows it, because unescaping only shortens.
import { LINE_STRING_BYTES_MAX, VIEW_INLINE_MAX } from "../abi";
import { memoryBase } from "../memory/host";
import { BACKSLASH, COMMA, EQUALS, QUOTE, SPACE } from "./bytes";
import { Parser, allocate, release } from "./structures";

export const STRING_OPEN: u32 = 1;
export const STRING_TOO_LONG: u32 = 2;
export const STRING_NOT_UTF8: u32 = 3;

/** Why parseString returned 0, and for STRING_NOT_UTF8 where. */
export let stringFault: u32 = 0;
export let stringFaultPtr: usize = 0;

/** `p` is behind the opening quote. Writes a string view to `target` and returns the address behind the closing quote, or 0 with
 *  `stringFault` set and nothing written. */
export function parseString(parser: Parser, p: usize, target: usize): usize {
  const end: usize = parser.bodyEnd;
  const quotes = i8x16.splat(<i8>QUOTE);
  const slashes = i8x16.splat(<i8>BACKSLASH);
  const start = p;
  let escapes: u32 = 0;
  let high: i32 = 0; // not 0: some byte is not ASCII
  while (true) {
    const block = v128.load(p);
    const stops = i8x16.bitmask(v128.or(i8x16.eq(block, quotes), i8x16.eq(block, slashes)));
    if (stops == 0) {
      high |= i8x16.bitmask(block);
      p += 16;
      if (p >= end) return fail(STRING_OPEN);
      continue;
    }
    const at = ctz(stops);
    high |= i8x16.bitmask(block) & ((1 << at) - 1);
    p += at;
    if (p >= end) return fail(STRING_OPEN);
    if (<u32>load<u8>(p) == QUOTE) break;
    // a backslash hides the next byte, whatever it is
    escapes++;
    high |= load<u8>(p + 1) & 0x80;
    p += 2;
    if (p >= end) return fail(STRING_OPEN);
  }
  let textPtr = start;
  let textBytes = <u32>(p - start);
  if (high != 0) {
    const bad = findBadUtf8(start, p);
    if (bad != 0) {
      stringFaultPtr = bad;
      return fail(STRING_NOT_UTF8);
    }
  }
  if (escapes != 0) {
    textPtr = scratch(parser);
    textBytes = unescapeString(start, p, textPtr);
    parser.scratchUsed += textBytes;
  }
  if (textBytes > <u32>LINE_STRING_BYTES_MAX) return fail(STRING_TOO_LONG);
  storeView(target, textPtr, textBytes);
  return p + 1;
}

function fail(fault: u32): usize {
  stringFault = fault;
  return 0;
}

/** A string view of text that is readable to 16 bytes. */
// @ts-ignore: decorator
@inline
export function storeView(target: usize, textPtr: usize, textBytes: u32): void {
  if (textBytes <= <u32>VIEW_INLINE_MAX) {
    // bytes behind the text must be zero: keep the lowest textBytes of two words
    const low = min<u32>(textBytes, 8) << 3;
    const rest = (textBytes << 3) - low;
    const word0 = low == 64 ? load<u64>(textPtr) : load<u64>(textPtr) & ((<u64>1 << low) - 1);
    const word1 = load<u64>(textPtr, 8) & ((<u64>1 << rest) - 1);
    store<u32>(target, textBytes);
    store<u64>(target, word0, 4);
    store<u32>(target, <u32>word1, 12);
  } else {
    store<u32>(target, textBytes);
    store<u32>(target, load<u32>(textPtr), 4);
    store<u64>(target, memoryBase + <u64>textPtr, 8);
  }
}

/** Where the next unescaped text goes: at least the rest of the body is free there. */
export function scratch(parser: Parser): u32 {
  if (parser.scratchPtr == 0) {
    const bytes = parser.bodyEnd - parser.bodyPtr + 64;
    parser.scratchPtr = allocate(parser, bytes);
    parser.scratchBytes = bytes;
  }
  return parser.scratchPtr + parser.scratchUsed;
}

/** Makes the scratch block empty, and large enough for the body in hand if it exists. */
export function resetScratch(parser: Parser): void {
  parser.scratchUsed = 0;
  if (parser.scratchPtr == 0 || parser.scratchBytes >= parser.bodyEnd - parser.bodyPtr + 64) return;
  releaseScratch(parser);
}

/** Frees the memory for texts with escapes. */
export function releaseScratch(parser: Parser): void {
  release(parser, parser.scratchPtr, parser.scratchBytes);
  parser.scratchPtr = 0;
  parser.scratchBytes = 0;
}

/** In a string `\"` and `\\` stand for their second byte; any other backslash is itself. Returns the bytes written. */
export function unescapeString(p: usize, end: usize, target: usize): u32 {
  const first = target;
  while (p < end) {
    let c: u32 = load<u8>(p++);
    if (c == BACKSLASH) {
      const next: u32 = load<u8>(p);
      if (p < end && (next == QUOTE || next == BACKSLASH)) {
        c = next;
        p++;
      }
    }
    store<u8>(target++, <u8>c);
  }
  return <u32>(target - first);
}

/** In names and tag values `\,` `\ ` and `\\` stand for their second byte, and with `equals` `\=` does; any other backslash is itself, and
 *  so is the byte it precedes. Returns the bytes written. */
export function unescapeName(p: usize, end: usize, target: usize, equals: bool): u32 {
  const first = target;
  while (p < end) {
    const c: u32 = load<u8>(p++);
    if (c == BACKSLASH && p < end) {
      const next: u32 = load<u8>(p++);
      if (next != COMMA && next != SPACE && next != BACKSLASH && (next != EQUALS || !equals)) store<u8>(target++, <u8>c);
      store<u8>(target++, <u8>next);
    } else {
      store<u8>(target++, <u8>c);
    }
  }
  return <u32>(target - first);
}

/** Address of the first byte that begins no valid UTF-8 sequence before `end`, or 0. */
export function findBadUtf8(p: usize, end: usize): usize {
  while (p < end) {
    const c: u32 = load<u8>(p);
    if (c < 0x80) {
      p++;
      continue;
    }
    let more: u32;
    // the second byte's range excludes overlong forms, surrogates and everything above U+10FFFF
    let low: u32 = 0x80;
    let high: u32 = 0xbf;
    if (c >= 0xc2 && c <= 0xdf) more = 1;
    else if (c >= 0xe0 && c <= 0xef) {
      more = 2;
      if (c == 0xe0) low = 0xa0;
      if (c == 0xed) high = 0x9f;
    } else if (c >= 0xf0 && c <= 0xf4) {
      more = 3;
      if (c == 0xf0) low = 0x90;
      if (c == 0xf4) high = 0x8f;
    } else return p;
    if (p + more >= end) return p;
    const second: u32 = load<u8>(p + 1);
    if (second < low || second > high) return p;
    for (let i: u32 = 2; i <= more; i++) if ((load<u8>(p + i) & 0xc0) != 0x80) return p;
    p += more + 1;
  }
  return 0;
}
