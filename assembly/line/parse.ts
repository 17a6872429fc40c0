// The fast path: lines whose series, table and columns are known are read in one pass by comparing them with what came last time.
// Anything else, and anything wrong, goes to check.ts and commit.ts. Nothing here decides that a line is bad.
import { DIALECT_V2, LINE_BODY_TABLES_MAX, LINE_DROPPED, LINE_ERRORS_KEPT, LINE_ERROR_WORDS } from "../abi";
import { LINE_BAD_TOO_MANY_CELLS, LINE_BAD_TOO_MANY_COLUMNS, LINE_BAD_TOO_MANY_TABLES, LINE_BAD_UTF8 } from "../abi";
import { hashText } from "../memory/hash";
import { BACKSLASH, COMMA, EQUALS, HASH, NEWLINE, RETURN, SPACE, TAB } from "./bytes";
import { isLineEnd, sameBytes, skipSpaces } from "./bytes";
import { checkLine, findLineEnd } from "./check";
import { checkLineV2, findLineEndV2, isTimeV2, skipBlanksV2 } from "./check-v2";
import { growRows, placeValue, resetTable, siblingPresent, undoRow } from "./columns";
import { addSeries, commitLine, endRow, hasRoom, reserveRecord } from "./commit";
import { findEntry, findHashed } from "./dictionary";
import { parseTimestamp } from "./number";
import { PLAN_IDLE, followPlan, makePlan, settlePlan, startPlan } from "./plan";
import { writeResult } from "./result";
import { Column, FieldEntry, KIND_SHARED, NAME_SLOTS, OWNER_SERIES, OWNER_TABLES, Parser, SeriesEntry, Table } from "./structures";
import { ownerOfFields } from "./structures";
import { followTagPlan } from "./tag-plan";
import { resetScratch } from "./text";
import { scaleTime } from "./time";
import { faultCode, faultDetail, faultEnd, faultPtr } from "./tokens";
import { parseValue } from "./value";

/** Parses a body that is followed by LINE_BODY_PADDING writable bytes, from the line at offset `from` on. Stops behind the line that brings
 *  the `tablesMax`-th table, or the `newNamesMax`-th name of a table, tag or field that the parser has not met before. Lines of new tables
 *  are bad where the parser would keep more than `keptTablesMax`. Returns the result (abi.ts), valid until the next call. */
export function lineParse(
  parserPtr: usize,
  bodyPtr: u32,
  bodyBytes: u32,
  precision: u32,
  from: u32,
  tablesMax: u32,
  newNamesMax: u32,
  keptTablesMax: u32,
): u32 {
  const parser = changetype<Parser>(parserPtr);
  const end: usize = bodyPtr + bodyBytes;
  begin(parser, bodyPtr, end, precision);
  // every scan stops at a newline, so none needs to look for the end
  store<u8>(end, <u8>NEWLINE);
  memory.fill(end + 1, 0, 63);
  let last = changetype<SeriesEntry>(parser.lastSeries);
  let p: usize = bodyPtr + from;
  const knownNames = parser.nameCount;
  parser.keptTablesMax = keptTablesMax;
  while (p < end) {
    const lineStart = p;
    let keyPtr = p;
    let series = changetype<SeriesEntry>(last.next);
    if (changetype<u32>(series) == 0 || !sameBytes(p, series.keyPtr, series.keyBytes)) {
      const c: u32 = load<u8>(p);
      if (c <= SPACE || c == HASH) {
        keyPtr = skipBlanks(parser, p, end);
        p = skipEmptyLine(parser, lineStart, keyPtr, end);
        if (p != 0) continue;
        p = lineStart;
      }
      series = changetype<SeriesEntry>(findSeries(parser, keyPtr));
    }
    const scratchUsed = parser.scratchUsed;
    if (changetype<u32>(series) != 0) {
      p = parseKnown(parser, lineStart, keyPtr, series);
    } else {
      p = parseNewSeries(parser, lineStart, keyPtr, last);
      series = changetype<SeriesEntry>(newSeries);
    }
    if (p != 0) {
      if (last.next != changetype<u32>(series)) last.next = changetype<u32>(series);
      last = series;
      if (parser.touchedCount >= tablesMax) break;
      continue;
    }
    parser.scratchUsed = scratchUsed;
    p = parser.dialect == DIALECT_V2 ? checkLineV2(parser, keyPtr, findLineEndV2(lineStart, end)) : checkLine(parser, keyPtr);
    if (p != 0 && hasRoom(parser)) {
      series = commitLine(parser, lineStart, keyPtr);
      last.next = changetype<u32>(series);
      last = series;
      // checkLine stopped at "\n" or "\r\n"
      p += <u32>load<u8>(p) == RETURN ? 2 : 1;
      if (parser.touchedCount >= tablesMax || parser.nameCount - knownNames >= newNamesMax) break;
    } else {
      p = reject(parser, lineStart, end);
    }
  }
  parser.lastSeries = changetype<u32>(last);
  return writeResult(parser, min(<u32>p - bodyPtr, bodyBytes));
}

/** The first byte from `p` on that is no blank. */
function skipBlanks(parser: Parser, p: usize, end: usize): usize {
  if (parser.dialect == DIALECT_V2) return skipBlanksV2(p, end);
  while (<u32>load<u8>(p) == SPACE || <u32>load<u8>(p) == TAB) p++;
  return p;
}

/** The address of the next line if there is nothing but blanks or a comment on this one, else 0. `p`: its first byte that is no blank. */
function skipEmptyLine(parser: Parser, lineStart: usize, p: usize, end: usize): usize {
  if (parser.dialect == DIALECT_V2) {
    if (<u32>load<u8>(p) != HASH && <u32>load<u8>(p) != NEWLINE) return 0;
    return findLineEndV2(lineStart, end) + 1;
  }
  if (!isLineEnd(p) && <u32>load<u8>(p) != HASH) return 0;
  while (<u32>load<u8>(p) != NEWLINE) p++;
  return p + 1;
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
  parser.touchedCount = 0;
  parser.bodyPtr = bodyPtr;
  parser.bodyEnd = <u32>end;
  parser.precision = precision;
  parser.errorCount = 0;
  parser.badLineCount = 0;
  parser.droppedCount = 0;
  // the precision may be another one
  parser.lastTime2 = 0;
  resetScratch(parser);
}

/** Of the key that findSeries did not find: its bytes with the space behind it, 0 when it has none, and its hash. */
let missedBytes: u32 = 0;
let missedHash: u32 = 0;

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
    if (c == SPACE) {
      missedBytes = <u32>(p - start) + 1;
      missedHash = hashText(start, missedBytes, OWNER_SERIES);
      return findHashed(parser, OWNER_SERIES, start, missedBytes, missedHash);
    }
    missedBytes = 0;
    if (c == NEWLINE || <u32>load<u8>(p + 1) == NEWLINE) return 0;
    p += 2;
  }
}

/** Reads a line of a known series. Returns the address of the next line; 0 when something is new or wrong, and nothing is changed then. */
function parseKnown(parser: Parser, lineStart: usize, keyPtr: usize, series: SeriesEntry): usize {
  const table = changetype<Table>(series.table);
  if (table.rowCount == 0 && parser.touchedCount >= <u32>LINE_BODY_TABLES_MAX) return 0;
  if (table.rowCount >= table.rowsMax) return 0;
  if (table.rowCount == table.rowCapacity) {
    settlePlan(table);
    growRows(parser, table);
  }
  const fields = skipSpaces(keyPtr + series.keyBytes);
  if (table.planCount != 0) {
    if (table.planRow == PLAN_IDLE) startPlan(parser, table);
    const scratchUsed = parser.scratchUsed;
    const p = followPlan(parser, table, fields);
    if (p != 0) return parseEnd(parser, table, series, lineStart, p);
    // the texts are read again: the block has room for each once
    parser.scratchUsed = scratchUsed;
    settlePlan(table);
    table.planCount = 0;
  }
  if (table.nameClash != 0) return 0;
  markedColumns = 0;
  const next = parseFields(parser, lineStart, fields, series);
  if (next == 0) undoRow(table, table.rowCount, markedColumns);
  return next;
}

/** Keys that are longer take the careful path, which knows the limits of names. */
const PLANNED_KEY_BYTES_MAX: u32 = 4096;

/** The series that parseNewSeries made. */
let newSeries: u32 = 0;

/** Reads a line whose series findSeries did not find, when its tags have the names that its table's last new series had, and makes the
 *  series. Returns the address of the next line; 0 when anything else is new or wrong, and nothing is changed then. */
function parseNewSeries(parser: Parser, lineStart: usize, keyPtr: usize, last: SeriesEntry): usize {
  if (missedBytes == 0 || missedBytes > PLANNED_KEY_BYTES_MAX) return 0;
  const table = changetype<Table>(findTable(parser, keyPtr, last));
  if (changetype<u32>(table) == 0 || table.tagPlanCount == 0) return 0;
  const record = reserveRecord(parser, table, table.tagPlanCount);
  if (!followTagPlan(parser, table, keyPtr + table.keyBytes, keyPtr + missedBytes - 1, record)) return 0;
  const candidate = changetype<SeriesEntry>(parser.candidate);
  candidate.keyBytes = missedBytes;
  candidate.table = changetype<u32>(table);
  candidate.seriesId = table.seriesCount;
  candidate.firstColumn = table.firstColumn;
  const next = parseKnown(parser, lineStart, keyPtr, candidate);
  if (next == 0) return 0;
  const series = addSeries(parser, table, keyPtr, missedBytes, missedHash);
  series.firstColumn = candidate.firstColumn;
  newSeries = changetype<u32>(series);
  return next;
}

/** The table whose name the key at `p` begins with as it is stored, with a comma behind it, or 0. */
function findTable(parser: Parser, p: usize, last: SeriesEntry): u32 {
  const start = p;
  while (true) {
    const c: u32 = load<u8>(p);
    if (c == COMMA) break;
    if (c == BACKSLASH || c <= SPACE) return 0;
    p++;
  }
  const bytes = <u32>(p - start);
  const table = changetype<Table>(last.table);
  if (last.table != 0 && table.keyBytes == bytes && sameBytes(start, table.keyPtr, bytes)) return last.table;
  return findEntry(parser, OWNER_TABLES, start, bytes);
}

/** Columns that parseFields has marked for the row in hand. */
let markedColumns: u32 = 0;

/** Reads the fields at `p` one by one, each where it was last time or wherever it is. Returns the address of the next line, or 0. */
function parseFields(parser: Parser, lineStart: usize, p: usize, series: SeriesEntry): usize {
  const table = changetype<Table>(series.table);
  const row = table.rowCount;
  let column = changetype<Column>(series.firstColumn);
  if (changetype<u32>(column) == 0 || !nameMatches(p, column)) {
    column = changetype<Column>(findColumn(parser, table, p));
    if (changetype<u32>(column) == 0) return 0;
    series.firstColumn = changetype<u32>(column);
  }
  let asPredicted = table.firstColumn == changetype<u32>(column);
  table.firstColumn = changetype<u32>(column);
  while (true) {
    const target = placeValue(parser, table, column, row);
    if (target == 0) return 0;
    markedColumns++;
    if ((column.kind & KIND_SHARED) != 0 && siblingPresent(column, row)) return 0;
    p = parseValue(parser, column, p + column.keyBytes, target);
    if (p == 0) return 0;
    if (<u32>load<u8>(p) != COMMA) break;
    p++;
    const next = changetype<Column>(column.next);
    if (column.next != 0 && nameMatches(p, next)) {
      column = next;
      continue;
    }
    const found = findColumn(parser, table, p);
    if (found == 0) return 0;
    column.next = found;
    column = changetype<Column>(found);
    asPredicted = false;
  }
  p = parseEnd(parser, table, series, lineStart, p);
  if (p == 0) return 0;
  // twice the same shape: the next line is likely to have it too
  if (asPredicted && table.lastColumn == changetype<u32>(column)) makePlan(parser, table, column);
  table.lastColumn = changetype<u32>(column);
  return p;
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
// @ts-ignore: decorator
@inline
function findColumn(parser: Parser, table: Table, p: usize): u32 {
  const block = v128.load(p);
  const ends = i8x16.bitmask(i8x16.eq(block, i8x16.splat(<i8>EQUALS)));
  let word0 = i64x2.extract_lane(block, 0);
  let word1 = i64x2.extract_lane(block, 1);
  const end = <u32>ctz(ends);
  // what is behind the name does not count; ctz of 0 is 32
  if (end < 8) {
    word0 &= ((<i64>1) << (end << 3)) - 1;
    word1 = 0;
  } else if (end < 16) {
    word1 &= ((<i64>1) << ((end - 8) << 3)) - 1;
  }
  const mixed = (<u64>word0 * 0x9e3779b97f4a7c15) ^ ((<u64>word1 ^ table.index) * 0xd6e8feb86659fd93);
  const slot = parser.namesPtr + ((<u32>(mixed >> 40) & (NAME_SLOTS - 1)) << 2);
  const known = changetype<FieldEntry>(load<u32>(slot));
  if (changetype<u32>(known) != 0 && known.owner == ownerOfFields(table.index)) {
    if (nameMatches(p, changetype<Column>(known.lastColumn))) return known.lastColumn;
  }
  return lookUpColumn(parser, table, p, slot);
}

function lookUpColumn(parser: Parser, table: Table, p: usize, slot: u32): u32 {
  const start = p;
  while (true) {
    const c: u32 = load<u8>(p);
    if (c == EQUALS) break;
    // escapes and everything that cannot be in a name
    if (c == BACKSLASH || c == COMMA || c == SPACE || c == NEWLINE) return 0;
    p++;
  }
  const entry = findEntry(parser, ownerOfFields(table.index), start, <u32>(p - start));
  const column = entry == 0 ? 0 : changetype<FieldEntry>(entry).lastColumn;
  if (column != 0) store<u32>(slot, entry);
  return column;
}

/** Reads what follows the fields and adds the row. Returns the address of the next line, or 0. */
// @ts-ignore: decorator
@inline
function parseEnd(parser: Parser, table: Table, series: SeriesEntry, lineStart: usize, p: usize): usize {
  if (<u32>load<u8>(p) == SPACE && isLastTime(parser, p + 1) && <u32>load<u8>(p + 20) == NEWLINE) {
    endRow(parser, table, series, lineStart, parser.lastTimeNs);
    return p + 21;
  }
  return parseOtherEnd(parser, table, series, lineStart, p);
}

function parseOtherEnd(parser: Parser, table: Table, series: SeriesEntry, lineStart: usize, p: usize): usize {
  const space = p;
  p = skipSpaces(p);
  let time = parser.receiveTimeNs;
  if (p != space && !isLineEnd(p)) {
    p = parseNewTime(parser, p);
    if (p == 0) return 0;
    time = parser.lastTimeNs;
    p = skipSpaces(p);
  } else if (p != space && parser.dialect != DIALECT_V2) {
    return 0;
  }
  if (<u32>load<u8>(p) == RETURN && parser.dialect != DIALECT_V2) p++;
  if (<u32>load<u8>(p) != NEWLINE) return 0;
  endRow(parser, table, series, lineStart, time);
  return p + 1;
}

/** True when the 19 digits of the last timestamp are at `p`, and no more: many lines share one. */
// @ts-ignore: decorator
@inline
function isLastTime(parser: Parser, p: usize): bool {
  const last = changetype<usize>(parser) + offsetof<Parser>("lastTime0");
  return !v128.any_true(v128.xor(v128.load(p), v128.load(last))) && load<u32>(p, 16) == parser.lastTime2;
}

/** Reads the timestamp at `p` into lastTimeNs. Returns the address behind it, or 0. */
function parseNewTime(parser: Parser, p: usize): usize {
  const target = changetype<usize>(parser) + offsetof<Parser>("lastTimeNs");
  const end = parseTimestamp(p, target);
  // a text that occurs nowhere, until this one is known to be good
  parser.lastTime2 = 0;
  if (end == 0 || !scaleTime(parser.lastTimeNs, parser.precision, target)) return 0;
  if (parser.dialect == DIALECT_V2 && !isTimeV2(parser.lastTimeNs)) return 0;
  if (end == p + 19) {
    parser.lastTime0 = load<u64>(p);
    parser.lastTime1 = load<u64>(p, 8);
    parser.lastTime2 = load<u32>(p, 16);
  }
  return end;
}

/** True if the others are stored: nothing is wrong with the line, or there is no room for it. */
function isDropped(): bool {
  if (faultCode == LINE_BAD_TOO_MANY_COLUMNS || faultCode == LINE_BAD_TOO_MANY_TABLES) return true;
  return faultCode >= <u32>LINE_DROPPED || faultCode == LINE_BAD_TOO_MANY_CELLS;
}

/** Counts the bad line that begins at `lineStart`, and keeps what is wrong with it. Returns the address of the next line. */
function reject(parser: Parser, lineStart: usize, end: usize): usize {
  const isV2 = parser.dialect == DIALECT_V2;
  const newline = isV2 ? findLineEndV2(lineStart, end) : findLineEnd(lineStart, end);
  parser.badLineCount++;
  if (isV2 && isDropped()) parser.droppedCount++;
  if (parser.errorCount < <u32>LINE_ERRORS_KEPT) {
    const hasReturn = !isV2 && newline > lineStart && <u32>load<u8>(newline - 1) == RETURN;
    const lineEnd = hasReturn ? newline - 1 : newline;
    const at = parser.errorsPtr + parser.errorCount * LINE_ERROR_WORDS * 4;
    store<u32>(at, <u32>lineStart - parser.bodyPtr);
    store<u32>(at, <u32>(lineEnd - lineStart), 4);
    store<u32>(at, faultCode, 8);
    store<u32>(at, <u32>faultPtr, 12);
    // a fault without a text says nothing of one: from address 0 on, everything in memory would be
    store<u32>(at, faultPtr == 0 ? 0 : <u32>((faultEnd == 0 ? max(lineEnd, faultPtr) : faultEnd) - faultPtr), 16);
    store<u32>(at, faultCode == LINE_BAD_UTF8 ? <u32>(faultPtr - lineStart) : faultDetail, 20);
    parser.errorCount++;
  }
  return newline + 1;
}
