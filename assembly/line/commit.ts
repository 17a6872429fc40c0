// Takes a line that check.ts found good into the parser: table, series, tag and field columns that are new, then the row.
import { LINE_BAD_TOO_MANY_CELLS, LINE_BAD_TOO_MANY_COLUMNS, LINE_BAD_TOO_MANY_TABLES, LINE_BODY_TABLES_MAX } from "../abi";
import { DIALECT_V2, LINE_CELLS_COLUMNS, LINE_COLUMNS_MAX, LINE_KEPT_COLUMNS_MAX, LINE_KEPT_TABLES_MAX } from "../abi";
import { checkSeries } from "./check";
import { checkSeriesV2 } from "./check-v2";
import { findOrAddColumn, findOrAddTable, findOrAddTag, growRows, hasColumn, placeValue, rowsMaxOf, shrinkRows } from "./columns";
import { hashText } from "../memory/hash";
import { elementAt, pagedBytes, reserveIndex } from "../memory/paged-array";
import { addHashed, findEntry, findHashed } from "./dictionary";
import { settlePlan } from "./plan";
import { makeTagPlan } from "./tag-plan";
import { fault, seriesEnd, tableNameBytes, tableNamePtr, tagCount, timeNs, tokenAt, tokenCount } from "./tokens";
import {
  Column,
  FieldEntry,
  OWNER_SERIES,
  OWNER_TABLES,
  Parser,
  SeriesEntry,
  Table,
  reallocate,
} from "./structures";

/** False, with the fault set, when the checked line would bring more tables than a body may have, or more tables or columns than a
 *  parser keeps: names that no database took would otherwise pile up for ever. */
export function hasRoom(parser: Parser): bool {
  const found = findEntry(parser, OWNER_TABLES, tableNamePtr, tableNameBytes);
  const isNew = found == 0;
  const isFirstRow = isNew || changetype<Table>(found).rowCount == 0;
  if ((isFirstRow && parser.touchedCount >= <u32>LINE_BODY_TABLES_MAX) || (isNew && parser.tableCount >= parser.keptTablesMax)) {
    fault(LINE_BAD_TOO_MANY_TABLES, 0, 0);
    return false;
  }
  if (isNew) {
    if (parser.tableCount < <u32>LINE_KEPT_TABLES_MAX) return true;
    fault(LINE_BAD_TOO_MANY_TABLES, 0, 0);
    parser.crowded = 1;
    return false;
  }
  const table = changetype<Table>(found);
  let columns = table.columnCount;
  if (columns + tokenCount - tagCount <= <u32>LINE_CELLS_COLUMNS) return true;
  for (let i = tagCount; i < tokenCount; i++) {
    const token = tokenAt(parser, i);
    if (!hasColumn(parser, table, token.namePtr, token.nameBytes, token.type)) columns++;
  }
  if (columns > <u32>LINE_KEPT_COLUMNS_MAX) {
    fault(LINE_BAD_TOO_MANY_COLUMNS, 0, 0);
    parser.crowded = 1;
    return false;
  }
  const rowsMax = rowsMaxOf(columns);
  if (table.rowCount >= rowsMax) {
    fault(LINE_BAD_TOO_MANY_CELLS, 0, 0);
    return false;
  }
  if (table.rowCapacity / 2 > rowsMax) shrinkRows(parser, table);
  return true;
}

/** Adds the checked line as a row. `keyPtr` is its first byte that is not blank. Returns its series. */
export function commitLine(parser: Parser, lineStart: usize, keyPtr: usize): SeriesEntry {
  const table = findOrAddTable(parser, tableNamePtr, tableNameBytes);
  // the key's length counts the space behind it
  const keyBytes = <u32>(seriesEnd - keyPtr) + 1;
  const hash = hashText(keyPtr, keyBytes, OWNER_SERIES);
  const found = findHashed(parser, OWNER_SERIES, keyPtr, keyBytes, hash);
  const series = found != 0 ? changetype<SeriesEntry>(found) : addCheckedSeries(parser, table, keyPtr, keyBytes, hash);
  settlePlan(table);
  table.planCount = 0;
  if (table.rowCount == table.rowCapacity) growRows(parser, table);
  const row = table.rowCount;
  // where the prediction of the next column is kept
  let slot = changetype<usize>(table) + offsetof<Table>("firstColumn");
  for (let i = tagCount; i < tokenCount; i++) {
    const token = tokenAt(parser, i);
    const column = findOrAddColumn(parser, table, token.namePtr, token.nameBytes, token.type);
    memory.copy(placeValue(parser, table, column, row), changetype<usize>(token), 1 << column.shift);
    changetype<FieldEntry>(column.entry).lastColumn = changetype<u32>(column);
    store<u32>(slot, changetype<u32>(column));
    slot = changetype<usize>(column) + offsetof<Column>("next");
  }
  table.lastColumn = 0;
  endRow(parser, table, series, lineStart, timeNs);
  return series;
}

/** The row's series, time and place in the body; the row counts from here on. */
// @ts-ignore: decorator
@inline
export function endRow(parser: Parser, table: Table, series: SeriesEntry, lineStart: usize, time: i64): void {
  const row = table.rowCount;
  store<u32>(table.seriesPtr + (row << 2), series.seriesId);
  store<u32>(table.linesPtr + (row << 2), <u32>lineStart - parser.bodyPtr);
  store<i64>(table.timePtr + (row << 3), time);
  if (row == 0) touch(parser, table);
  table.rowCount = row + 1;
}

/** Appends the table to the list of this body's tables. */
function touch(parser: Parser, table: Table): void {
  table.nextTouched = 0;
  if (parser.firstTouched == 0) parser.firstTouched = changetype<u32>(table);
  else changetype<Table>(parser.lastTouched).nextTouched = changetype<u32>(table);
  parser.lastTouched = changetype<u32>(table);
  parser.touchedCount++;
}

/** A new series by the tag tokens. */
function addCheckedSeries(parser: Parser, table: Table, keyPtr: usize, keyBytes: u32, hash: u32): SeriesEntry {
  const record = reserveRecord(parser, table, tagCount);
  writeRecord(parser, table, record);
  makeTagPlan(parser, table, record);
  return addSeries(parser, table, keyPtr, keyBytes, hash);
}

/** Room for the record of the next new series, behind those of this body. */
export function reserveRecord(parser: Parser, table: Table, tags: u32): u32 {
  const wanted = table.recordsBytes + recordBytes(tags);
  if (wanted > table.recordsCapacity) {
    const capacity = max<u32>(64, max<u32>(wanted, table.recordsCapacity * 2));
    table.recordsPtr = reallocate(parser, table.recordsPtr, table.recordsCapacity, capacity, table.recordsBytes);
    table.recordsCapacity = capacity;
  }
  return table.recordsPtr + table.recordsBytes;
}

/** Adds the series whose record lies behind those of this body. */
export function addSeries(parser: Parser, table: Table, keyPtr: usize, keyBytes: u32, hash: u32): SeriesEntry {
  const entries = table.seriesEntries;
  parser.memoryBytes -= pagedBytes(entries);
  reserveIndex(entries, table.seriesCount, 2);
  parser.memoryBytes += pagedBytes(entries);
  const series = changetype<SeriesEntry>(addHashed(parser, OWNER_SERIES, keyPtr, keyBytes, hash, offsetof<SeriesEntry>(), 0));
  series.table = changetype<u32>(table);
  series.seriesId = table.seriesCount;
  table.recordsBytes += recordBytes(load<u32>(table.recordsPtr + table.recordsBytes));
  store<u32>(elementAt(entries.pages, table.seriesCount, 2), changetype<u32>(series));
  table.seriesCount++;
  return series;
}

// @ts-ignore: decorator
@inline
function recordBytes(tags: u32): u32 {
  return 4 + tags * 12;
}

/** The tag tokens as a series record: | tagCount | tagCount x | tag index | valuePtr | valueBytes |. */
function writeRecord(parser: Parser, table: Table, target: usize): void {
  store<u32>(target, tagCount);
  for (let i: u32 = 0; i < tagCount; i++) {
    const token = tokenAt(parser, i);
    const at = target + 4 + i * 12;
    store<u32>(at, findOrAddTag(parser, table, token.namePtr, token.nameBytes));
    // value0 is | valuePtr | valueBytes |
    store<u64>(at, token.value0, 4);
  }
}

/** Room that describeSeries wants for a series: its record, and behind it the text of values that have escapes. */
export function describedBytes(table: Table, seriesId: u32): u32 {
  return recordBytes(LINE_COLUMNS_MAX) + seriesAt(table, seriesId).keyBytes + 16;
}

/** Writes the record of a series that the parser knows to `target`. The stored key is read again: nobody asks often. */
export function describeSeries(parser: Parser, table: Table, seriesId: u32, target: usize): void {
  const scratchPtr = parser.scratchPtr;
  const scratchUsed = parser.scratchUsed;
  parser.scratchPtr = <u32>target + recordBytes(LINE_COLUMNS_MAX);
  parser.scratchUsed = 0;
  const series = seriesAt(table, seriesId);
  if (parser.dialect == DIALECT_V2) checkSeriesV2(parser, series.keyPtr, series.keyPtr + series.keyBytes);
  else checkSeries(parser, series.keyPtr);
  parser.scratchPtr = scratchPtr;
  parser.scratchUsed = scratchUsed;
  writeRecord(parser, table, target);
}

function seriesAt(table: Table, seriesId: u32): SeriesEntry {
  return changetype<SeriesEntry>(load<u32>(elementAt(table.seriesEntries.pages, seriesId, 2)));
}
