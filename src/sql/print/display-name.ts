// The name of an unnamed result column: the expression itself, in the dialect's words and with single spaces.

import type { Expression, FunctionCall, Window } from "../parse/tree.ts";
import { comparisonSign } from "./print-expression.ts";
import { valueText } from "./value-text.ts";

const TEXT_MAX = 200;

/** A readable form of an expression before its rewrite; identifiers encoded, without quotes. */
export function displayName(node: Expression): string {
  const text = show(node);
  return text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}…`;
}

function list(nodes: readonly Expression[]): string {
  return nodes.map((node) => (node.alias !== "" ? `${node.alias} := ${show(node)}` : show(node))).join(", ");
}

function show(node: Expression): string {
  switch (node.class) {
    case "COLUMN_REF":
      return node.column_names.join(".");
    case "CONSTANT":
      return constantText(node);
    case "PARAMETER":
      return `$${node.identifier}`;
    case "FUNCTION":
      return functionText(node);
    case "WINDOW":
      return windowText(node);
    case "CAST":
      return castText(node);
    case "CASE": {
      const checks = node.case_checks.map((check) => `WHEN ${show(check.when_expr)} THEN ${show(check.then_expr)}`);
      return `CASE ${checks.join(" ")} ELSE ${show(node.else_expr)} END`;
    }
    case "COMPARISON":
      return `${operand(node.left)} ${comparisonSign(node.type)} ${operand(node.right)}`;
    case "BETWEEN":
      return `${operand(node.input)} BETWEEN ${operand(node.lower)} AND ${operand(node.upper)}`;
    case "CONJUNCTION":
      return node.children.map(operand).join(node.type === "CONJUNCTION_AND" ? " AND " : " OR ");
    case "OPERATOR":
      return operatorText(node.type, node.children);
    case "SUBQUERY":
      return node.subquery_type === "EXISTS" ? "EXISTS (subquery)" : "(subquery)";
    case "LAMBDA":
      return `${show(node.lhs)} -> ${show(node.expr)}`;
    case "COLLATE":
      return `${show(node.child)} COLLATE ${node.collation}`;
    case "POSITIONAL_REFERENCE":
      return `#${node.index}`;
    case "STAR":
      return "*";
    case "LITERALS":
      return node.values.map(valueText).join(", ");
  }
}

function constantText(node: Extract<Expression, { class: "CONSTANT" }>): string {
  const { value } = node;
  if (value.type.id === "VARCHAR" && !value.is_null) return `'${String(value.value)}'`;
  if (value.type.id === "LIST") return "";
  return valueText(value)
    .replace(/^\((.*)\)$/, "$1")
    .replace(/e0$/, "");
}

function castText(node: Extract<Expression, { class: "CAST" }>): string {
  const { child, cast_type } = node;
  if (cast_type.id === "BOOLEAN" && child.class === "CONSTANT" && child.value.type.id === "VARCHAR") {
    return child.value.value === "t" ? "true" : "false";
  }
  if (child.class === "CONSTANT" && child.value.type.id === "VARCHAR") return `${cast_type.id} ${show(child)}`;
  return `CAST(${show(child)} AS ${cast_type.id})`;
}

function functionText(node: FunctionCall): string {
  const [left, right] = node.children;
  if (node.is_operator && right !== undefined)
    return `${operand(left!)} ${node.function_name.replace(/^<(!?~\*?)>$/, "$1")} ${operand(right)}`;
  if (node.is_operator) return `${node.function_name.replace("__postfix", "")}${operand(left!)}`;
  const name = node.function_name === "count_star" ? "count" : node.function_name;
  const args = node.function_name === "count_star" ? "*" : list(node.children);
  return `${name}(${node.distinct ? "DISTINCT " : ""}${args})`;
}

function windowText(node: Window): string {
  const star = node.children.length === 0 && node.function_name.startsWith("count");
  return `${node.function_name}(${star ? "*" : list(node.children)}) OVER ()`;
}

function operatorText(type: string, children: readonly Expression[]): string {
  const [first, ...rest] = children;
  if (type === "COMPARE_IN" || type === "COMPARE_NOT_IN")
    return `${operand(first!)} ${type === "COMPARE_IN" ? "IN" : "NOT IN"} (${list(rest)})`;
  if (type === "OPERATOR_NOT") return `NOT ${operand(first!)}`;
  if (type === "OPERATOR_IS_NULL") return `${operand(first!)} IS NULL`;
  if (type === "OPERATOR_IS_NOT_NULL") return `${operand(first!)} IS NOT NULL`;
  if (type === "ARRAY_EXTRACT" || type === "STRUCT_EXTRACT") return `${show(first!)}[${list(rest)}]`;
  if (type === "ARRAY_SLICE") return `${show(first!)}[${rest.map(show).join(":")}]`;
  const name = { OPERATOR_COALESCE: "coalesce", ARRAY_CONSTRUCTOR: "make_array", GROUPING_FUNCTION: "grouping" }[type];
  return `${name ?? type.toLowerCase()}(${list(children)})`;
}

/** Compound operands are put in parentheses. */
function operand(node: Expression): string {
  const compound =
    (node.class === "FUNCTION" && node.is_operator && node.children.length > 1) ||
    ["COMPARISON", "CONJUNCTION", "BETWEEN"].includes(node.class);
  return compound ? `(${show(node)})` : show(node);
}
