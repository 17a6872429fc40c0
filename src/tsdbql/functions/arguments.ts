// Constant arguments of a call after its column. Planning has checked their number and types, so another type is a bug.
import { assert } from "../../model/assert.ts";
import type { Literal } from "../parse/ast.ts";

/** A duration in nanoseconds. */
export function durationOf(literal: Literal): bigint {
  assert(literal.kind === "duration", `a duration was checked, got ${literal.kind}`);
  return literal.ns;
}

/** An integer argument. */
export function integerOf(literal: Literal): number {
  assert(literal.kind === "integer", `an integer was checked, got ${literal.kind}`);
  return Number(literal.value);
}

/** A numeric argument. */
export function numberOf(literal: Literal): number {
  assert(literal.kind === "integer" || literal.kind === "number", `a number was checked, got ${literal.kind}`);
  return Number(literal.value);
}

/** A text argument. */
export function textOf(literal: Literal): string {
  assert(literal.kind === "string", `a text was checked, got ${literal.kind}`);
  return literal.value;
}
