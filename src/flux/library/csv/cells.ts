// Types of annotated CSV, and cells of them.
import type { FluxColumnType } from "../../values/column-type.ts";
import { parseTime } from "../../values/duration.ts";
import { parseFloatText } from "../../values/number-text.ts";
import { quotedText } from "../../values/text.ts";
import { TimeLayout } from "../../values/time-layout.ts";
import { type Time, UInt, type Value } from "../../values/value.ts";

const TYPES: ReadonlyMap<string, FluxColumnType> = new Map([
  ["boolean", "bool"],
  ["long", "int"],
  ["unsignedLong", "uint"],
  ["double", "float"],
  ["string", "string"],
  ["dateTime", "time"],
]);

const RFC3339 = "2006-01-02T15:04:05Z07:00";
const RFC3339_NANO = "2006-01-02T15:04:05.999999999Z07:00";
const LAYOUTS: ReadonlyMap<string, string> = new Map(Object.entries({ RFC3339, RFC3339Nano: RFC3339_NANO }));

/** Times as nearly all texts have them: both layouts read these the same. */
const PLAIN_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(?:\.\d+)?Z$/;

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "TRUE", "true", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "FALSE", "false", "False"].map((text) => [text, false] as const),
]);

/** A cell that is no value of its type. */
export class CellProblem {
  constructor(readonly text: string) {}
}

/** The type of a column's cells. */
export interface CellType {
  readonly type: FluxColumnType;
  /** Of times. */
  readonly layout: TimeLayout | null;
}

/** Of a cell of the annotation: a type, and behind a colon the layout of times, or the name of one. Null: there is no such type. */
export function cellType(datatype: string): CellType | null {
  const colon = datatype.indexOf(":");
  const [name, layout] = colon < 0 ? [datatype, ""] : [datatype.slice(0, colon), datatype.slice(colon + 1)];
  const type = TYPES.get(name);
  if (type === undefined) return null;
  return { type, layout: type === "time" ? new TimeLayout(LAYOUTS.get(layout) ?? layout) : null };
}

/** @param text not empty */
export function parseCell({ type, layout }: CellType, text: string): Value | CellProblem {
  switch (type) {
    case "bool":
      return BOOLEANS.get(text) ?? syntaxProblem("ParseBool", text);
    case "int":
      return integer(text);
    case "uint":
      return unsigned(text);
    case "float":
      return float(text);
    case "time":
      return time(layout!, text);
    case "string":
      return text;
  }
}

/** Null when the text is no integer of 64 bits. */
export function integerOf(text: string): bigint | null {
  const value = integer(text);
  return value instanceof CellProblem ? null : value;
}

function syntaxProblem(parser: string, text: string, problem = "invalid syntax"): CellProblem {
  return new CellProblem(`strconv.${parser}: parsing ${quotedText(text)}: ${problem}`);
}

function integer(text: string): bigint | CellProblem {
  if (!/^[+-]?\d+$/.test(text)) return syntaxProblem("ParseInt", text);
  const value = BigInt(text.startsWith("+") ? text.slice(1) : text);
  return BigInt.asIntN(64, value) === value ? value : syntaxProblem("ParseInt", text, "value out of range");
}

function unsigned(text: string): UInt | CellProblem {
  if (!/^\d+$/.test(text)) return syntaxProblem("ParseUint", text);
  const value = BigInt(text);
  return BigInt.asUintN(64, value) === value ? new UInt(value) : syntaxProblem("ParseUint", text, "value out of range");
}

function float(text: string): number | CellProblem {
  const value = parseFloatText(text);
  return typeof value === "number" ? value : syntaxProblem("ParseFloat", text, value);
}

function time(layout: TimeLayout, text: string): Time | CellProblem {
  const isPlain = (layout.layout === RFC3339 || layout.layout === RFC3339_NANO) && PLAIN_TIME.test(text);
  const value = (isPlain ? parseTime(text) : null) ?? layout.parse(text);
  return typeof value === "string" ? new CellProblem(value) : value;
}
