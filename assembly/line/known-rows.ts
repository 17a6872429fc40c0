// Rows of a parsed table whose columns all have an id: the log's frame of them in one call, and their way into the buffer in another. With
// a call for each column these two cost more than reading the lines of a small body.
import {
  APPEND_COLUMN_BYTES,
  APPEND_COLUMN_COUNT,
  APPEND_HEADER_BYTES,
  APPEND_SERIES_PTR,
  APPEND_TIME_PTR,
  PARSED_COLUMN_WORDS,
  PARSED_TABLE_COLUMN_COUNT,
  PARSED_TABLE_ROW_COUNT,
  PARSED_TABLE_SERIES_PTR,
  PARSED_TABLE_TIME_PTR,
  PARSED_TABLE_WORDS,
  TYPE_BOOLEAN,
  TYPE_TIME,
  TYPE_U32,
} from "../abi";
import { codecBytesMax, codecEncode, codecPackedBytesMax } from "../codec/column";
import { setBits } from "../memory/bits";

/** A column of a parsed table, as abi.ts draws it. */
@unmanaged
class ParsedColumn {
  index: u32;
  namePtr: u32;
  nameBytes: u32;
  type: u32;
  dataPtr: u32;
  validityPtr: u32;
  presentCount: u32;
}

if (offsetof<ParsedColumn>() != PARSED_COLUMN_WORDS * 4) ERROR("abi.ts: PARSED_COLUMN_WORDS drifted");

/** What a column of the buffer is to appendRows, as abi.ts draws it. */
@unmanaged
class AppendColumn {
  columnId: u32;
  dataPtr: u32;
  validityPtr: u32;
}

if (offsetof<AppendColumn>() != APPEND_COLUMN_BYTES) ERROR("abi.ts: APPEND_COLUMN_BYTES drifted");

// @ts-ignore: decorator
@inline
function word(table: u32, at: u32): u32 {
  return load<u32>(table + (at << 2));
}

// @ts-ignore: decorator
@inline
function firstColumn(table: u32): u32 {
  return table + PARSED_TABLE_WORDS * 4;
}

// @ts-ignore: decorator
@inline
function lastColumn(table: u32): u32 {
  return firstColumn(table) + word(table, PARSED_TABLE_COLUMN_COUNT) * offsetof<ParsedColumn>();
}

/** True when `ids` (u32[count] by column index) has an id for each column of the table. */
export function hasColumnIds(table: u32, ids: u32, count: u32, unknown: u32): bool {
  const end = lastColumn(table);
  for (let at = firstColumn(table); at < end; at += offsetof<ParsedColumn>()) {
    const index = changetype<ParsedColumn>(at).index;
    if (index >= count || load<u32>(ids + (index << 2)) == unknown) return false;
  }
  return true;
}

/** True when `map` (u32 by id) has an entry for each of `count` ids. */
export function hasSeriesIds(map: u32, ids: u32, count: u32, unknown: u32): bool {
  for (const end = ids + (count << 2); ids < end; ids += 4) if (load<u32>(map + (load<u32>(ids) << 2)) == unknown) return false;
  return true;
}

/** Bytes that frameRows writes at most. */
export function frameRowsMax(table: u32): f64 {
  const rowCount = word(table, PARSED_TABLE_ROW_COUNT);
  let bytes: f64 = 12 + codecBytesMax(TYPE_U32, 0, 0, rowCount) + codecBytesMax(TYPE_TIME, 0, 0, rowCount);
  const end = lastColumn(table);
  for (let at = firstColumn(table); at < end; at += offsetof<ParsedColumn>()) {
    const column = changetype<ParsedColumn>(at);
    bytes += 9;
    if (column.validityPtr == 0) bytes += codecBytesMax(column.type, column.dataPtr, 0, rowCount);
    else bytes += codecPackedBytesMax(column.type, column.dataPtr, column.presentCount, rowCount);
  }
  return bytes;
}

/** Writes series, times and columns as ingest/FORMAT.md draws them; returns the bytes. `ids` as in hasColumnIds. */
export function frameRows(table: u32, ids: u32, work: u32, target: u32): u32 {
  const rowCount = word(table, PARSED_TABLE_ROW_COUNT);
  let out = frameBlock(TYPE_U32, word(table, PARSED_TABLE_SERIES_PTR), rowCount, work, target);
  out = frameBlock(TYPE_TIME, word(table, PARSED_TABLE_TIME_PTR), rowCount, work, out);
  store<u32>(out, word(table, PARSED_TABLE_COLUMN_COUNT));
  out += 4;
  const end = lastColumn(table);
  for (let at = firstColumn(table); at < end; at += offsetof<ParsedColumn>()) {
    const column = changetype<ParsedColumn>(at);
    store<u32>(out, load<u32>(ids + (column.index << 2)));
    store<u8>(out, <u8>column.type, 4);
    out += 5;
    if (column.validityPtr == 0) {
      out = frameBlock(column.type, column.dataPtr, rowCount, work, out);
    } else {
      const bytes = codecEncode(column.type, column.dataPtr, column.validityPtr, rowCount, true, work, out + 4);
      store<u32>(out, bytes);
      out += 4 + bytes;
    }
  }
  return out - target;
}

function frameBlock(type: u32, data: u32, rowCount: u32, work: u32, target: u32): u32 {
  const bytes = codecEncode(type, data, 0, rowCount, false, work, target + 4);
  store<u32>(target, bytes);
  return target + 4 + bytes;
}

/** Copies the rows behind the first `rowCount` of a segment of the buffer, which has room for them. False, and nothing is done, unless they
 *  have values for exactly the columns of `targets` (abi.ts), in that order and each in every row. */
export function appendRows(table: u32, ids: u32, targets: u32, rowCount: u32): bool {
  if (word(table, PARSED_TABLE_COLUMN_COUNT) != load<u32>(targets, APPEND_COLUMN_COUNT)) return false;
  const end = lastColumn(table);
  let to = targets + APPEND_HEADER_BYTES;
  for (let at = firstColumn(table); at < end; at += offsetof<ParsedColumn>(), to += offsetof<AppendColumn>()) {
    const column = changetype<ParsedColumn>(at);
    if (column.validityPtr != 0 || load<u32>(ids + (column.index << 2)) != changetype<AppendColumn>(to).columnId) return false;
  }
  const count = word(table, PARSED_TABLE_ROW_COUNT);
  memory.copy(load<u32>(targets, APPEND_SERIES_PTR) + (rowCount << 2), word(table, PARSED_TABLE_SERIES_PTR), count << 2);
  memory.copy(load<u32>(targets, APPEND_TIME_PTR) + (rowCount << 3), word(table, PARSED_TABLE_TIME_PTR), count << 3);
  to = targets + APPEND_HEADER_BYTES;
  for (let at = firstColumn(table); at < end; at += offsetof<ParsedColumn>(), to += offsetof<AppendColumn>()) {
    const column = changetype<ParsedColumn>(at);
    const target = changetype<AppendColumn>(to);
    const shift: u32 = column.type == TYPE_BOOLEAN ? 0 : 3;
    memory.copy(target.dataPtr + (rowCount << shift), column.dataPtr, count << shift);
    if (target.validityPtr != 0) setBits(target.validityPtr, rowCount, count);
  }
  return true;
}
