// The fast path: lines whose series, table and columns are known are read in one pass by comparing them with what came last time.
// Anything else, and anything wrong, goes to check.ts and commit.ts. Nothing here decides that a line is bad.
import { LINE_BAD_UTF8, LINE_ERRORS_KEPT, LINE_ERROR_WORDS, PRECISION_NANO, TYPE_BOOLEAN, TYPE_FLOAT, TYPE_INTEGER, TYPE_STRING, TYPE_UNSIGNED } from "../abi";
import { BACKSLASH, COMMA, EQUALS, HASH, NEWLINE, RETURN, SPACE, TAB, isLineEnd, sameBytes, skipSpaces } from "./bytes";
import { checkLine, faultCode, faultDetail, faultEnd, faultPtr, findLineEnd } from "./check";
import { growRows, markPresent, resetTable, siblingPresent, undoRow } from "./columns";
import { commitLine, endRow } from "./commit";
import { createSlots, findEntry } from "./dictionary";
import { parseBoolean, parseFloat64, parseInteger, parseSigned, parseUnsigned } from "./number";
import { writeResult } from "./result";
import { Column, FieldEntry, KIND_SHARED, OWNER_SERIES, Parser, SeriesEntry, Table, ownerOfFields } from "./structures";
import { parseString, resetScratch } from "./text";
import { scaleTime } from "./time";

/** Parses a body that is followed by LINE_BODY_PADDING writable bytes. Returns the result (abi.ts), valid until the next call. */
export function lineParse(parserPtr: usize, bodyPtr: u32, bodyBytes: u32, precision: u32): u32 {
  const parser = changetype<Parser>(parserPtr);
  const end: usize = bodyPtr + bodyBytes;
  begin(parser, bodyPtr, end, precision);
  // every scan stops at a newline, so none needs to look for the end
  store<u8>(end, <u8>NEWLINE);
  memory.fill(end + 1, 0, 63);
  let last = changetype<SeriesEntry>(parser.lastSeries);
  let p: usize = bodyPtr;
  while (p < end) {
    const lineStart = p;
    let keyPtr = p;
    let series = changetype<SeriesEntry>(last.next);
    if (changetype<u32>(series) == 0 || !sameBytes(p, series.keyPtr, series.keyBytes)) {
      const c: u32 = load<u8>(p);
      if (c <= SPACE || c == HASH) {
        while (<u32>load<u8>(keyPtr) == SPACE || <u32>load<u8>(keyPtr) == TAB) keyPtr++;
        if (isLineEnd(keyPtr) || <u32>load<u8>(keyPtr) == HASH) {
          while (<u32>load<u8>(keyPtr) != NEWLINE) keyPtr++;
          p = keyPtr + 1;
          continue;
        }
      }
      series = changetype<SeriesEntry>(findSeries(parser, keyPtr));
    }
    parser.lineCount++;
    if (changetype<u32>(series) != 0) {
      const scratchUsed = parser.scratchUsed;
      p = parseKnown(parser, lineStart, keyPtr, series);
      if (p != 0) {
        last.next = changetype<u32>(series);
        last = series;
        continue;
      }
      const table = changetype<Table>(series.table);
      undoRow(table, table.rowCount);
      parser.scratchUsed = scratchUsed;
    }
    p = checkLine(parser, keyPtr);
    if (p != 0) {
      series = commitLine(parser, lineStart, keyPtr);
      last.next = changetype<u32>(series);
      last = series;
      // checkLine stopped at "\n" or "\r\n"
      p += <u32>load<u8>(p) == RETURN ? 2 : 1;
    } else {
      p = reject(parser, lineStart, end);
    }
  }
  parser.lastSeries = changetype<u32>(last);
  return writeResult(parser);
}

function begin(parser: Parser, bodyPtr: u32, end: usize, precision: u32): void {
  let touched = parser.firstTouched;
  while (touched != 0) {
    const table = changetype<Table>(touched);
    resetTable(table);
    touched = table.nextTouched;
  }
  parser.firstTouched = 0;
  parser.lastTouched = 0;
  parser.bodyPtr = bodyPtr;
  parser.bodyEnd = <u32>end;
  parser.precision = precision;
  parser.errorCount = 0;
  parser.lineCount = 0;
  parser.rowCount = 0;
  resetScratch(parser);
  if (parser.slotsPtr == 0) createSlots(parser);
}

/** The series whose key begins at `p`, or 0. */
function findSeries(parser: Parser, p: usize): u32 {
  const spaces = i8x16.splat(<i8>SPACE);
  const newlines = i8x16.splat(<i8>NEWLINE);
  const slashes = i8x16.splat(<i8>BACKSLASH);
  const start = p;
  while (true) {
    const block = v128.load(p);
    const stops = i8x16.bitmask(v128.or(v128.or(i8x16.eq(block, spaces), i8x16.eq(block, newlines)), i8x16.eq(block, slashes)));
    if (stops == 0) {
      p += 16;
      continue;
    }
    p += ctz(stops);
    const c: u32 = load<u8>(p);
    if (c == SPACE) return findEntry(parser, OWNER_SERIES, start, <u32>(p - start) + 1);
    if (c == NEWLINE || <u32>load<u8>(p + 1) == NEWLINE) return 0;
    p += 2;
  }
}

/** Reads a line of a known series. Returns the address of the next line; 0 when something is new or wrong, and the row is to be undone. */
function parseKnown(parser: Parser, lineStart: usize, keyPtr: usize, series: SeriesEntry): usize {
  const table = changetype<Table>(series.table);
  if (table.nameClash != 0) return 0;
  const row = table.rowCount;
  if (row == table.rowCapacity) growRows(parser, table);
  let p = skipSpaces(keyPtr + series.keyBytes);
  // where the prediction of the next column is kept
  let slot = changetype<usize>(table) + offsetof<Table>("firstColumn");
  while (true) {
    let column = changetype<Column>(load<u32>(slot));
    if (changetype<u32>(column) == 0 || !nameMatches(p, column)) {
      column = changetype<Column>(findColumn(parser, table, p));
      if (changetype<u32>(column) == 0) return 0;
      store<u32>(slot, changetype<u32>(column));
    }
    slot = changetype<usize>(column) + offsetof<Column>("next");
    if (column.nextRow == row) column.nextRow = row + 1;
    else if (!markPresent(parser, table, column, row)) return 0;
    p = parseValue(parser, column, p + column.keyBytes, row);
    if (p == 0) return 0;
    if (<u32>load<u8>(p) != COMMA) break;
    p++;
  }
  return parseEnd(parser, table, series, lineStart, p);
}

// @ts-ignore: decorator
@inline
function nameMatches(p: usize, column: Column): bool {
  const name = changetype<usize>(column);
  const differing = v128.and(v128.xor(v128.load(p), v128.load(name)), v128.load(name, offsetof<Column>("mask0")));
  if (v128.any_true(differing)) return false;
  return column.keyBytes <= 16 || sameBytes(p, column.keyPtr, column.keyBytes);
}

/** The column last used for the field name at `p`, or 0. */
function findColumn(parser: Parser, table: Table, p: usize): u32 {
  const start = p;
  while (true) {
    const c: u32 = load<u8>(p);
    if (c == EQUALS) break;
    // escapes and everything that cannot be in a name
    if (c == BACKSLASH || c == COMMA || c == SPACE || c == NEWLINE) return 0;
    p++;
  }
  const entry = findEntry(parser, ownerOfFields(table.index), start, <u32>(p - start));
  return entry == 0 ? 0 : changetype<FieldEntry>(entry).lastColumn;
}

/** Reads the value at `p`, of the column's type. Returns the address behind it, or 0. */
// @ts-ignore: decorator
@inline
function parseValue(parser: Parser, column: Column, p: usize, row: u32): usize {
  const kind = column.kind;
  if (kind == TYPE_INTEGER) return parseInteger(p, column.dataPtr + (row << 3));
  if (kind == TYPE_FLOAT) return parseFloat64(p, column.dataPtr + (row << 3), parser.powersPtr);
  return parseOtherValue(parser, column, p, row);
}

function parseOtherValue(parser: Parser, column: Column, p: usize, row: u32): usize {
  const kind = column.kind;
  if ((kind & KIND_SHARED) != 0 && siblingPresent(column, row)) return 0;
  const target = column.dataPtr + (row << 3);
  switch (kind & ~KIND_SHARED) {
    case TYPE_INTEGER:
      return parseInteger(p, target);
    case TYPE_FLOAT:
      return parseFloat64(p, target, parser.powersPtr);
    case TYPE_UNSIGNED:
      return parseUnsigned(p, target);
    case TYPE_BOOLEAN:
      return parseBoolean(p, column.dataPtr + row);
    case TYPE_STRING:
      return load<u8>(p) == 0x22 ? parseString(parser, p + 1, column.dataPtr + (row << 4)) : 0;
    default:
      return 0;
  }
}

/** Reads what follows the fields and adds the row. Returns the address of the next line, or 0. */
// @ts-ignore: decorator
@inline
function parseEnd(parser: Parser, table: Table, series: SeriesEntry, lineStart: usize, p: usize): usize {
  const space = p;
  p = skipSpaces(p);
  let time = parser.receiveTimeNs;
  if (p != space && !isLineEnd(p)) {
    // the row is not counted yet: its time may be written and read back
    const target = table.timePtr + (table.rowCount << 3);
    p = parseSigned(p, target);
    if (p == 0) return 0;
    if (parser.precision != PRECISION_NANO && !scaleTime(load<i64>(target), parser.precision, target)) return 0;
    time = load<i64>(target);
    p = skipSpaces(p);
  }
  if (<u32>load<u8>(p) == RETURN) p++;
  if (<u32>load<u8>(p) != NEWLINE) return 0;
  endRow(parser, table, series, lineStart, time);
  return p + 1;
}

/** Counts the bad line that begins at `lineStart`, and keeps what is wrong with it. Returns the address of the next line. */
function reject(parser: Parser, lineStart: usize, end: usize): usize {
  const newline = findLineEnd(lineStart, end);
  if (parser.errorCount < <u32>LINE_ERRORS_KEPT) {
    const lineEnd = newline > lineStart && <u32>load<u8>(newline - 1) == RETURN ? newline - 1 : newline;
    const at = parser.errorsPtr + parser.errorCount * LINE_ERROR_WORDS * 4;
    store<u32>(at, <u32>lineStart - parser.bodyPtr);
    store<u32>(at, <u32>(lineEnd - lineStart), 4);
    store<u32>(at, faultCode, 8);
    store<u32>(at, <u32>faultPtr, 12);
    store<u32>(at, <u32>((faultEnd == 0 ? max(lineEnd, faultPtr) : faultEnd) - faultPtr), 16);
    store<u32>(at, faultCode == LINE_BAD_UTF8 ? <u32>(faultPtr - lineStart) : faultDetail, 20);
    parser.errorCount++;
  }
  return newline + 1;
}
