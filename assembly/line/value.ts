// Reads a value of a column whose type is known to where it belongs.
import { TYPE_BOOLEAN, TYPE_FLOAT, TYPE_INTEGER, TYPE_STRING, TYPE_UNSIGNED } from "../abi";
import { QUOTE } from "./bytes";
import { parseBoolean, parseFloat64, parseInteger, parseUnsigned } from "./number";
import { Column, KIND_SHARED, Parser } from "./structures";
import { parseString } from "./text";

/** Returns the address behind the value, or 0 when there is none of the column's type. */
// @ts-ignore: decorator
@inline
export function parseValue(parser: Parser, column: Column, p: usize, target: usize): usize {
  // with KIND_ESCAPED it is no type
  const type = column.kind & ~KIND_SHARED;
  if (type == TYPE_INTEGER) return parseInteger(p, target);
  if (type == TYPE_FLOAT) return parseFloat64(p, target, parser.powersPtr);
  return parseOtherValue(parser, type, p, target);
}

/** The same for every type but integer and float. */
export function parseOtherValue(parser: Parser, type: u32, p: usize, target: usize): usize {
  switch (type) {
    case TYPE_UNSIGNED:
      return parseUnsigned(p, target);
    case TYPE_BOOLEAN:
      return parseBoolean(p, target);
    case TYPE_STRING:
      return <u32>load<u8>(p) == QUOTE ? parseString(parser, p + 1, target) : 0;
    default:
      return 0;
  }
}
