// Ends a body: one array of words that tells the host where everything is, so that a body costs one read across the border.
import { PARSED_COLUMN_WORDS, PARSED_HEADER_WORDS, PARSED_TABLE_WORDS } from "../abi";
import { finishColumn } from "./columns";
import { settlePlan } from "./plan";
import { Column, KIND_TYPE, Parser, Table, reallocate } from "./structures";

/** Writes the result as abi.ts draws it and returns its address; `end`: offset of the first byte that was not read. */
export function writeResult(parser: Parser, end: u32): u32 {
  reserve(parser);
  let at: usize = parser.resultPtr + PARSED_HEADER_WORDS * 4;
  let tables: u32 = 0;
  let rows: u32 = 0;
  let touched = parser.firstTouched;
  while (touched != 0) {
    const table = changetype<Table>(touched);
    settlePlan(table);
    at = writeTable(parser, table, at);
    rows += table.rowCount;
    tables++;
    touched = table.nextTouched;
  }
  const header: usize = parser.resultPtr;
  store<u32>(header, rows + parser.badLineCount);
  store<u32>(header, rows, 4);
  store<u32>(header, tables, 8);
  store<u32>(header, parser.errorCount, 12);
  store<u32>(header, parser.errorsPtr, 16);
  store<u32>(header, parser.crowded, 20);
  store<u32>(header, end, 24);
  store<u32>(header, parser.droppedCount, 28);
  return parser.resultPtr;
}

/** Makes room for every column of every table of the body. */
function reserve(parser: Parser): void {
  let words: u32 = PARSED_HEADER_WORDS;
  let touched = parser.firstTouched;
  while (touched != 0) {
    const table = changetype<Table>(touched);
    words += PARSED_TABLE_WORDS + table.columnCount * PARSED_COLUMN_WORDS;
    touched = table.nextTouched;
  }
  if (words * 4 <= parser.resultBytes) return;
  const bytes = max(words * 4, parser.resultBytes * 2);
  parser.resultPtr = reallocate(parser, parser.resultPtr, parser.resultBytes, bytes, 0);
  parser.resultBytes = bytes;
}

function writeTable(parser: Parser, table: Table, at: usize): usize {
  let columnAt = at + PARSED_TABLE_WORDS * 4;
  let columns: u32 = 0;
  for (let i: u32 = 0; i < table.columnCount; i++) {
    const column = changetype<Column>(load<u32>(table.columnsPtr + (i << 2)));
    const present = finishColumn(parser, table, column);
    if (present == 0) continue;
    store<u32>(columnAt, column.index);
    store<u32>(columnAt, column.keyPtr, 4);
    store<u32>(columnAt, column.keyBytes - 1, 8);
    store<u32>(columnAt, column.kind & KIND_TYPE, 12);
    store<u32>(columnAt, column.dataPtr, 16);
    store<u32>(columnAt, present == table.rowCount ? 0 : column.bitmapPtr, 20);
    store<u32>(columnAt, present, 24);
    columnAt += PARSED_COLUMN_WORDS * 4;
    columns++;
  }
  store<u32>(at, table.index);
  store<u32>(at, table.keyPtr, 4);
  store<u32>(at, table.keyBytes, 8);
  store<u32>(at, table.rowCount, 12);
  store<u32>(at, table.seriesPtr, 16);
  store<u32>(at, table.timePtr, 20);
  store<u32>(at, table.linesPtr, 24);
  store<u32>(at, table.newSeriesFirst, 28);
  store<u32>(at, table.seriesCount - table.newSeriesFirst, 32);
  store<u32>(at, table.recordsPtr, 36);
  store<u32>(at, table.tagCount, 40);
  store<u32>(at, table.tagsPtr, 44);
  store<u32>(at, columns, 48);
  return columnAt;
}
