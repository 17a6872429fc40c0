// Error messages for invalid lines. Clients match on these texts, so they equal the vendor's wherever it has one.
import * as abi from "../../../assembly/abi.ts";
import { unreachable } from "../../model/assert.ts";
import { COLUMN_TYPE_LABEL, type ColumnType } from "../../model/rows/column.ts";
import { PRECISION_LABEL, type Precision } from "../../model/time/precision.ts";

export type LineFault =
  | typeof abi.LINE_BAD_TABLE_NAME
  | typeof abi.LINE_BAD_ENDS_WITH_BACKSLASH
  | typeof abi.LINE_BAD_STRING_TOO_LONG
  | typeof abi.LINE_BAD_UTF8
  | typeof abi.LINE_BAD_TAG_KEY
  | typeof abi.LINE_BAD_TAG_VALUE
  | typeof abi.LINE_BAD_NO_EQUALS_SIGN
  | typeof abi.LINE_BAD_NO_SPACE
  | typeof abi.LINE_BAD_NO_FIELDS
  | typeof abi.LINE_BAD_INTEGER
  | typeof abi.LINE_BAD_UNSIGNED
  | typeof abi.LINE_BAD_FLOAT
  | typeof abi.LINE_BAD_TIMESTAMP
  | typeof abi.LINE_BAD_TRAILING
  | typeof abi.LINE_BAD_DUPLICATE_TAG
  | typeof abi.LINE_BAD_DUPLICATE_FIELD
  | typeof abi.LINE_BAD_RESERVED
  | typeof abi.LINE_BAD_OTHER_TYPE
  | typeof abi.LINE_BAD_TIME_RANGE
  | typeof abi.LINE_BAD_TOO_MANY_COLUMNS
  | typeof abi.LINE_BAD_TOO_MANY_TABLES
  | typeof abi.LINE_BAD_TOO_MANY_CELLS
  | typeof abi.LINE_BAD_SYNTAX
  | typeof abi.LINE_DROP_STRING_TOO_LONG
  | typeof abi.LINE_DROP_TIME_FIELD
  | typeof abi.LINE_DROP_DUPLICATE_FIELD
  | typeof abi.LINE_DROP_TAG_AND_FIELD;

/** `text`: the part of the line that the message quotes; `detail`: the field's type or the offset of an invalid byte, depending on the
 *  fault. */
export interface LineFaultDetails {
  readonly text: string;
  readonly detail: number;
  readonly precision: Precision;
  readonly columnsPerTableMax: number;
}

/** The message for a fault that the line parser reported. */
export function lineErrorMessage(fault: LineFault, { text, detail, precision, columnsPerTableMax }: LineFaultDetails): string {
  switch (fault) {
    case abi.LINE_BAD_TABLE_NAME:
      return "Invalid measurement was provided";
    case abi.LINE_BAD_ENDS_WITH_BACKSLASH:
      return "Measurements, tag keys and values, and field keys may not end with a backslash";
    case abi.LINE_BAD_STRING_TOO_LONG:
      return "String is greater than 1MB";
    case abi.LINE_BAD_UTF8:
      return `Invalid UTF-8 at byte ${detail} of the line`;
    case abi.LINE_BAD_TAG_KEY:
      return `Expected tag key, got ${quoteOrEnd(text)}`;
    case abi.LINE_BAD_TAG_VALUE:
      return `Expected tag value, got ${quoteOrEnd(text)}`;
    case abi.LINE_BAD_NO_EQUALS_SIGN:
      return `Tag set malformed: could not find equals sign in ${quote(text)}`;
    case abi.LINE_BAD_NO_SPACE:
      // the vendor does not truncate this one
      return `Expected at least one space character, got ${text === "" ? "end of input" : `\`${text}\``}`;
    case abi.LINE_BAD_NO_FIELDS:
      return "No fields were provided";
    case abi.LINE_BAD_INTEGER:
      return `Unable to parse integer value \`${text}\``;
    case abi.LINE_BAD_UNSIGNED:
      return `Unable to parse unsigned integer value \`${text}\``;
    case abi.LINE_BAD_FLOAT:
      return `Unable to parse floating-point value \`${text}\``;
    case abi.LINE_BAD_TIMESTAMP:
      return `Unable to parse timestamp value \`${text}\``;
    case abi.LINE_BAD_TRAILING:
      return `Could not parse entire line. Found trailing content: ${quote(text)}`;
    case abi.LINE_BAD_DUPLICATE_TAG:
      return `Must not contain duplicate tags, but \`${text}\` was repeated`;
    case abi.LINE_BAD_DUPLICATE_FIELD:
      return `invalid line protocol - multiple instances of '${text}' field found`;
    case abi.LINE_BAD_RESERVED:
      return `'${text}' is a reserved column`;
    case abi.LINE_BAD_TIME_RANGE:
      return `timestamp, ${BigInt(text)}, out of range for precision: ${PRECISION_LABEL[precision]}`;
    case abi.LINE_BAD_TOO_MANY_COLUMNS:
      return `Update to schema would exceed number of columns per table limit of ${columnsPerTableMax} columns`;
    case abi.LINE_BAD_TOO_MANY_TABLES:
      return `Update to schema would exceed number of tables of one body: rows of at most ${abi.LINE_BODY_TABLES_MAX}; send the others with another write`;
    case abi.LINE_BAD_TOO_MANY_CELLS:
      return "too many rows of a table of so many columns in one body; send the others with another write";
    case abi.LINE_BAD_SYNTAX:
      return "invalid line";
    case abi.LINE_DROP_STRING_TOO_LONG:
      return `invalid length of column '${text}', ${detail} > ${abi.LINE_STRING_BYTES_MAX}`;
    case abi.LINE_DROP_TIME_FIELD:
      return `invalid name of column '${text}'`;
    case abi.LINE_BAD_OTHER_TYPE:
    case abi.LINE_DROP_DUPLICATE_FIELD:
    case abi.LINE_DROP_TAG_AND_FIELD:
      return invalidType(text, (detail >> 8) as ColumnType, (detail & 0xff) as ColumnType);
    default:
      return unreachable(fault);
  }
}

function invalidType(name: string, expected: ColumnType, got: ColumnType): string {
  return `invalid column type for column '${name}', expected ${COLUMN_TYPE_LABEL[expected]}, got ${COLUMN_TYPE_LABEL[got]}`;
}

/** At most 10 characters of context, truncated as the vendor does: the byte length decides whether, the characters where. */
function quote(text: string): string {
  return Buffer.byteLength(text) > 10 ? `\`${[...text.slice(0, 20)].slice(0, 10).join("")}...\`` : `\`${text}\``;
}

function quoteOrEnd(text: string): string {
  return text === "" ? "end of input" : quote(text);
}
