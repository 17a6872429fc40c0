// Decimal types in the dialect: result types of operators, and common types of values. 64-bit signed and unsigned integers have only
// decimals as a common type.
import { ColumnType } from "../../model/rows/column.ts";
import type { Kind, Typed, TypeNote } from "./kind.ts";

export interface DecimalType {
  readonly width: number;
  readonly scale: number;
}

const WIDTH_MAX = 38;
/** Additional digits of a quotient's scale. */
const QUOTIENT_DIGITS = 4;
/** Additional digits of a sum. */
const SUM_DIGITS = 10;
/** The decimal type of integers. */
const INTEGER: DecimalType = { width: 20, scale: 0 };
/** The common type of signed and unsigned 64-bit integers. */
export const MIXED_SIGNS = INTEGER;
const FLOAT: DecimalType = { width: 30, scale: 15 };
const NARROW_INTEGERS: Readonly<Record<string, number>> = { TINYINT: 3, SMALLINT: 5, INTEGER: 10 };

/** A value, or a query's column, which has no node. */
export type Noted = Pick<Typed, "kind" | "arrow" | "source"> & { readonly node?: Typed["node"] };

/** The vendor's name of a decimal type. */
export const decimalName = ({ width, scale }: DecimalType): string => `Decimal128(${width}, ${scale})`;

/** The note of a value of a decimal type. */
export function decimalNote(type: DecimalType): TypeNote & { readonly kind: Kind } {
  return { kind: "float", arrow: decimalName(type) };
}

/** The decimal type of a value; null if it is not a decimal. */
export function decimalOf({ arrow = "" }: TypeNote): DecimalType | null {
  const [, width, scale] = /^Decimal128\((\d+), (\d+)\)$/.exec(arrow) ?? [];
  return width === undefined ? null : { width: Number(width), scale: Number(scale) };
}

/** The type of a sum of decimals; null if the value is none. */
export function sumDecimal(value: TypeNote): DecimalType | null {
  const type = decimalOf(value);
  return type === null ? null : { width: Math.min(WIDTH_MAX, type.width + SUM_DIGITS), scale: type.scale };
}

/** The type of a mean of decimals; null if the value is none. */
export function meanDecimal(value: TypeNote): DecimalType | null {
  const type = decimalOf(value);
  return type === null ? null : limited(type.width + QUOTIENT_DIGITS, type.scale + QUOTIENT_DIGITS);
}

/** True for an unsigned integer. */
export function isUnsigned({ source, arrow }: Noted): boolean {
  return arrow?.startsWith("UInt") === true || source?.scan.defs[source.index]?.type === ColumnType.unsigned;
}

/** True for an unsigned 64-bit integer. */
export function isUnsigned64({ source, arrow }: Noted): boolean {
  return arrow === "UInt64" || (arrow === undefined && source?.scan.defs[source.index]?.type === ColumnType.unsigned);
}

/** True for a signed integer: unsigned ones have a note. */
function isSigned(value: Noted): boolean {
  return value.kind === "integer" && !isUnsigned(value);
}

/** True for an unsigned and a signed 64-bit integer. */
export function haveMixedSigns(left: Noted, right: Noted): boolean {
  return (isUnsigned64(left) && isSigned(right)) || (isSigned(left) && isUnsigned64(right));
}

/** The decimal type of a decimal or an integer. */
export function asDecimal(value: Noted): DecimalType | null {
  if (value.kind !== "integer") return decimalOf(value);
  const width = value.node?.class === "CAST" ? NARROW_INTEGERS[value.node.cast_type.id] : undefined;
  return width === undefined ? INTEGER : { width, scale: 0 };
}

/** The common decimal type of alternative values, combined from left to right; null if they are not decimals. */
export function commonDecimal(values: readonly Noted[]): DecimalType | null {
  let common: DecimalType | null = null;
  let before: Noted | null = null;
  for (const value of values) {
    if (value.node?.class === "CONSTANT" && value.node.value.is_null) continue;
    if (value.kind !== "integer" && value.kind !== "float") return null;
    const own = decimalOf(value);
    const type = own ?? (value.kind === "integer" ? asDecimal(value)! : FLOAT);
    if (common !== null) common = wider(common, type);
    else if (before === null) common = own;
    else if (own !== null) common = wider(before.kind === "integer" ? asDecimal(before)! : FLOAT, own);
    else if (haveMixedSigns(before, value)) common = MIXED_SIGNS;
    // next to a float, an integer becomes a float
    if (before?.kind !== "float") before = value;
  }
  return common;
}

function wider(a: DecimalType, b: DecimalType): DecimalType {
  const scale = Math.max(a.scale, b.scale);
  return limited(Math.max(a.width - a.scale, b.width - b.scale) + scale, scale);
}

/** The result type of an operator on decimals. */
export function resultOf(sign: string, a: DecimalType, b: DecimalType): DecimalType {
  const [wholeA, wholeB] = [a.width - a.scale, b.width - b.scale];
  const scale = Math.max(a.scale, b.scale);
  switch (sign) {
    case "*":
      return limited(a.width + b.width + 1, a.scale + b.scale);
    case "/":
      return limited(a.width + QUOTIENT_DIGITS + b.scale, a.scale + QUOTIENT_DIGITS);
    case "%":
      return limited(Math.min(wholeA, wholeB) + scale, scale);
    default:
      return limited(Math.max(wholeA, wholeB) + scale + 1, scale);
  }
}

function limited(width: number, scale: number): DecimalType {
  return { width: Math.min(width, WIDTH_MAX), scale: Math.min(scale, WIDTH_MAX) };
}
