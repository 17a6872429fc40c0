// Builds queries for rewrites: nodes of DuckDB's tree with all optional parts empty.
import type { ColumnRef, Expression, OrderBy, SelectNode, SubqueryRef, TableRef, Window } from "../parse/tree.ts";

/** A column reference. */
export function column(...names: string[]): ColumnRef {
  return { class: "COLUMN_REF", type: "COLUMN_REF", alias: "", column_names: names };
}

/** `item AS name`. */
export function named(item: Expression, name: string): Expression {
  return { ...item, alias: name };
}

export interface SelectParts {
  readonly items: readonly Expression[];
  readonly from: TableRef;
  readonly where?: Expression | null;
  readonly groupBy?: readonly Expression[];
  readonly orderBy?: readonly Expression[];
}

/** A SELECT. */
export function select({ items, from, where = null, groupBy = [], orderBy = [] }: SelectParts): SelectNode {
  const orders = orderBy.map((expression): OrderBy => ({ type: "ORDER_DEFAULT", null_order: "ORDER_DEFAULT", expression }));
  return {
    type: "SELECT_NODE",
    modifiers: orders.length === 0 ? [] : [{ type: "ORDER_MODIFIER", orders }],
    cte_map: { map: [] },
    select_list: [...items],
    from_table: from,
    where_clause: where,
    group_expressions: [...groupBy],
    group_sets: groupBy.length === 0 ? [] : [groupBy.map((_, i) => i)],
    aggregate_handling: "STANDARD_HANDLING",
    having: null,
    sample: null,
    qualify: null,
  };
}

/** A subquery in FROM. */
export function subquery(node: SelectNode, alias: string): SubqueryRef {
  return { type: "SUBQUERY", alias, sample: null, subquery: { node }, column_name_alias: [] };
}

export interface WindowParts {
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly Expression[];
  /** The frame; absent: the function's default. */
  readonly rows?: "up to current" | "after current";
  readonly ignoreNulls?: boolean;
  /** Default value of lag and lead. */
  readonly otherwise?: Expression;
}

/** `name(value) OVER (…)` */
export function windowCall(name: "lag" | "lead" | "first_value" | "last_value", value: Expression, parts: WindowParts): Window {
  const { partitionBy, orderBy, rows, ignoreNulls = false, otherwise } = parts;
  return {
    class: "WINDOW",
    type: `WINDOW_${name.toUpperCase()}`,
    alias: "",
    function_name: name,
    schema: "",
    catalog: "",
    children: [value],
    partitions: [...partitionBy],
    orders: orderBy.map((expression) => ({ type: "ORDER_DEFAULT", null_order: "ORDER_DEFAULT", expression })),
    start: rows === "after current" ? "EXPR_FOLLOWING_ROWS" : "UNBOUNDED_PRECEDING",
    end: rows === "after current" ? "UNBOUNDED_FOLLOWING" : rows === "up to current" ? "CURRENT_ROW_ROWS" : "CURRENT_ROW_RANGE",
    start_expr: rows === "after current" ? one() : null,
    end_expr: null,
    offset_expr: otherwise === undefined ? null : one(),
    default_expr: otherwise ?? null,
    ignore_nulls: ignoreNulls,
    filter_expr: null,
    exclude_clause: "NO_OTHER",
    distinct: false,
    arg_orders: [],
  };
}

function one(): Expression {
  const type = { id: "INTEGER", type_info: null };
  return { class: "CONSTANT", type: "VALUE_CONSTANT", alias: "", value: { type, is_null: false, value: 1 } };
}
