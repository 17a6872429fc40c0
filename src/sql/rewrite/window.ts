// Window functions. A RANGE frame in intervals over times is computed on nanoseconds, because DuckDB would add to microseconds.

import { RENAMED_FUNCTIONS } from "../dialect.ts";
import { intervalNs } from "../interval.ts";
import { type Typed, withClock } from "../kind.ts";
import type { Scope } from "../scope.ts";
import type { Expression, Window } from "../tree.ts";
import { bigintConstant, castTo } from "../tree.ts";
import { nsOf } from "./arithmetic.ts";
import { rewriteExpression } from "./expression.ts";
import { resultKind } from "./function.ts";
import { type RewriteContext, rewriteOrders, typed } from "./rewriter.ts";

export function rewriteWindow(node: Window, context: RewriteContext, scope: Scope): Typed {
  const optional = (child: Expression | null): Expression | null => (child === null ? null : rewriteExpression(child, context, scope).node);
  const args = node.children.map((child) => rewriteExpression(child, context, scope));
  const name = RENAMED_FUNCTIONS[node.function_name] ?? node.function_name;
  const rewritten: Window = {
    ...node,
    function_name: name,
    children: args.map((arg) => arg.node),
    partitions: node.partitions.map((child) => rewriteExpression(child, context, scope).node),
    orders: rewriteOrders(node.orders, context, scope),
    arg_orders: rewriteOrders(node.arg_orders, context, scope),
    start_expr: optional(node.start_expr),
    end_expr: optional(node.end_expr),
    offset_expr: optional(node.offset_expr),
    default_expr: optional(node.default_expr),
    filter_expr: optional(node.filter_expr),
  };
  const framed = intervalFrame(node, rewritten, context, scope);
  const kind = resultKind(name, args);
  if (name === "sum" && (kind === "integer" || kind === "duration")) return typed(castTo(framed, "BIGINT"), kind);
  return withClock(typed(framed, kind), args);
}

function intervalFrame(node: Window, rewritten: Window, context: RewriteContext, scope: Scope): Window {
  const [order] = node.orders;
  if (order === undefined || node.orders.length !== 1) return rewritten;
  const bounds = [node.start_expr, node.end_expr].map((bound) => (bound === null ? null : rewriteExpression(bound, context, scope)));
  const inRange = node.start.endsWith("_RANGE") || node.end.endsWith("_RANGE");
  if (!inRange || bounds.every((bound) => bound?.interval === undefined)) return rewritten;
  const key = rewriteExpression(order.expression, context, scope);
  if (key.kind !== "time") return rewritten;
  const [start, end] = bounds.map((bound) =>
    bound?.interval === undefined ? (bound?.node ?? null) : bigintConstant(intervalNs(bound.interval)),
  );
  return { ...rewritten, orders: [{ ...order, expression: nsOf(key) }], start_expr: start ?? null, end_expr: end ?? null };
}
