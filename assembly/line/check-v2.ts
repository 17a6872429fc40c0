// The careful path for lines of the v2 line: one line, byte by byte, into tokens, by the rules of the vendor's 2.x server. They differ from
// those of 3.x (check.ts) in names, escapes, numbers, line ends and limits. What is wrong with a line is found by the host, which reads bad
// lines again (src/api/v2/rows/line-fault.ts): here all have one code. Lines that can be parsed and are left out have codes of their own.
import {
  LINE_BAD_SYNTAX,
  LINE_BAD_TABLE_NAME,
  LINE_BAD_UTF8,
  LINE_DROP_DUPLICATE_FIELD,
  LINE_DROP_STRING_TOO_LONG,
  LINE_DROP_TAG_AND_FIELD,
  LINE_DROP_TIME_FIELD,
  LINE_STRING_BYTES_MAX,
  LINE_V2_KEY_BYTES_MAX,
  TYPE_BOOLEAN,
  TYPE_FLOAT,
  TYPE_INTEGER,
  TYPE_STRING,
  TYPE_TAG,
  TYPE_UNSIGNED,
} from "../abi";
import { BACKSLASH, COMMA, DOT, EQUALS, MINUS, NEWLINE, QUOTE, SPACE, TAB, ZERO, sameBytes } from "./bytes";
import { hostNumber, parseBoolean, parseFloat64, parseSigned, parseUnsigned } from "./number";
import { Parser, Token } from "./structures";
import { findBadUtf8, scratch, storeView, unescapeString } from "./text";
import { scaleTime } from "./time";
import { beginTokens, clearSeen, detailedFault, fault, keepTokens, pushToken, setSeriesEnd, setTable, setTimeNs } from "./tokens";
import { tagCount, tokenAt, tokenCount } from "./tokens";

const LETTER_I: u32 = 0x69;
const LETTER_U: u32 = 0x75;

/** Which characters a backslash stands before in vain, in names of each kind. */
const ESCAPES_OF_TABLE: u32 = 0;
const ESCAPES_OF_TAG: u32 = 1;
const ESCAPES_OF_FIELD: u32 = 2;

/** The bytes between key and field in the vendor's files, which count for the length of a key. */
const KEY_SEPARATOR_BYTES: u32 = 4;

/** The first byte from `p` on that is no blank; a NUL is one. */
export function skipBlanksV2(p: usize, end: usize): usize {
  while (p < end && (<u32>load<u8>(p) == SPACE || <u32>load<u8>(p) == TAB || load<u8>(p) == 0)) p++;
  return p;
}

/** The end of the line that begins at `p`: a newline outside of quotes, or the body's end. Quotes count behind the first blank, where there
 *  are more equals signs than commas; a backslash hides the byte behind it. */
export function findLineEndV2(p: usize, end: usize): usize {
  let quoted = false;
  let fields = false;
  let open: i32 = 0;
  while (p < end) {
    const c: u32 = load<u8>(p);
    if (c == BACKSLASH && p + 2 < end) {
      p += 2;
      continue;
    }
    if (c == SPACE) fields = true;
    if (fields && !quoted && c == EQUALS) open++;
    else if (fields && !quoted && c == COMMA) open--;
    else if (fields && c == QUOTE && open > 0) quoted = !quoted;
    else if (c == NEWLINE && !quoted) return p;
    p++;
  }
  return end;
}

/** Reads the line from `p`, its first byte that is not blank, to `end`. Returns `end`, or 0 with the fault set. */
export function checkLineV2(parser: Parser, p: usize, end: usize): usize {
  const key = p;
  p = checkSeriesV2(parser, p, end);
  if (p == 0) return 0;
  const keyBytes = <u32>(p - key);
  if (keyBytes > <u32>LINE_V2_KEY_BYTES_MAX) return bad();
  const fields = skipBlanksV2(p, end);
  p = findFieldsEnd(fields, end);
  if (p == 0) return 0;
  if (!takeFields(parser, fields, p, keyBytes)) return 0;
  if (!checkTime(parser, skipBlanksV2(p, end), end)) return 0;
  return checkNames(parser) ? end : 0;
}

function bad(): usize {
  return fault(LINE_BAD_SYNTAX, 0, 0);
}

/** Table name and tags. Returns the address of the space behind them, or 0. Also used on a stored series key. */
export function checkSeriesV2(parser: Parser, p: usize, end: usize): usize {
  beginTokens();
  if (p >= end || <u32>load<u8>(p) == COMMA) return bad();
  const name = p;
  p = nameEnd(p + 1, end, SPACE, COMMA, COMMA);
  if (p >= end) return bad();
  if (!takeName(parser, name, p, ESCAPES_OF_TABLE)) return 0;
  for (let at = namePtr; at < namePtr + nameBytes; at++) if (load<u8>(at) == 0) return fault(LINE_BAD_TABLE_NAME, name, p);
  setTable(namePtr, nameBytes);
  while (<u32>load<u8>(p) == COMMA) {
    p = checkTag(parser, p + 1, end);
    if (p == 0) return 0;
  }
  setSeriesEnd(p);
  return p;
}

/** A tag at `p`. Returns the address of what ends it, a comma or a space, or 0. */
function checkTag(parser: Parser, p: usize, end: usize): usize {
  if (p >= end || isOneOf(load<u8>(p), SPACE, COMMA, EQUALS)) return bad();
  const equals = nameEnd(p + 1, end, SPACE, COMMA, EQUALS);
  if (equals >= end || <u32>load<u8>(equals) != EQUALS || isReserved(p, equals)) return bad();
  if (!takeName(parser, p, equals, ESCAPES_OF_TAG)) return 0;
  const token = pushToken(parser, TYPE_TAG, namePtr, nameBytes);
  if (token == null) return 0;
  const value = equals + 1;
  if (value >= end || isOneOf(load<u8>(value), SPACE, COMMA, COMMA)) return bad();
  p = nameEnd(value + 1, end, SPACE, COMMA, EQUALS);
  if (p >= end || <u32>load<u8>(p) == EQUALS) return bad();
  if (!takeName(parser, value, p, ESCAPES_OF_TAG)) return 0;
  token.value0 = (<u64>nameBytes << 32) | <u64>namePtr;
  return p;
}

// @ts-ignore: decorator
@inline
function isOneOf(c: u32, a: u32, b: u32, d: u32): bool {
  return c == a || c == b || c == d;
}

/** The first of three characters from `p` on that no backslash stands before, or `end`. */
function nameEnd(p: usize, end: usize, a: u32, b: u32, c: u32): usize {
  while (p < end && !(isOneOf(load<u8>(p), a, b, c) && <u32>load<u8>(p - 1) != BACKSLASH)) p++;
  return p;
}

/** `time`, `_field`, `_measurement`, and a NUL, which the vendor's files have for the last one. */
function isReserved(p: usize, end: usize): bool {
  const bytes = <u32>(end - p);
  if (bytes == 1) return load<u8>(p) == 0;
  if (bytes == 4) return load<u32>(p) == 0x656d6974;
  if (bytes == 6) return load<u32>(p) == 0x6569665f && load<u16>(p + 4) == 0x646c;
  return bytes == 12 && load<u64>(p) == 0x6572757361656d5f && load<u32>(p + 8) == 0x746e656d;
}

/** The name that takeName read. */
let namePtr: usize = 0;
let nameBytes: u32 = 0;

/** Reads the name between two addresses, without its escapes. */
function takeName(parser: Parser, p: usize, end: usize, kind: u32): bool {
  namePtr = p;
  nameBytes = <u32>(end - p);
  const badPtr = findBadUtf8(p, end);
  if (badPtr != 0) {
    fault(LINE_BAD_UTF8, badPtr, badPtr);
    return false;
  }
  if (!hasByte(p, end, BACKSLASH)) return true;
  namePtr = scratch(parser);
  nameBytes = unescapeName(p, end, namePtr, kind);
  parser.scratchUsed += nameBytes;
  return true;
}

function hasByte(p: usize, end: usize, byte: u32): bool {
  for (; p < end; p++) if (<u32>load<u8>(p) == byte) return true;
  return false;
}

/** Drops backslashes before the characters that the kind of name escapes; all others stay. Returns the bytes written. */
function unescapeName(p: usize, end: usize, target: usize, kind: u32): u32 {
  const first = target;
  for (; p < end; p++) {
    const c: u32 = load<u8>(p);
    if (c == BACKSLASH && p + 1 < end) {
      const next: u32 = load<u8>(p + 1);
      if (next == COMMA || next == SPACE) continue;
      if (next == EQUALS && kind != ESCAPES_OF_TABLE) continue;
      if (next == QUOTE && kind == ESCAPES_OF_FIELD) continue;
    }
    store<u8>(target++, <u8>c);
  }
  return <u32>(target - first);
}

/** The end of the fields that begin at `p`: the first space outside of quotes, or `end`. 0 with the fault set: they are no fields. */
function findFieldsEnd(start: usize, end: usize): usize {
  let quoted = false;
  let equals: i32 = 0;
  let commas: i32 = 0;
  let p = start;
  while (p < end) {
    const c: u32 = load<u8>(p);
    if (c == BACKSLASH && p + 1 < end) {
      p += 2;
      continue;
    }
    if (c == QUOTE && equals > commas) {
      quoted = !quoted;
    } else if (!quoted && c == EQUALS) {
      equals++;
      p = checkValueStart(p, start, end);
      if (p == 0) return 0;
      continue;
    } else if (!quoted && c == COMMA) {
      commas++;
    } else if (!quoted && c == SPACE) {
      break;
    }
    p++;
  }
  if (quoted || equals == 0 || commas != equals - 1) return bad();
  return p;
}

/** `p` is at an equals sign. Returns where to go on: at a quote, or behind a value without. 0: there is no value. */
function checkValueStart(p: usize, start: usize, end: usize): usize {
  const before: u32 = p == start ? SPACE : load<u8>(p - 1);
  if ((before == SPACE || before == COMMA) && (p == start || <u32>load<u8>(p - 2) != BACKSLASH)) return bad();
  const value = p + 1;
  if (value >= end || isOneOf(load<u8>(value), SPACE, COMMA, COMMA)) return bad();
  if (<u32>load<u8>(value) == QUOTE) return value;
  p = value;
  while (p < end && !isOneOf(load<u8>(p), SPACE, COMMA, COMMA)) p++;
  return p;
}

/** The first field of the line whose text is too long: its name, and the bytes of its text; 0: there is none. */
let longNamePtr: usize = 0;
let longNameBytes: u32 = 0;
let longTextBytes: u32 = 0;

/** Reads the fields between two addresses into tokens. */
function takeFields(parser: Parser, p: usize, end: usize, keyBytes: u32): bool {
  longTextBytes = 0;
  while (p < end) {
    const equals = fieldNameEnd(p, end);
    if (equals >= end || keyBytes + KEY_SEPARATOR_BYTES + <u32>(equals - p) > <u32>LINE_V2_KEY_BYTES_MAX) {
      bad();
      return false;
    }
    if (!takeName(parser, p, equals, ESCAPES_OF_FIELD)) return false;
    const token = pushToken(parser, TYPE_FLOAT, namePtr, nameBytes);
    if (token == null) return false;
    p = valueEnd(equals + 1, end);
    if (!takeValue(parser, equals + 1, p, token)) return false;
    p++;
  }
  return true;
}

/** The next equals sign that no backslash stands before. */
function fieldNameEnd(start: usize, end: usize): usize {
  let p = start;
  while (p < end && !(<u32>load<u8>(p) == EQUALS && (p == start || <u32>load<u8>(p - 1) != BACKSLASH))) p++;
  return p;
}

/** The comma behind the value at `p` that is in no quotes, or `end`. */
function valueEnd(p: usize, end: usize): usize {
  let quoted = false;
  while (p < end) {
    const c: u32 = load<u8>(p);
    if (c == BACKSLASH && p + 1 < end && isOneOf(load<u8>(p + 1), QUOTE, BACKSLASH, BACKSLASH)) {
      p += 2;
      continue;
    }
    if (c == QUOTE) quoted = !quoted;
    else if (c == COMMA && !quoted) break;
    p++;
  }
  return p;
}

function takeValue(parser: Parser, p: usize, end: usize, token: Token): bool {
  const c: u32 = load<u8>(p);
  const target = changetype<usize>(token);
  if (c == QUOTE) {
    token.type = TYPE_STRING;
    return takeString(parser, p + 1, end - 1, token);
  }
  let valueEnd: usize;
  if (c - ZERO > 9 && c != MINUS && c != DOT) {
    token.type = TYPE_BOOLEAN;
    valueEnd = parseBoolean(p, target);
  } else {
    const last: u32 = load<u8>(end - 1);
    token.type = last == LETTER_I ? TYPE_INTEGER : last == LETTER_U ? TYPE_UNSIGNED : TYPE_FLOAT;
    if (token.type == TYPE_INTEGER) {
      valueEnd = parseSigned(p, target);
      if (valueEnd != 0) valueEnd++;
    } else if (token.type == TYPE_UNSIGNED) {
      valueEnd = parseUnsigned(p, target);
    } else {
      valueEnd = takeFloat(parser, p, end, target);
    }
  }
  if (valueEnd != end) bad();
  return valueEnd == end;
}

/** The value is what stands between the first and the last byte, both of which are quotes in what people write. */
function takeString(parser: Parser, p: usize, end: usize, token: Token): bool {
  let textPtr = p;
  let textBytes: u32 = end < p ? 0 : <u32>(end - p);
  const badPtr = findBadUtf8(p, p + textBytes);
  if (badPtr != 0) {
    fault(LINE_BAD_UTF8, badPtr, badPtr);
    return false;
  }
  if (hasByte(p, p + textBytes, BACKSLASH)) {
    textPtr = scratch(parser);
    textBytes = unescapeString(p, p + textBytes, textPtr);
    parser.scratchUsed += textBytes;
  }
  storeView(changetype<usize>(token), textPtr, textBytes);
  if (textBytes > <u32>LINE_STRING_BYTES_MAX && longTextBytes == 0) {
    longNamePtr = token.namePtr;
    longNameBytes = token.nameBytes;
    longTextBytes = textBytes;
  }
  return true;
}

/** -?(digits[.][digits] | .digits)[(e|E)[+|-]digits]. Returns the address behind it, or 0. */
function takeFloat(parser: Parser, start: usize, end: usize, target: usize): usize {
  let p = parseFloat64(start, target, parser.powersPtr);
  if (p == end) return p;
  p = <u32>load<u8>(start) == MINUS ? start + 1 : start;
  let digits: u32 = 0;
  for (; isDigit(p, end); p++) digits++;
  if (p < end && <u32>load<u8>(p) == DOT) {
    p++;
    for (; isDigit(p, end); p++) digits++;
  }
  if (digits == 0) return 0;
  if (p < end && (<u32>load<u8>(p) | 0x20) == 0x65) {
    p++;
    if (p < end && (<u32>load<u8>(p) == MINUS || load<u8>(p) == 0x2b)) p++;
    if (!isDigit(p, end)) return 0;
    while (isDigit(p, end)) p++;
  }
  if (p != end) return 0;
  const value = hostNumber(start, <u32>(end - start));
  if (!isFinite(value)) return 0;
  store<f64>(target, value);
  return end;
}

// @ts-ignore: decorator
@inline
function isDigit(p: usize, end: usize): bool {
  return p < end && <u32>load<u8>(p) - ZERO <= 9;
}

/** What follows the fields: nothing, or a time and blanks. */
function checkTime(parser: Parser, p: usize, end: usize): bool {
  if (p >= end) {
    setTimeNs(parser.receiveTimeNs);
    return true;
  }
  // the token behind the last one is free to hold the number
  const target = changetype<usize>(tokenAt(parser, tokenCount));
  let digit = p;
  if (<u32>load<u8>(digit) == MINUS) digit++;
  while (isDigit(digit, end)) digit++;
  let rest = digit;
  while (rest < end && <u32>load<u8>(rest) == SPACE) rest++;
  const isGood = rest == end && parseSigned(p, target) == digit && scaleTime(load<i64>(target), parser.precision, target);
  if (!isGood || !isTimeV2(load<i64>(target))) {
    bad();
    return false;
  }
  setTimeNs(load<i64>(target));
  return true;
}

/** The vendor keeps the edges of 64 bits for itself. */
// @ts-ignore: decorator
@inline
export function isTimeV2(time: i64): bool {
  return time > i64.MIN_VALUE + 1 && time < i64.MAX_VALUE;
}

/** Names that occur twice, and fields that cannot be stored: the line is bad, or left out, or a field of it is. */
function checkNames(parser: Parser): bool {
  const lastSlot = clearSeen(parser) - 1;
  let kept: u32 = 0;
  let timePtr: usize = 0;
  for (let i: u32 = 0; i < tokenCount; i++) {
    const token = tokenAt(parser, i);
    if (token.nameBytes == 4 && load<u32>(token.namePtr) == 0x656d6974) {
      timePtr = token.namePtr;
      continue;
    }
    const earlier = findSeen(parser, token, kept, lastSlot);
    if (earlier == null) {
      if (kept != i) memory.copy(changetype<usize>(tokenAt(parser, kept)), changetype<usize>(token), offsetof<Token>());
      kept++;
    } else if (!mergeFields(earlier, token)) return false;
  }
  keepTokens(kept);
  if (longTextBytes != 0) {
    detailedFault(LINE_DROP_STRING_TOO_LONG, longNamePtr, longNamePtr + longNameBytes, longTextBytes);
    return false;
  }
  if (kept > tagCount) return true;
  fault(LINE_DROP_TIME_FIELD, timePtr, timePtr + 4);
  return false;
}

/** The token of the same name among the first `kept`; null: there is none, and this one is noted as the next of them. */
function findSeen(parser: Parser, token: Token, kept: u32, lastSlot: u32): Token | null {
  const seen: usize = parser.seenPtr;
  let slot = token.hash & lastSlot;
  while (true) {
    const other: u32 = load<u16>(seen + (slot << 1));
    if (other == 0) break;
    const earlier = tokenAt(parser, other - 1);
    if (earlier.nameBytes == token.nameBytes && sameBytes(earlier.namePtr, token.namePtr, token.nameBytes)) return earlier;
    slot = (slot + 1) & lastSlot;
  }
  store<u16>(seen + (slot << 1), <u16>(kept + 1));
  return null;
}

/** Of a field that occurs twice the last value counts. False, with the fault set, for two tags, a tag and a field, and two types. */
function mergeFields(earlier: Token, token: Token): bool {
  if (token.type == TYPE_TAG) {
    bad();
    return false;
  }
  if (earlier.type != token.type) {
    const code = earlier.type == TYPE_TAG ? LINE_DROP_TAG_AND_FIELD : LINE_DROP_DUPLICATE_FIELD;
    detailedFault(code, token.namePtr, token.namePtr + token.nameBytes, (earlier.type << 8) | token.type);
    return false;
  }
  earlier.value0 = token.value0;
  earlier.value1 = token.value1;
  return true;
}
