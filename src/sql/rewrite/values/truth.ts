// Where the dialect wants truth values: it takes nothing else for one, where DuckDB converts numbers and texts.
import type { Typed } from "../../bind/kind.ts";
import { isTruth, typeName } from "../../bind/type-notes.ts";
import { planError } from "../rule.ts";

/** A condition of WHERE, HAVING or QUALIFY. @throws TsdbError bad_query */
export function expectFilter(value: Typed): Typed {
  if (!isTruth(value)) throw planError(`Cannot create filter with non-boolean predicate returning ${typeName(value)}`);
  return value;
}

/** The operands of AND or OR. @throws TsdbError bad_query */
export function expectOperands(sign: "AND" | "OR", values: readonly Typed[]): void {
  const at = values.findIndex((value) => !isTruth(value));
  if (at < 0) return;
  const place = Math.max(at, 1);
  const [left, right] = [place === 1 ? typeName(values[0]!) : "Boolean", typeName(values[place]!)];
  throw planError(`Cannot infer common argument type for logical boolean operation ${left} ${sign} ${right}`);
}

/** The operand of NOT. @throws TsdbError bad_query */
export function expectNegatable(value: Typed): void {
  if (isTruth(value)) return;
  throw planError(`Cannot infer common argument type for comparison operation ${typeName(value)} IS DISTINCT FROM Boolean`);
}
