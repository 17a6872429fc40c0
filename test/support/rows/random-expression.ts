// Random expressions over the fields of ALL_TYPES.
import type { ExpressionType, FieldExpression } from "../../../src/model/query/field-expression.ts";
import { expressionType } from "../../../src/model/query/field-expression.ts";
import type { Below } from "../prng.ts";
import { ALL_TYPES, randomValue } from "./random-rows.ts";

const NUMBERS = ["float", "integer"] as const;

/** An expression of a type. `whole`: integers are computed, so that they may leave 64 bits. */
export function randomExpression(below: Below, type: ExpressionType, depth: number, whole: boolean): FieldExpression {
  const of = (
    operator: Extract<FieldExpression, { kind: "call" }>["operator"],
    ...operands: readonly FieldExpression[]
  ): FieldExpression => ({
    kind: "call",
    type,
    operator,
    operands,
  });
  const some = (wanted: ExpressionType) => randomExpression(below, wanted, depth - 1, whole);
  if (depth === 0 || below(6) === 0) return leaf(below, type);
  if (below(5) === 0) return of("choose", some("boolean"), some(type), some(type));
  if (type === "float") {
    const arithmetic = (["+", "-", "*", "/"] as const)[below(4)]!;
    return [of(arithmetic, some("float"), some("float")), of("abs", some("float")), of("float", some("integer"))][below(3)]!;
  }
  if (type === "integer") {
    if (!whole) return leaf(below, type);
    return of((["+", "-", "*"] as const)[below(3)]!, some("integer"), some("integer"));
  }
  const compared = NUMBERS[below(2)]!;
  const any = ([...NUMBERS, "boolean"] as const)[below(3)]!;
  return [
    () => of(below(2) === 0 ? "<" : "=", some(compared), some(compared)),
    () => of(below(2) === 0 ? "and" : "or", some("boolean"), some("boolean")),
    () => of("not", some("boolean")),
    () => of("is null", some(any)),
  ][below(4)]!();
}

function leaf(below: Below, type: ExpressionType): FieldExpression {
  const column = ALL_TYPES.find((each) => expressionType(each.type) === type)!;
  if (below(3) > 0) return { kind: "column", type, columnId: column.id };
  const value = below(5) === 0 ? null : (randomValue(column.type, below) as number | bigint | boolean);
  return { kind: "constant", type, value };
}
