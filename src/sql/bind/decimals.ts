// Decimals as the dialect computes with them: which ones come out of operators, and of values that are brought to one type. 64-bit integers
// without a sign and with one have only decimals in common.
import { ColumnType } from "../../model/rows/column.ts";
import type { Kind, Typed, TypeNote } from "./kind.ts";

export interface DecimalType {
  readonly width: number;
  readonly scale: number;
}

const WIDTH_MAX = 38;
/** Four more digits than the dividend has. */
const QUOTIENT_DIGITS = 4;
/** What numbers are as decimals. */
const INTEGER: DecimalType = { width: 20, scale: 0 };
/** What 64-bit integers without a sign and with one have in common. */
export const MIXED_SIGNS = INTEGER;
const FLOAT: DecimalType = { width: 30, scale: 15 };
const NARROW_INTEGERS: Readonly<Record<string, number>> = { TINYINT: 3, SMALLINT: 5, INTEGER: 10 };

/** A value, or a column of a query, which has no node. */
export type Noted = Pick<Typed, "kind" | "arrow" | "source"> & { readonly node?: Typed["node"] };

export const decimalName = ({ width, scale }: DecimalType): string => `Decimal128(${width}, ${scale})`;

export function decimalNote(type: DecimalType): TypeNote & { readonly kind: Kind } {
  return { kind: "float", arrow: decimalName(type) };
}

/** The type of a value that is a decimal. */
export function decimalOf({ arrow = "" }: TypeNote): DecimalType | null {
  const [, width, scale] = /^Decimal128\((\d+), (\d+)\)$/.exec(arrow) ?? [];
  return width === undefined ? null : { width: Number(width), scale: Number(scale) };
}

export function isUnsigned({ source, arrow }: Noted): boolean {
  return arrow?.startsWith("UInt") === true || source?.scan.defs[source.index]?.type === ColumnType.unsigned;
}

export function isUnsigned64({ source, arrow }: Noted): boolean {
  return arrow === "UInt64" || (arrow === undefined && source?.scan.defs[source.index]?.type === ColumnType.unsigned);
}

/** Known to have a sign. */
function isSigned(value: Noted): boolean {
  if (value.kind !== "integer" || isUnsigned(value)) return false;
  const { node, source, arrow } = value;
  if (source !== undefined || arrow !== undefined || node === undefined) return true;
  return node.class === "CONSTANT" || (node.class === "CAST" && !node.cast_type.id.startsWith("U"));
}

/** Of two 64-bit integers one has a sign. */
export function haveMixedSigns(left: Noted, right: Noted): boolean {
  return (isUnsigned64(left) && isSigned(right)) || (isSigned(left) && isUnsigned64(right));
}

/** What a decimal or an integer is as a decimal. */
export function asDecimal(value: Noted): DecimalType | null {
  if (value.kind !== "integer") return decimalOf(value);
  const width = value.node?.class === "CAST" ? NARROW_INTEGERS[value.node.cast_type.id] : undefined;
  return width === undefined ? INTEGER : { width, scale: 0 };
}

/** The decimal of several values of which one is chosen, each brought to one type with those before it; null: they are no decimals. */
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
    // beside a float an integer is one
    if (before?.kind !== "float") before = value;
  }
  return common;
}

function wider(a: DecimalType, b: DecimalType): DecimalType {
  const scale = Math.max(a.scale, b.scale);
  return limited(Math.max(a.width - a.scale, b.width - b.scale) + scale, scale);
}

/** What an operator makes of decimals. */
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
