// The words of the vendor's v2 server for lines that can be parsed and are left out, while the others of their body are stored.
import { goQuoted } from "../../../model/query/go-quoted.ts";
import { measurementOf } from "./line-fault.ts";

/** What the schema says of a field of another type, and the parser of values that are not stored (kernel/parse/line-error.ts). */
const CONFLICT = /^invalid column type for column '([\s\S]*)', expected iox::column_type::([\w:]+), got iox::column_type::([\w:]+)$/;
const TOO_LONG = /^invalid length of column '([\s\S]*)', (\d+ > \d+)$/;
const NO_NAME = /^invalid name of column '([\s\S]*)'$/;
/** The vendor's names of types. */
const TYPE_NAMES: Readonly<Record<string, string>> = { "field::uinteger": "unsigned", tag: "tag" };

/** True: the message is about a line that can be parsed. */
export function isLeftOut(message: string): boolean {
  return CONFLICT.test(message) || TOO_LONG.test(message) || NO_NAME.test(message);
}

/** Why the line is left out. */
export function leftOutText(message: string, line: string): string {
  const place = (field: string) => `input field ${goQuoted(field)} on measurement ${goQuoted(measurementOf(line))} is`;
  const conflict = CONFLICT.exec(message);
  if (conflict !== null) {
    const [, field, want, got] = conflict as unknown as [string, string, string, string];
    return `field type conflict: ${place(field)} type ${typeName(got)}, already exists as type ${typeName(want)}`;
  }
  const long = TOO_LONG.exec(message);
  if (long !== null) return `${place(long[1]!)} too long, ${long[2]}`;
  const named = NO_NAME.exec(message);
  return named === null ? message : `invalid field name: ${place(named[1]!)} invalid`;
}

function typeName(type: string): string {
  return TYPE_NAMES[type] ?? type.slice("field::".length);
}
