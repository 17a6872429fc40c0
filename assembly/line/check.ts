// The careful path: one line, byte by byte, into tokens, without touching what the parser keeps. It takes every line that the fast path
// (parse.ts) does not know by heart, and it alone decides whether a line is bad and why.
import {
  LINE_BAD_DUPLICATE_FIELD,
  LINE_BAD_DUPLICATE_TAG,
  LINE_BAD_ENDS_WITH_BACKSLASH,
  LINE_BAD_FLOAT,
  LINE_BAD_INTEGER,
  LINE_BAD_NO_EQUALS_SIGN,
  LINE_BAD_NO_FIELDS,
  LINE_BAD_NO_SPACE,
  LINE_BAD_OTHER_TYPE,
  LINE_BAD_RESERVED,
  LINE_BAD_STRING_TOO_LONG,
  LINE_BAD_TABLE_NAME,
  LINE_BAD_TAG_KEY,
  LINE_BAD_TAG_VALUE,
  LINE_BAD_TIMESTAMP,
  LINE_BAD_TIME_RANGE,
  LINE_BAD_TRAILING,
  LINE_BAD_UNSIGNED,
  LINE_BAD_UTF8,
  LINE_STRING_BYTES_MAX,
  TYPE_BOOLEAN,
  TYPE_FLOAT,
  TYPE_INTEGER,
  TYPE_STRING,
  TYPE_TAG,
  TYPE_UNSIGNED,
} from "../abi";
import { BACKSLASH, COMMA, EQUALS, MINUS, NEWLINE, QUOTE, RETURN, SPACE, TAB, ZERO } from "./bytes";
import { isLineEnd, sameBytes, skipSpaces } from "./bytes";
import { parseBoolean, parseFloat64, parseInteger, parseSigned, parseUnsigned } from "./number";
import { Parser, Token } from "./structures";
import { STRING_NOT_UTF8, STRING_TOO_LONG, findBadUtf8, parseString, scratch, stringFault, stringFaultPtr, unescapeName } from "./text";
import { scaleTime } from "./time";
import { beginTokens, clearFault, clearSeen, detailedFault, fault, faultCode, pushToken, setSeriesEnd, setTable, setTimeNs } from "./tokens";
import { timeNs, tokenAt, tokenCount } from "./tokens";

const STOP_AT_EQUALS: u32 = 1;
const STOP_AT_COMMA: u32 = 2;
/** What ends the name of a table: a NUL too, and an equals sign is nothing special there, with a backslash or without. */
const OF_TABLE: u32 = STOP_AT_COMMA | 4;

/** The name that takeName read. */
let namePtr: usize = 0;
let nameBytes: u32 = 0;

/** Reads the line whose first byte that is not blank is at `p`. Returns the address of its line end, or 0 with the fault set. */
export function checkLine(parser: Parser, p: usize): usize {
  p = checkSeries(parser, p);
  if (p == 0) return 0;
  if (<u32>load<u8>(p) != SPACE) return fault(LINE_BAD_NO_SPACE, p, 0);
  p = checkFields(parser, skipSpaces(p));
  if (p == 0) return 0;
  const lineEnd = checkTimestamp(parser, p);
  if (lineEnd == 0 || !checkNames(parser)) return 0;
  return scaleLineTime(parser, p) ? lineEnd : 0;
}

/** Table name and tags. Returns the address behind them, or 0. Also used on a stored series key. */
export function checkSeries(parser: Parser, p: usize): usize {
  beginTokens();
  p = takeName(parser, p, OF_TABLE);
  if (p == 0) return 0;
  // a backslash does not hide a NUL
  if (nameBytes == 0 || hasNul(namePtr, nameBytes)) return fault(LINE_BAD_TABLE_NAME, p, p);
  setTable(namePtr, nameBytes);
  const tags = p + 1;
  while (<u32>load<u8>(p) == COMMA) {
    const key = p + 1;
    p = takeName(parser, key, STOP_AT_COMMA | STOP_AT_EQUALS);
    if (p == 0) return 0;
    if (nameBytes == 0) return fault(LINE_BAD_TAG_KEY, key, 0);
    if (<u32>load<u8>(p) != EQUALS) return fault(LINE_BAD_NO_EQUALS_SIGN, tags, 0);
    const token = pushToken(parser, TYPE_TAG, namePtr, nameBytes);
    if (token == null) return 0;
    const value = p + 1;
    p = takeName(parser, value, STOP_AT_COMMA);
    if (p == 0) return 0;
    if (nameBytes == 0) return fault(LINE_BAD_TAG_VALUE, value, 0);
    token.value0 = (<u64>nameBytes << 32) | <u64>namePtr;
  }
  setSeriesEnd(p);
  return p;
}

/** `p` is at the first field's name. Returns the address behind the last field, or 0. */
function checkFields(parser: Parser, p: usize): usize {
  let count: u32 = 0;
  while (true) {
    // Text that is no field: after one field the quote begins behind the comma, after several at it. Clients know these texts.
    const code = count == 0 ? LINE_BAD_NO_FIELDS : LINE_BAD_TRAILING;
    const quote = count == 1 ? p : p - 1;
    // a comma behind the only field is no fault there, before a timestamp or the line end
    if (count == 1 && (isLineEnd(p) || (<u32>load<u8>(p) == SPACE && !isLineEnd(skipSpaces(p))))) return p;
    const key = p;
    p = takeName(parser, key, STOP_AT_COMMA | STOP_AT_EQUALS);
    if (p == 0) return 0;
    if (nameBytes == 0 || <u32>load<u8>(p) != EQUALS) return fault(code, quote, 0);
    const token = pushToken(parser, TYPE_FLOAT, namePtr, nameBytes);
    if (token == null) return 0;
    p = checkValue(parser, p + 1, token);
    if (p == 0) return faultCode != 0 ? 0 : fault(code, quote, 0);
    if (<u32>load<u8>(p) != COMMA) return p;
    p++;
    count++;
  }
}

/** Reads a value into the token. Returns the address behind it; 0 with no fault when there is none, 0 with a fault when it does not fit. */
function checkValue(parser: Parser, p: usize, token: Token): usize {
  const target = changetype<usize>(token);
  const c: u32 = load<u8>(p);
  clearFault();
  if (c == QUOTE) {
    token.type = TYPE_STRING;
    const end = parseString(parser, p + 1, target);
    if (end == 0 && stringFault == STRING_TOO_LONG) return fault(LINE_BAD_STRING_TOO_LONG, p, p);
    if (end == 0 && stringFault == STRING_NOT_UTF8) return fault(LINE_BAD_UTF8, stringFaultPtr, stringFaultPtr);
    return end;
  }
  let digit = c == MINUS ? p + 1 : p;
  if (<u32>load<u8>(digit) - ZERO > 9) {
    token.type = TYPE_BOOLEAN;
    return parseBoolean(p, target);
  }
  while (<u32>load<u8>(digit) - ZERO <= 9) digit++;
  const suffix: u32 = load<u8>(digit);
  if (suffix == 0x69) {
    token.type = TYPE_INTEGER;
    const end = parseInteger(p, target);
    return end != 0 ? end : fault(LINE_BAD_INTEGER, p, digit);
  }
  if (suffix == 0x75 && c != MINUS) {
    token.type = TYPE_UNSIGNED;
    const end = parseUnsigned(p, target);
    return end != 0 ? end : fault(LINE_BAD_UNSIGNED, p, digit);
  }
  token.type = TYPE_FLOAT;
  const end = parseFloat64(p, target, parser.powersPtr);
  return end != 0 ? end : fault(LINE_BAD_FLOAT, p, floatEnd(digit));
}

/** End of a float's text whose whole part ends at `p`: the text of a float that does not fit, for its message. */
function floatEnd(p: usize): usize {
  if (load<u8>(p) == 0x2e && <u32>load<u8>(p + 1) - ZERO <= 9) {
    p++;
    while (<u32>load<u8>(p) - ZERO <= 9) p++;
  }
  if ((<u32>load<u8>(p) | 0x20) != 0x65) return p;
  let exponent = p + 1;
  if (<u32>load<u8>(exponent) == MINUS || load<u8>(exponent) == 0x2b) exponent++;
  if (<u32>load<u8>(exponent) - ZERO > 9) return p;
  while (<u32>load<u8>(exponent) - ZERO <= 9) exponent++;
  return exponent;
}

/** `p` is behind the fields. Returns the line end, or 0; `timeNs` holds the number as written. */
function checkTimestamp(parser: Parser, p: usize): usize {
  const start = skipSpaces(p);
  // blanks that no timestamp follows are a fault
  if (isLineEnd(start)) return start == p ? start : fault(LINE_BAD_TRAILING, p, 0);
  let digit = start;
  if (<u32>load<u8>(digit) == MINUS) digit++;
  if (start == p || <u32>load<u8>(digit) - ZERO > 9) return fault(LINE_BAD_TRAILING, p, 0);
  while (<u32>load<u8>(digit) - ZERO <= 9) digit++;
  // the token behind the last one is free to hold the number
  const target = changetype<usize>(tokenAt(parser, tokenCount));
  if (parseSigned(start, target) == 0) return fault(LINE_BAD_TIMESTAMP, start, digit);
  setTimeNs(load<i64>(target));
  const end = skipSpaces(digit);
  if (!isLineEnd(end)) return fault(LINE_BAD_TRAILING, end, 0);
  return end;
}

/** Turns the timestamp behind `p`, already read, into nanoseconds; takes the time of receipt when there is none. */
function scaleLineTime(parser: Parser, p: usize): bool {
  p = skipSpaces(p);
  if (isLineEnd(p)) {
    setTimeNs(parser.receiveTimeNs);
    return true;
  }
  const target = changetype<usize>(tokenAt(parser, tokenCount));
  if (scaleTime(timeNs, parser.precision, target)) {
    setTimeNs(load<i64>(target));
    return true;
  }
  let end = p + 1;
  while (<u32>load<u8>(end) - ZERO <= 9) end++;
  fault(LINE_BAD_TIME_RANGE, p, end);
  return false;
}

/** Reads a name up to a blank, the line end or one of `stops` into namePtr and nameBytes (0 bytes: none). Returns its end, or 0. */
function takeName(parser: Parser, p: usize, stops: u32): usize {
  const start = p;
  let escapes = false;
  while (true) {
    const c: u32 = load<u8>(p);
    if (c == SPACE || c == TAB || c == NEWLINE || (c == RETURN && isLineEnd(p))) break;
    if (c == COMMA && (stops & STOP_AT_COMMA) != 0) break;
    if (c == EQUALS && (stops & STOP_AT_EQUALS) != 0) break;
    if (c == 0 && stops == OF_TABLE) break;
    p++;
    if (c == BACKSLASH) {
      escapes = true;
      // a newline always ends the line, a backslash does not hide it
      if (!isLineEnd(p)) p++;
    }
  }
  namePtr = start;
  nameBytes = <u32>(p - start);
  if (nameBytes == 0) return p;
  if (escapes) {
    namePtr = scratch(parser);
    nameBytes = unescapeName(start, p, namePtr, stops != OF_TABLE);
    parser.scratchUsed += nameBytes;
  }
  if (<u32>load<u8>(namePtr + nameBytes - 1) == BACKSLASH) return fault(LINE_BAD_ENDS_WITH_BACKSLASH, start, p);
  if (nameBytes > <u32>LINE_STRING_BYTES_MAX) return fault(LINE_BAD_STRING_TOO_LONG, start, start);
  const bad = findBadUtf8(start, p);
  if (bad != 0) return fault(LINE_BAD_UTF8, bad, bad);
  return p;
}

function hasNul(p: usize, bytes: u32): bool {
  for (let i: u32 = 0; i < bytes; i++) if (load<u8>(p + i) == 0) return true;
  return false;
}

/** Reserved names, and names that occur twice in the line. */
function checkNames(parser: Parser): bool {
  const seen: usize = parser.seenPtr;
  const lastSlot = clearSeen(parser) - 1;
  for (let i: u32 = 0; i < tokenCount; i++) {
    const token = tokenAt(parser, i);
    if (isReserved(token.namePtr, token.nameBytes)) {
      fault(LINE_BAD_RESERVED, token.namePtr, token.namePtr + token.nameBytes);
      return false;
    }
    let slot = token.hash & lastSlot;
    while (true) {
      const other: u32 = load<u16>(seen + (slot << 1));
      if (other == 0) break;
      const earlier = tokenAt(parser, other - 1);
      if (earlier.nameBytes == token.nameBytes && sameBytes(earlier.namePtr, token.namePtr, token.nameBytes)) {
        const both = token.type == TYPE_TAG ? LINE_BAD_DUPLICATE_TAG : LINE_BAD_DUPLICATE_FIELD;
        const code = earlier.type == token.type ? both : LINE_BAD_OTHER_TYPE;
        detailedFault(code, token.namePtr, token.namePtr + token.nameBytes, (earlier.type << 8) | token.type);
        return false;
      }
      slot = (slot + 1) & lastSlot;
    }
    store<u16>(seen + (slot << 1), <u16>(i + 1));
  }
  return true;
}

/** `time` and `__chunk_order`. */
function isReserved(p: usize, bytes: u32): bool {
  if (bytes == 4) return load<u32>(p) == 0x656d6974;
  return bytes == 13 && load<u64>(p) == 0x5f6b6e7568635f5f && load<u32>(p + 8) == 0x6564726f && load<u8>(p + 12) == 0x72;
}

/** The line end of a bad line that begins at `p`: the first newline outside a quoted string, or the body's end. A quoted string opens at
 *  `="` behind the first space and closes at the next quote without a backslash; an unclosed one does not hide its first newline,
 *  so that a forgotten quote costs one line. */
export function findLineEnd(p: usize, end: usize): usize {
  let fields = false;
  let quoted = false;
  let afterEquals = false;
  let newlineInQuotes: usize = 0;
  while (p < end && (<u32>load<u8>(p) == SPACE || <u32>load<u8>(p) == TAB)) p++;
  for (; p < end; p++) {
    const c: u32 = load<u8>(p);
    if (c == NEWLINE) {
      if (!quoted) return p;
      if (newlineInQuotes == 0) newlineInQuotes = p;
    } else if (c == BACKSLASH) {
      if (p + 1 < end && <u32>load<u8>(p + 1) != NEWLINE) p++;
    } else if (quoted) {
      quoted = c != QUOTE;
    } else if (c == QUOTE && fields && afterEquals) {
      quoted = true;
      newlineInQuotes = 0;
    } else if (c == SPACE) {
      fields = true;
    }
    afterEquals = c == EQUALS && !quoted;
  }
  return quoted && newlineInQuotes != 0 ? newlineInQuotes : end;
}
