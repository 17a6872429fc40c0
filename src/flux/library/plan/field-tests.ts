// What a filter says about a measurement and a field by themselves: comparisons and regular expressions, with `and`, `or` and `not`.
// Everything else is unknown, and may be true.
import type { Closure } from "../../interpret/closure.ts";
import { labelOf } from "../../interpret/labels.ts";
import type { Expression } from "../../parse/ast.ts";
import { compileRegexp } from "../../values/regexp.ts";
import { Regexp } from "../../values/value.ts";

/** A plain value: its JSON tells tests apart. */
export type FieldTest =
  | { readonly operator: "and" | "or"; readonly left: FieldTest; readonly right: FieldTest }
  | { readonly operator: "not"; readonly of: FieldTest }
  | { readonly operator: "==" | "!=" | "=~" | "!~"; readonly label: "_measurement" | "_field"; readonly text: string }
  | { readonly operator: "unknown" };

const UNKNOWN: FieldTest = { operator: "unknown" };

/** What an expression over a row says about its measurement and field. */
export function fieldTest(expression: Expression, fn: Closure, row: string): FieldTest {
  switch (expression.type) {
    case "ParenExpression":
      return fieldTest(expression.expression, fn, row);
    case "LogicalExpression": {
      const [left, right] = [fieldTest(expression.left, fn, row), fieldTest(expression.right, fn, row)];
      return { operator: expression.operator === "and" ? "and" : "or", left, right };
    }
    case "UnaryExpression":
      return expression.operator === "not" ? { operator: "not", of: fieldTest(expression.argument, fn, row) } : UNKNOWN;
    case "BinaryExpression": {
      const { operator, left, right } = expression;
      const label = columnOf(left, row);
      const text = label === null ? null : textOf(right, fn, row);
      if (label === null || text === null) return UNKNOWN;
      const isPattern = text instanceof Regexp;
      if (isPattern && (operator === "=~" || operator === "!~")) return { operator, label, text: text.source };
      return !isPattern && (operator === "==" || operator === "!=") ? { operator, label, text } : UNKNOWN;
    }
    default:
      return UNKNOWN;
  }
}

function columnOf(expression: Expression, row: string): "_measurement" | "_field" | null {
  if (expression.type !== "MemberExpression" || expression.object.type !== "Identifier" || expression.object.name !== row) return null;
  const label = labelOf(expression.property);
  return label === "_measurement" || label === "_field" ? label : null;
}

function textOf(expression: Expression, fn: Closure, row: string): string | Regexp | null {
  if (expression.type === "StringLiteral") return expression.value;
  if (expression.type === "RegexpLiteral") return compileRegexp(expression.value);
  const outer = expression.type === "Identifier" && expression.name !== row ? fn.outerValue(expression.name) : undefined;
  return typeof outer === "string" || outer instanceof Regexp ? outer : null;
}

/** A function that is false for fields of which no row can pass the tests. */
export function fieldFilter(tests: readonly FieldTest[]): (measurement: string, field: string) => boolean {
  const patterns = new Map<string, Regexp>();
  return (measurement, field) => tests.every((test) => outcome(test, { _measurement: measurement, _field: field }, patterns) !== false);
}

type Names = Readonly<Record<"_measurement" | "_field", string>>;

/** Null: unknown. */
function outcome(test: FieldTest, names: Names, patterns: Map<string, Regexp>): boolean | null {
  switch (test.operator) {
    case "unknown":
      return null;
    case "not": {
      const inner = outcome(test.of, names, patterns);
      return inner === null ? null : !inner;
    }
    case "and":
    case "or": {
      const decisive = test.operator === "or";
      const [left, right] = [outcome(test.left, names, patterns), outcome(test.right, names, patterns)];
      if (left === decisive || right === decisive) return decisive;
      return left === null || right === null ? null : !decisive;
    }
    default: {
      const text = names[test.label];
      if (test.operator === "==" || test.operator === "!=") return (text === test.text) === (test.operator === "==");
      const pattern = patterns.get(test.text) ?? compileRegexp(test.text);
      patterns.set(test.text, pattern);
      return pattern.matcher.test(text) === (test.operator === "=~");
    }
  }
}
