// Conditions that the reference's storage can test: a filter with any other is behind it, and so is what follows.
import { Closure } from "../../interpret/closure.ts";
import { labelOf } from "../../interpret/compile.ts";
import type { Expression } from "../../parse/ast.ts";
import type { FluxFunction } from "../../values/value.ts";

const COMPARISONS: readonly string[] = ["==", "!=", "<", "<=", ">", ">=", "=~", "!~"];
const CONSTANTS: readonly string[] = ["StringLiteral", "IntegerLiteral", "FloatLiteral", "RegexpLiteral", "BooleanLiteral", "Identifier"];

/** Whether the function compares columns with values that are the same for all rows, and nothing else. */
export function isStorableFilter(fn: FluxFunction): boolean {
  if (!(fn instanceof Closure) || fn.body === null) return false;
  const row = fn.parameters[0]?.name;
  return row !== undefined && isCondition(fn.body, row);
}

function isCondition(expression: Expression, row: string): boolean {
  switch (expression.type) {
    case "ParenExpression":
      return isCondition(expression.expression, row);
    case "LogicalExpression":
      return isCondition(expression.left, row) && isCondition(expression.right, row);
    case "UnaryExpression":
      if (expression.operator === "exists") return isColumn(expression.argument, row);
      return expression.operator === "not" && isCondition(expression.argument, row);
    case "BinaryExpression":
      if (!COMPARISONS.includes(expression.operator)) return false;
      return isColumn(expression.left, row) && isConstant(expression.right, row);
    case "Identifier":
      return expression.name === "true" || expression.name === "false";
    default:
      return isColumn(expression, row);
  }
}

function isColumn(expression: Expression, row: string): boolean {
  if (expression.type !== "MemberExpression" || expression.object.type !== "Identifier") return false;
  return expression.object.name === row && labelOf(expression.property) !== "_time";
}

function isConstant(expression: Expression, row: string): boolean {
  if (expression.type === "ParenExpression") return isConstant(expression.expression, row);
  if (expression.type === "UnaryExpression") return expression.operator === "-" && isConstant(expression.argument, row);
  if (expression.type === "MemberExpression") return isConstant(expression.object, row);
  return CONSTANTS.includes(expression.type) && !(expression.type === "Identifier" && expression.name === row);
}
