// Changes what expressions consist of, and leaves their structure.
import type { Expression } from "./ast.ts";

/** The expression with `change` applied to all parts without operands: columns, literals, wildcards. */
export function mapLeaves(expression: Expression, change: (leaf: Expression) => Expression): Expression {
  switch (expression.kind) {
    case "call":
      return { ...expression, args: expression.args.map((arg) => mapLeaves(arg, change)) };
    case "paren":
      return { kind: "paren", inner: mapLeaves(expression.inner, change) };
    case "binary":
      return { ...expression, left: mapLeaves(expression.left, change), right: mapLeaves(expression.right, change) };
    default:
      return change(expression);
  }
}
