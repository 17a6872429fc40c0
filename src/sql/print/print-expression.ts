// Prints expressions as SQL text; see print.ts.
import { SCAN_FUNCTION } from "../../duckdb/table-function.ts";
import { ident } from "../parse/names.ts";
import type { Expression, FunctionCall, OrderBy, Star, SubqueryExpression, Window } from "../parse/tree.ts";
import { unsupported } from "../parse/unsupported.ts";
import type { SqlWriter } from "./sql-writer.ts";
import { typeText } from "./type-text.ts";
import { valueText } from "./value-text.ts";

/** Prints expressions, separated by commas. */
export function printList(out: SqlWriter, expressions: readonly Expression[]): void {
  expressions.forEach((expression, i) => {
    if (i > 0) out.put(", ");
    printExpression(out, expression);
  });
}

/** Prints the list after ORDER BY. */
export function printOrders(out: SqlWriter, orders: readonly OrderBy[]): void {
  orders.forEach((order, i) => {
    if (i > 0) out.put(", ");
    const { expression } = order;
    if (expression.class === "STAR" && expression.columns && expression.expr === null) out.put("ALL");
    else printExpression(out, expression);
    if (order.type === "DESCENDING") out.put(" DESC");
    else if (order.type === "ASCENDING") out.put(" ASC");
    if (order.null_order === "NULLS FIRST" || order.null_order === "NULLS LAST") out.put(` ${order.null_order}`);
  });
}

const COMPARISONS: Readonly<Record<string, string>> = {
  COMPARE_EQUAL: "=",
  COMPARE_NOTEQUAL: "<>",
  COMPARE_LESSTHAN: "<",
  COMPARE_GREATERTHAN: ">",
  COMPARE_LESSTHANOREQUALTO: "<=",
  COMPARE_GREATERTHANOREQUALTO: ">=",
  COMPARE_DISTINCT_FROM: "IS DISTINCT FROM",
  COMPARE_NOT_DISTINCT_FROM: "IS NOT DISTINCT FROM",
};

/** The sign of a comparison node. */
export function comparisonSign(type: string): string {
  const sign = COMPARISONS[type];
  if (sign === undefined) throw unsupported(`comparison ${type}`);
  return sign;
}

/** One expression without its alias. */
export function printExpression(out: SqlWriter, node: Expression): void {
  out.mark(node.query_location);
  switch (node.class) {
    case "COLUMN_REF":
      out.put(node.column_names.map(ident).join("."));
      if (node.column_names.length === 1) out.refersTo(node.column_names[0]!);
      return;
    case "CONSTANT":
      out.put(valueText(node.value));
      return;
    case "FUNCTION":
      if (node.is_operator) printOperatorCall(out, node);
      else printCall(out, node);
      return;
    case "CAST":
      out.put(node.try_cast ? "TRY_CAST(" : "CAST(");
      printExpression(out, node.child);
      out.put(` AS ${typeText(node.cast_type)})`);
      return;
    case "CASE":
      out.put("CASE");
      for (const check of node.case_checks) join(out, [" WHEN ", check.when_expr, " THEN ", check.then_expr]);
      join(out, [" ELSE ", node.else_expr, " END"]);
      return;
    case "COMPARISON":
      join(out, ["(", node.left, ` ${comparisonSign(node.type)} `, node.right, ")"]);
      return;
    case "BETWEEN":
      join(out, ["(", node.input, " BETWEEN ", node.lower, " AND ", node.upper, ")"]);
      return;
    case "CONJUNCTION":
      if (node.type === "CONJUNCTION_AND") printJoined(out, node.children, " AND ");
      else if (node.children.length <= ALTERNATIVES_MAX) printJoined(out, node.children, " OR ");
      else printAlternatives(out, node.children);
      return;
    case "OPERATOR":
      printOperator(out, node.type, node.children);
      return;
    case "SUBQUERY":
      printSubquery(out, node);
      return;
    case "WINDOW":
      printWindow(out, node);
      return;
    case "STAR":
      printStar(out, node);
      out.namesAll = true;
      return;
    case "LAMBDA":
      printLambda(out, node.lhs, node.expr);
      return;
    case "COLLATE":
      join(out, ["(", node.child, ` COLLATE ${ident(node.collation)})`]);
      return;
    case "POSITIONAL_REFERENCE":
      out.put(`#${node.index}`);
      out.namesAll = true;
      return;
    case "LITERALS":
      out.put(node.values.map(valueText).join(", "));
      return;
    case "PARAMETER":
      // only in a described statement; otherwise its value has replaced it
      out.put(`$${node.identifier}`);
      return;
  }
}

function join(out: SqlWriter, parts: readonly (string | Expression)[]): void {
  for (const part of parts) {
    if (typeof part === "string") out.put(part);
    else printExpression(out, part);
  }
}

/** With more alternatives DuckDB's rewriter takes quadratic time: 1,024 of `(a = 1 AND b = 2)` take 2.2 s, in groups 0.07 s. */
const ALTERNATIVES_MAX = 64;
const GROUP_SIZE = 32;

/** Grouped by `coalesce(x, NULL)`, which equals x but keeps DuckDB's rewriter from merging nested ORs. */
function printAlternatives(out: SqlWriter, children: readonly Expression[]): void {
  for (let i = 0; i < children.length; i += GROUP_SIZE) {
    out.put(i === 0 ? "(coalesce(" : " OR coalesce(");
    printJoined(out, children.slice(i, i + GROUP_SIZE), " OR ");
    out.put(", NULL)");
  }
  out.put(")");
}

function printJoined(out: SqlWriter, children: readonly Expression[], separator: string): void {
  out.put("(");
  children.forEach((child, i) => {
    if (i > 0) out.put(separator);
    printExpression(out, child);
  });
  out.put(")");
}

function printOperatorCall(out: SqlWriter, node: FunctionCall): void {
  const [left, right] = node.children;
  if (node.function_name === "!__postfix") join(out, ["(", left!, ")!"]);
  else if (right === undefined) join(out, [`(${node.function_name} `, left!, ")"]);
  else join(out, ["(", left!, ` ${node.function_name} `, right, ")"]);
}

function printCall(out: SqlWriter, node: FunctionCall): void {
  if (node.function_name === SCAN_FUNCTION) printScan(out, node);
  else if (node.function_name === "count_star" && node.children.length === 0) out.put("count(*)");
  else {
    out.put(`${ident(node.function_name)}(${node.distinct ? "DISTINCT " : ""}`);
    printArguments(out, node.children);
    printArgumentOrders(out, node.order_bys.orders);
    out.put(")");
  }
  if (node.filter !== null) join(out, [" FILTER (WHERE ", node.filter, ")"]);
}

/** The tree refers to a scan by its index, DuckDB by a call with the handle under which it is registered. */
function printScan(out: SqlWriter, { children: [place] }: FunctionCall): void {
  if (place?.class !== "CONSTANT") throw new Error("BUG: a scan without a place");
  out.put(out.scanCalls[Number(place.value.value)]!);
}

/** Arguments, including names (`struct_pack(a := 1)`). */
function printArguments(out: SqlWriter, children: readonly Expression[]): void {
  children.forEach((child, i) => {
    if (i > 0) out.put(", ");
    if (child.alias !== "") out.put(`${ident(child.alias)} := `);
    printExpression(out, child);
  });
}

function printArgumentOrders(out: SqlWriter, orders: readonly OrderBy[]): void {
  if (orders.length === 0) return;
  out.put(" ORDER BY ");
  printOrders(out, orders);
}

const FRAME_BOUNDS: Readonly<Record<string, string>> = {
  UNBOUNDED_PRECEDING: "UNBOUNDED PRECEDING",
  UNBOUNDED_FOLLOWING: "UNBOUNDED FOLLOWING",
  CURRENT_ROW: "CURRENT ROW",
};

function printWindow(out: SqlWriter, node: Window): void {
  const args = [node.offset_expr, node.default_expr].filter((arg) => arg !== null);
  const star = node.function_name === "count_star" || (node.function_name === "count" && node.children.length === 0);
  if (star) out.put("count(*");
  else {
    out.put(`${ident(node.function_name)}(${node.distinct ? "DISTINCT " : ""}`);
    printArguments(out, [...node.children, ...args]);
    printArgumentOrders(out, node.arg_orders);
  }
  out.put(node.ignore_nulls ? " IGNORE NULLS)" : ")");
  if (node.filter_expr !== null) join(out, [" FILTER (WHERE ", node.filter_expr, ")"]);
  out.put(" OVER (");
  if (node.partitions.length > 0) {
    out.put("PARTITION BY ");
    printList(out, node.partitions);
  }
  if (node.orders.length > 0) {
    out.put(" ORDER BY ");
    printOrders(out, node.orders);
  }
  printFrame(out, node);
  out.put(")");
}

function printFrame(out: SqlWriter, node: Window): void {
  const exclude = { NO_OTHER: "", CURRENT_ROW: " EXCLUDE CURRENT ROW", GROUP: " EXCLUDE GROUP", TIES: " EXCLUDE TIES" }[
    node.exclude_clause
  ];
  if (exclude === undefined) throw unsupported(`frame exclusion ${node.exclude_clause}`);
  const isDefault = node.start === "UNBOUNDED_PRECEDING" && node.end === "CURRENT_ROW_RANGE";
  if (isDefault && exclude === "") return;
  const unit = /_(ROWS|RANGE|GROUPS)$/.exec(node.start)?.[1] ?? /_(ROWS|RANGE|GROUPS)$/.exec(node.end)?.[1] ?? "ROWS";
  out.put(` ${unit} BETWEEN `);
  printBound(out, node.start, node.start_expr);
  out.put(" AND ");
  printBound(out, node.end, node.end_expr);
  out.put(exclude);
}

function printBound(out: SqlWriter, bound: string, expression: Expression | null): void {
  const name = bound.replace(/_(ROWS|RANGE|GROUPS)$/, "");
  const fixed = FRAME_BOUNDS[name];
  if (fixed !== undefined) out.put(fixed);
  else if (expression !== null && (name === "EXPR_PRECEDING" || name === "EXPR_FOLLOWING")) {
    join(out, [expression, name === "EXPR_PRECEDING" ? " PRECEDING" : " FOLLOWING"]);
  } else throw unsupported(`frame bound ${bound}`);
}

function printOperator(out: SqlWriter, type: string, children: readonly Expression[]): void {
  const [first, ...rest] = children;
  switch (type) {
    case "COMPARE_IN":
    case "COMPARE_NOT_IN":
      join(out, ["(", first!, type === "COMPARE_IN" ? " IN (" : " NOT IN ("]);
      printList(out, rest);
      out.put("))");
      return;
    case "OPERATOR_NOT":
      join(out, ["(NOT ", first!, ")"]);
      return;
    case "OPERATOR_IS_NULL":
      join(out, ["(", first!, " IS NULL)"]);
      return;
    case "OPERATOR_IS_NOT_NULL":
      join(out, ["(", first!, " IS NOT NULL)"]);
      return;
    case "ARRAY_EXTRACT":
    case "STRUCT_EXTRACT":
      join(out, ["(", first!, ")[", rest[0]!, "]"]);
      return;
    case "ARRAY_SLICE":
      join(out, ["(", first!, ")["]);
      rest.forEach((bound, i) => {
        if (i > 0) out.put(":");
        const open = bound.class === "CONSTANT" && bound.value.type.id === "LIST";
        if (!open) printExpression(out, bound);
        else if (i === 1 && rest.length === 3) out.put("-");
      });
      out.put("]");
      return;
  }
  const name = { OPERATOR_COALESCE: "coalesce", ARRAY_CONSTRUCTOR: "list_value", GROUPING_FUNCTION: "GROUPING" }[type];
  if (name === undefined) throw unsupported(`operator ${type}`);
  out.put(name);
  printJoined(out, children, ", ");
}

function printSubquery(out: SqlWriter, node: SubqueryExpression): void {
  out.put("(");
  if (node.subquery_type === "ANY") join(out, [node.child!, ` ${comparisonSign(node.comparison_type)} ANY `]);
  else if (node.subquery_type === "EXISTS") out.put("EXISTS ");
  else if (node.subquery_type === "NOT_EXISTS") out.put("NOT EXISTS ");
  else if (node.subquery_type !== "SCALAR") throw unsupported(`subquery ${node.subquery_type}`);
  out.put("(");
  out.query(node.subquery.node);
  out.put("))");
}

function printStar(out: SqlWriter, node: Star): void {
  if (node.columns) out.put("COLUMNS(");
  if (node.columns && node.expr !== null) {
    printExpression(out, node.expr);
    out.put(")");
    return;
  }
  out.put(node.relation_name === "" ? "*" : `${ident(node.relation_name)}.*`);
  const excluded = [
    ...node.exclude_list.map(ident),
    ...node.qualified_exclude_list.map((name) =>
      [name.catalog, name.schema, name.table, name.column]
        .filter((part) => part !== "")
        .map(ident)
        .join("."),
    ),
  ];
  if (excluded.length > 0) out.put(` EXCLUDE (${excluded.join(", ")})`);
  if (node.replace_list.length > 0) {
    out.put(" REPLACE (");
    for (const [i, { key, value }] of node.replace_list.entries()) join(out, [i > 0 ? ", " : "", value, ` AS ${ident(key)}`]);
    out.put(")");
  }
  if (node.rename_list.length > 0) {
    out.put(` RENAME (${node.rename_list.map(({ key, value }) => `${ident(key.column)} AS ${ident(value)}`).join(", ")})`);
  }
  if (node.columns) out.put(")");
}

function printLambda(out: SqlWriter, lhs: Expression, body: Expression): void {
  const parameters = lhs.class === "FUNCTION" && lhs.function_name === "row" ? lhs.children : [lhs];
  const names = parameters.map((parameter) => {
    // `json -> 'path'` is parsed as a lambda as well
    if (parameter.class !== "COLUMN_REF" || parameter.column_names.length !== 1) throw unsupported("the operator ->");
    return ident(parameter.column_names[0]!);
  });
  join(out, [`(lambda ${names.join(", ")}: `, body, ")"]);
}
