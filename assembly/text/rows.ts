// Rows of an answer as text: the columns of a batch in, row after row out. Layouts are in abi.ts.
import {
  TEXT_BOOLEAN,
  TEXT_COLUMN_BYTES,
  TEXT_FLOAT,
  TEXT_INTEGER,
  TEXT_INTEGER_32,
  TEXT_STRING,
  TEXT_TIME,
  TEXT_UNSIGNED,
  TEXT_UNSIGNED_32,
  TEXT_VIEW,
  VIEW_BYTES,
} from "../abi";
import { bitAt } from "../memory/bits";
import { viewBytes, viewText } from "../memory/views";
import { writeTimestamp } from "./clock";
import { copyBlocks } from "./copy";
import { writeInteger, writeUnsigned } from "./digits";
import { writeDouble } from "./double";
import { setSpare, writeCsvString, writeJsonString } from "./strings";

const QUOTE: u8 = 0x22;

@unmanaged
class Rows {
  rowCount: u32;
  columnCount: u32;
  columns: u32;
  /** Strings as CSV has them, else as JSON. */
  isCsv: u32;
  /** NULLs are left out with their labels, and the first label of a row without its first byte. */
  skipsNulls: u32;
  startPtr: u32;
  startBytes: u32;
  endPtr: u32;
  endBytes: u32;
  nullPtr: u32;
  nullBytes: u32;
  powersPtr: u32;
  /** Longest row, strings not counted. */
  fixedBytesMax: u32;
  /** Answers of `textRows`. */
  nextRow: u32;
  outEnd: u32;
  // one word and the 16 bytes of `setSpare`
}

const ROWS_SPARE: u32 = 64;

@unmanaged
class Column {
  kind: u32;
  values: u32;
  validity: u32;
  /** Text of strings, whose offsets are the values. */
  data: u32;
  labelPtr: u32;
  labelBytes: u32;
  // what the writer of the kind keeps
}

const COLUMN_STATE: u32 = 24;

/** Writes rows from `row` on while the longest possible next one fits between `out` and `outEnd`; `nextRow` tells how far it came. */
export function textRows(rowsPtr: u32, row: u32, out: u32, outEnd: u32): void {
  const rows = changetype<Rows>(<usize>rowsPtr);
  const room = <u64>outEnd;
  setSpare(rowsPtr + ROWS_SPARE);
  let at = out;
  for (; row < rows.rowCount; row++) {
    if (<u64>at + rows.fixedBytesMax + stringBytesMax(rows, row) > room) break;
    at = writeRow(rows, row, at);
  }
  rows.nextRow = row;
  rows.outEnd = at;
}

function stringBytesMax(rows: Rows, row: u32): u64 {
  let bytes: u64 = 0;
  let column = rows.columns;
  for (let i: u32 = 0; i < rows.columnCount; i++, column += TEXT_COLUMN_BYTES) {
    const values = changetype<Column>(<usize>column).values;
    const kind = load<u32>(column);
    if (kind == TEXT_VIEW) {
      const validity = changetype<Column>(<usize>column).validity;
      if (validity == 0 || bitAt(validity, row)) bytes += viewBytes(values + row * VIEW_BYTES);
    } else if (kind == TEXT_STRING) bytes += load<u32>(values + (row << 2), 4) - load<u32>(values + (row << 2));
  }
  return bytes * 6;
}

function writeRow(rows: Rows, row: u32, at: u32): u32 {
  copyBlocks(rows.startPtr, rows.startBytes, at);
  at += rows.startBytes;
  const start = at;
  let isFirst = rows.skipsNulls;
  let columnPtr = rows.columns;
  for (let i: u32 = 0; i < rows.columnCount; i++, columnPtr += TEXT_COLUMN_BYTES) {
    const column = changetype<Column>(<usize>columnPtr);
    const isNull = column.validity != 0 && !bitAt(column.validity, row);
    if (isNull && rows.skipsNulls != 0) continue;
    copyBlocks(column.labelPtr + isFirst, column.labelBytes, at);
    at += column.labelBytes - isFirst;
    isFirst = 0;
    if (isNull) {
      copyBlocks(rows.nullPtr, rows.nullBytes, at);
      at += rows.nullBytes;
    } else at = writeValue(rows, column, row, at);
  }
  if (rows.isCsv != 0 && at == start) {
    // a line with nothing on it would be no record to a reader
    store<u16>(at, 0x2222);
    at += 2;
  }
  copyBlocks(rows.endPtr, rows.endBytes, at);
  return at + rows.endBytes;
}

function writeValue(rows: Rows, column: Column, row: u32, at: u32): u32 {
  const values = column.values;
  switch (column.kind) {
    case TEXT_INTEGER:
      return writeInteger(at, load<i64>(values + (row << 3)));
    case TEXT_UNSIGNED:
      return writeUnsigned(at, load<u64>(values + (row << 3)));
    case TEXT_INTEGER_32:
      return writeInteger(at, load<i32>(values + (row << 2)));
    case TEXT_UNSIGNED_32:
      return writeUnsigned(at, load<u32>(values + (row << 2)));
    case TEXT_FLOAT: {
      const value = load<f64>(values + (row << 3));
      if (value - value != 0) return writeNonFinite(at, value, rows.isCsv != 0);
      return writeDouble(at, value, <u32>changetype<usize>(column) + COLUMN_STATE, rows.powersPtr);
    }
    case TEXT_TIME: {
      const state = <u32>changetype<usize>(column) + COLUMN_STATE;
      const value = load<i64>(values + (row << 3));
      if (rows.isCsv != 0) return writeTimestamp(at, value, state);
      store<u8>(at, QUOTE);
      at = writeTimestamp(at + 1, value, state);
      store<u8>(at, QUOTE);
      return at + 1;
    }
    case TEXT_BOOLEAN:
      return writeBoolean(at, load<u8>(values + row) != 0);
    case TEXT_VIEW: {
      const view = values + row * VIEW_BYTES;
      const text = viewText(view);
      return rows.isCsv != 0 ? writeCsvString(at, text, viewBytes(view)) : writeJsonString(at, text, viewBytes(view));
    }
    default: {
      const offsets = values + (row << 2);
      const from = load<u32>(offsets);
      const bytes = load<u32>(offsets, 4) - from;
      return rows.isCsv != 0 ? writeCsvString(at, column.data + from, bytes) : writeJsonString(at, column.data + from, bytes);
    }
  }
}

function writeBoolean(at: u32, value: bool): u32 {
  if (value) {
    store<u32>(at, 0x65757274); // true
    return at + 4;
  }
  store<u32>(at, 0x736c6166); // fals
  store<u8>(at, 0x65, 4);
  return at + 5;
}

/** JSON has no number for them. */
function writeNonFinite(at: u32, value: f64, isCsv: bool): u32 {
  if (!isCsv) {
    store<u32>(at, 0x6c6c756e); // null
    return at + 4;
  }
  if (value < 0) store<u8>(at++, 0x2d);
  store<u32>(at, isNaN(value) ? 0x4e614e : 0x666e69); // NaN, inf
  return at + 3;
}
