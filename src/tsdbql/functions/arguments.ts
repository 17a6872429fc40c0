// What constants behind a call's column say. Their number and kind were checked when the statement was planned, so another kind is a bug.
import { assert } from "../../model/assert.ts";
import type { Literal } from "../parse/ast.ts";

/** A length of time in nanoseconds. */
export function durationOf(literal: Literal): bigint {
  assert(literal.kind === "duration", `a duration was checked, got ${literal.kind}`);
  return literal.ns;
}

export function integerOf(literal: Literal): number {
  assert(literal.kind === "integer", `an integer was checked, got ${literal.kind}`);
  return Number(literal.value);
}

export function numberOf(literal: Literal): number {
  assert(literal.kind === "integer" || literal.kind === "number", `a number was checked, got ${literal.kind}`);
  return Number(literal.value);
}

export function textOf(literal: Literal): string {
  assert(literal.kind === "string", `a text was checked, got ${literal.kind}`);
  return literal.value;
}
