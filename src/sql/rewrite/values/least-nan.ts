// NaN with a sign. To the vendor's engine the NaN of sqrt(-1), ln(-1) or 0.0 / 0.0 is less than all numbers, that of acos(2) greater; to
// DuckDB each is the greatest. Where a value may be one with a sign, its negative is compared, in the opposite direction: among negatives
// the greatest NaN is in its place, and the value occurs once.
import type { Typed } from "../../bind/kind.ts";
import { call, castTo, type Expression } from "../../parse/tree.ts";

/** A value whose NaN is less than all numbers. */
export function withLeastNan(value: Typed): Typed {
  return value.kind === "float" ? { ...value, hasLeastNan: true } : value;
}

/** A value computed from others, whose NaN it keeps. */
export function keepingNan(value: Typed, from: readonly Typed[]): Typed {
  return from.some(({ hasLeastNan }) => hasLeastNan === true) ? withLeastNan(value) : value;
}

/** True if comparing these two asks which is less or greater, and an answer depends on the sign of a NaN. */
export function dependsOnNan(values: readonly Typed[]): boolean {
  return values.some(({ hasLeastNan }) => hasLeastNan === true) && values.every(({ kind }) => kind === "float" || kind === "integer");
}

/** The negative of a number, a float. */
export function negative(node: Expression): Expression {
  return { ...call("-", [castTo(node, "DOUBLE")]), is_operator: true };
}
