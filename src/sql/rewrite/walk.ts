// Generic traversal of expressions.
import type { Expression, OrderBy, Window } from "../parse/tree.ts";

/** `node` with its direct children replaced: a copy, unless none of them changes. Queries within are unchanged. */
export function mapChildren(node: Expression, map: (child: Expression) => Expression): Expression {
  const optional = (child: Expression | null): Expression | null => (child === null ? null : map(child));
  const orders = (list: readonly OrderBy[]): OrderBy[] => list.map((order) => ({ ...order, expression: map(order.expression) }));
  switch (node.class) {
    case "COLUMN_REF":
    case "CONSTANT":
    case "PARAMETER":
    case "POSITIONAL_REFERENCE":
    case "LITERALS":
      return node;
    case "FUNCTION": {
      const children = mapped(node.children, map);
      if (node.filter !== null || node.order_bys.orders.length > 0) {
        return {
          ...node,
          children,
          filter: optional(node.filter),
          order_bys: { ...node.order_bys, orders: orders(node.order_bys.orders) },
        };
      }
      return children === node.children ? node : { ...node, children };
    }
    case "WINDOW":
      return {
        ...node,
        children: node.children.map(map),
        partitions: node.partitions.map(map),
        orders: orders(node.orders),
        arg_orders: orders(node.arg_orders),
        start_expr: optional(node.start_expr),
        end_expr: optional(node.end_expr),
        offset_expr: optional(node.offset_expr),
        default_expr: optional(node.default_expr),
        filter_expr: optional(node.filter_expr),
      };
    case "CAST":
    case "COLLATE": {
      const child = map(node.child);
      return child === node.child ? node : { ...node, child };
    }
    case "CASE": {
      const case_checks = node.case_checks.map(({ when_expr, then_expr }) => ({ when_expr: map(when_expr), then_expr: map(then_expr) }));
      return { ...node, case_checks, else_expr: map(node.else_expr) };
    }
    case "COMPARISON": {
      const left = map(node.left);
      const right = map(node.right);
      return left === node.left && right === node.right ? node : { ...node, left, right };
    }
    case "BETWEEN":
      return { ...node, input: map(node.input), lower: map(node.lower), upper: map(node.upper) };
    case "CONJUNCTION":
    case "OPERATOR": {
      const children = mapped(node.children, map);
      return children === node.children ? node : { ...node, children };
    }
    case "SUBQUERY":
      return { ...node, child: optional(node.child) };
    case "STAR": {
      const replace_list = node.replace_list.map(({ key, value }) => ({ key, value: map(value) }));
      return { ...node, expr: optional(node.expr), replace_list };
    }
    case "LAMBDA":
      return { ...node, lhs: map(node.lhs), expr: map(node.expr) };
  }
}

/** The list itself if no element changes. */
function mapped(list: Expression[], map: (child: Expression) => Expression): Expression[] {
  let changed: Expression[] | null = null;
  for (let i = 0; i < list.length; i++) {
    const child = map(list[i]!);
    if (child !== list[i]) changed ??= list.slice();
    if (changed !== null) changed[i] = child;
  }
  return changed ?? list;
}

/** The direct children of `node`, in the order of mapChildren. */
export function childrenOf(node: Expression): readonly Expression[] {
  switch (node.class) {
    case "COLUMN_REF":
    case "CONSTANT":
    case "PARAMETER":
    case "POSITIONAL_REFERENCE":
    case "LITERALS":
      return NO_CHILDREN;
    case "FUNCTION": {
      const { children, filter, order_bys } = node;
      if (filter === null && order_bys.orders.length === 0) return children;
      return [...children, ...present(filter), ...order_bys.orders.map(({ expression }) => expression)];
    }
    case "WINDOW":
      return windowChildren(node);
    case "CAST":
    case "COLLATE":
      return [node.child];
    case "CASE":
      return [...node.case_checks.flatMap(({ when_expr, then_expr }) => [when_expr, then_expr]), node.else_expr];
    case "COMPARISON":
      return [node.left, node.right];
    case "BETWEEN":
      return [node.input, node.lower, node.upper];
    case "CONJUNCTION":
    case "OPERATOR":
      return node.children;
    case "SUBQUERY":
      return present(node.child);
    case "STAR":
      return [...present(node.expr), ...node.replace_list.map(({ value }) => value)];
    case "LAMBDA":
      return [node.lhs, node.expr];
  }
}

const NO_CHILDREN: readonly Expression[] = [];

function present(node: Expression | null): readonly Expression[] {
  return node === null ? NO_CHILDREN : [node];
}

function windowChildren(node: Window): Expression[] {
  const { children, partitions, orders, arg_orders, start_expr, end_expr, offset_expr, default_expr, filter_expr } = node;
  const ordered = [...orders, ...arg_orders].map(({ expression }) => expression);
  return [...children, ...partitions, ...ordered, ...[start_expr, end_expr, offset_expr, default_expr, filter_expr].flatMap(present)];
}

/** True if `is` accepts `node` or a descendant in the same query. */
export function someNode(node: Expression, is: (node: Expression) => boolean): boolean {
  if (is(node)) return true;
  for (const child of childrenOf(node)) if (someNode(child, is)) return true;
  return false;
}

/** The AND-connected conditions, however nested. */
export function conjuncts(node: Expression): Expression[] {
  return node.class === "CONJUNCTION" && node.type === "CONJUNCTION_AND" ? node.children.flatMap(conjuncts) : [node];
}

/** All of `conditions`; null for none. */
export function conjunction(conditions: readonly Expression[]): Expression | null {
  const [first] = conditions;
  if (first === undefined || conditions.length === 1) return first ?? null;
  return { class: "CONJUNCTION", type: "CONJUNCTION_AND", alias: "", children: [...conditions] };
}
