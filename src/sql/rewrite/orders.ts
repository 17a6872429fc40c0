// Rewrites ORDER BY and similar clauses, where a literal number is a position in the select list.
import type { OutputColumn, Scope } from "../bind/scope.ts";
import type { Expression, OrderBy } from "../parse/tree.ts";
import { castTo } from "../parse/tree.ts";
import type { RewriteContext } from "./context.ts";
import { negative } from "./values/least-nan.ts";

/** Rewrites the list after ORDER BY. `shown`: the columns that numbers in it stand for. */
export function rewriteOrders(
  orders: readonly OrderBy[],
  context: RewriteContext,
  scope: Scope,
  shown: readonly OutputColumn[] | null = null,
): OrderBy[] {
  return orders.map((order) => {
    if (order.expression.class !== "CONSTANT") {
      const value = context.expression(order.expression, scope);
      const rewritten = { ...order, expression: asValue(order.expression, value.node) };
      return value.hasLeastNan === true ? backwards(rewritten) : rewritten;
    }
    const { value } = order.expression.value;
    const column = shown?.[Number(value) - 1];
    if (column?.hasLeastNan !== true) return order;
    return backwards({ ...order, expression: { class: "COLUMN_REF", type: "COLUMN_REF", alias: "", column_names: [column.name] } });
  });
}

/** The same order by the negative value. */
function backwards(order: OrderBy): OrderBy {
  const isDescending = order.type === "DESCENDING";
  const isNullFirst = order.null_order === "ORDER_DEFAULT" ? isDescending : order.null_order === "NULLS FIRST";
  return {
    type: isDescending ? "ASCENDING" : "DESCENDING",
    null_order: isNullFirst ? "NULLS FIRST" : "NULLS LAST",
    expression: negative(order.expression),
  };
}

/** A literal number is a position in the select list; a parameter is a value. */
export function rewriteUnlessNumber(node: Expression, context: RewriteContext, scope: Scope): Expression {
  return node.class === "CONSTANT" ? node : asValue(node, context.expression(node, scope).node);
}

/** A parameter that is a number as no position. */
function asValue(written: Expression, rewritten: Expression): Expression {
  if (written.class !== "PARAMETER" || rewritten.class !== "CONSTANT") return rewritten;
  return castTo(rewritten, rewritten.value.is_null ? "VARCHAR" : rewritten.value.type.id);
}
