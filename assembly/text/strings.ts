// Strings as JSON and CSV write them. Targets have 15 bytes to spare behind them; sources may end where the memory does.

const QUOTE: u8 = 0x22;
const COMMA: u8 = 0x2c;
const BACKSLASH: u8 = 0x5c;
const LINE_FEED: u8 = 0x0a;
const RETURN: u8 = 0x0d;
const LETTER_U: u8 = 0x75;
const TAB: u8 = 0x09;
const BLANK: u8 = 0x20;
const LESS: u8 = 0x3c;
const GREATER: u8 = 0x3e;
const AMPERSAND: u8 = 0x26;
/** First byte of U+2028 and U+2029, and of many others. */
const LINE_END_LEAD: u8 = 0xe2;
const ZERO: u8 = 0x30;
/** The letters behind the backslash for the bytes 8 .. 13; 0 where there is none. */
const LETTERS = memory.data<u8>([0x62, 0x74, 0x6e, 0, 0x66, 0x72]);

let memoryEnd: u64 = 0;
let spare: u32 = 0;

/** 16 bytes of the caller's, for what follows; all threads share the memory, so there is no place of our own. */
export function setSpare(ptr: u32): void {
  memoryEnd = <u64>memory.size() << 16;
  spare = ptr;
}

/** 16 bytes, of which `left` are the source's. */
// @ts-ignore: decorator
@inline
function loadBlock(source: u32, left: u32): v128 {
  return <u64>source + 16 <= memoryEnd ? v128.load(source) : loadLast(source, left);
}

function loadLast(source: u32, left: u32): v128 {
  memory.copy(spare, source, min<u32>(left, 16));
  return v128.load(spare);
}

/** UTF-8 as a JSON string with its quotes, at most six bytes a byte and two. Escapes what JSON demands and nothing more. */
export function writeJsonString(at: u32, source: u32, bytes: u32): u32 {
  return writeEscaped(at, source, bytes, false);
}

/** The same as Go's encoding/json writes it: `<`, `>`, `&` and the line ends U+2028 and U+2029 are escaped too, and of the control
 *  characters line feed, return and tab alone have letters. */
export function writeV1JsonString(at: u32, source: u32, bytes: u32): u32 {
  return writeEscaped(at, source, bytes, true);
}

// @ts-ignore: decorator
@inline
function writeEscaped(at: u32, source: u32, bytes: u32, isV1: bool): u32 {
  store<u8>(at++, QUOTE);
  // a difference: the end may be that of all 4 GiB
  const end = source + bytes;
  while (source != end) {
    const left = end - source;
    const block = loadBlock(source, left);
    v128.store(at, block);
    const inside: i32 = left < 16 ? (1 << left) - 1 : 0xffff;
    const special = i8x16.bitmask(isV1 ? v1Specials(block) : jsonSpecials(block)) & inside;
    if (special == 0) {
      const count = min<u32>(left, 16);
      at += count;
      source += count;
      continue;
    }
    const count = <u32>ctz(special);
    at += count;
    source += count;
    const byte = load<u8>(source);
    if (!isV1) {
      at = writeEscape(at, byte);
      source++;
    } else if (byte != LINE_END_LEAD) {
      at = writeV1Escape(at, byte);
      source++;
    } else if (end - source >= 3 && load<u8>(source, 1) == 0x80 && (load<u8>(source, 2) & 0xfe) == 0xa8) {
      store<u32>(at, 0x3032755c); // \u20
      store<u16>(at, load<u8>(source, 2) == 0xa8 ? 0x3832 : 0x3932, 4); // 28 or 29
      at += 6;
      source += 3;
    } else {
      store<u8>(at++, byte);
      source++;
    }
  }
  store<u8>(at, QUOTE);
  return at + 1;
}

// @ts-ignore: decorator
@inline
function v1Specials(block: v128): v128 {
  const angles = v128.or(i8x16.eq(block, i8x16.splat(LESS)), i8x16.eq(block, i8x16.splat(GREATER)));
  const others = v128.or(i8x16.eq(block, i8x16.splat(AMPERSAND)), i8x16.eq(block, i8x16.splat(<i8>LINE_END_LEAD)));
  return v128.or(jsonSpecials(block), v128.or(angles, others));
}

function writeV1Escape(at: u32, byte: u8): u32 {
  const hasLetter = byte == QUOTE || byte == BACKSLASH || byte == TAB || byte == LINE_FEED || byte == RETURN;
  return hasLetter ? writeEscape(at, byte) : writeHexEscape(at, byte);
}

// @ts-ignore: decorator
@inline
function jsonSpecials(block: v128): v128 {
  const quotes = v128.or(i8x16.eq(block, i8x16.splat(QUOTE)), i8x16.eq(block, i8x16.splat(BACKSLASH)));
  return v128.or(quotes, i8x16.lt_u(block, i8x16.splat(0x20)));
}

function writeEscape(at: u32, byte: u8): u32 {
  store<u8>(at, BACKSLASH);
  const letter: u8 = byte >= 0x20 ? byte : byte >= 8 && byte <= 13 ? load<u8>(LETTERS + byte - 8) : 0;
  if (letter != 0) {
    store<u8>(at + 1, letter);
    return at + 2;
  }
  return writeHexEscape(at, byte);
}

function writeHexEscape(at: u32, byte: u8): u32 {
  store<u8>(at, BACKSLASH);
  store<u8>(at + 1, LETTER_U);
  store<u16>(at + 2, 0x3030);
  store<u8>(at + 4, ZERO + (byte >> 4));
  store<u8>(at + 5, hexDigit(byte & 15));
  return at + 6;
}

function hexDigit(value: u8): u8 {
  return value < 10 ? ZERO + value : 0x61 + value - 10;
}

/** UTF-8 as a cell of CSV, at most two bytes a byte and two: in quotes where a comma, a quote or a line end demands it. */
export function writeCsvString(at: u32, source: u32, bytes: u32): u32 {
  const start = at;
  for (let from: u32 = 0; from < bytes; from += 16) {
    const left = bytes - from;
    const block = loadBlock(source + from, left);
    v128.store(at, block);
    const inside: i32 = left < 16 ? (1 << left) - 1 : 0xffff;
    if ((i8x16.bitmask(csvSpecials(block)) & inside) != 0) return writeQuoted(start, source, bytes);
    at += min<u32>(left, 16);
  }
  return at;
}

/** The same as Go's encoding/csv writes it, which quotes also what begins with white space, and `\.`. */
export function writeV1CsvString(at: u32, source: u32, bytes: u32): u32 {
  return needsV1Quotes(source, bytes) ? writeQuoted(at, source, bytes) : writeCsvString(at, source, bytes);
}

function needsV1Quotes(source: u32, bytes: u32): bool {
  if (bytes == 0) return false;
  const first = load<u8>(source);
  if (first == BACKSLASH) return bytes == 2 && load<u8>(source, 1) == 0x2e;
  if (first <= BLANK) return first == BLANK || (first >= TAB && first <= RETURN);
  if (first < 0xc2) return false;
  if (first == 0xc2) return load<u8>(source, 1) == 0x85 || load<u8>(source, 1) == 0xa0;
  if (first < 0xe1 || first > 0xe3 || bytes < 3) return false;
  const next = (<u32>load<u8>(source, 1) << 8) | load<u8>(source, 2);
  if (first == 0xe1) return next == 0x9a80; // U+1680
  if (first == 0xe3) return next == 0x8080; // U+3000
  return (next >= 0x8080 && next <= 0x808a) || next == 0x80a8 || next == 0x80a9 || next == 0x80af || next == 0x819f;
}

// @ts-ignore: decorator
@inline
function csvSpecials(block: v128): v128 {
  const marks = v128.or(i8x16.eq(block, i8x16.splat(COMMA)), i8x16.eq(block, i8x16.splat(QUOTE)));
  return v128.or(marks, v128.or(i8x16.eq(block, i8x16.splat(LINE_FEED)), i8x16.eq(block, i8x16.splat(RETURN))));
}

function writeQuoted(at: u32, source: u32, bytes: u32): u32 {
  store<u8>(at++, QUOTE);
  for (let i: u32 = 0; i < bytes; i++) {
    const byte = load<u8>(source + i);
    if (byte == QUOTE) store<u8>(at++, QUOTE);
    store<u8>(at++, byte);
  }
  store<u8>(at, QUOTE);
  return at + 1;
}
