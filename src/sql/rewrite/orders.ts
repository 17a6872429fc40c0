// Rewrites ORDER BY and similar clauses, where a literal number is a position in the select list.
import type { Scope } from "../bind/scope.ts";
import type { Expression, OrderBy } from "../parse/tree.ts";
import { castTo } from "../parse/tree.ts";
import type { RewriteContext } from "./context.ts";

/** Rewrites the list after ORDER BY. */
export function rewriteOrders(orders: readonly OrderBy[], context: RewriteContext, scope: Scope): OrderBy[] {
  return orders.map((order) => ({ ...order, expression: rewriteUnlessNumber(order.expression, context, scope) }));
}

/** A literal number is a position in the select list; a parameter is a value. */
export function rewriteUnlessNumber(node: Expression, context: RewriteContext, scope: Scope): Expression {
  if (node.class === "CONSTANT") return node;
  const rewritten = context.expression(node, scope).node;
  if (node.class !== "PARAMETER" || rewritten.class !== "CONSTANT") return rewritten;
  return castTo(rewritten, rewritten.value.is_null ? "VARCHAR" : rewritten.value.type.id);
}
