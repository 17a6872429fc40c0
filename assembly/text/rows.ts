// Rows of an answer as text: the columns of a batch in, row after row out. Layouts are in abi.ts.
import {
  TEXT_BOOLEAN,
  TEXT_COLUMN_BYTES,
  TEXT_CSV,
  TEXT_EPOCH,
  TEXT_FLOAT,
  TEXT_FLUX_CSV,
  TEXT_INTEGER,
  TEXT_INTEGER_32,
  TEXT_JSON,
  TEXT_STRING,
  TEXT_TIME,
  TEXT_UNSIGNED,
  TEXT_UNSIGNED_32,
  TEXT_V1_CSV,
  TEXT_V1_JSON,
  TEXT_VIEW,
  VIEW_BYTES,
} from "../abi";
import { bitAt } from "../memory/bits";
import { viewBytes, viewText } from "../memory/views";
import { writeRfc3339, writeTimestamp } from "./clock";
import { copyBlocks } from "./copy";
import { writeInteger, writeUnsigned } from "./digits";
import { writeDouble } from "./double";
import { writeNumber } from "./number";
import { setSpare, writeCsvString, writeJsonString, writeV1CsvString, writeV1JsonString } from "./strings";

const QUOTE: u8 = 0x22;

@unmanaged
class Rows {
  rowCount: u32;
  columnCount: u32;
  columns: u32;
  /** TEXT_JSON … */
  style: u32;
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
  /** 1 or 2 when an infinite float was met that the style cannot write. */
  infinite: u32;
  // the 16 bytes of `setSpare`
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
  if (rows.style == TEXT_CSV && at == start) {
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
    case TEXT_FLOAT:
      return writeFloat(rows, column, load<f64>(values + (row << 3)), at);
    case TEXT_TIME:
      return writeTime(rows, load<i64>(values + (row << 3)), stateOf(column), at);
    case TEXT_EPOCH:
      return writeInteger(at, load<i64>(values + (row << 3)) / load<i64>(stateOf(column)));
    case TEXT_BOOLEAN:
      return writeBoolean(at, load<u8>(values + row) != 0);
    case TEXT_VIEW: {
      const view = values + row * VIEW_BYTES;
      return writeString(rows.style, at, viewText(view), viewBytes(view));
    }
    default: {
      const offsets = values + (row << 2);
      const from = load<u32>(offsets);
      return writeString(rows.style, at, column.data + from, load<u32>(offsets, 4) - from);
    }
  }
}

// @ts-ignore: decorator
@inline
function stateOf(column: Column): u32 {
  return <u32>changetype<usize>(column) + COLUMN_STATE;
}

function writeString(style: u32, at: u32, text: u32, bytes: u32): u32 {
  switch (style) {
    case TEXT_JSON:
      return writeJsonString(at, text, bytes);
    case TEXT_CSV:
      return writeCsvString(at, text, bytes);
    case TEXT_V1_JSON:
      return writeV1JsonString(at, text, bytes);
    case TEXT_FLUX_CSV:
      memory.copy(at, text, bytes);
      return at + bytes;
    default:
      return writeV1CsvString(at, text, bytes);
  }
}

function writeTime(rows: Rows, value: i64, state: u32, at: u32): u32 {
  if (rows.style == TEXT_CSV) return writeTimestamp(at, value, state);
  if (rows.style == TEXT_FLUX_CSV) return writeRfc3339(at, value, state);
  store<u8>(at, QUOTE);
  at = rows.style == TEXT_JSON ? writeTimestamp(at + 1, value, state) : writeRfc3339(at + 1, value, state);
  store<u8>(at, QUOTE);
  return at + 1;
}

function writeFloat(rows: Rows, column: Column, value: f64, at: u32): u32 {
  const style = rows.style;
  if (style == TEXT_JSON || style == TEXT_CSV) {
    if (value - value != 0) return writeNonFinite(at, value, style == TEXT_CSV);
    return writeDouble(at, value, style == TEXT_JSON, stateOf(column), rows.powersPtr);
  }
  if (value - value != 0) return writeV1NonFinite(rows, at, value);
  return writeNumber(at, value, style != TEXT_V1_JSON, stateOf(column), rows.powersPtr);
}

/** NaN is NULL, but in annotated CSV; CSV has Go's words for the infinite. */
function writeV1NonFinite(rows: Rows, at: u32, value: f64): u32 {
  if (isNaN(value)) {
    if (rows.style == TEXT_FLUX_CSV) {
      store<u32>(at, 0x4e614e); // NaN
      return at + 3;
    }
    copyBlocks(rows.nullPtr, rows.nullBytes, at);
    return at + rows.nullBytes;
  }
  if (rows.style == TEXT_V1_JSON) rows.infinite = value > 0 ? 1 : 2;
  store<u32>(at, value > 0 ? 0x666e492b : 0x666e492d); // +Inf, -Inf
  return at + 4;
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
