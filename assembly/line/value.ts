// Reads a value into the row in hand of a column whose type is known.
import { TYPE_BOOLEAN, TYPE_FLOAT, TYPE_INTEGER, TYPE_STRING, TYPE_UNSIGNED } from "../abi";
import { QUOTE } from "./bytes";
import { parseBoolean, parseFloat64, parseInteger, parseUnsigned } from "./number";
import { Column, KIND_SHARED, Parser } from "./structures";
import { parseString } from "./text";

/** Returns the address behind the value, or 0 when there is none of the column's type. */
// @ts-ignore: decorator
@inline
export function parseValue(parser: Parser, column: Column, p: usize, row: u32): usize {
  const kind = column.kind & ~KIND_SHARED;
  if (kind == TYPE_INTEGER) return parseInteger(p, column.dataPtr + (row << 3));
  if (kind == TYPE_FLOAT) return parseFloat64(p, column.dataPtr + (row << 3), parser.powersPtr);
  return parseOtherValue(parser, column, p, row);
}

/** The same for every type but integer and float. */
export function parseOtherValue(parser: Parser, column: Column, p: usize, row: u32): usize {
  switch (column.kind & ~KIND_SHARED) {
    case TYPE_UNSIGNED:
      return parseUnsigned(p, column.dataPtr + (row << 3));
    case TYPE_BOOLEAN:
      return parseBoolean(p, column.dataPtr + row);
    case TYPE_STRING:
      return <u32>load<u8>(p) == QUOTE ? parseString(parser, p + 1, column.dataPtr + (row << 4)) : 0;
    default:
      return 0;
  }
}
