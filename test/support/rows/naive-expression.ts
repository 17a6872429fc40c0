// Values of expressions over fields, row by row, from their definition (model/query/field-expression.ts). Deliberately slow and simple.
import type { FieldExpression } from "../../../src/model/query/field-expression.ts";
import { I64_MAX, I64_MIN } from "../../../src/model/rows/int64.ts";
import type { TestValue } from "./rows.ts";

/** An integer left 64 bits. */
export class TooLarge extends Error {}

/** The value of an expression. @throws TooLarge */
export function evaluate(expression: FieldExpression, fieldOf: (columnId: number) => TestValue | null): TestValue | null {
  if (expression.kind === "column") return fieldOf(expression.columnId);
  if (expression.kind === "constant") return expression.value;
  const { operator } = expression;
  const values = expression.operands.map((operand) => evaluate(operand, fieldOf));
  const [a, b] = values as [TestValue | null, TestValue | null];
  switch (operator) {
    case "is null":
      return a === null;
    case "choose":
      return values[a === true ? 1 : 2]!;
    case "and":
      return values.includes(false) ? false : values.includes(null) ? null : true;
    case "or":
      return values.includes(true) ? true : values.includes(null) ? null : false;
    case "not":
      return a === null ? null : !a;
  }
  if (values.includes(null)) return null;
  switch (operator) {
    case "float":
      return Number(a);
    case "abs":
      return Math.abs(a as number);
    case "/":
      return (a as number) / (b as number);
    case "<":
      return Number.isNaN(a) ? false : Number.isNaN(b) || a! < b!;
    case "=":
      return a === b || (Number.isNaN(a) && Number.isNaN(b));
    default:
      return typeof a === "bigint" ? whole(operator, a, b as bigint) : arithmetic(operator, a as number, b as number);
  }
}

function arithmetic(operator: "+" | "-" | "*", a: number, b: number): number {
  return operator === "+" ? a + b : operator === "-" ? a - b : a * b;
}

function whole(operator: "+" | "-" | "*", a: bigint, b: bigint): bigint {
  const value = operator === "+" ? a + b : operator === "-" ? a - b : a * b;
  if (value < I64_MIN || value > I64_MAX) throw new TooLarge();
  return value;
}
