// Tables, columns and rows of the body in hand: growing them, keeping track of which rows have a value, undoing a line.
//
// A column is in one of three states, told by nextRow: unused in this body; dense, every row below nextRow has a value; sparse, a bitmap
// says which rows have one, with zeros to its end. Values lie one after the other, so that a column takes no room for rows without one.
import { LINE_CELLS_COLUMNS, LINE_CELLS_MAX, TYPE_BOOLEAN, TYPE_STRING } from "../abi";
import { PagedArray } from "../memory/paged-array";
import { addEntry, findEntry } from "./dictionary";
import {
  Column,
  FieldEntry,
  KIND_ESCAPED,
  KIND_SHARED,
  KIND_TYPE,
  OWNER_TABLES,
  Parser,
  ROW_SPARSE,
  ROW_UNUSED,
  TABLE_BYTES,
  Table,
  TagEntry,
  allocate,
  arenaAlloc,
  ownerOfFields,
  ownerOfTags,
  reallocate,
  release,
} from "./structures";

/** One cache line of a block: most bodies bring a few rows to each of their tables. */
const ROWS_MIN: u32 = 4;
const VALUES_MIN: u32 = 4;

/** Log2 of the bytes of a value. */
function shiftOf(type: u32): u32 {
  return type == TYPE_BOOLEAN ? 0 : type == TYPE_STRING ? 4 : 3;
}

/** The table of this name, which is added if it is new. */
export function findOrAddTable(parser: Parser, namePtr: usize, nameBytes: u32): Table {
  const found = findEntry(parser, OWNER_TABLES, namePtr, nameBytes);
  if (found != 0) return changetype<Table>(found);
  if (parser.tableCount == parser.tablesCapacity) {
    const capacity = max<u32>(16, parser.tablesCapacity * 2);
    parser.tablesPtr = reallocate(parser, parser.tablesPtr, parser.tablesCapacity << 2, capacity << 2, parser.tableCount << 2);
    parser.tablesCapacity = capacity;
  }
  const table = changetype<Table>(addEntry(parser, OWNER_TABLES, namePtr, nameBytes, TABLE_BYTES, 0));
  table.index = parser.tableCount;
  table.seriesEntries = changetype<PagedArray>(changetype<usize>(table) + offsetof<Table>());
  store<u32>(parser.tablesPtr + (parser.tableCount << 2), changetype<u32>(table));
  parser.tableCount++;
  parser.nameCount++;
  return table;
}

/** Tag column of the table by name; a new name gets the next index. */
export function findOrAddTag(parser: Parser, table: Table, namePtr: usize, nameBytes: u32): u32 {
  const found = findEntry(parser, ownerOfTags(table.index), namePtr, nameBytes);
  if (found != 0) return changetype<TagEntry>(found).tagIndex;
  if (table.tagCount == table.tagsCapacity) {
    const capacity = max<u32>(16, table.tagsCapacity * 2);
    table.tagsPtr = reallocate(parser, table.tagsPtr, table.tagsCapacity << 2, capacity << 2, table.tagCount << 2);
    table.tagsCapacity = capacity;
  }
  const tag = changetype<TagEntry>(addEntry(parser, ownerOfTags(table.index), namePtr, nameBytes, offsetof<TagEntry>(), 0x3d));
  tag.tagIndex = table.tagCount;
  store<u32>(table.tagsPtr + (table.tagCount << 2), changetype<u32>(tag));
  if (findEntry(parser, ownerOfFields(table.index), namePtr, nameBytes) != 0) table.nameClash = 1;
  parser.nameCount++;
  return table.tagCount++;
}

/** Field column of the table by name and type, made when it does not exist. */
export function findOrAddColumn(parser: Parser, table: Table, namePtr: usize, nameBytes: u32, type: u32): Column {
  const owner = ownerOfFields(table.index);
  let ptr = findEntry(parser, owner, namePtr, nameBytes);
  if (ptr == 0) {
    ptr = addEntry(parser, owner, namePtr, nameBytes, offsetof<FieldEntry>(), 0x3d);
    if (findEntry(parser, ownerOfTags(table.index), namePtr, nameBytes) != 0) table.nameClash = 1;
  }
  const entry = changetype<FieldEntry>(ptr);
  const column = columnOfType(entry, type);
  return column != 0 ? changetype<Column>(column) : addColumn(parser, table, entry, type);
}

/** True when the table knows the field column. */
export function hasColumn(parser: Parser, table: Table, namePtr: usize, nameBytes: u32, type: u32): bool {
  const entry = findEntry(parser, ownerOfFields(table.index), namePtr, nameBytes);
  return entry != 0 && columnOfType(changetype<FieldEntry>(entry), type) != 0;
}

function columnOfType(entry: FieldEntry, type: u32): u32 {
  let at = entry.columns;
  while (at != 0 && (changetype<Column>(at).kind & KIND_TYPE) != type) at = changetype<Column>(at).sibling;
  return at;
}

function addColumn(parser: Parser, table: Table, entry: FieldEntry, type: u32): Column {
  if (table.columnCount == table.columnsCapacity) {
    const capacity = max<u32>(16, table.columnsCapacity * 2);
    table.columnsPtr = reallocate(parser, table.columnsPtr, table.columnsCapacity << 2, capacity << 2, table.columnCount << 2);
    table.columnsCapacity = capacity;
  }
  const ptr = arenaAlloc(parser, offsetof<Column>());
  memory.fill(ptr, 0, offsetof<Column>());
  const column = changetype<Column>(ptr);
  column.keyPtr = entry.keyPtr;
  column.keyBytes = entry.keyBytes + 1;
  column.kind = type;
  column.shift = shiftOf(type);
  column.nextRow = ROW_UNUSED;
  column.index = table.columnCount;
  column.entry = changetype<u32>(entry);
  column.sibling = entry.columns;
  fillNameAndMask(column);
  for (let at = column.sibling; at != 0; at = changetype<Column>(at).sibling) {
    changetype<Column>(at).kind |= KIND_SHARED;
    column.kind |= KIND_SHARED;
  }
  entry.columns = ptr;
  store<u32>(table.columnsPtr + (table.columnCount << 2), ptr);
  table.columnCount++;
  table.rowsMax = rowsMaxOf(table.columnCount);
  parser.nameCount++;
  return column;
}

/** What parse.ts compares with the body. A name that is written with escapes matches nothing: the byte 0xff occurs in no UTF-8 text, and
 *  where the body is none, the line has no value for the column. */
function fillNameAndMask(column: Column): void {
  let plain = true;
  for (let i: u32 = 0; i + 1 < column.keyBytes; i++) {
    const c: u32 = load<u8>(column.keyPtr + i);
    if (c == 0x5c || c == 0x2c || c == 0x3d || c == 0x20) plain = false;
  }
  const name = changetype<usize>(column);
  const mask = name + offsetof<Column>("mask0");
  if (plain) memory.copy(name, column.keyPtr, min<u32>(16, column.keyBytes));
  else {
    store<u8>(name, 0xff);
    column.kind |= KIND_ESCAPED;
  }
  memory.fill(mask, 0xff, <usize>(plain ? min<u32>(16, column.keyBytes) : 1));
}

/** How many rows of one body a table of so many field columns may have. */
export function rowsMaxOf(columns: u32): u32 {
  return columns <= <u32>LINE_CELLS_COLUMNS ? u32.MAX_VALUE : <u32>LINE_CELLS_MAX / columns;
}

/** Gives back the room for rows of an earlier body, of fewer columns: each column would be as long. */
export function shrinkRows(parser: Parser, table: Table): void {
  resizeRows(parser, table, max<u32>(ROWS_MIN, 1 << (32 - clz<u32>(table.rowCount))));
}

function resizeRows(parser: Parser, table: Table, rows: u32): void {
  const count = table.rowCount;
  // one block, so that the three arrays succeed or fail together: | time | series | lines |
  const time = allocate(parser, rows * 16);
  const series = time + rows * 8;
  const lines = series + rows * 4;
  if (table.rowCapacity != 0) {
    memory.copy(series, table.seriesPtr, count * 4);
    memory.copy(lines, table.linesPtr, count * 4);
    memory.copy(time, table.timePtr, count * 8);
    release(parser, table.timePtr, table.rowCapacity * 16);
  }
  table.seriesPtr = series;
  table.linesPtr = lines;
  table.timePtr = time;
  table.rowCapacity = rows;
}

/** Makes room for twice as many rows. */
export function growRows(parser: Parser, table: Table): void {
  const rows = max<u32>(ROWS_MIN, table.rowCapacity * 2);
  resizeRows(parser, table, rows);
  for (let i: u32 = 0; i < table.columnCount; i++) {
    const column = changetype<Column>(load<u32>(table.columnsPtr + (i << 2)));
    if (column.nextRow == ROW_UNUSED) continue;
    if (column.nextRow == ROW_SPARSE) growBitmap(parser, column, rows);
    else if (column.nextRow == table.rowCount) growColumn(parser, column, rows);
    // else a row lacks its value: it needs no room for one in each
    else makeSparse(parser, column, rows);
  }
}

/** How many values the column has. */
// @ts-ignore: decorator
@inline
export function valueCount(column: Column): u32 {
  if (column.nextRow == ROW_SPARSE) return column.count;
  return column.nextRow == ROW_UNUSED ? 0 : column.nextRow;
}

/** Room for `count` values. */
export function growColumn(parser: Parser, column: Column, count: u32): void {
  const old = column.capacity;
  if (old >= count) return;
  const bytes = old << column.shift;
  column.dataPtr = reallocate(parser, column.dataPtr, bytes, count << column.shift, valueCount(column) << column.shift);
  column.capacity = count;
}

/** Room in the bitmap for `rows` rows, in whole words of 64; what is new is zero. */
function growBitmap(parser: Parser, column: Column, rows: u32): void {
  rows = max<u32>(64, rows);
  if (column.bitmapRows >= rows) return;
  const old = column.bitmapRows >> 3;
  column.bitmapPtr = reallocate(parser, column.bitmapPtr, old, rows >> 3, old);
  column.bitmapRows = rows;
  memory.fill(column.bitmapPtr + old, 0, (rows >> 3) - old);
}

/** Notes that `row` has a value in the column. Returns where it is to be written; 0 when there is one already. */
// @ts-ignore: decorator
@inline
export function placeValue(parser: Parser, table: Table, column: Column, row: u32): u32 {
  if (column.nextRow == row) {
    column.nextRow = row + 1;
    return column.dataPtr + (row << column.shift);
  }
  return column.nextRow == ROW_SPARSE ? placeSparse(parser, column, row) : placeOther(parser, table, column, row);
}

// @ts-ignore: decorator
@inline
function placeSparse(parser: Parser, column: Column, row: u32): u32 {
  const at = column.bitmapPtr + (row >> 3);
  const bits: u32 = load<u8>(at);
  const bit: u32 = 1 << (row & 7);
  if ((bits & bit) != 0) return 0;
  const count = column.count;
  if (count == column.capacity) growColumn(parser, column, max(VALUES_MIN, count * 2));
  store<u8>(at, <u8>(bits | bit));
  column.count = count + 1;
  return column.dataPtr + (count << column.shift);
}

/** Of a column that is unused, or dense up to some earlier row. */
function placeOther(parser: Parser, table: Table, column: Column, row: u32): u32 {
  if (column.nextRow == ROW_UNUSED) {
    if (row == 0) {
      growColumn(parser, column, table.rowCapacity);
      column.nextRow = 1;
      return column.dataPtr;
    }
  } else if (column.nextRow > row) {
    return 0;
  }
  makeSparse(parser, column, table.rowCapacity);
  return placeSparse(parser, column, row);
}

/** Notes that the rows from `first` to the table's last have values in the column. Either it is unused in this body and `first` is 0, or
 *  it has a value in the row before `first`. */
export function markRows(table: Table, column: Column, first: u32): void {
  const rows = table.rowCount;
  if (column.nextRow != ROW_SPARSE) {
    column.nextRow = rows;
    return;
  }
  column.count += rows - first;
  for (let row = first; row < rows; ) {
    const at = column.bitmapPtr + (row >> 3);
    if ((row & 7) == 0 && row + 8 <= rows) {
      store<u8>(at, 0xff);
      row += 8;
    } else {
      store<u8>(at, <u8>(<u32>load<u8>(at) | (1 << (row & 7))));
      row++;
    }
  }
}

/** True when another column of the same name has a value in `row`. */
export function siblingPresent(column: Column, row: u32): bool {
  for (let at = changetype<FieldEntry>(column.entry).columns; at != 0; at = changetype<Column>(at).sibling) {
    const other = changetype<Column>(at);
    if (other != column && isPresentLast(other, row)) return true;
  }
  return false;
}

/** True when `row`, the row in hand, has a value. */
function isPresentLast(column: Column, row: u32): bool {
  if (column.nextRow != ROW_SPARSE) return column.nextRow == row + 1;
  return ((<u32>load<u8>(column.bitmapPtr + (row >> 3)) >> (row & 7)) & 1) != 0;
}

/** Forgets the values of `row`, the row in hand, in the first `count` of the predicted columns, which are those of the line so far. */
export function undoRow(table: Table, row: u32, count: u32): void {
  let at = table.firstColumn;
  for (let i: u32 = 0; i < count; i++) {
    const column = changetype<Column>(at);
    if (column.nextRow != ROW_SPARSE) {
      column.nextRow = row == 0 ? ROW_UNUSED : row;
    } else {
      const bits = column.bitmapPtr + (row >> 3);
      store<u8>(bits, <u8>(<u32>load<u8>(bits) & ~(1 << (row & 7))));
      column.count--;
    }
    at = column.next;
  }
}

/** Ends the body for a column: it is sparse if a row of the table lacks a value. Returns how many rows have one. */
export function finishColumn(parser: Parser, table: Table, column: Column): u32 {
  if (column.nextRow != ROW_UNUSED && column.nextRow != ROW_SPARSE && column.nextRow != table.rowCount) {
    makeSparse(parser, column, table.rowCapacity);
  }
  return valueCount(column);
}

/** Makes the table empty for the next body. */
export function resetTable(table: Table): void {
  table.rowCount = 0;
  table.newSeriesFirst = table.seriesCount;
  table.recordsBytes = 0;
  for (let i: u32 = 0; i < table.columnCount; i++) changetype<Column>(load<u32>(table.columnsPtr + (i << 2))).nextRow = ROW_UNUSED;
}

function makeSparse(parser: Parser, column: Column, rows: u32): void {
  // what is left of an earlier body is cleared as far as this one can reach; growBitmap clears the rest
  const known = min(column.bitmapRows, max<u32>(64, rows));
  memory.fill(column.bitmapPtr, 0, known >> 3);
  growBitmap(parser, column, rows);
  const present = valueCount(column);
  memory.fill(column.bitmapPtr, 0xff, present >> 3);
  if ((present & 7) != 0) store<u8>(column.bitmapPtr + (present >> 3), <u8>((<u32>1 << (present & 7)) - 1));
  column.count = present;
  column.nextRow = ROW_SPARSE;
}
